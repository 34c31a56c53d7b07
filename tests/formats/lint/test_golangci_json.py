"""golangci-lint's JSON report: most linters of it give no severity."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from tests.tables import table


def issue(linter: str, severity: object = "") -> dict[str, object]:
    return {"FromLinter": linter, "Text": "t", "Severity": severity}


def text(*issues: object, **report: object) -> str:
    return json.dumps({"Issues": list(issues), "Report": {"Linters": [], **report}})


def read(data: str) -> LintReport | Unreadable:
    result = registry.read(data.encode())
    assert isinstance(result, LintReport | Unreadable)
    return result


@table(
    ("given", "severity"),
    [("", "warning"), (None, "warning"), ("error", "error"), ("high", "error"), ("medium", "warning"), ("low", "note")],
)
def test_the_severity_of_an_issue(given, severity):
    assert read(text(issue("gosec", given))).findings == {("gosec", severity): 1}


@table("after", ["\n", "\n2 issues:\n* gosec: 2\n", "\n0 issues.\n"])
@table("before", ["", "\n"])
def test_lines_around_the_report_are_no_matter(before, after):
    assert read(before + text(issue("gosec"), issue("gosec")) + after).findings == {("gosec", "warning"): 2}


def test_no_issue_is_a_clean_report():
    assert read(text()) == read('{"Issues": null, "Report": {}}') == LintReport()


def test_a_run_that_failed_is_no_report():
    result = read(text(Error="no go files to analyze"))
    assert result == Unreadable("golangci-lint failed: no go files to analyze", 1, 51)


def test_a_report_that_is_cut_short_is_none():
    whole = text(issue("gosec"))
    result = read(whole[:-9])
    assert isinstance(result, Unreadable)
    assert result.line == 1
    result = registry.read(whole[:-9].encode(), format="golangci-json")
    assert result == Unreadable("malformed JSON: cut short", 1, len(whole) - 8)


def test_another_shape_is_unreadable():
    result = read('{"Issues": [{}], "Report": {}}')
    assert result == Unreadable(
        "no report of golangci-lint: Object missing required field `FromLinter` (Issues[0])", 1, 13
    )
