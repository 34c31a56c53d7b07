"""Let a person watch a session, answer its checkpoints and cancel it (steering.md § 3).

    interaction = Interaction(callbacks)
    if not await interaction.feed(ToolStarted("1", "grep")):   # before the tool runs
        return interaction.summary()
    ...
    await interaction.feed(ToolEnded("1", "grep", success=True))

Or, with an agent that is an iterator of events: `outcome = await follow(events, interaction)`.
"""

import logging
from asyncio import Lock, Task, get_running_loop, wait
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar, TypeVarTuple

from ralph_tracker.steering.session_events import Event, PersonSaid, ToolEnded, ToolStarted, TurnEnded

SILENCE_S: Final = 15 * 60.0
"""How long a checkpoint waits for an answer, in seconds."""
KEPT_TOOLS: Final = 100
"""The number of tools that a log lists; earlier ones are only counted."""
_SYMBOLS: Final = {None: "...", True: "✓", False: "✗"}
_LOG: Final = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")
_Given = TypeVarTuple("_Given")


def is_cancel(text: str) -> bool:
    """Return whether a whole message cancels; case and a final full stop are ignored."""
    return _word(text) in {"stop", "cancel"}


def is_approval(text: str) -> bool:
    """Return whether a whole message approves; case and a final full stop are ignored."""
    return _word(text) in {"yes", "continue", "go", "ok"}


def _word(text: str) -> str:
    return text.strip().rstrip(" \t\r\n.!").casefold()


def checkpoint_text(tools_used: int) -> str:
    """Return the question of a checkpoint, with the number of tools since the start."""
    return f"Used {tools_used} tools. Reply 'yes' to continue or 'stop' to cancel."


async def hold_checkpoint(
    tools_used: int, ask: Callable[[str, int], Awaitable[None]], reply: Callable[[], Awaitable[str | None]]
) -> bool:
    """Ask until the answer is clear, and return whether the session continues.

    `ask(question, times)` shows the question; `times` is how often it was asked before. `reply()` is the next message,
    None after SILENCE_S without one or if nobody is there, which counts as a no.
    """
    times = 0
    while True:
        await ask(checkpoint_text(tools_used), times)
        answer = await reply()
        if answer is None or is_cancel(answer):
            return False
        if is_approval(answer):
            return True
        times += 1


def tool_line(name: str, success: bool | None) -> str:  # noqa: FBT001  # as on_tool_end has it
    """Return the log line of a tool; `success` is None while it runs."""
    return f"🔧 {name} {_SYMBOLS[success]}"


class ToolLog:
    """The log of tools: the last ones by name and outcome, earlier ones as a count."""

    def __init__(self) -> None:
        self._tools: deque[_Tool] = deque(maxlen=KEPT_TOOLS)
        self._earlier = 0

    @property
    def running(self) -> int:
        """Return how many of the listed tools are still running."""
        return sum(tool.success is None for tool in self._tools)

    def start(self, name: str, call: str | None = None) -> None:
        """Record that a tool starts; `call` identifies the call among others of that name, None if unknown."""
        self._add(_Tool(name, call, None))

    def end(self, name: str, success: bool, call: str | None = None) -> bool:  # noqa: FBT001  # as on_tool_end has it
        """Record how a tool ended, and return whether its start was recorded.

        Without `call` it is the longest running one of that name. A tool without a recorded start gets a line too.
        """
        for tool in self._tools:
            if tool.success is None and tool.name == name and call in {None, tool.call}:
                tool.success = success
                return True
        self._add(_Tool(name, call, success))
        return False

    def lines(self) -> list[str]:
        """Return the log for a person: `🔧 name ...`, with `✓` or `✗` for the dots at the end."""
        shown = [tool_line(tool.name, tool.success) for tool in self._tools]
        return [f"({self._earlier} earlier)", *shown] if self._earlier else shown

    def summary(self) -> str:
        """Return what a cancelled session was working on, in one line; tools still running count as failed."""
        shown = [f"{tool.name} {_SYMBOLS[tool.success is True]}" for tool in self._tools]
        if not shown:
            return "Cancelled. No tool had run yet."
        earlier = [f"({self._earlier} earlier)"] if self._earlier else []
        return f"Cancelled. Was working on: {' → '.join([*earlier, *shown])}"

    def _add(self, tool: "_Tool") -> None:
        self._earlier += len(self._tools) == KEPT_TOOLS
        self._tools.append(tool)


@dataclass(slots=True)
class _Tool:
    name: str
    call: str | None
    success: bool | None


class AgentCallbacks(NamedTuple):
    """What a transport does while a session runs; None is skipped.

    `on_tool_start(name)` and `on_tool_end(name, success)` show a tool. `check_cancelled()` is called before each tool
    and after each batch. `on_checkpoint(tools_used)` pauses the session and returns whether it continues; without it
    there are no checkpoints.
    """

    on_tool_start: Callable[[str], Awaitable[None]] | None = None
    on_tool_end: Callable[[str, bool], Awaitable[None]] | None = None
    check_cancelled: Callable[[], Awaitable[bool]] | None = None
    on_checkpoint: Callable[[int], Awaitable[bool]] | None = None


