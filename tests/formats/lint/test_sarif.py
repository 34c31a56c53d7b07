"""SARIF 2.1.0: the level of each result, from wherever it has it."""

import json

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from tests.tables import table

ERROR = {"id": "A", "defaultConfiguration": {"level": "error"}}
NOTE = {"id": "B", "defaultConfiguration": {"level": "note"}}
PLAIN = {"id": "C"}
TOOL = {"driver": {"name": "t", "rules": [ERROR, NOTE, PLAIN]}}
EXTENDED = {
    "driver": {"name": "t", "rules": [PLAIN]},
    "extensions": [{"name": "e"}, {"name": "x", "rules": [NOTE, ERROR]}],
}


def log(*results: object, tool: object = TOOL, **run: object) -> dict[str, object]:
    return {"version": "2.1.0", "runs": [{"tool": tool, "results": list(results), **run}]}


def read(value: object) -> LintReport | Unreadable:
    result = registry.read(json.dumps(value).encode())
    assert isinstance(result, LintReport | Unreadable)
    return result


def only(value: object) -> tuple[str, str]:
    report = read(value)
    assert isinstance(report, LintReport)
    ((found, number),) = report.findings.items()
    assert number == 1
    return found


@table(
    ("result", "expected"),
    [
        pytest.param({"ruleId": "A", "level": "note"}, ("A", "note"), id="its own level"),
        pytest.param({"ruleId": "A", "level": "Warning"}, ("A", "warning"), id="in capitals"),
        pytest.param({"ruleId": "A", "level": "none"}, ("A", "none"), id="none"),
        pytest.param({"ruleId": "A", "level": "odd"}, ("A", "error"), id="a level that is none"),
        pytest.param({"ruleId": "A", "level": None}, ("A", "error"), id="null"),
        pytest.param({"ruleId": "A"}, ("A", "error"), id="the rule by name"),
        pytest.param({"ruleId": "A/part"}, ("A/part", "error"), id="a part of a rule"),
        pytest.param({"ruleId": "C"}, ("C", "warning"), id="a rule without a level"),
        pytest.param({"ruleId": "D"}, ("D", "warning"), id="an unknown rule"),
        pytest.param({"ruleIndex": 1}, ("B", "note"), id="the rule by index"),
        pytest.param({"ruleId": "B", "ruleIndex": -1}, ("B", "note"), id="no index"),
        pytest.param({"ruleId": "B", "ruleIndex": 9}, ("B", "note"), id="an index beyond the rules"),
        pytest.param({"ruleId": "B", "ruleIndex": "1"}, ("B", "note"), id="an index that is text"),
        pytest.param({"rule": {"id": "A"}}, ("A", "error"), id="a reference by name"),
        pytest.param({"rule": {"index": 0}}, ("A", "error"), id="a reference by index"),
        pytest.param({}, ("", "warning"), id="no rule"),
        pytest.param({"ruleId": 7}, ("", "warning"), id="a rule that is no text"),
        pytest.param({"ruleId": "A", "kind": "fail"}, ("A", "error"), id="fail"),
        pytest.param({"ruleId": "A", "kind": "pass", "level": "error"}, ("A", "none"), id="pass"),
        pytest.param({"ruleId": "A", "kind": "open"}, ("A", "none"), id="open"),
    ],
)
def test_the_level_of_a_result(result, expected):
    assert only(log(result)) == expected


@table(
    ("result", "expected"),
    [
        ({"ruleId": "A"}, ("A", "error")),
        ({"rule": {"index": 1, "toolComponent": {"index": 1}}}, ("A", "error")),
        ({"ruleId": "B", "rule": {"index": 0, "toolComponent": {"index": 1}}}, ("B", "note")),
        ({"ruleId": "B", "ruleIndex": 0, "rule": {"toolComponent": {"index": 1}}}, ("B", "note")),
        ({"ruleId": "B", "rule": {"index": 0, "toolComponent": {"index": 5}}}, ("B", "note")),
        ({"ruleId": "B", "rule": {"index": 0, "toolComponent": {"index": 0}}}, ("B", "note")),
    ],
)
def test_rules_of_extensions_are_found(result, expected):
    assert only(log(result, tool=EXTENDED)) == expected


@table("tool", [None, {}, {"driver": None}, {"driver": {"rules": None}}, {"driver": {}, "extensions": None}])
def test_a_tool_without_rules(tool):
    assert only(log({"ruleId": "A"}, tool=tool)) == ("A", "warning")


@table(
    ("suppressions", "suppressed"),
    [
        ([], 0),
        (None, 0),
        ([{"kind": "inSource"}], 1),
        ([{"kind": "external", "status": "accepted"}], 1),
        ([{"kind": "external", "status": "underReview"}], 0),
        ([{"status": "accepted"}, {"status": "rejected"}], 0),
        ([{"status": "accepted"}, {"status": None}], 1),
    ],
)
def test_a_result_is_suppressed_where_all_its_suppressions_are_accepted(suppressions, suppressed):
    report = read(log({"ruleId": "A", "suppressions": suppressions}))
    assert (report.suppressed, report.results) == (suppressed, 1 - suppressed)


