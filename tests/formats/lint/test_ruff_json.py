"""Ruff's JSON report: findings by severity and by code."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from tests.tables import table


def finding(code: str | None, **more: object) -> dict[str, object]:
    place = {"row": 1, "column": 1}
    return {"code": code, "filename": "a.py", "location": place, "end_location": place, "message": "m", **more}


def read(*findings: object, **more) -> LintReport | Unreadable:
    result = registry.read(json.dumps(findings).encode(), **more)
    assert isinstance(result, LintReport | Unreadable)
    return result


@table(
    ("code", "severity"),
    [
        ("E501", "errors"),
        ("F401", "errors"),
        ("E999", "errors"),
        (None, "errors"),
        ("invalid-syntax", "errors"),
        ("W291", "warnings"),
        ("D100", "warnings"),
        ("ERA001", "warnings"),
        ("FBT001", "warnings"),
        ("EM101", "warnings"),
    ],
)
@table("given", [{}, {"severity": None}, {"severity": ""}, {"severity": "odd"}])
def test_without_a_severity_the_code_decides(code, severity, given):
    report = read(finding(code, **given))
    assert (getattr(report, severity), report.results) == (1, 1)


@table(
    ("given", "severity"),
    [("error", "errors"), ("Error", "errors"), ("fatal", "errors"), ("warning", "warnings"), ("info", "notes")],
)
@table("code", ["E501", "W291"])
def test_a_given_severity_counts(code, given, severity):
    report = read(finding(code, severity=given))
    assert (getattr(report, severity), report.results) == (1, 1)


def test_findings_are_counted_by_code():
    found = read(finding("E501"), finding("E501"), finding(None)).findings
    assert found == {("E501", "error"): 2, ("invalid-syntax", "error"): 1}


def test_an_empty_array_is_a_clean_report():
    assert read() == LintReport()


def test_an_item_that_is_no_finding_makes_it_unreadable():
    whole = len(json.dumps(finding("E501")))
    missing = read(finding("E501"), {"code": "E501"})
    why = "no report of ruff: Object missing required field `filename` ([1])"
    assert missing == Unreadable(why, 1, whole + 4)
    number = read(finding("E501"), 7)
    assert number == Unreadable("no report of ruff: Expected `object`, got `int` ([1])", 1, whole + 4)


def test_another_array_is_no_report_of_ruff():
    assert read({"code": "E501"}) == Unreadable("JSON, but no known report")
    assert registry.read(b"{}", format="ruff-json") == Unreadable(
        "no report of ruff: Expected `array`, got `object`", 1, 1
    )
