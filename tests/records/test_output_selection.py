"""Which iteration is the output, and what it is worth against the last one (semantics § 8)."""

import pytest

from ralph_tracker.core.thresholds import SelectionThresholds, Thresholds
from ralph_tracker.records.output_selection import select
from ralph_tracker.records.questions import Question

SOURCE = "Per REF-015 (Self-Refine), select peak quality, not final iteration"
VERIFIED, QUALITY, RECENT = "highest_quality_verified", "highest_quality", "most_recent_above_threshold"


@pytest.fixture
def scored(start):
    """Run a loop of given scores; those that are named fail to build and are not verified."""

    def run(*scores, broken=(), mode=VERIFIED):
        base = {"build_status": "success"}
        thresholds = start(base=base, score=0.5).thresholds._replace(selection=SelectionThresholds(mode=mode))
        status = ["failure" if number in broken else "success" for number in range(len(scores))]
        loop = start(base=base, score=scores[0], thresholds=thresholds, build_status=status[0])
        for score, build in zip(scores[1:], status[1:], strict=True):
            loop.turn(score=score, build_status=build)
        return loop

    return run


class TestModes:
    @pytest.mark.parametrize(
        ("mode", "expected"), [(VERIFIED, 3), (QUALITY, 2), (RECENT, 3)], ids=["verified", "quality", "recent"]
    )
    def test_the_mode_that_is_asked_for_or_configured_chooses(self, scored, mode, expected):
        loop = scored(0.5, 0.6, 0.9, 0.8, broken=(2,))
        assert loop.select(mode=mode).selected.iteration == expected
        ruled = scored(0.5, 0.6, 0.9, 0.8, broken=(2,), mode=mode).select()
        assert (ruled.selected.iteration, ruled.mode) == (expected, mode)

    @pytest.mark.parametrize(
        ("score", "accepted"), [(0.7, True), (0.6999, False)], ids=["at the threshold", "below the threshold"]
    )
    def test_a_selection_below_the_threshold_is_made_and_flagged(self, scored, score, accepted):
        selection = scored(0.5, score).select()
        assert (selection.selected.iteration, selection.accepted, selection.threshold) == (1, accepted, 0.70)

    def test_of_alternatives_the_one_that_gains_most_on_the_baseline(self, start):
        rules = Thresholds()._replace(selection=SelectionThresholds(against="baseline"))
        red = dict.fromkeys("abc", "failed") | {"d": "passed"}
        loop = start(thresholds=rules, tests=red)
        for fixed in ("a", "bc", "b"):
            loop.turn(tests=red | dict.fromkeys(fixed, "passed"))
        assert [record.kept_before for record in loop.records] == [None, 0, 0, 0]
        assert [record.best.iteration for record in loop.records[1:]] == [1, 2, 2]
        assert loop.select().selected.iteration == 2
        assert start(thresholds=rules, tests=red).select().selected.iteration == 0

    def test_a_person_may_override(self, scored):
        selection = scored(0.5, 0.9, 0.8).select(iteration=2, reason="demo tomorrow")
        assert (selection.selected.iteration, selection.override_reason) == (2, "demo tomorrow")
        assert selection.rationale[0] == "Selected by a person: demo tomorrow"

    def test_an_unknown_iteration_cannot_be_chosen(self, scored):
        with pytest.raises(KeyError):
            scored(0.5, 0.9).select(iteration=7, reason="why not")

    def test_a_loop_without_a_baseline_has_nothing_to_select(self):
        with pytest.raises(ValueError, match="without a baseline"):
            select("ralph-001", [], Thresholds())

    def test_by_the_adjusted_score(self, start):
        loop = start(tests={"a": "passed", "b": "passed"}, lint_errors=3)
        loop.turn(tests=dict.fromkeys("abcd", "passed"), lint_errors=3)
        selection = loop.select()
        assert loop.records[0].quality_score == loop.records[1].quality_score
        assert selection.selected.iteration == 1
        assert selection.delta == 0.0


