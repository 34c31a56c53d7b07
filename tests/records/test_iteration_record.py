"""What a record says of itself (semantics § 8)."""

import pytest

from ralph_tracker.core.metrics import FurtherMetric, Usage
from ralph_tracker.core.thresholds import LoopLimits, Thresholds


def test_only_iteration_0_is_the_baseline(start):
    loop = start()
    assert loop.last.is_baseline
    assert not loop.turn().is_baseline


def test_after_the_baseline_there_is_no_best_yet(start):
    best = start().last.best
    assert (best.iteration, best.score, best.adjusted) == (None, 0.0, 0.0)
    assert not start().last.is_best


@pytest.mark.parametrize(
    ("coverage", "best", "is_best"),
    [
        pytest.param(90.0, 1, True, id="better than the baseline"),
        pytest.param(70.0, 0, False, id="worse: the baseline is the best"),
        pytest.param(79.0, 1, True, id="nearly equal: the later is the best"),
    ],
)
def test_from_iteration_1_on_the_baseline_included(start, coverage, best, is_best):
    loop = start()
    record = loop.turn(coverage_percentage=coverage)
    assert (record.best.iteration, record.is_best) == (best, is_best)
    assert record.best.score == loop.records[best].quality_score
    assert record.best.adjusted == loop.records[best].adjusted_score


def test_where_nothing_is_verified_the_best_says_so(start):
    loop = start(build_status="failure")
    record = loop.turn(build_status="failure", coverage_percentage=90.0)
    assert (record.best.iteration, record.best.verified) == (0, False)
    assert loop.turn(coverage_percentage=90.0).best.verified


class TestOfAJudgement:
    def test_of_the_baseline(self, start):
        record = start().last
        assert (record.iteration, record.previous, record.classification) == (0, None, "baseline")
        assert (record.from_previous, record.from_baseline, record.alerts) == ({}, {}, ())
        assert record.message == "Baseline captured, await iteration 1"
        assert record.verified

    def test_of_an_iteration(self, start):
        loop = start(coverage_percentage=60.0)
        loop.turn(coverage_percentage=70.0)
        record = loop.turn(coverage_percentage=75.0)
        assert (record.loop_id, record.iteration, record.previous) == ("ralph-001", 2, 1)
        assert record.timestamp == "2026-02-02T10:02:00Z"
        assert (record.from_previous["coverage_delta"], record.from_baseline["coverage_delta"]) == (5.0, 15.0)

    def test_metrics_are_recorded_derived_and_rounded(self, start):
        record = start(coverage_percentage=66.666, tests_passed=7, tests_failed=2).last
        assert (record.metrics.coverage_percentage, record.metrics.pass_rate) == (66.7, 77.8)

    def test_what_was_handed_over_is_kept(self, start):
        record = start().turn(blocked="no key", tree="f00", usage=Usage(turns=2))
        assert (record.blocked, record.tree, record.usage) == ("no key", "f00", Usage(turns=2))
        assert record.decision.rule == 6

    @pytest.mark.parametrize(
        ("given", "rest", "notes"),
        [
            pytest.param(None, {}, (), id="none given"),
            pytest.param(0, {}, (), id="given as summed"),
            pytest.param(
                9,
                {},
                ("error_count 9 was given; this loop sums it from its parts since the baseline: 0 is recorded",),
                id="given otherwise",
            ),
            pytest.param(
                9,
                {"lint_errors": None},
                ("error_count 9 was given; this loop sums it from its parts since the baseline: not recorded",),
                id="given where a part is missing",
            ),
        ],
    )
    def test_a_given_error_count_that_is_not_used_is_noted(self, start, given, rest, notes):
        loop = start()
        assert loop.turn(error_count=given, **rest).notes == notes

    def test_what_a_person_should_know_of_the_measuring_is_noted_too(self, start):
        notes = start().turn(error_count=9, notes=("lint was stale",)).notes
        assert len(notes) == 2
        assert "lint was stale" in notes

    def test_an_explicit_error_count_is_used_whatever_its_parts_say(self, start):
        loop = start(error_count=12, lint_errors=8)
        record = loop.turn(error_count=12, lint_errors=3)
        assert (record.metrics.error_count, record.notes) == (12, ())

    def test_a_baseline_that_meets_the_target_says_so(self, start):
        loop = start(thresholds=Thresholds()._replace(loop=LoopLimits(target_score=0.9)))
        assert (
            loop.records[0]
            .notes[0]
            .startswith("the target 0.9 never stops this loop, because its baseline already scores ")
        )
        assert loop.turn().notes == ()


@pytest.mark.parametrize(
    ("further", "note"),
    [
        ((), ""),
        ((FurtherMetric("todos", 3.0),), ""),
        ((FurtherMetric("latency", 4.0, "ms", "down", (4.0,), objective=True),), "latency 4 ms"),
    ],
)
def test_how_the_goal_of_a_loop_stands(start, further, note):
    assert start(further=further).last.objective_note == note
