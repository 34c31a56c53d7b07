"""Show a session in a chat: one message is edited to show the log, and finally the answer.

A chat has three methods (`Chat`); examples/discord_bot.py implements them for Discord.

    async with ChatSession(chat) as session:
        outcome = await follow(events, Interaction(session.callbacks))
        await session.finish(outcome)
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Generic, Protocol, Self, TypeVar

from ralph_tracker.session_ui.session_dialog import STOPPING, Conversation
from ralph_tracker.steering.human_oversight import SILENCE_S, Outcome

STARTING: Final = "🔧 ..."
NO_ANSWER: Final = "Done, without a last word."
BROKEN_OFF: Final = "The session broke off."
_LOG: Final = logging.getLogger(__name__)
Message = TypeVar("Message")


class Chat(Protocol[Message]):
    """One person's chat; exceptions are logged, and the session goes on."""

    async def send(self, text: str) -> Message:
        """Send a message, and return a handle to edit it."""
        ...

    async def edit(self, message: Message, text: str) -> None:
        """Replace the text of a sent message."""
        ...

    async def next_message(self) -> str | None:
        """Wait for the person's next message, None once nothing can come; messages in between must be queued."""
        ...


class ChatSession(Conversation, Generic[Message]):
    """Shows one session in a chat and receives the person's messages.

    `limit`: characters per message; a longer answer is sent in several, of a longer log the end is shown. `escape`
    makes names of tools plain text if the chat has markup. `silence_s`: as in Conversation.
    """

    def __init__(
        self,
        chat: Chat[Message],
        limit: int = 2000,
        escape: Callable[[str], str] = str,
        silence_s: float = SILENCE_S,
    ) -> None:
        self._chat = chat
        self._limit = limit
        self._escape = escape
        super().__init__(silence_s)
        self._message: Message | None = None
        self._wanted = STARTING
        self._shown = ""
        self._turn = asyncio.Lock()
        self._drawing: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._catch_up()
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            self._wanted = self._log(BROKEN_OFF)
            await self._catch_up()
        for task in (self._listening, self._drawing):
            if task:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def finish(self, outcome: Outcome) -> None:
        """Replace the log by the answer, or by the summary of a cancelled session. Raises what `send` raises."""
        text = self._escape(outcome.text) if outcome.cancelled else outcome.text
        first, *rest = pieces_of(text.strip() or NO_ANSWER, self._limit)
        self._wanted = first
        for piece in rest if await self._catch_up() else [first, *rest]:
            await self._chat.send(piece)

    async def _show(self, line: str | None = None) -> None:  # noqa: ARG002  # the whole log is shown each time
        self._wanted = self._log()
        # Chats allow few edits a minute: edits requested during one are combined.
        if self._drawing is None or self._drawing.done():

            async def draw() -> None:
                while self._shown != self._wanted and await self._catch_up():
                    pass

            self._drawing = asyncio.create_task(draw())

    async def _ask(self, question: str, times: int) -> None:
        self._wanted = self._log(question)
        if times or not await self._catch_up():
            await self._chat.send(question)  # an edit to the same text would not be noticed

    def _log(self, *last: str) -> str:
        stopping = [STOPPING] if self.inbox.cancelled and not last else []
        end = [*stopping, *last]
        room = self._limit - sum(len(line) + 1 for line in end)
        shown: list[str] = []
        for line in reversed(self.log.lines()):
            escaped = self._escape(line)
            room -= len(escaped) + 1
            if room < 0:
                break
            shown.insert(0, escaped)
        return "\n".join([*shown, *end]) or STARTING

    async def _catch_up(self) -> bool:
        """Update the message, and return whether it is up to date."""
        async with self._turn:
            text = self._wanted
            if text == self._shown:
                return True
            try:
                if self._message is None:
                    self._message = await self._chat.send(text)
                else:
                    await self._chat.edit(self._message, text)
            except Exception:  # noqa: BLE001  # anything a chat raises
                _LOG.exception("the chat did not take a message; the session continues")
                return False
            self._shown = text
            return True

    async def _listen(self) -> None:
        try:
            while (text := await self._chat.next_message()) is not None:
                self.inbox.add(text)
                if self.inbox.cancelled:
                    await self._show()
        except Exception:  # noqa: BLE001  # as above
            _LOG.exception("the chat can no longer be heard; the next checkpoint ends the session")
        self.inbox.close()


def pieces_of(text: str, limit: int) -> list[str]:
    """Return a text in pieces of at most `limit` characters, cut at line ends if these are near."""
    pieces = []
    while len(text) > limit:
        end = text.rfind("\n", limit // 2, limit + 1)
        cut = end if end > 0 else limit
        pieces.append(text[:cut])
        text = text[cut:].removeprefix("\n")
    return [*pieces, text] if text.strip() else pieces
