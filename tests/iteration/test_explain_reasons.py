"""Why an alert was raised: the rule in words with its numbers; and what a rule of the decision table asks for."""

from ralph_tracker.core.alert_types import TYPES
from ralph_tracker.core.thresholds import AlertThresholds, LoopLimits, Thresholds
from ralph_tracker.iteration.diff import recorded_values
from ralph_tracker.iteration.explain import condition_of, previous_values, why_raised
from tests.tables import table

RISE = "errors may rise by at most 5"
RECORD = {
    "testing": {
        "test_count": 9,
        "tests_passed": 7,
        "tests_failed": 2,
        "coverage_percentage": 72.0,
        "tests_skipped": None,
    },
    "quality": {"error_count": 20, "build_status": "success"},
    "codebase": {"file_count": 4, "loc_total": 200, "complexity_score": 4.5},
    "deltas": {
        "from_previous": {
            "test_count_delta": -1,
            "tests_passed_delta": -2,
            "tests_failed_delta": 1,
            "coverage_delta": -3.0,
            "error_count_delta": 15,
            "file_count_delta": -1,
            "loc_total_delta": 100,
            "complexity_score_delta": 2.5,
        }
    },
}


@table(
    ("kind", "tests", "words"),
    [
        ("test_deletion", 1, "the count of tests must not fall: before 10, now 9"),
        ("working_tests_failing", 1, "a test that passed before must not fail: 1 does"),
        ("working_tests_failing", 3, "a test that passed before must not fail: 3 do"),
        (
            "working_tests_failing",
            None,
            "fewer tests must not pass while more fail: passed before 9, now 7; failed before 1, now 2",
        ),
        (
            "functionality_loss",
            None,
            "passing tests must not be deleted, skipped or renamed away: before 9, now 7",
        ),
        (
            "coverage_regression",
            None,
            "coverage may fall by at most 2 points (alerts.coverage_drop): before 75%, now 72%",
        ),
        (
            "error_increase",
            None,
            RISE + " (alerts.error_increase): before 5, now 20; 10 at the size before, 100 of 200 lines",
        ),
        ("file_deletion", None, "the count of source files must not fall: before 5, now 4"),
        (
            "complexity_explosion",
            None,
            "complexity may grow by at most 50% (alerts.complexity_growth): before 2, now 4.5; limit 3",
        ),
        ("tests_replaced", 2, "tests must not disappear, though others came: 2 gone"),
        (
            "flaky_test",
            2,
            "a test that passed before must not fail, unless it is known to be flaky or passes when repeated: 2 did",
        ),
        ("beauty", None, ""),
    ],
)
def test_an_alert_is_explained_with_the_rule_and_its_numbers(kind, tests, words):
    alert = {"type": kind} | ({} if tests is None else {"tests_total": tests})
    assert why_raised(alert, RECORD, Thresholds()) == words


def test_every_type_of_alert_has_a_reason():
    assert [kind.name for kind in TYPES if not why_raised({"type": kind.name}, RECORD, Thresholds())] == []


@table("kind", [kind.name for kind in TYPES])
def test_a_record_without_numbers_is_explained_by_the_rule_alone(kind):
    words = why_raised({"type": kind}, {}, Thresholds())
    assert words
    assert "None" not in words
    assert not words.endswith(": ")


def test_the_thresholds_are_those_of_the_loop():
    thresholds = Thresholds()._replace(
        alerts=AlertThresholds(coverage_drop=0.5, error_increase=1, complexity_growth=0.25)
    )
    told = [why_raised({"type": kind}, {}, thresholds) for kind in ("coverage_regression", "error_increase")]
    assert told == [
        "coverage may fall by at most 0.5 points (alerts.coverage_drop)",
        "errors may rise by at most 1 (alerts.error_increase)",
    ]
    assert "limit 2.5" in why_raised({"type": "complexity_explosion"}, RECORD, thresholds)


def test_code_that_did_not_grow_leaves_the_errors_as_they_are():
    shrunk = RECORD | {"deltas": {"from_previous": {"error_count_delta": 15, "loc_total_delta": -1}}}
    assert why_raised({"type": "error_increase"}, shrunk, Thresholds()).endswith(": before 5, now 20")


def test_an_infinite_loop_says_from_which_iteration_on_it_ends_the_loop():
    assert "after iteration 10 this ends" in why_raised({"type": "infinite_loop"}, {}, Thresholds())


def test_values_are_taken_from_the_record_and_previous_ones_from_its_deltas():
    assert recorded_values(RECORD)["build_status"] == "success"
    assert "tests_skipped" not in recorded_values(RECORD)
    previous = previous_values(RECORD)
    assert (previous["coverage_percentage"], previous["test_count"]) == (75.0, 10)
    assert "build_status" not in previous
    assert previous_values({"testing": {"test_count": 3}}) == {}


@table("rule", range(12))
def test_every_rule_of_the_decision_table_has_its_condition_in_words(rule):
    assert condition_of(rule, Thresholds())


def test_a_condition_names_the_threshold_of_the_loop():
    assert condition_of(8, Thresholds()) == "evidence below 0.6 (decision.evidence)"
    assert (
        condition_of(9, Thresholds(loop=LoopLimits(target_score=0.9)))
        == "the target 0.9 is reached (loop.target_score)"
    )
    assert condition_of(99, Thresholds()) == ""
