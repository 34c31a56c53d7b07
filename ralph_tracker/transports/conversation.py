"""What every transport does alike: keep the log, hear the person, hold a checkpoint."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from ralph_tracker.steering.callbacks import AgentCallbacks, ToolLog, tool_line
from ralph_tracker.steering.cancel_words import SILENCE_S, hold_checkpoint, is_cancel

KEPT_MESSAGES: Final = 100


class Inbox:
    """Take messages as they come, in the thread of the event loop.

    A word that cancels is kept whenever it comes. Anything else is an answer only while a question is open; else it
    waits, the last KEPT_MESSAGES of them, for whoever takes it.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self.closed = False
        self._answers: asyncio.Queue[str | None] | None = None
        self._others: deque[str] = deque(maxlen=KEPT_MESSAGES)

    def hear(self, text: str) -> None:
        """Take one message."""
        self.cancelled = self.cancelled or is_cancel(text)
        if self._answers:
            self._answers.put_nowait(text)
        elif not is_cancel(text):
            self._others.append(text)

    def close(self) -> None:
        """Note that nobody is there any more; an open question is answered with None."""
        self.closed = True
        if self._answers:
            self._answers.put_nowait(None)

    def take(self) -> list[str]:
        """Return what was said that was neither an answer nor a word that cancels, and forget it."""
        said = list(self._others)
        self._others.clear()
        return said

    async def reply(self, silence_s: float) -> str | None:
        """Return the next message; the first call opens the question, what was said before is no answer.

        None after `silence_s` seconds without a message, and where nobody is there any more.
        """
        if self._answers is None:
            self._answers = asyncio.Queue()
            if self.closed:
                self.close()
        try:
            async with asyncio.timeout(silence_s):
                return await self._answers.get()
        except TimeoutError:
            return None

    def settle(self) -> None:
        """Close the question: what comes now is no answer any more."""
        self._answers = None


STOPPING: Final = "Stopping before the next tool."


class Show(Protocol):
    """Show the log anew; `line` is what is new in it, None where it is shown as it was before a question."""

    async def __call__(self, line: str | None = None) -> None: ...


class Conversation:
    """Turn two ways of showing into the callbacks of a session.

    `ask(question, times)` shows a question, `times` as in `hold_checkpoint`. `silence_s`: how many seconds of silence
    at a checkpoint end the session.
    """

    def __init__(
        self,
        show: Show,
        ask: Callable[[str, int], Awaitable[None]],
        silence_s: float = SILENCE_S,
    ) -> None:
        self.log = ToolLog()
        self.inbox = Inbox()
        self._show = show
        self._ask = ask
        self._silence_s = silence_s

    @property
    def callbacks(self) -> AgentCallbacks:
        """Return what the session is to call."""
        return AgentCallbacks(self._tool_starts, self._tool_ends, self._is_cancelled, self._checkpoint)

    async def _tool_starts(self, name: str) -> None:
        self.log.start(name)
        await self._show(tool_line(name, None))

    async def _tool_ends(self, name: str, success: bool) -> None:  # noqa: FBT001  # as on_tool_end has it
        self.log.end(name, success)
        await self._show(tool_line(name, success))

    async def _is_cancelled(self) -> bool:
        return self.inbox.cancelled

    async def _checkpoint(self, tools_used: int) -> bool:
        if self.inbox.cancelled:  # said before the question
            return False
        try:
            goes_on = await hold_checkpoint(tools_used, self._ask, self._reply)
        finally:
            self.inbox.settle()
        await self._show()
        return goes_on and not self.inbox.cancelled

    async def _reply(self) -> str | None:
        return await self.inbox.reply(self._silence_s)


class PersonSession:
    """What a session calls, and hear the person, by way of a conversation."""

    _conversation: Conversation

    @property
    def callbacks(self) -> AgentCallbacks:
        """Return what the session is to call."""
        return self._conversation.callbacks

    def take_messages(self) -> list[str]:
        """Return what the person said that was neither an answer nor a word that cancels, and forget it."""
        return self._conversation.inbox.take()
