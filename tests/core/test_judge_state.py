"""What is carried from one iteration to the next."""

import pytest

from ralph_tracker.core.comparable_score import WeightsOfTests
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.thresholds import Thresholds

FRESH = JudgeState(loop_id="ralph-001", thresholds=Thresholds())


def test_before_the_baseline_nothing_is_known():
    assert (FRESH.iteration, FRESH.basis, FRESH.frontier, FRESH.rollbacks, FRESH.cost_usd) == (-1, None, (), 0, None)
    assert (FRESH.lineage.head, FRESH.known.present, FRESH.seen.union, FRESH.accepted) == (None, {}, 0, frozenset())


def test_no_yardstick_without_a_baseline():
    with pytest.raises(ValueError, match="no scorer"):
        _ = FRESH.scorer


def test_the_yardstick_is_that_of_the_loop_and_of_all_tests_seen_so_far(start):
    loop = start(base={}, tests={"a": "passed", "b": "failed"})
    loop.turn(tests={"c": "passed"})
    assert loop.state.scorer.seen.union == 3
    assert loop.state.scorer.weights == WeightsOfTests(pytest.approx(0.6875), pytest.approx(0.3125))
