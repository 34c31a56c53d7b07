"""Where the findings of linters and type checkers are: as many as are counted, each with its file and line."""

import json
from pathlib import Path

import pytest

from ralph_tracker.formats.parsed_report import (
    Diagnostic,
    LintReport,
    TypeReport,
    code_text,
    first_line,
    overridden_severity,
    severity_of,
    severity_of_word,
)
from ralph_tracker.formats.registry import FORMATS, diagnostics, read
from tests.tables import table

REPORTS = Path(__file__).parents[2] / "fixtures" / "reports"
LISTED = [
    pytest.param(path, each.name, id=f"{each.name}-{path.parent.name}")
    for each in FORMATS
    if each.kind in ("lint", "types")
    for path in sorted((REPORTS / each.name).glob("*/report.*"))
    if isinstance(read(path.read_bytes(), format=each.name), LintReport | TypeReport)
]
# Findings that their reports place nowhere: options that are wrong, files that are not there.
PLACELESS = {"mypy-text-fatal-on-stderr", "tsc-text-unknown-option", "tsc-text-absent-file"}


@pytest.mark.parametrize(("path", "name"), LISTED)
def test_every_error_and_warning_that_is_counted_is_listed(path, name, request):
    report = read(path.read_bytes(), format=name)
    counted = report.errors + report.warnings
    found = diagnostics(path.read_bytes(), format=name)
    assert found == diagnostics(path.read_bytes())
    if request.node.callspec.id in PLACELESS:
        assert not found
    else:
        assert (len(found), sum(each.severity == "error" for each in found)) == (counted, report.errors)
    assert all(each.file and each.message for each in found)


def test_a_finding_is_written_with_its_place_code_and_message():
    data = b"box.py:3: error: Incompatible return value  [return-value]\n"
    assert [each.text for each in diagnostics(data)] == ["box.py:3 return-value Incompatible return value"]


def test_what_is_unknown_is_left_out_of_the_text():
    assert Diagnostic("box.py", None, "", "broken").text == "box.py broken"


def test_the_severity_can_be_overridden_by_the_code():
    data = (REPORTS / "ruff-json" / "findings" / "report.json").read_bytes()
    assert {each.severity for each in diagnostics(data, severity={"": "warning"})} == {"warning"}


@table(
    "data",
    [b"", b"[", b'{"runs": [{"results": [{}]}], "version": "2.1.0"}', b"<checkstyle><file>", b"all is well\n"],
    ids=["empty", "half", "no-place", "half-xml", "no-report"],
)
def test_what_has_no_place_lists_nothing(data):
    assert diagnostics(data) == ()


def test_a_report_of_another_kind_lists_nothing():
    assert diagnostics(b"TAP version 13\n1..1\nok 1\n") == ()
    assert diagnostics(b"x", format="no-such") == ()


def test_a_finding_whose_place_has_another_shape_has_no_line():
    rows = [
        {"filename": "a.py", "location": {"row": 1}, "end_location": {}, "code": "F401", "message": "m"},
        {"filename": "a.py", "location": 7, "end_location": {}, "code": "F401", "message": "m"},
    ]
    assert [each.line for each in diagnostics(json.dumps(rows).encode())] == [1, None]


def test_suppressed_and_informative_results_of_sarif_are_left_out():
    place = {"physicalLocation": {"artifactLocation": {"uri": "file:///p/a.py"}, "region": {"startLine": 4}}}
    results = [
        {"ruleId": "A1", "locations": [place], "message": {"text": "one"}},
        {"ruleId": "A2", "locations": [place], "message": {"text": "two"}, "suppressions": [{"kind": "inSource"}]},
        {"ruleId": "A3", "locations": [place], "message": {"text": "three"}, "kind": "pass"},
    ]
    data = json.dumps({"version": "2.1.0", "runs": [{"results": results}]}).encode()
    assert [each.text for each in diagnostics(data)] == ["/p/a.py:4 A1 one"]


def test_only_the_first_line_of_a_message_is_kept():
    assert first_line("\n  wrong \nsecond") == "wrong"
    assert len(first_line("x" * 1000)) == 300
    assert first_line(None) == ""


@table(
    ("words", "expected"),
    [
        (["error", "Error", "FATAL", "critical", "high"], "error"),
        (["warning", "WARN", "medium"], "warning"),
        (["note", "info", "information", "style", "help", "hint", "low", "convention", "refactor"], "note"),
        (["none", "ignore"], "none"),
        (["", "odd", None, 2, True, ["error"]], None),
    ],
)
def test_a_word_that_is_given(words, expected):
    assert {severity_of_word(word) for word in words} == {expected}


@table(
    ("code", "expected"),
    [
        ("E501", "error"),
        ("F0001", "error"),
        ("W291", "warning"),
        ("C0114", "warning"),
        ("ERA001", "warning"),
        ("errcheck", "warning"),
        ("F", "warning"),
        ("", "warning"),
    ],
)
def test_without_a_word_the_code_decides(code, expected):
    assert severity_of(None, code) == severity_of("", code) == expected
    assert severity_of("info", code) == "note"


@table(("code", "expected"), [("E1", "E1"), (2086, "2086"), (None, ""), ({}, "")])
def test_a_code_is_text(code, expected):
    assert code_text(code) == expected


def test_nothing_is_overridden_without_a_fitting_prefix():
    assert overridden_severity("E1", {}) is None
    assert overridden_severity("E1", {"E10": "note", "W": "error"}) is None
    assert overridden_severity("E1", {"": "note"}) == "note"
