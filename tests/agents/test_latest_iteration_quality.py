"""The tracker's record, as an evaluator of progress asks for it."""

import asyncio

import pytest

from ralph_tracker.agents.latest_iteration_quality import latest_iteration_quality
from ralph_tracker.steering.progress import ProgressInfo
from ralph_tracker.steering.progress_evaluators import QualityProgressEvaluator, QualityState
from ralph_tracker.tracker import Tracker

INFO = ProgressInfo(5, None, 100, 1000, "a", None)


def metrics(tests, score=0.5):
    return {"quality_score": score, "testing": {"test_count": tests, "tests_passed": tests, "tests_failed": 0}}


@pytest.fixture
def tracker(tmp_path):
    return Tracker(tmp_path, "mine", environment={})


@pytest.fixture
def state(tmp_path):
    return latest_iteration_quality(tmp_path, environment={})


def verdict(state):
    return asyncio.run(QualityProgressEvaluator(state).should_continue(INFO))


def test_without_a_loop_there_is_none(state):
    assert state() is None
    assert verdict(state)[0]


def test_a_loop_that_goes_well_goes_on(tracker, state):
    tracker.pre_loop(metrics(5))
    assert state() == QualityState("baseline")
    tracker.post_iteration(metrics(6, 0.7))
    assert verdict(state) == (True, "On record: forward")


def test_an_open_critical_alert_stops_and_an_accepted_one_does_not(tracker, state):
    tracker.pre_loop(metrics(5))
    tracker.post_iteration(metrics(3))
    goes_on, reason = verdict(state)
    assert not goes_on
    assert reason == "Open CRITICAL alert: it1-test_deletion: Test count decreased from 5 to 3"
    tracker.accept("it1-test_deletion", "they were of a feature that is gone")
    assert verdict(state)[0]


def test_a_stalled_loop_stops(tracker, state):
    tracker.pre_loop(metrics(5))
    for _ in range(4):
        tracker.post_iteration(metrics(5))
    assert verdict(state) == (False, "The loop is stalled")
