"""A session of claude-agent-sdk, evaluated as it runs; tests/clients has the real one."""

import asyncio

import pytest

from ralph_tracker.agents.claude_sdk_session import ClaudeEvents, events_of, run_session
from ralph_tracker.steering.progress_evaluators import ProgressMonitor, run_evaluated
from ralph_tracker.steering.session_events import ToolEnded, ToolStarted, TurnEnded


class Evaluator:
    def __init__(self, no_at=None):
        self.no_at = no_at
        self.turns = []

    async def should_continue(self, info):
        self.turns.append(info.turns_completed)
        return self.no_at is None or info.turns_completed < self.no_at, "in circles"


@pytest.fixture
def work(sdk):
    """Return the messages of turns, each with a tool."""

    def turns(first, last):
        for number in range(first, last + 1):
            yield sdk.says(f"t{number}", f"m{number}")
            yield sdk.calls(f"c{number}", turn=f"m{number}")
            yield sdk.gives(f"c{number}")

    return turns


def ran(client, evaluator, reading=None, monitor=None, prompt="go", **options):
    monitor = monitor or ProgressMonitor(evaluator, lambda: 0.0, **options)
    return asyncio.run(run_session(client, prompt, monitor, reading, drain_s=5.0))


def test_a_session_that_is_let_go_on_ends_with_its_result(sdk, client, work):
    evaluator, result = Evaluator(), sdk.ends(0.5, 70)
    host = client([*work(1, 6), sdk.says("done", "m7"), result])
    response = ran(host, evaluator)
    assert host.prompts == ["go"]
    assert not host.interrupted
    assert evaluator.turns == [5]
    assert response.content == "t1\nt2\nt3\nt4\nt5\nt6\ndone"
    assert (response.error, response.result) == (None, result)
    assert response.info[:3] == (7, None, 70)
    assert response.info.cost_so_far == 0.5


def test_a_stop_interrupts_and_waits_for_the_result_with_the_cost(sdk, client, work):
    result = sdk.ends(0.25, 30)
    host = client([*work(1, 99)], after=[sdk.user([sdk.text("[Request interrupted by user]")]), result])
    response = ran(host, Evaluator(no_at=2), evaluation_interval=2)
    assert host.interrupted
    assert host.closed
    assert response.error == "Stopped by progress evaluator: in circles"
    assert response.content == "t1\nt2"
    assert response.result is result
    assert (response.info.turns_completed, response.info.cost_so_far, response.info.tokens_generated) == (2, 0.25, 30)


def test_what_has_ended_is_not_evaluated(sdk, client, work):
    evaluator = Evaluator(no_at=1)
    response = ran(client([*work(1, 1), sdk.says("done", "m2"), sdk.ends(0.5, 9)]), evaluator, evaluation_interval=2)
    assert (response.error, evaluator.turns) == (None, [])


def test_a_client_that_tells_nothing_at_the_end_leaves_what_is_known(client, work):
    response = ran(client([*work(1, 9)]), Evaluator(no_at=5))
    assert (response.result, response.error) == (None, "Stopped by progress evaluator: in circles")
    assert (response.info.cost_so_far, response.info.tokens_generated) == (None, None)


def test_a_result_without_cost_or_tokens_leaves_them_unknown(sdk, client, work):
    response = ran(client([*work(1, 1), sdk.ends()]), None)
    assert (response.info.cost_so_far, response.info.tokens_generated) == (None, None)


def test_prompts_of_one_client_share_what_it_tells_of_its_cost(sdk, client, work):
    host = client(
        [*work(1, 1), sdk.says("a", "m2"), sdk.ends(0.5, 20), *work(3, 3), sdk.says("b", "m4"), sdk.ends(0.75, 10)]
    )
    reading, monitor = ClaudeEvents(), ProgressMonitor(None, lambda: 0.0)
    assert ran(host, None, reading, monitor).info.cost_so_far == 0.5
    both = ran(host, None, reading, monitor, "and on")
    assert (both.info.turns_completed, both.info.tokens_generated) == (4, 30)
    assert both.info.cost_so_far == pytest.approx(0.75)
    assert host.prompts == ["go", "and on"]


def test_a_prompt_of_its_own_monitor_costs_its_own_part(sdk, client):
    host = client([sdk.says("a", "m1"), sdk.ends(0.5, 20), sdk.says("b", "m2"), sdk.ends(0.75, 10)])
    reading = ClaudeEvents()
    ran(host, None, reading)
    second = ran(host, None, reading)
    assert (second.content, second.info.cost_so_far, second.info.tokens_generated) == ("b", 0.25, 10)


def test_events_go_to_whoever_else_folds_them_and_to_the_monitor_once(sdk, client, work):
    events = []
    monitor = ProgressMonitor(None, lambda: 0.0)
    reading = ClaudeEvents(events.append, monitor.fold)
    response = ran(client([*work(1, 2), sdk.ends(0.5, 1)]), None, reading, monitor)
    assert response.info.turns_completed == 2
    assert [type(event) for event in events] == [ToolStarted, ToolEnded, TurnEnded] * 2


def test_any_stream_of_messages_is_one_of_events(sdk, work):
    closed = []

    async def messages():
        try:
            for message in [*work(1, 7), sdk.ends(0.5, 1)]:
                yield message
        finally:
            closed.append(True)

    async def listed():
        return [type(event) async for event in events_of(messages())]

    assert asyncio.run(listed()) == [ToolStarted, ToolEnded, TurnEnded] * 7
    monitor = ProgressMonitor(Evaluator(no_at=5), lambda: 0.0)
    response = asyncio.run(run_evaluated(events_of(messages()), monitor))
    assert closed == [True, True]
    assert (response.content, response.error) == ("t1\nt2\nt3\nt4\nt5", "Stopped by progress evaluator: in circles")
