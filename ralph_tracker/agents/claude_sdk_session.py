"""Run sessions of claude-agent-sdk (extra `claude`) with an evaluator, and turn its messages and hooks into events.

    monitor = ProgressMonitor(SimpleProgressEvaluator(), time.monotonic)
    reading = ClaudeEvents(metrics.fold)                       # any sinks for events
    options = ClaudeAgentOptions(hooks=reading.hooks(), include_partial_messages=True)
    async with ClaudeSDKClient(options) as client:
        response = await run_session(client, "Make the tests pass", monitor, reading)

If the evaluator stops it, the client is interrupted; its last message, with the cost, still comes. Hooks report the
start of a tool, messages only that the model asked for it. A turn's tokens are only in partial messages, the cost only
in the last message.
"""

import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeVar

from ralph_tracker.agents.output.event_values import input_tokens
from ralph_tracker.errors import InputError
from ralph_tracker.steering.progress_evaluators import DRAIN_S, ProgressMonitor, SessionResponse, close_iterator, drive
from ralph_tracker.steering.session_events import (
    Event,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    digest_of,
    end_of_tool,
    file_named,
)

HOOK_EVENTS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
HOOK_TIMEOUT_S: Final = 86_400.0
"""How long the client waits for a hook: a person at a checkpoint has 15 minutes after each question."""
_FAILED: Final = "what follows the session failed; the session continues"
_LOG: Final = logging.getLogger(__name__)
_Given = TypeVar("_Given")


def sdk() -> Any:  # noqa: ANN401  # the SDK is an extra, its types are not available
    """Return the package claude_agent_sdk. Raises InputError if it is not installed."""
    try:
        return import_module("claude_agent_sdk")
    except ImportError as error:
        raise InputError(f"claude-agent-sdk: {error}; pip install 'ralph-tracker[claude]'") from None


class _Call(NamedTuple):
    name: str
    arguments: str
    path: str | None


@dataclass(slots=True)
class _Turn:
    """The current answer: it comes block by block, each as a message with the same id.

    `end_sent` is whether its end was sent already: a tool may end before the next block comes.
    """

    name: str | None
    end_sent: bool = False
    is_answered: bool = False
    model: str = ""
    said: list[str] = field(default_factory=list)
    usage: Mapping[str, Any] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)


