"""Keep the log of a session, receive a person's messages and hold a checkpoint: what chat and terminal share."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from typing import Final

from ralph_tracker.steering.human_oversight import (
    SILENCE_S,
    AgentCallbacks,
    ToolLog,
    hold_checkpoint,
    is_cancel,
    tool_line,
)

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

    def add(self, text: str) -> None:
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


class Conversation(ABC):
    """A session with a person: a log that is shown, messages that are received, and checkpoints that are asked.

    `silence_s` is how many seconds without a message at a checkpoint end the session.
    """

    def __init__(self, silence_s: float = SILENCE_S) -> None:
        self.log = ToolLog()
        self.inbox = Inbox()
        self._silence_s = silence_s

    @abstractmethod
    async def _show(self, line: str | None = None) -> None:
        """Show the log again; `line` is its new line, None if it is shown as before a question."""

    @abstractmethod
    async def _ask(self, question: str, times: int) -> None:
        """Show a question; `times` is as in `hold_checkpoint`."""

    @property
    def callbacks(self) -> AgentCallbacks:
        """Return the callbacks for the session."""

        async def started(name: str) -> None:
            self.log.start(name)
            await self._show(tool_line(name, None))

        async def ended(name: str, success: bool) -> None:  # noqa: FBT001  # as on_tool_end has it
            self.log.end(name, success)
            await self._show(tool_line(name, success))

        async def is_cancelled() -> bool:
            return self.inbox.cancelled

        return AgentCallbacks(started, ended, is_cancelled, self._checkpoint)

    async def _checkpoint(self, tools_used: int) -> bool:
        if self.inbox.cancelled:  # said before the question
            return False
        try:
            goes_on = await hold_checkpoint(tools_used, self._ask, lambda: self.inbox.reply(self._silence_s))
        finally:
            self.inbox.settle()
        await self._show()
        return goes_on and not self.inbox.cancelled

    def take_messages(self) -> list[str]:
        """Return and clear the person's messages that were neither an answer nor cancelled."""
        return self.inbox.take()
