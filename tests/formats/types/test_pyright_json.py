"""Pyright's JSON report: diagnostics and their totals."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TypeReport, Unreadable
from tests.tables import table


def read(*severities: object, **summary: object) -> TypeReport | Unreadable:
    totals = {"filesAnalyzed": 2, "errorCount": severities.count("error"), "warningCount": severities.count("warning")}
    diagnostics = [{"file": "a.py", "severity": each, "message": "m"} for each in severities]
    value = {"version": "1", "generalDiagnostics": diagnostics, "summary": totals | summary}
    result = registry.read(json.dumps(value).encode())
    assert isinstance(result, TypeReport | Unreadable)
    return result


def test_diagnostics_are_counted_by_severity():
    report = read("error", "error", "warning", "information", "odd")
    assert report == TypeReport(errors=2, warnings=1, notes=1, declared_errors=2)


def test_nothing_found_in_some_files_is_clean():
    assert read() == TypeReport(declared_errors=0)


def test_totals_that_are_not_what_is_listed_are_told_and_the_greater_counts():
    report = read("error", "warning", errorCount=3, warningCount=0)
    assert (report.errors, report.warnings, report.declared_errors) == (3, 1, 3)
    assert report.contradiction == "declared errors: 3, warnings: 0; listed errors: 1, warnings: 1"
    assert read("error", "error", errorCount=1).errors == 2


def test_a_run_that_analysed_no_file_is_no_report():
    data = b'{"generalDiagnostics": [], "summary": {"errorCount": 0, "warningCount": 0, "filesAnalyzed": 0}}'
    assert registry.read(data) == Unreadable("Pyright analysed no file", 1, data.index(b"0}}") + 1)


@table("count", [-1, "2", None, 1.5])
def test_a_total_that_is_no_count_makes_it_unreadable(count):
    result = read("error", errorCount=count)
    assert isinstance(result, Unreadable)
    assert (result.why[:22], result.line) == ("no report of Pyright: ", 1)


def test_an_item_that_is_no_diagnostic_makes_it_unreadable():
    result = registry.read(b'{"generalDiagnostics": [{}], "summary": {}}')
    why = "no report of Pyright: Object missing required field `severity` (generalDiagnostics[0])"
    assert result == Unreadable(why, 1, 25)
