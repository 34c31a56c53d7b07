"""Run sessions of claude-agent-sdk (extra `claude`) with an evaluator (steering.md § 1, agent-surfaces.md § 1.9).

    monitor = ProgressMonitor(SimpleProgressEvaluator(), time.monotonic)
    reading = ClaudeEvents(metrics.fold)                       # any sinks for events
    options = ClaudeAgentOptions(hooks=reading.hooks(), include_partial_messages=True)
    async with ClaudeSDKClient(options) as client:
        response = await run_session(client, "Make the tests pass", monitor, reading)

If the evaluator stops it, the client is interrupted; its last message, with the cost, still comes.
"""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from typing import Any

from ralph_tracker.agents.claude_events import ClaudeEvents
from ralph_tracker.steering.evaluators import DRAIN_S, ProgressMonitor, SessionResponse, close_iterator, drive
from ralph_tracker.steering.events import Event

__all__ = ["ClaudeEvents", "events_of", "run_session"]


async def run_session(
    client: Any,  # noqa: ANN401  # a ClaudeSDKClient that is connected
    prompt: str,
    monitor: ProgressMonitor,
    reading: ClaudeEvents | None = None,
    *,
    drain_s: float = DRAIN_S,
) -> SessionResponse:
    """Send a prompt to a client, evaluate its work, and interrupt it on a stop.

    Pass the same `reading` for all prompts of a client, because the client reports the cost of its whole session; None
    creates one. The response's `result` is the ResultMessage, None if it did not come within `drain_s` seconds of the
    interrupt; its cost and tokens are in `info`.
    """
    reading = ClaudeEvents() if reading is None else reading
    before, spent_usd = monitor.info(), reading.cost_usd or 0.0
    results: list[Any] = []

    async def messages() -> AsyncGenerator[None, None]:
        stream = client.receive_response()
        try:
            async for message in stream:
                reading.message(message)
                if type(message).__name__ == "ResultMessage":
                    results.append(message)  # not a step: there is nothing left to stop
                else:
                    yield
        finally:
            await close_iterator(stream)

    with reading.with_sink(monitor.fold):
        monitor.begin()
        await client.query(prompt)
        response = await drive(messages(), monitor, client.interrupt, drain_s=drain_s)
    if not results:
        return response
    monitor.settle(*_totals(before.cost_so_far, before.tokens_generated, results[0], spent_usd))
    return monitor.response(response.error, results[0])


def _totals(cost: float | None, tokens: int | None, result: Any, spent_usd: float) -> tuple[float | None, int | None]:  # noqa: ANN401
    """Return cost and tokens of all prompts, with those of this one replaced by its result's.

    `spent_usd` is the client's reported cost before this prompt.
    """
    reported, output = result.total_cost_usd, (result.usage or {}).get("output_tokens")
    return (
        None if reported is None or cost is None else cost + reported - spent_usd,
        None if output is None or tokens is None else tokens + output,
    )


async def events_of(messages: AsyncIterable[Any], reading: ClaudeEvents | None = None) -> AsyncIterator[Event]:
    """Yield the events in a stream of the SDK's messages, such as `query(…)`; `reading` as in `run_session`."""
    reading = ClaudeEvents() if reading is None else reading
    heard: list[Event] = []
    with reading.with_sink(heard.append):
        try:
            async for message in messages:
                reading.message(message)
                while heard:
                    yield heard.pop(0)
        finally:
            await close_iterator(messages)
