"""A Discord bot that shows a coding session and obeys: the worked adapter of the chat protocol.

    pip install ralph-tracker discord.py
    DISCORD_TOKEN=... python examples/discord_bot.py

Write to the bot directly: it answers with the log of its tools, which becomes the answer. `stop` cancels before the
next tool; after 20 tools it asks. Only the one who began a session is heard in it. `rehearsal` stands in for an agent:
put yours there, any iterator that yields a ToolStarted before its tool runs.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable

import discord

from ralph_tracker.session_ui.chat_session import ChatSession
from ralph_tracker.steering import Event, Interaction, ToolEnded, ToolStarted, TurnEnded, follow

MESSAGE_CHARACTERS = 2000
NOBODY = discord.AllowedMentions.none()  # an agent that writes @everyone rings nobody
Agent = Callable[[str], AsyncIterator[Event]]


class DiscordChat:
    """Talk with one person in one channel."""

    def __init__(self, channel: discord.abc.Messageable) -> None:
        self._channel = channel
        self._heard: asyncio.Queue[str] = asyncio.Queue()

    def hear(self, message: discord.Message) -> None:
        """Keep a message until it is asked for: waiting for the next one only would lose those in between."""
        self._heard.put_nowait(message.content)

    async def send(self, text: str) -> discord.Message:
        return await self._channel.send(text, allowed_mentions=NOBODY)

    async def edit(self, message: discord.Message, text: str) -> None:
        await message.edit(content=text, allowed_mentions=NOBODY)

    async def next_message(self) -> str:
        return await self._heard.get()


class Bot(discord.Client):
    """Run an agent for whoever writes directly, one session a person and channel at a time."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(intents=discord.Intents(dm_messages=True))
        self._agent = agent
        self._chats: dict[tuple[int, int], DiscordChat] = {}

    async def on_message(self, message: discord.Message) -> None:
        key = (message.channel.id, message.author.id)
        if message.author.bot or message.guild is not None:
            return
        if key in self._chats:
            self._chats[key].hear(message)
            return
        self._chats[key] = DiscordChat(message.channel)
        try:
            await self._serve(message.content, self._chats[key])
        finally:
            del self._chats[key]

    async def _serve(self, prompt: str, chat: DiscordChat) -> None:
        async with ChatSession(chat, MESSAGE_CHARACTERS, discord.utils.escape_markdown) as session:
            outcome = await follow(self._agent(prompt), Interaction(session.callbacks))
            await session.finish(outcome)


async def rehearsal(prompt: str) -> AsyncIterator[Event]:
    """Pretend to be an agent that uses 45 tools."""
    for number in range(45):
        call, name = str(number), ("read_file", "edit_file", "run_tests")[number % 3]
        yield ToolStarted(call, name)
        await asyncio.sleep(1)
        yield ToolEnded(call, name, success=number % 7 != 2)  # some fail
    yield TurnEnded(f"Done: {prompt}")


def main() -> None:
    token = os.environ.get("DISCORD_TOKEN")
    if not token:
        sys.exit("DISCORD_TOKEN is not set; make a bot at discord.com/developers and put its token there")
    Bot(rehearsal).run(token)


if __name__ == "__main__":
    main()