class TestPeak:
    def test_iterations_count_from_1(self, scored):
        assert scored(0.5, 0.9, 0.8).select().final.iteration == 2
        assert scored(0.5).select().final.iteration == 0

    @pytest.mark.parametrize(("scores", "peak"), [((0.5, 0.9, 0.8), 1), ((0.9, 0.9), 0), ((0.5, 0.7, 0.9), 2)])
    def test_the_peak_by_the_seed_s_own_score_stands_beside_it(self, scored, scores, peak):
        assert scored(*scores).select().peak_by_quality_score == peak

    def test_the_message(self, scored):
        message = scored(0.5, 0.88, 0.806).select().message
        assert message == "Selected iteration 1 (quality: 0.88 vs final 0.81)"


class TestComparison:
    @pytest.mark.parametrize(
        ("scores", "delta", "improvement"),
        [
            pytest.param((0.5, 0.88, 0.81), 0.07, 8.6, id="Example 3"),
            pytest.param((0.5, 0.8, 0.9), 0.0, 0.0, id="the last is selected"),
            pytest.param((0.5, 0.8, 0.0), 0.8, None, id="the last is worth nothing"),
            pytest.param((0.5, 0.8, 0.4), 0.4, 100.0, id="twice as good"),
        ],
    )
    def test_against_the_last(self, scored, scores, delta, improvement):
        selection = scored(*scores).select()
        assert (selection.delta, selection.improvement_percentage) == (delta, improvement)

    @pytest.mark.parametrize(
        ("scores", "broken", "wishes", "reason"),
        [
            pytest.param((0.5, 0.8, 0.9), (), {}, None, id="the last is selected"),
            pytest.param((0.5, 0.9, 0.8), (), {}, "Quality degraded after iteration 1", id="degraded"),
            pytest.param((0.5, 0.9, 0.8), (2,), {}, "Quality degraded after iteration 1", id="degraded and broken"),
            pytest.param((0.5, 0.8, 0.9), (2,), {}, "Final iteration is not verified", id="better, not verified"),
            pytest.param((0.5, 0.8, 0.8), (2,), {}, "Final iteration is not verified", id="equal, not verified"),
            pytest.param((0.5, 0.8, 0.8), (), {}, "Tie: the earlier iteration is kept", id="a tie"),
            pytest.param((0.5, 0.8, 0.79996), (), {}, "Final iteration scores 80 %, just below 80 %", id="just below"),
            pytest.param((0.5, 0.7, 0.8), (), {"iteration": 1, "reason": "so"}, None, id="a person chose a lower one"),
            pytest.param((0.5, 0.8, 0.8), (), {"iteration": 1, "reason": "so"}, None, id="a person chose an equal one"),
        ],
    )
    def test_reason_why_the_last_is_not_selected(self, scored, scores, broken, wishes, reason):
        assert scored(*scores, broken=broken).select(**wishes).why_not_final == reason


class TestDegradation:
    @pytest.mark.parametrize(
        ("scores", "pattern", "started", "after", "loss"),
        [
            pytest.param((0.5, 0.8, 0.9), "none", None, 0, "0.00%", id="the peak is the last"),
            pytest.param((0.5,), "none", None, 0, "0.00%", id="there is only the baseline"),
            pytest.param((0.5, 0.88, 0.85, 0.81), "over_refinement", 2, 2, "-7.95%", id="falling from the peak on"),
            pytest.param((0.5, 0.88, 0.8, 0.8), "over_refinement", 2, 2, "-9.09%", id="falling, then level"),
            pytest.param((0.5, 0.88, 0.88), "over_refinement", 2, 1, "0.00%", id="level with the peak"),
            pytest.param((0.5, 0.88, 0.7, 0.8), "fluctuating", 2, 2, "-9.09%", id="falling and rising"),
            pytest.param((0.5, 0.88, 0.7, 0.75, 0.7), "fluctuating", 2, 3, "-20.45%", id="rising once is enough"),
            pytest.param((0.9, 0.6), "over_refinement", 1, 1, "-33.33%", id="falling from the baseline"),
            pytest.param((0.0, 0.0), "over_refinement", 1, 1, None, id="a peak worth nothing"),
        ],
    )
    def test_after_the_peak(self, scored, scores, pattern, started, after, loss):
        found = scored(*scores).select().degradation
        assert (found.pattern, found.started, found.iterations_after_peak, found.loss) == (
            pattern,
            started,
            after,
            loss,
        )

    def test_a_lower_one_chosen_by_a_person_lost_nothing(self, scored):
        found = scored(0.5, 0.8, 0.9).select(iteration=1, reason="so").degradation
        assert (found.pattern, found.loss) == ("fluctuating", "12.50%")

    def test_the_smallest_loss_that_is_recorded_is_seen(self, scored):
        assert scored(0.5, 1.0, 0.9999).select().degradation.loss == "-0.01%"


