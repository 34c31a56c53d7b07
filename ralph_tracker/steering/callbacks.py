"""A session that a person sees and stops (seed interactive-agent-progress, steering.md § 3).

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
from typing import Final, NamedTuple, TypeVar, TypeVarTuple

from ralph_tracker.steering.cancel_words import is_cancel
from ralph_tracker.steering.events import Event, PersonSaid, ToolEnded, ToolStarted, TurnEnded

KEPT_TOOLS: Final = 100
_SYMBOLS: Final = {None: "...", True: "✓", False: "✗"}
TOOLS_PER_CHECKPOINT: Final = 20
_LOG: Final = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")
_Given = TypeVarTuple("_Given")


"""How many tools a log shows one by one; those before them are counted."""


def tool_line(name: str, success: bool | None) -> str:  # noqa: FBT001  # as on_tool_end has it
    """Return the line of a tool; `success` is None while it runs."""
    return f"🔧 {name} {_SYMBOLS[success]}"


class ToolLog:
    """Keep what ran: the last tools by name and outcome, those before them by their number."""

    __slots__ = ("_earlier", "_tools")

    def __init__(self) -> None:
        self._tools: deque[_Tool] = deque(maxlen=KEPT_TOOLS)
        self._earlier = 0

    @property
    def running(self) -> int:
        """Return how many of the tools shown have not ended."""
        return sum(tool.success is None for tool in self._tools)

    def start(self, name: str, call: str | None = None) -> None:
        """Note that a tool starts; `call` tells this very call from others of that name, None if nobody knows."""
        self._add(_Tool(name, call, None))

    def end(self, name: str, success: bool, call: str | None = None) -> bool:  # noqa: FBT001  # as on_tool_end has it
        """Note how a tool ended, and return whether its start was seen.

        Without `call` it is the one of that name that has run longest. One whose start nobody saw gets a line too.
        """
        for tool in self._tools:
            if tool.success is None and tool.name == name and call in {None, tool.call}:
                tool.success = success
                return True
        self._add(_Tool(name, call, success))
        return False

    def lines(self) -> list[str]:
        """Return the log as a person sees it: `🔧 name ...`, then `✓` or `✗` for the dots."""
        shown = [tool_line(tool.name, tool.success) for tool in self._tools]
        return [f"({self._earlier} earlier)", *shown] if self._earlier else shown

    def summary(self) -> str:
        """Return what a cancelled session was working on, in one line; what was still running did not succeed."""
        shown = [f"{tool.name} {_SYMBOLS[tool.success is True]}" for tool in self._tools]
        if not shown:
            return "Cancelled. No tool had run yet."
        earlier = [f"({self._earlier} earlier)"] if self._earlier else []
        return f"Cancelled. Was working on: {' → '.join([*earlier, *shown])}"

    def _add(self, tool: "_Tool") -> None:
        self._earlier += len(self._tools) == KEPT_TOOLS
        self._tools.append(tool)


class _Tool:
    __slots__ = ("call", "name", "success")

    def __init__(self, name: str, call: str | None, success: bool | None) -> None:  # noqa: FBT001  # as above
        self.name, self.call, self.success = name, call, success


class AgentCallbacks(NamedTuple):
    """What a transport does while a session runs (seed, "Callback Interface"); None is left out.

    `on_tool_start(name)` and `on_tool_end(name, success)` show a tool. `check_cancelled()` is asked before each tool
    and after each batch. `on_checkpoint(tools_used)` holds the session and tells whether it goes on; without it there
    are no checkpoints.
    """

    on_tool_start: Callable[[str], Awaitable[None]] | None = None
    on_tool_end: Callable[[str, bool], Awaitable[None]] | None = None
    check_cancelled: Callable[[], Awaitable[bool]] | None = None
    on_checkpoint: Callable[[int], Awaitable[bool]] | None = None


class Outcome(NamedTuple):
    """How a session ended: with its answer, or cancelled, and then `text` is the summary of what it was working on."""

    text: str
    cancelled: bool = False


class Interaction:
    """Fold the events of one session through the callbacks of a transport.

    Without callbacks nothing is asked and nothing ends: the plain loop. A callback that raises is logged, and the
    session goes on; only `on_checkpoint` counts as no then. State stays as it was: `approve` lets it go on.
    """

    __slots__ = ("_callbacks", "_cancelled", "_every", "_log", "_since", "_tasks", "_turn")

    def __init__(self, callbacks: AgentCallbacks | None = None, every: int = TOOLS_PER_CHECKPOINT) -> None:
        """`every`: tool calls from the start, or from an approval, to the next checkpoint."""
        self._callbacks = callbacks
        self._every = every
        self._log = ToolLog()
        self._turn = Lock()
        self._since = 0
        self._cancelled = False
        self._tasks: set[Task[bool]] = set()

    @property
    def cancelled(self) -> bool:
        """Return whether the session is to end: a word, a no, or silence at a checkpoint."""
        return self._cancelled

    @property
    def tools_used(self) -> int:
        """Return the tool calls since the start or the last approval."""
        return self._since

    def summary(self) -> str:
        """Return the line of a cancelled session: `Cancelled. Was working on: a ✓ → b ✓ → c ✗`."""
        return self._log.summary()

    def approve(self) -> None:
        """Let a session that was cancelled go on, with a fresh budget of tools."""
        self._cancelled = False
        self._since = 0

    async def feed(self, event: Event) -> bool:
        """Take an event, and return whether the session goes on.

        A ToolStarted comes before its tool runs: False says that it must not. Calls of one batch may come at once.
        """
        if self._callbacks is None:
            return True
        if isinstance(event, PersonSaid):
            self._cancelled = self._cancelled or is_cancel(event.text)
        elif isinstance(event, ToolStarted):
            async with self._turn:
                await self._start(self._callbacks, event)
        elif isinstance(event, ToolEnded):
            async with self._turn:
                await self._end(self._callbacks, event)
        return not self._cancelled

    async def refuse(self, tool: ToolStarted) -> str | None:
        """Take a tool that is about to run; return the summary where it must not, None if it may."""
        if self._tasks:  # what ended before it comes first
            await wait(self._tasks)
        may_run = await self.feed(tool)
        return None if may_run else self.summary()

    def fold(self, event: Event) -> None:
        """Take an event where nobody can wait, beside `refuse`, which takes the starts; callbacks follow in the loop.

        The next tool waits in `refuse` for a checkpoint that an end leads to. Raises RuntimeError without a loop.
        """
        if isinstance(event, ToolEnded | PersonSaid):
            task = get_running_loop().create_task(self.feed(event))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _start(self, callbacks: AgentCallbacks, event: ToolStarted) -> None:
        await self._look(callbacks)
        # A batch runs through; one longer than a whole budget, or ends that never come, put nothing off for ever.
        if self._since >= 2 * self._every:
            await self._hold(callbacks)
        if self._cancelled:
            return
        self._since += 1
        self._log.start(event.name, event.call)
        if callbacks.on_tool_start:
            await _heard(callbacks.on_tool_start, event.name, otherwise=None)

    async def _end(self, callbacks: AgentCallbacks, event: ToolEnded) -> None:
        self._since += not self._log.end(event.name, event.success, event.call)
        if callbacks.on_tool_end:
            await _heard(callbacks.on_tool_end, event.name, event.success, otherwise=None)
        if not self._log.running:
            await self._look(callbacks)
            if self._since >= self._every:
                await self._hold(callbacks)

    async def _look(self, callbacks: AgentCallbacks) -> None:
        if callbacks.check_cancelled and not self._cancelled:
            cancelled = await _heard(callbacks.check_cancelled, otherwise=False)
            self._cancelled = self._cancelled or cancelled

    async def _hold(self, callbacks: AgentCallbacks) -> None:
        if self._cancelled or not callbacks.on_checkpoint:
            return
        goes_on = await _heard(callbacks.on_checkpoint, self._since, otherwise=False)
        if not goes_on:
            self._cancelled = True
        elif not self._cancelled:
            self._since = 0


async def _heard(callback: Callable[[*_Given], Awaitable[_Answer]], *given: *_Given, otherwise: _Answer) -> _Answer:
    try:
        return await callback(*given)
    except Exception:  # noqa: BLE001  # whatever a transport raises
        _LOG.exception("a callback of the session failed; the session keeps what it has")
        return otherwise


async def follow(events: AsyncIterator[Event], interaction: Interaction) -> Outcome:
    """Run an agent that yields its events, a ToolStarted before its tool runs, to its answer or until it is cancelled.

    The answer is what the last turn said. A cancelled agent is closed where it stands.
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
