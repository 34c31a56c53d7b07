"""What a person writes while a session runs: a word that cancels, an answer to a question, or something else."""

import asyncio
from collections import deque
from typing import Final

from ralph_tracker.steering.cancelling import is_cancel

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
