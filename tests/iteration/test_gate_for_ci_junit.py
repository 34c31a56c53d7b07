"""The gate's verdict as JUnit XML, read back by junitparser and by our own reader."""

import pytest
from junitparser import JUnitXml

from ralph_tracker.core.alert_types import TYPES
from ralph_tracker.formats.registry import read
from ralph_tracker.iteration.gate_for_ci import CHECKS, CLASS_RULE, RULES, gate_junit
from ralph_tracker.iteration.gate_worktree import gate_of
from ralph_tracker.measure.report_totals import MetricSource

NAMES = {f"t{number}": "passed" for number in range(10)}
HOSTILE = 'a]]>"<b>&\x1b[31m\u202e\ud800\ufffe\nc'


@pytest.fixture
def bad(driven):
    """Return a gate with a new and an open CRITICAL alert, a gap, and an alert that a person accepted."""
    driven.start(tests=NAMES)
    driven.turn(tests={**NAMES, "t1": "failed"})
    driven.turn(tests={**NAMES, "t1": "failed"}, lint_errors=None)
    driven.tracker.accept("it2-metric_missing-lint", "known")
    left = {name: outcome for name, outcome in NAMES.items() if name != "t2"}
    return driven.gate(tests={**left, "t1": "failed", "t3": "failed"}, lint_errors=None, build_status=None)


def cases(document):
    (suite,) = JUnitXml.fromstring(document)
    return {(case.classname, case.name): case for case in suite}


def results(document):
    return {
        name: (type(result).__name__, result.type, result.message)
        for (_, name), case in cases(document).items()
        for result in case.result
    }


def test_each_rule_is_a_case_and_so_is_each_measure(bad):
    rules = [CLASS_RULE, *(kind.name for kind in TYPES)]
    groups = ["tests", "coverage", "lint", "types", "build", "code"]
    assert list(cases(gate_junit(bad))) == [*((RULES, rule) for rule in rules), *((CHECKS, name) for name in groups)]


def test_what_was_raised_fails_what_was_not_measured_errs_what_was_accepted_is_skipped(bad):
    found = results(gate_junit(bad))
    assert found["test_deletion"] == ("Failure", "CRITICAL", "Test count decreased from 10 to 9 (gone: t2)")
    assert found["working_tests_failing"] == (
        "Failure",
        "CRITICAL",
        "Previously passing tests now failing: t1; Previously passing tests now failing: t3",
    )
    assert found[CLASS_RULE][:2] == ("Failure", "regression")
    assert found["build"][0] == "Error"
    assert found["build"][2].startswith("could not be measured: ")
    assert found["lint"][0] == "Skipped"
    assert not {"coverage_regression", "stalled", "tests", "coverage", "types", "code"} & found.keys()


def test_an_accepted_alert_is_skipped_where_nothing_else_of_its_type_was_raised(driven):
    driven.start()
    driven.turn(lint_errors=None)
    driven.tracker.accept("it1-metric_missing-lint", "known")
    found = results(gate_junit(driven.gate(lint_errors=None)))
    assert found["metric_missing"] == ("Skipped", None, "accepted: it1-metric_missing-lint")


def test_a_failure_names_every_test(bad):
    case = cases(gate_junit(bad))[RULES, "working_tests_failing"]
    assert case.result[0].text == "t1\nt3"


def test_our_own_reader_counts_as_junitparser_does(bad):
    document = gate_junit(bad)
    (suite,) = JUnitXml.fromstring(document)
    ours = read(document)
    assert (ours.tests, ours.failed, ours.errors, ours.skipped) == (
        suite.tests,
        suite.failures,
        suite.errors,
        suite.skipped,
    )
    assert (ours.tests, ours.failed, ours.errors) == (len(TYPES) + 7, len(bad.alerts), 1)


def test_a_pass_has_no_failure(driven):
    driven.start()
    document = gate_junit(driven.gate())
    assert results(document) == {}
    (suite,) = JUnitXml.fromstring(document)
    assert {item.name: item.value for item in suite.properties()} == {
        "verdict": "pass",
        "loop_id": "ralph-001",
        "compared_with": "iteration 0",
    }


def test_text_that_xml_cannot_hold_stands_by_its_number(driven):
    driven.start()
    found = gate_of(driven.gate().record, 0, {}, (MetricSource("odd\x00", None, HOSTILE),))
    shown = 'could not be measured: a]]>"<b>&\\u001b[31m\\u202e\\ud800\\ufffe c'
    assert results(gate_junit(found)) == {"odd\\u0000": ("Error", None, shown.replace(" c", "\nc"))}
