"""Shared by all transports: keep the log, receive messages, hold a checkpoint."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from ralph_tracker.steering.callbacks import SILENCE_S, AgentCallbacks, ToolLog, hold_checkpoint, is_cancel, tool_line

KEPT_MESSAGES: Final = 100


class Inbox:
    """Receives messages in the thread of the event loop.

    A message that cancels always counts. Others are answers only while a question is open; else the last KEPT_MESSAGES
    of them are queued.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self.closed = False
        self._answers: asyncio.Queue[str | None] | None = None
        self._others: deque[str] = deque(maxlen=KEPT_MESSAGES)

    def hear(self, text: str) -> None:
        """Receive one message."""
        self.cancelled = self.cancelled or is_cancel(text)
        if self._answers:
            self._answers.put_nowait(text)
        elif not is_cancel(text):
            self._others.append(text)

    def close(self) -> None:
        """Record that nobody is there any more; an open question is answered with None."""
        self.closed = True
        if self._answers:
            self._answers.put_nowait(None)

    def take(self) -> list[str]:
        """Return and clear the messages that were neither an answer nor cancelled."""
        said = list(self._others)
        self._others.clear()
        return said

    async def reply(self, silence_s: float) -> str | None:
        """Return the next message; the first call opens the question, and earlier messages are no answer.

        None after `silence_s` seconds without a message, or if nobody is there any more.
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
        """Close the question: later messages are no answers."""
        self._answers = None


STOPPING: Final = "Stopping before the next tool."


class Show(Protocol):
    """Shows the log again; `line` is its new line, None if it is shown as before a question."""

    async def __call__(self, line: str | None = None) -> None: ...


class Conversation:
    """Builds the callbacks of a session from two ways of showing.

    `ask(question, times)` shows a question, `times` as in `hold_checkpoint`. `silence_s` is how many seconds without a
    message at a checkpoint end the session.
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
        """Return the callbacks for the session."""

        async def is_cancelled() -> bool:
            return self.inbox.cancelled

        return AgentCallbacks(self._tool_starts, self._tool_ends, is_cancelled, self._checkpoint)

    async def _tool_starts(self, name: str) -> None:
        self.log.start(name)
        await self._show(tool_line(name, None))

    async def _tool_ends(self, name: str, success: bool) -> None:  # noqa: FBT001  # as on_tool_end has it
        self.log.end(name, success)
        await self._show(tool_line(name, success))

    async def _checkpoint(self, tools_used: int) -> bool:
        if self.inbox.cancelled:  # said before the question
            return False
        try:
            goes_on = await hold_checkpoint(tools_used, self._ask, lambda: self.inbox.reply(self._silence_s))
        finally:
            self.inbox.settle()
        await self._show()
        return goes_on and not self.inbox.cancelled


class PersonSession:
    """A session with a person by way of a conversation."""

    _conversation: Conversation

    @property
    def callbacks(self) -> AgentCallbacks:
        """Return the callbacks for the session."""
        return self._conversation.callbacks

    def take_messages(self) -> list[str]:
        """Return and clear the person's messages that were neither an answer nor cancelled."""
        return self._conversation.inbox.take()