def test_the_results_of_all_runs_count_each_with_its_own_rules():
    one, other = log({"ruleId": "A"})["runs"], log({"ruleId": "A"}, tool={})["runs"]
    report = read({"version": "2.1.0", "runs": [*one, *other]})
    assert report.findings == {("A", "error"): 1, ("A", "warning"): 1}


@table("runs", [[], [{"results": []}], [{"tool": TOOL, "results": []}]])
def test_no_result_is_a_clean_report(runs):
    assert read({"version": "2.1.0", "runs": runs}) == LintReport()


@table("run", [{"tool": TOOL}, {"tool": TOOL, "results": None}])
def test_a_run_without_a_list_of_results_has_not_scanned(run):
    found = read({"version": "2.1.0", "runs": [*log({"ruleId": "A"})["runs"], run]})
    assert isinstance(found, Unreadable)
    assert found.why.startswith("a run without `results`")


@table(("state", "results"), [("absent", 0), ("new", 1), ("unchanged", 1), ("updated", 1), (None, 1)])
def test_a_result_that_only_the_baseline_has_does_not_count(state, results):
    report = read(log({"ruleId": "A", "baselineState": state}))
    assert (report.results, report.suppressed) == (results, 0)


@table(
    ("version", "shown"),
    [
        ("1.0.0", "version 1.0.0"),
        ("2.0.0", "version 2.0.0"),
        ("2.0.0-csd.2.beta.2019-01-24", None),
        (2.1, "no version"),
    ],
)
def test_other_versions_are_unreadable(version, shown):
    result = read({"version": version, "runs": [{"results": {"not": "an array"}}]})
    assert result == Unreadable(f"SARIF with {shown or f'version {version}'}; only 2.1.0 is read", 1, 13)


def test_no_version_is_unreadable():
    result = read({"$schema": "s", "runs": []})
    assert result == Unreadable("SARIF with no version; only 2.1.0 is read", 1, 1)


@table(
    ("value", "why", "at"),
    [
        pytest.param(
            log(invocations=[{"executionSuccessful": True}, {"executionSuccessful": False}]),
            "the tool failed, says the report, and there is no result; see the tool's own output",
            '[{"executionSuccessful": true',
            id="failed",
        ),
        pytest.param(
            log(externalPropertyFileReferences={"results": [{"location": {"uri": "r"}}]}),
            "the results are in other files; have the tool write them into one",
            '{"results": [{"location"',
            id="elsewhere",
        ),
        pytest.param(
            log() | {"inlineExternalProperties": [{"results": []}]},
            "it has results outside of its runs",
            '[{"results": []}]',
            id="outside",
        ),
        pytest.param(
            {"version": "2.1.0", "runs": None},
            "no report of SARIF: Expected `array`, got `null` (runs)",
            "null",
            id="runs",
        ),
        pytest.param(
            log(7), "no report of SARIF: Expected `object`, got `int` (runs[0].results[0])", "7]", id="result"
        ),
    ],
)
def test_results_that_are_not_known_are_no_report(value, why, at):
    assert read(value) == Unreadable(why, 1, json.dumps(value).index(at) + 1)


def test_a_tool_that_failed_and_lists_results_is_read():
    assert only(log({"ruleId": "A"}, invocations=[{"executionSuccessful": False}])) == ("A", "error")


def test_other_parts_in_other_files_are_no_matter():
    assert only(log({"ruleId": "A"}, externalPropertyFileReferences={"artifacts": []})) == ("A", "error")


def test_an_object_with_runs_alone_is_not_taken_for_it():
    assert read({"runs": []}) == Unreadable("JSON, but no known report")


@table("share", [0.1, 0.5, 0.9, 0.99])
def test_half_a_report_is_none(share):
    data = json.dumps(log({"ruleId": "A"}, {"ruleId": "B"})).encode()
    for name in (None, "sarif"):
        result = registry.read(data[: int(len(data) * share)], format=name)
        assert isinstance(result, Unreadable)
        assert (result.line, result.why[:14]) == (1, "malformed JSON")


@table(
    ("level", "results", "is_read"),
    [("error", [], False), ("error", [{"ruleId": "A"}], True), ("warning", [], True), (None, [], True)],
)
def test_an_error_of_the_tool_without_a_result_is_no_clean_report(level, results, is_read):
    report = log(*results)
    report["runs"][0]["invocations"] = [{"toolExecutionNotifications": [{"level": level}]}]
    assert isinstance(read(report), LintReport) is is_read
