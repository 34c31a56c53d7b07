"""What continuation says, held until a tool lets the agent hear it."""

import asyncio

import pytest

from ralph_tracker.steering.session_continuation import Continuation, Guidance
from ralph_tracker.steering.session_events import ToolEnded, ToolStarted, TurnEnded


def refusal(guidance):
    return asyncio.run(guidance.refuse(ToolStarted("1", "Read")))


@pytest.fixture
def guidance():
    return Guidance(Continuation())


def again(guidance, times):
    """Let turns pass, each with the same call as before; return what was said beside the tools."""
    said = []
    for _ in range(times):
        guidance.fold(ToolStarted("1", "Read", "a"))
        guidance.fold(ToolEnded("1", "Read", success=True, arguments="a", result="r"))
        said.append(guidance.nudge())
        guidance.fold(TurnEnded("x"))
    return said


def test_an_agent_that_works_is_left_alone(guidance):
    guidance.fold(TurnEnded("x"))
    assert guidance.nudge() is None
    assert refusal(guidance) is None


def test_a_nudge_is_said_beside_the_next_tool_and_once(guidance):
    """Not to repeat: a nudge that is computed and never sent."""
    assert again(guidance, 4) == [None] * 4
    assert refusal(guidance) is None
    words = guidance.nudge()
    assert words is not None
    assert words.startswith("Try another way")
    assert guidance.nudge() is None


def test_after_a_force_no_tool_runs_and_the_words_are_the_reason(guidance):
    again(guidance, 5)
    words = refusal(guidance)
    assert words is not None
    assert words.startswith("Call no more tools")
    assert refusal(guidance) == words
    assert guidance.nudge() is None


def test_a_refused_call_ends_no_streak_so_that_the_same_call_stays_refused(guidance):
    again(guidance, 5)
    for turn in range(3):
        words = refusal(guidance)
        assert words is not None, turn
        guidance.fold(ToolEnded("2", "Read", success=False, arguments="a", result=f"{turn}: {words}", refused=True))
        guidance.fold(TurnEnded("x"))
    guidance.fold(ToolEnded("3", "Read", success=True, arguments="b", result="new"))
    guidance.fold(TurnEnded("x"))
    assert refusal(guidance) is None


def test_a_refused_call_that_is_asked_for_again_is_a_repeat(guidance):
    for turn in range(5):
        guidance.fold(ToolEnded("1", "Edit", success=False, arguments="a", result="not allowed", refused=True))
        guidance.fold(TurnEnded("x"))
        assert (guidance.nudge() is not None) is (turn >= 3)


def test_a_turn_that_is_no_loop_any_more_lets_tools_run_again(guidance):
    again(guidance, 5)
    guidance.fold(ToolEnded("2", "Bash", success=True, arguments="other", result="new"))
    guidance.fold(TurnEnded("x"))
    assert refusal(guidance) is None


def test_words_that_no_tool_came_for_are_not_given(guidance):
    continuation = Continuation()
    guidance = Guidance(continuation)
    again(guidance, 4)
    assert continuation.interventions == 1
    guidance.fold(TurnEnded("thinking"))
    assert continuation.interventions == 1
    assert guidance.nudge().startswith("Try another way")
