"""Reports of a kind add up."""

import pytest

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.report import EMPTY, CoverageReport, LintReport, TestReport, TypeReport, Unreadable
from ralph_tracker.formats.tests.report import Declared, add_tests


def test_counts_tell_errors_from_failures():
    outcomes = {"a": PASSED, "b": FAILED, "c": FAILED, "d": SKIPPED, "e": FAILED}
    report = TestReport(outcomes=outcomes, in_error=frozenset({"c"}))
    assert (report.tests, report.passed, report.failed, report.errors, report.skipped) == (5, 1, 2, 1, 1)


def test_a_report_hands_its_identities_to_the_core():
    report = TestReport(outcomes={"a": PASSED}, durations={"a": 1.5}, flaky=frozenset({"a"}))
    assert report.results.outcomes == {"a": "passed"}
    assert report.results.durations == {"a": 1.5}
    assert report.results.flaky == {"a"}


def test_test_reports_add_up():
    one = TestReport(outcomes={"a": PASSED}, durations={"a": 1.0}, declared=Declared(tests=1), contradiction="x")
    two = TestReport(outcomes={"b": FAILED}, in_error=frozenset({"b"}), declared=Declared(tests=2), contradiction="y")
    both = one + two
    assert list(both.outcomes.items()) == [("a", PASSED), ("b", FAILED)]
    assert (both.durations, both.in_error) == ({"a": 1.0}, {"b"})
    assert both.declared == Declared(tests=3)
    assert both.contradiction == "x; y"
    assert not both.rerun


@pytest.mark.parametrize(
    ("first", "then", "outcome", "rerun", "flaky"),
    [
        (PASSED, PASSED, PASSED, True, False),
        (FAILED, FAILED, FAILED, True, False),
        (FAILED, PASSED, PASSED, True, True),
        (PASSED, FAILED, FAILED, True, True),
        (SKIPPED, PASSED, PASSED, False, False),
        (PASSED, SKIPPED, PASSED, False, False),
        (FAILED, SKIPPED, FAILED, False, False),
        (SKIPPED, SKIPPED, SKIPPED, False, False),
    ],
)
def test_an_id_in_two_reports_counts_once_and_the_last_run_wins(first, then, outcome, rerun, flaky):
    both = TestReport(outcomes={"a": first}, durations={"a": 1.0}) + TestReport(
        outcomes={"a": then}, durations={"a": 2.0}
    )
    assert both.outcomes == {"a": outcome}
    assert (bool(both.rerun), bool(both.flaky)) == (rerun, flaky)
    assert both.durations == {"a": 1.0 if then == SKIPPED else 2.0}


def test_an_error_lasts_until_the_test_runs_again():
    error = TestReport(outcomes={"a": FAILED}, in_error=frozenset({"a"}))
    assert (error + TestReport(outcomes={"a": SKIPPED})).errors == 1
    assert (error + TestReport(outcomes={"a": FAILED})).errors == 0
    assert (TestReport(outcomes={"a": FAILED}) + error).errors == 1


def test_what_one_report_calls_flaky_stays_so():
    flaky = TestReport(outcomes={"a": PASSED}, rerun=frozenset({"a"}), flaky=frozenset({"a"}))
    both = flaky + TestReport(outcomes={"b": PASSED})
    assert both.flaky == both.rerun == {"a"}


def test_no_test_report_at_all_adds_up_to_none():
    assert add_tests(()) == TestReport()


def test_half_a_declared_total_is_none():
    assert (Declared(tests=1) + Declared()).tests is None
    assert Declared(failures=1) + Declared(failures=2) == Declared(failures=3)


def test_coverage_adds_up_line_by_line():
    one = CoverageReport(lines_covered=1, lines_total=2, percent=50.0)
    two = CoverageReport(lines_covered=2, lines_total=2, percent=100.0)
    assert one + two == CoverageReport(lines_covered=3, lines_total=4, percent=75.0)


def test_coverage_of_nothing_changes_nothing():
    nothing = CoverageReport(lines_covered=0, lines_total=0, percent=None)
    some = CoverageReport(lines_covered=1, lines_total=3, percent=33.3)
    assert nothing + some == some + nothing == some
    assert (nothing + nothing).percent is None


def test_findings_add_up_by_code():
    one = LintReport(errors=1, warnings=2, notes=3, suppressed=4, codes={"E1": 1, "W1": 5})
    both = one + LintReport(errors=1, codes={"E1": 1, "E2": 1})
    assert both == LintReport(errors=2, warnings=2, notes=3, suppressed=4, codes={"E1": 2, "W1": 5, "E2": 1})
    assert both.results == 7


def test_type_reports_add_up():
    one = TypeReport(errors=2, declared_errors=2, stopped=True, contradiction="x")
    two = TypeReport(errors=1, warnings=1, notes=1, skipped_lines=1, declared_errors=1)
    assert one + two == TypeReport(
        errors=3, warnings=1, notes=1, skipped_lines=1, declared_errors=3, stopped=True, contradiction="x"
    )
    assert (one + TypeReport(errors=1)).declared_errors is None


@pytest.mark.parametrize(
    ("unreadable", "text"),
    [
        (Unreadable("why"), "why"),
        (Unreadable("why", 3), "why (line 3)"),
        (Unreadable("why", 3, 7), "why (line 3, column 7)"),
    ],
)
def test_unreadable_says_why_and_where(unreadable, text):
    assert str(unreadable) == text
    assert not unreadable.empty


def test_nothing_at_all_is_told_apart():
    assert Unreadable(EMPTY).empty