class TestRationale:
    BASE = {"test_count": 10, "tests_passed": 10, "tests_failed": 0, "coverage_percentage": 85.0}

    def run(self, start, *turns):
        loop = start(base=self.BASE, score=0.5, coverage_percentage=60.0)
        for turn in turns:
            loop.turn(**turn)
        return loop

    def test_peak_tests_coverage_degradation_source(self, start):
        loop = self.run(
            start,
            {"score": 0.88},
            {"score": 0.85, "coverage_percentage": 83.5},
            {"score": 0.81, "coverage_percentage": 83.0},
        )
        assert loop.select().rationale == (
            "Iteration 1 achieved peak quality (0.88)",
            "All tests passing (10/10)",
            "Highest coverage (85%)",
            "Quality degraded in iterations 2-3",
            SOURCE,
        )

    def test_one_iteration_after_the_peak(self, start):
        loop = self.run(start, {"score": 0.88}, {"score": 0.8})
        assert "Quality degraded in iteration 2" in loop.select().rationale

    def test_no_degradation_where_the_last_is_as_good(self, start):
        loop = self.run(start, {"score": 0.88}, {"score": 0.88})
        assert not any("degraded" in line for line in loop.select().rationale)

    def test_quality_that_is_shown_as_the_same_is_not_degraded(self, start):
        loop = self.run(start, {"score": 0.88}, {"score": 0.87996})
        assert not any("degraded" in line for line in loop.select().rationale)

    def test_some_tests_fail_and_coverage_was_higher_elsewhere(self, start):
        loop = self.run(
            start,
            {"score": 0.6, "coverage_percentage": 90.0},
            {"score": 0.9, "tests_passed": 9, "tests_failed": 1, "test_count": 11, "coverage_percentage": 88.5},
        )
        rationale = loop.select(mode=QUALITY).rationale
        assert rationale == (
            "Iteration 2 achieved peak quality (0.9)",
            "Tests passing: 9/11, 1 skipped",
            "Coverage (88.5%)",
        )

    def test_nothing_passes(self, start):
        loop = start(base={"test_count": 3, "tests_passed": 0, "tests_failed": 0}, score=0.5)
        assert "Tests passing: 0/3, 3 skipped" in loop.select().rationale

    def test_what_was_not_measured_is_not_mentioned(self, start):
        loop = start(base={"test_count": 3}, score=0.5)
        assert loop.select().rationale == ("Iteration 0 achieved peak quality (0.5)",)

    def test_coverage_of_others_may_be_missing(self, start):
        loop = self.run(start, {"score": 0.88}, {"score": 0.8, "coverage_percentage": None})
        assert "Highest coverage (85%)" in loop.select().rationale

    def test_a_choice_below_the_peak_is_not_called_the_peak(self, start):
        loop = self.run(start, {"score": 0.88}, {"score": 0.8})
        rationale = loop.select(iteration=2, reason="demo").rationale
        assert rationale[:2] == ("Selected by a person: demo", "Iteration 2 has quality (0.8)")


def test_a_question_as_a_document_has_the_commands_that_answer_it():
    document = Question("it3-demand_changed", 3, "a demand changed", ("t0",), None).to_dict()
    assert (document["alert"], document["tests"], document["otherwise"], document["refuse"]) == (
        "it3-demand_changed",
        ["t0"],
        None,
        None,
    )
    assert document["accept"] == "ralph-tracker accept it3-demand_changed --reason WHY"


def test_a_selection_is_one_line_that_a_person_can_read(scored):
    selection = scored(0.5, 0.6).select()
    assert (selection.iteration, selection.score, selection.applied_to) == (1, 0.6, None)
    assert "iteration=1, score=0.6" in repr(selection)