class Outcome(NamedTuple):
    """How a session ended: with its answer, or cancelled with a summary of its work as `text`."""

    text: str
    cancelled: bool = False


class Interaction:
    """A session whose events are passed to the callbacks of a transport.

    Without callbacks it never ends the session. A callback that raises is logged, and the session continues; only for
    `on_checkpoint` it counts as a no. After a cancellation, `approve` lets it continue.

    `cancelled` is whether the session should end: a cancel word, or a no or no answer at a checkpoint. `tools_used`
    counts the tool calls since the start or the last approval.
    """

    def __init__(self, callbacks: AgentCallbacks | None = None, every: int = 20) -> None:
        """Create it; `every` is the number of tool calls from the start, or an approval, to the next checkpoint."""
        self._callbacks = callbacks
        self._every = every
        self._log = ToolLog()
        self._turn = Lock()
        self.tools_used = 0
        self._approved = 0  # the tools up to the last approval
        self.cancelled = False
        self._tasks: set[Task[bool]] = set()

    def summary(self) -> str:
        """Return the line of a cancelled session: `Cancelled. Was working on: a ✓ → b ✓ → c ✗`."""
        return self._log.summary()

    def approve(self) -> None:
        """Let a cancelled session continue, with a fresh budget of tools."""
        self.cancelled = False
        self._approved += self.tools_used
        self.tools_used = 0

    async def feed(self, event: Event) -> bool:
        """Handle an event, and return whether the session continues.

        Send a ToolStarted before its tool runs: False means that it must not run. Calls of one batch may come at once.
        """
        if self._callbacks is None:
            return True
        if isinstance(event, PersonSaid):
            self.cancelled = self.cancelled or is_cancel(event.text)
        elif isinstance(event, ToolStarted):
            async with self._turn:
                await self._start(self._callbacks, event)
        elif isinstance(event, ToolEnded):
            async with self._turn:
                await self._end(self._callbacks, event)
        return not self.cancelled

    async def refuse(self, tool: ToolStarted) -> str | None:
        """Handle a tool that is about to run; return the summary if it must not, None if it may."""
        if self._tasks:  # earlier tool ends come first
            await wait(self._tasks)
        may_run = await self.feed(tool)
        return None if may_run else self.summary()

    def fold(self, event: Event) -> None:
        """Handle an event without waiting, when `refuse` handles the starts; callbacks run later in the event loop.

        If a tool's end leads to a checkpoint, the next tool waits for it in `refuse`. Raises RuntimeError without a
        loop.
        """
        if isinstance(event, ToolEnded | PersonSaid):
            task = get_running_loop().create_task(self.feed(event))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _start(self, callbacks: AgentCallbacks, event: ToolStarted) -> None:
        await self._check_cancelled(callbacks)
        # A batch runs through, unless it is longer than a whole budget or its ends never come.
        if self.tools_used >= 2 * self._every:
            await self._ask_at_checkpoint(callbacks)
        if self.cancelled:
            return
        self.tools_used += 1
        self._log.start(event.name, event.call)
        if callbacks.on_tool_start:
            await _call_or_default(callbacks.on_tool_start, event.name, otherwise=None)

    async def _end(self, callbacks: AgentCallbacks, event: ToolEnded) -> None:
        self.tools_used += not self._log.end(event.name, event.success, event.call)
        if callbacks.on_tool_end:
            await _call_or_default(callbacks.on_tool_end, event.name, event.success, otherwise=None)
        if not self._log.running:
            await self._check_cancelled(callbacks)
            if self.tools_used >= self._every:
                await self._ask_at_checkpoint(callbacks)

    async def _check_cancelled(self, callbacks: AgentCallbacks) -> None:
        if callbacks.check_cancelled and not self.cancelled:
            cancelled = await _call_or_default(callbacks.check_cancelled, otherwise=False)
            self.cancelled = self.cancelled or cancelled

    async def _ask_at_checkpoint(self, callbacks: AgentCallbacks) -> None:
        if self.cancelled or not callbacks.on_checkpoint:
            return
        goes_on = await _call_or_default(callbacks.on_checkpoint, self._approved + self.tools_used, otherwise=False)
        if not goes_on:
            self.cancelled = True
        elif not self.cancelled:
            self.approve()


async def _call_or_default(
    callback: Callable[[*_Given], Awaitable[_Answer]], *given: *_Given, otherwise: _Answer
) -> _Answer:
    try:
        return await callback(*given)
    except Exception:  # noqa: BLE001  # whatever a transport raises
        _LOG.exception("a callback of the session failed; the session keeps what it has")
        return otherwise


async def follow(events: AsyncIterator[Event], interaction: Interaction) -> Outcome:
    """Run an agent that yields its events (ToolStarted before the tool runs) until it answers or is cancelled.

    The answer is the text of the last turn. A cancelled agent is closed immediately.
    """
    said = ""
    try:
        async for event in events:
            if isinstance(event, TurnEnded):
                said = event.text
            goes_on = await interaction.feed(event)
            if not goes_on and isinstance(event, ToolStarted | ToolEnded):
                return Outcome(interaction.summary(), cancelled=True)
    finally:
        close = getattr(events, "aclose", None)
        if close:
            await close()
    return Outcome(said)
