"""The JSON reports of ShellCheck, hadolint and Stylelint."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from tests.tables import table


def read(value: object) -> LintReport | Unreadable:
    result = registry.read(json.dumps(value).encode())
    assert isinstance(result, LintReport | Unreadable)
    return result


def comment(level: str, code: int = 2086) -> dict[str, object]:
    place = {"file": "a.sh", "line": 1, "endLine": 1, "column": 1, "endColumn": 2}
    return {**place, "level": level, "code": code, "message": "m", "fix": None}


def finding(level: object, code: object = "DL3006") -> dict[str, object]:
    return {"code": code, "column": 1, "file": "Dockerfile", "level": level, "line": 1, "message": "m"}


def sheet(*warnings: dict[str, object], **more: object) -> dict[str, object]:
    return {"source": "a.css", "invalidOptionWarnings": [], "warnings": list(warnings), "errored": False, **more}


LEVELS = [("error", "error"), ("warning", "warning"), ("info", "note"), ("style", "note"), ("odd", "warning")]


@table(("level", "severity"), LEVELS)
def test_a_comment_of_shellcheck(level, severity):
    assert read([comment(level)]).findings == {("SC2086", severity): 1}
    assert read({"comments": [comment(level)]}).findings == {("SC2086", severity): 1}


@table(("level", "severity"), [*LEVELS, ("ignore", "none"), (None, "warning")])
def test_a_finding_of_hadolint(level, severity):
    assert read([finding(level)]).findings == {("DL3006", severity): 1}


@table(("given", "severity"), [("error", "error"), ("warning", "warning"), (None, "warning")])
def test_a_warning_of_stylelint(given, severity):
    assert read([sheet(), sheet({"rule": "r", "severity": given})]).findings == {("r", severity): 1}


def test_what_stylelint_cannot_parse_is_an_error():
    assert read([sheet(parseErrors=[{}, {}])]).findings == {("parseError", "error"): 2}
    assert read([sheet(parseErrors=[])]) == LintReport()


def test_a_rule_that_stylelint_could_not_run_makes_it_unreadable():
    result = read([sheet(), sheet(invalidOptionWarnings=[{"text": "Unknown rule a"}])])
    assert result == Unreadable("Stylelint could not run a rule: Unknown rule a")


def test_no_comment_is_a_clean_report():
    assert read({"comments": []}) == LintReport()


@table(
    ("value", "tool"),
    [
        ([comment("error"), {}], "ShellCheck"),
        ({"comments": [{"text": "x"}]}, "ShellCheck"),
        ({"comments": 3}, "ShellCheck"),
        ([finding("error"), comment("error") | {"file": "x"}, 5], "hadolint"),
        ([sheet(), {"source": "b.css"}], "Stylelint"),
    ],
)
def test_another_shape_is_unreadable_and_says_where(value, tool):
    result = read(value)
    assert isinstance(result, Unreadable)
    assert result.why.startswith(f"no report of {tool}: ")
    assert (result.line, result.column) > (0, 0)


@table("value", [{"comments": [], "more": 1}, [{"source": "a.css", "warnings": []}], [{"level": "error"}]])
def test_what_only_looks_alike_is_no_report(value):
    assert read(value) == Unreadable("JSON, but no known report")