class ClaudeEvents:
    """A converter of one client's messages and hooks into events, each sent once.

    A turn ends with the last result of its tools; messages with the same id are one turn. Subagents do not count.
    """

    def __init__(
        self,
        *sinks: Callable[[Event], object],
        tree: Callable[[], str | None] | None = None,
        nudge: Callable[[], str | None] | None = None,
        refuse: Callable[[ToolStarted], Awaitable[str | None]] | None = None,
        price: Callable[[str, Mapping[str, Any]], float | None] | None = None,
    ) -> None:
        """Send every event to each of `sinks`; errors in them are logged.

        `tree()` returns the id of the tree after a tool (None: unknown). `nudge()` is called after a tool: its message,
        if any, goes to the model with the tool's result. `refuse(tool)` is called before a tool: its message, if any,
        replaces the tool's result. Both need `hooks`. `price(model, usage)` is a turn's cost in USD, None if unknown:
        without it the cost is only known at the end.
        """
        self._sinks = list(sinks)
        self._tree = tree
        self._nudge = nudge
        self._refuse = refuse
        self._price = price
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._refused_calls: OrderedDict[str, None] = OrderedDict()
        self._turn: _Turn | None = None
        self._streamed: tuple[str | None, int | None] = None, None
        self._told: str | None = None  # the last turn whose end was sent
        self._told_usd = 0.0
        self.cost_usd: float | None = None
        """The cost of the whole session that the client last reported, in USD; None before that."""

    @contextmanager
    def with_sink(self, sink: Callable[[Event], object]) -> Iterator[None]:
        """Add a sink within the context; a sink that is already there is not called twice."""
        is_new = sink not in self._sinks
        self._sinks += [sink] * is_new
        try:
            yield
        finally:
            if is_new:
                self._sinks.remove(sink)

    def hooks(self, *, timeout_s: float = HOOK_TIMEOUT_S) -> dict[str, list[Any]]:
        """Return the hooks for ClaudeAgentOptions; the client waits `timeout_s` seconds for each.

        After that the client takes a hook before a tool for a person's no. Raises InputError if claude-agent-sdk is not
        installed.
        """
        matcher = sdk().HookMatcher
        return {event: [matcher(hooks=[self.hook], timeout=timeout_s)] for event in HOOK_EVENTS}

    async def hook(self, given: Mapping[str, Any], _tool_use_id: str | None, _context: object) -> dict[str, Any]:
        """Handle a hook's input, and return its answer: the message of `nudge` or `refuse`, or nothing."""
        if given.get("agent_id") is not None:
            return {}
        event, call = given.get("hook_event_name"), str(given.get("tool_use_id"))
        self._record_start(call, str(given.get("tool_name")), given.get("tool_input"))
        if event == "PreToolUse":
            return await self._answer_call(call)
        failed = event == "PostToolUseFailure"
        self._tool_ended(call, given.get("error" if failed else "tool_response"), success=not failed)
        words = None if self._nudge is None else _call_or_log(self._nudge)
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": words}} if words else {}

    async def _answer_call(self, call: str) -> dict[str, Any]:
        known = self._calls.get(call)
        if self._refuse is None or known is None:
            return {}
        try:
            words = await self._refuse(ToolStarted(call, known.name, known.arguments))
        except Exception:  # noqa: BLE001  # as in _tried
            _LOG.exception(_FAILED)
            return {}
        if not words:
            return {}
        self._refused_calls[call] = None
        _forget(self._refused_calls)
        denied = {"permissionDecision": "deny", "permissionDecisionReason": words}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denied}}

    def message(self, message: Any) -> None:  # noqa: ANN401  # the SDK is an extra, its types are not available
        """Handle a message of the SDK, of any kind."""
        if getattr(message, "parent_tool_use_id", None) is not None:
            return
        # The client's own messages have this model.
        match type(message).__name__:
            case "AssistantMessage" if message.model != "<synthetic>":
                self._assistant(message)
            case "UserMessage" if not isinstance(message.content, str):
                for block in message.content:
                    if type(block).__name__ == "ToolResultBlock":
                        self._tool_ended(block.tool_use_id, block.content, success=not block.is_error)
                        if self._turn is not None:
                            self._turn.waiting.discard(block.tool_use_id)
                            self._turn.is_answered = True
                self._end_turn_if_whole()
            case "StreamEvent" if message.event.get("type") == "message_start":
                name = message.event["message"].get("id")
                if self._turn is not None and self._turn.name != name:
                    self._end_turn()
                self._streamed = name, None
            case "StreamEvent" if message.event.get("type") == "message_delta":
                self._streamed = self._streamed[0], message.event.get("usage", {}).get("output_tokens")
                self._end_turn_if_whole()
            case "ResultMessage":
                self.cost_usd = self.cost_usd if message.total_cost_usd is None else message.total_cost_usd
                self._end_turn(self.cost_usd)
            case _:
                pass

    def _assistant(self, message: Any) -> None:  # noqa: ANN401
        turn, name = self._turn, message.message_id
        if turn is None or name is None or turn.name != name:
            self._end_turn()
            turn = self._turn = _Turn(name, end_sent=name is not None and name == self._told)
        turn.model, turn.usage = message.model, message.usage or turn.usage
        for block in message.content:
            match type(block).__name__:
                case "TextBlock":
                    turn.said.append(block.text)
                case "ToolUseBlock" | "ServerToolUseBlock" as kind:
                    self._record_start(block.id, block.name, block.input)
                    if kind == "ToolUseBlock":
                        turn.waiting.add(block.id)
                case "ServerToolResultBlock":
                    failed = str(block.content.get("type", "")).endswith("_error")
                    self._tool_ended(block.tool_use_id, block.content, success=not failed)
                case _:
                    pass

    def _end_turn_if_whole(self) -> None:
        """End the turn once its tools have ended, and its tokens are known if messages are streamed."""
        turn = self._turn
        if turn is not None and turn.is_answered and not turn.waiting and self._streamed != (turn.name, None):
            self._end_turn()

    def _end_turn(self, total_usd: float | None = None) -> None:
        """Send the end of the turn, if there is one; `total_usd` is the cost of the whole session so far.

        With None, `price` gives the turn's cost, if it can.
        """
        turn, self._turn = self._turn, None
        if turn is None or turn.end_sent:
            return
        self._told = turn.name
        output = self._streamed[1] if turn.name is not None and self._streamed[0] == turn.name else None
        taken = input_tokens(dict(turn.usage))
        cost: float | None = None
        if total_usd is not None:
            cost = max(total_usd - self._told_usd, 0.0)
        elif self._price is not None and output is not None:
            cost = _call_or_log(partial(self._price, turn.model, {**turn.usage, "output_tokens": output}))
        self._told_usd += cost or 0.0
        self._tell(TurnEnded("\n".join(turn.said), output, None if taken is None else taken + (output or 0), cost))

    def _record_start(self, call: str, name: str, given: Any) -> None:  # noqa: ANN401  # whatever the model asked
        if call in self._calls or call in self._ended:
            return
        arguments = digest_of(given)
        self._calls[call] = _Call(name, arguments, file_named(name, given))
        _forget(self._calls)
        self._tell(ToolStarted(call, name, arguments))

    def _tool_ended(self, call: str, result: Any, *, success: bool) -> None:  # noqa: ANN401  # whatever it gave
        known = self._calls.pop(call, None)
        if known is None:
            return
        self._ended[call] = None
        _forget(self._ended)
        tree = None if self._tree is None else _call_or_log(self._tree)
        given, gave = known.arguments, digest_of(result, is_result=True)
        refused = call in self._refused_calls
        for event in end_of_tool(ToolEnded(call, known.name, success, given, gave, tree, refused), known.path):
            self._tell(event)

    def _tell(self, event: Event) -> None:
        for sink in self._sinks:
            _call_or_log(partial(sink, event))


def _call_or_log(act: Callable[[], _Given]) -> _Given | None:
    try:
        return act()
    except Exception:  # noqa: BLE001  # whatever it is, the session goes on
        _LOG.exception(_FAILED)
        return None


def _forget(known: OrderedDict[str, Any]) -> None:
    """Drop the oldest entries, as the ends of some tools never come."""
    if len(known) > 1024:
        known.popitem(last=False)


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
    # What the turns of this prompt told is replaced by what its result says.
    result, cost, tokens = results[0], before.cost_so_far, before.tokens_generated
    reported, output = result.total_cost_usd, (result.usage or {}).get("output_tokens")
    monitor.settle(
        None if reported is None or cost is None else cost + reported - spent_usd,
        None if output is None or tokens is None else tokens + output,
    )
    return monitor.response(response.error, result)


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
