"""Reports of a kind add up."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import (
    EMPTY,
    SEVERITIES,
    Counts,
    CoverageReport,
    DeclaredCounts,
    LintReport,
    TestReport,
    TypeReport,
    Unreadable,
    add_tests,
)
from tests.tables import table


def test_messages_and_what_did_not_load_add_up_and_a_message_goes_with_its_failure():
    one = TestReport({"a": FAILED, "b": FAILED}, messages={"a": "1", "b": "2"}, not_loaded={"x.py": "no"})
    two = TestReport({"a": PASSED, "b": FAILED}, messages={"b": "3"}, not_loaded={"x.py": "still no", "y.py": "nor"})
    both = one + two
    assert both.messages == {"b": "3"}
    assert both.not_loaded == {"x.py": "no", "y.py": "nor"}
    assert (both.results.messages, both.results.not_loaded) == (both.messages, both.not_loaded)


def test_no_more_messages_are_kept_than_somebody_reads():
    many = {str(number): FAILED for number in range(150)}
    more = {f"more {number}": FAILED for number in range(150)}
    both = TestReport(many, messages=dict.fromkeys(many, "x")) + TestReport(more, messages=dict.fromkeys(more, "x"))
    assert len(both.messages) == 200


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
    one = TestReport(outcomes={"a": PASSED}, durations={"a": 1.0}, declared=DeclaredCounts(tests=1), contradiction="x")
    two = TestReport(
        outcomes={"b": FAILED}, in_error=frozenset({"b"}), declared=DeclaredCounts(tests=2), contradiction="y"
    )
    both = one + two
    assert list(both.outcomes.items()) == [("a", PASSED), ("b", FAILED)]
    assert (both.durations, both.in_error) == ({"a": 1.0}, {"b"})
    assert both.declared == DeclaredCounts(tests=3)
    assert both.contradiction == "x; y"
    assert not both.rerun


@table(
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


def test_tests_without_names_count_but_are_nobody():
    unnamed = TestReport(unnamed=Counts(passed=1, failed=2, errors=3, skipped=4), note="x", skipped_lines=1)
    assert (unnamed.tests, unnamed.passed, unnamed.failed, unnamed.errors, unnamed.skipped) == (10, 1, 2, 3, 4)
    assert unnamed.results is None
    both = unnamed + TestReport(outcomes={"a": PASSED}) + unnamed
    assert (both.tests, both.passed, both.failed, both.errors, both.skipped) == (21, 3, 4, 6, 8)
    assert (both.results, both.note, both.skipped_lines) == (None, "x", 2)


def test_no_test_report_at_all_adds_up_to_none():
    assert add_tests(()) == TestReport()


def test_half_a_declared_total_is_none():
    assert (DeclaredCounts(tests=1) + DeclaredCounts()).tests is None
    assert DeclaredCounts(failures=1) + DeclaredCounts(failures=2) == DeclaredCounts(failures=3)


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
    one = LintReport(findings={("E1", "error"): 1, ("W1", "warning"): 5}, suppressed=4, skipped_lines=1)
    both = one + LintReport(findings={("E1", "error"): 1, ("E1", "note"): 2}, suppressed=1, contradiction="x")
    assert both.findings == {("E1", "error"): 2, ("E1", "note"): 2, ("W1", "warning"): 5}
    assert (both.suppressed, both.skipped_lines, both.contradiction) == (5, 1, "x")
    assert (both.results, both.errors, both.warnings, both.notes) == (9, 2, 5, 2)


OVERRIDES = {"E": "error", "E5": "note", "E501": "none", "W": "error"}


@table(
    ("code", "severity", "expected"),
    [
        ("E1", "warning", "error"),
        ("E52", "error", "note"),
        ("E501", "error", "none"),
        ("W1", "note", "error"),
        ("D1", "note", "note"),
        ("e1", "warning", "warning"),
        ("", "warning", "warning"),
        ("W1", "none", "none"),
    ],
)
def test_the_longest_prefix_of_a_code_overrides_its_severity(code, severity, expected):
    report = LintReport(findings={(code, severity): 3}, suppressed=1).with_severity(OVERRIDES)
    assert report == LintReport(findings={(code, expected): 3}, suppressed=1)


def test_findings_of_a_code_that_come_to_one_severity_are_added():
    report = LintReport(findings={("E1", "error"): 1, ("E1", "warning"): 2})
    assert report.with_severity({"": "note"}).findings == {("E1", "note"): 3}
    assert report.with_severity({}) == report


LINT_REPORTS = st.builds(
    LintReport,
    findings=st.dictionaries(
        st.tuples(st.text("EFW15", max_size=3), st.sampled_from(SEVERITIES)), st.integers(1, 5), max_size=5
    ),
)
PREFIXES = st.dictionaries(st.text("EFW15", max_size=3), st.sampled_from(SEVERITIES), max_size=4)


def codes_of(report):
    """Return the code of each finding."""
    return Counter(code for (code, _), number in report.findings.items() for _ in range(number))


@given(LINT_REPORTS, LINT_REPORTS, PREFIXES)
def test_overriding_loses_no_finding_and_goes_with_adding(one, other, overrides):
    changed = one.with_severity(overrides)
    assert codes_of(changed) == codes_of(one)
    assert (one + other).with_severity(overrides) == changed + other.with_severity(overrides)


def test_type_reports_add_up():
    one = TypeReport(errors=2, declared_errors=2, stopped=True, contradiction="x")
    two = TypeReport(errors=1, warnings=1, notes=1, skipped_lines=1, declared_errors=1)
    assert one + two == TypeReport(
        errors=3, warnings=1, notes=1, skipped_lines=1, declared_errors=3, stopped=True, contradiction="x"
    )
    assert (one + TypeReport(errors=1)).declared_errors is None


@table(
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
