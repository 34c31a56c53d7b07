"""What an evaluator is told of a session."""

import pytest

from ralph_tracker.steering.progress_evaluators import ProgressInfo, SessionProgress
from ralph_tracker.steering.session_events import FileRead, ToolStarted, TurnEnded
from tests.tables import table


def told(*events, elapsed=0, total=None):
    progress = SessionProgress()
    for event in events:
        progress.fold(event)
    return progress.info(elapsed, total)


def test_a_fresh_session_has_nothing_and_cost_nothing():
    assert told() == ProgressInfo(0, None, 0, 0, "", 0.0)


def test_turns_are_summed_and_nothing_else_is_a_turn():
    events = ToolStarted("1", "Read"), TurnEnded("a", 10, 100, 0.5), FileRead("x"), TurnEnded("b", 5, 200, 0.25)
    assert told(*events, elapsed=1500, total=20) == ProgressInfo(2, 20, 15, 1500, "ab", 0.75)


def test_recent_output_is_the_last_500_characters_of_the_last_3_outputs():
    outputs = "w" * 600, "x" * 300, "y" * 300, "z" * 100
    recent = told(*map(TurnEnded, outputs)).recent_output
    assert recent == "x" * 100 + "y" * 300 + "z" * 100


def test_an_output_longer_than_that_is_its_end():
    assert told(TurnEnded("a" * 900 + "b" * 500)).recent_output == "b" * 500


def test_a_turn_that_says_nothing_pushes_no_output_out():
    assert told(TurnEnded("said"), *[TurnEnded()] * 5).recent_output == "said"


@table(
    ("turns", "tokens", "cost"),
    [
        pytest.param([TurnEnded("a")], None, None, id="nothing is told"),
        pytest.param([TurnEnded("a", 3, None, 0.5), TurnEnded("b")], None, 0.5, id="one is told: at least that cost"),
        pytest.param([TurnEnded("a"), TurnEnded("b", 3, None, 0.5)], None, 0.5, id="the last one tells"),
        pytest.param([TurnEnded("a", 0, None, 0.0)], 0, 0.0, id="nothing is what it took"),
    ],
)
def test_what_is_not_told_is_unknown_and_never_zero(turns, tokens, cost):
    info = told(*turns)
    assert (info.tokens_generated, info.cost_so_far) == (tokens, cost)


def test_what_the_host_says_of_the_whole_takes_the_place_of_what_turns_told():
    progress = SessionProgress()
    progress.fold(TurnEnded("a"))
    progress.settle(0.75)
    assert progress.info(0)[2:] == (None, 0, "a", 0.75)
    progress.settle(None, 12)
    assert progress.info(0)[2:] == (12, 0, "a", 0.75)
