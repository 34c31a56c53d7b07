"""The gate's verdict: CRITICAL or class regression, else what gave nothing, else pass; a regression wins."""

import pytest

from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.metrics import BY_NAME, TestResults
from ralph_tracker.iteration.gate_worktree import FailingTests, gate_of, list_failing, metric_lines
from ralph_tracker.measure.report_totals import MetricSource

NAMES = {f"t{number}": "passed" for number in range(10)}
# id: what is measured after a steady baseline → verdict, reasons
VERDICTS = {
    "the same": ({}, "pass", ()),
    "better": ({"coverage_percentage": 90.0}, "pass", ()),
    "a test less": (
        {"test_count": 9, "tests_passed": 9},
        "regression",
        ("test_deletion: Test count decreased from 10 to 9", "class regression: test_count 10→9"),
    ),
    "a test broken": (
        {"tests_passed": 9, "tests_failed": 1},
        "regression",
        (
            (
                "working_tests_failing: Previously passing tests now failing "
                "(passed 10→9, failed 0→1; names are not known)"
            ),
            "class regression: pass_rate 100→90",
        ),
    ),
    "class alone": (
        {"lint_errors": 6},
        "regression",
        ("class regression: error_count 0→6",),
    ),
    "HIGH alone is no reason": ({"coverage_percentage": 78.0, "file_count": 4}, "pass", ()),
    "something absent": (
        {"coverage_percentage": None},
        "not_measured",
        ("coverage could not be measured: no coverage_percentage in the metrics handed in",),
    ),
    "both": (
        {"test_count": 9, "tests_passed": 9, "build_status": None},
        "regression",
        (
            "test_deletion: Test count decreased from 10 to 9",
            "class regression: test_count 10→9",
            "build could not be measured: no build_status in the metrics handed in",
        ),
    ),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_the_verdict_and_why(driven, case):
    changes, verdict, reasons = VERDICTS[case]
    driven.start()
    found = driven.gate(**changes)
    assert (found.verdict, found.reasons, found.compared_with) == (verdict, reasons, 0)
    assert (found.next_step is None) == (verdict == "pass")


def test_the_tasks_of_the_plan_count_beside_metrics_that_are_handed_in(driven):
    (driven.tracker.root / "fix_plan.md").write_text("- [x] one\n- [ ] two\n")
    driven.start()
    assert driven.gate().record.plan == (1, 1)


def test_a_score_that_fell_is_named_where_none_of_the_four_is_known(driven):
    driven.tracker.pre_loop({"quality_score": 0.8})
    unscored = dict.fromkeys(name for name in BY_NAME if name != "pass_rate")
    from_score = driven.gate(**unscored, quality_score=0.5)
    assert from_score.reasons == ("class regression: score 50 %",)
    assert from_score.measures == ()


def test_what_was_deleted_in_an_earlier_iteration_stays_a_regression_until_accepted(driven):
    driven.start()
    driven.turn(test_count=9, tests_passed=9)
    again = driven.gate(test_count=9, tests_passed=9)
    assert (again.verdict, again.record.classification, again.compared_with) == ("regression", "plateau", 1)
    assert [again.is_new(alert) for alert in again.critical] == [False]
    assert again.next_step.endswith("`ralph-tracker accept it1-test_deletion --reason WHY` accepts it")
    driven.tracker.accept("it1-test_deletion", "it tested nothing")
    accepted = driven.gate(test_count=9, tests_passed=9)
    assert (accepted.verdict, accepted.alerts) == ("pass", ())


def test_a_gap_that_a_person_accepted_is_shown_and_passes(driven):
    driven.start()
    driven.turn(coverage_percentage=None)
    driven.tracker.accept("it1-metric_missing-coverage", "the tool is broken upstream")
    found = driven.gate(coverage_percentage=None)
    assert found.verdict == "pass"
    assert [alert.id for alert in found.accepted] == ["it1-metric_missing-coverage"]
    (gap,) = [measure for measure in found.measures if measure.why is not None]
    assert (gap.name, gap.accepted) == ("coverage", True)


def test_where_metrics_are_handed_in_each_group_of_the_loop_is_a_measure(driven):
    driven.start(type_errors=None, build_status=None)
    assert [measure.name for measure in driven.gate(type_errors=None, build_status=None).measures] == [
        "tests",
        "coverage",
        "lint",
        "code",
    ]


def test_the_tests_that_fail_are_named_in_the_document_new_ones_and_those_that_did_before(driven):
    red = NAMES | {"t1": "failed", "t2": "failed"}
    driven.start(tests=red)
    found = driven.gate(tests=red | {"t2": "passed", "t7": "failed", "t5": "failed"})
    assert found.to_dict()["failing_tests"] == {"new": ["t5", "t7"], "still": ["t1"]}


def test_without_names_nobody_knows_which_tests_fail(driven):
    driven.start(tests_passed=9, tests_failed=1)
    assert driven.gate(tests_passed=9, tests_failed=1).to_dict()["failing_tests"] is None


@pytest.fixture
def without_coverage(driven):
    """Return a record that lacks coverage."""
    driven.start()
    return driven.gate(coverage_percentage=None).record


def test_a_check_stands_for_its_group_and_its_reason_for_the_gap(without_coverage):
    checks = (MetricSource("tests", "tests"), MetricSource("cov", "coverage", "cov: exit 1"), MetricSource("all", None))
    found = gate_of(without_coverage, 0, {"coverage": "cov: exit 1"}, checks)
    assert found.unmeasured == (checks[1],)
    assert [measure.name for measure in found.measures] == ["tests", "cov", "all", "lint", "types", "build", "code"]


def test_a_gap_that_no_check_explains_stands_for_itself(without_coverage):
    checks = (MetricSource("cov", "coverage"),)
    found = gate_of(without_coverage, 0, {"coverage": "the report has no line to cover"}, checks)
    assert found.unmeasured == (MetricSource("coverage", "coverage", "the report has no line to cover"),)


def test_a_check_that_gave_nothing_is_said_though_the_loop_lacks_nothing(driven):
    driven.start()
    silent = MetricSource("extra", None, "extra: absent")
    found = gate_of(driven.gate().record, 0, {}, (silent,))
    assert (found.verdict, found.unmeasured) == ("not_measured", (silent,))


def test_the_document_names_no_id_that_nobody_can_accept(driven):
    driven.start(tests=NAMES)
    driven.turn(tests={**NAMES, "t1": "failed"})
    driven.turn(tests={**NAMES, "t1": "failed"}, coverage_percentage=None)
    driven.tracker.accept("it2-metric_missing-coverage", "known")
    document = driven.gate(tests={"t2": "passed"}, coverage_percentage=None).to_dict()
    states = {(alert["type"], alert["state"], alert["id"], alert["triggered_at"]) for alert in document["alerts"]}
    assert states >= {
        ("test_deletion", "new", None, None),
        ("working_tests_failing", "open", "it1-working_tests_failing", "iteration_1"),
        ("metric_missing", "accepted", "it2-metric_missing-coverage", "iteration_2"),
    }
    assert (document["verdict"], document["exit_code"], document["integrity"]) == ("regression", 3, None)


# id: what is measured after a steady baseline → lines that are there, names that are not
METRIC_LINES = {
    "all known": (
        {},
        {"METRIC test_count=10", "METRIC coverage_percentage=80.0", "METRIC error_count=0"},
        {"build_status"},
    ),
    "a regression has its numbers": (
        {"test_count": 9, "tests_passed": 9},
        {"METRIC test_count=9", "METRIC pass_rate=100.0"},
        set(),
    ),
    "what is unknown is left out, and the scores with it": (
        {"coverage_percentage": None},
        {"METRIC test_count=10"},
        {"coverage_percentage", "adjusted_score", "quality_score"},
    ),
}


@pytest.mark.parametrize("case", METRIC_LINES)
def test_metric_lines_hold_what_was_measured_and_no_more(driven, case):
    changes, there, absent = METRIC_LINES[case]
    driven.start()
    found = driven.gate(**changes)
    lines = metric_lines(found)
    names = {line.removeprefix("METRIC ").partition("=")[0] for line in lines}
    assert there <= set(lines)
    assert names.isdisjoint(absent)
    assert names <= {"adjusted_score", "quality_score", *found.record.metrics.known_values()}
    assert {"adjusted_score", "quality_score"} <= names or absent


def test_metric_lines_of_a_loop_whose_tests_did_not_run_have_no_score(driven):
    driven.start()
    found = driven.gate(**dict.fromkeys(["test_count", "tests_passed", "tests_failed"]))
    assert not [line for line in metric_lines(found) if "score" in line and "complexity" not in line]


def test_no_names_is_unknown_and_no_failure_is_none():
    known = KnownTests({"a": "failed"})
    assert list_failing(known, None) is None
    assert list_failing(known, TestResults({"a": "passed", "b": "skipped"})) == FailingTests()


def test_what_failed_on_the_line_before_fails_still_and_all_else_is_new():
    known = KnownTests({"b": "failed", "a": "failed", "broke": "passed", "skipped": "skipped"}, {"came back": "failed"})
    now = dict.fromkeys(("b", "a", "came back", "broke", "skipped", "added"), "failed")
    found = list_failing(known, TestResults(now | {"fine": "passed"}))
    assert found.still == ("a", "b", "came back")
    assert found.new == ("added", "broke", "skipped")
