"""The worked adapter, with discord.py's own objects: messages as the gateway brings them, requests as they go out."""

import asyncio
import importlib.util
import warnings
from pathlib import Path

import pytest

from ralph_tracker.steering import ToolEnded, ToolStarted, TurnEnded, checkpoint_text

EXAMPLE = Path(__file__).parents[2] / "examples" / "discord_bot.py"
CHANNEL, ME, PERSON, STRANGER = 5, 1, 2, 3


@pytest.fixture(scope="session")
def example():
    """Import the example as the file that it is; skip where its library is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the library imports itself
        # In a fixture, not at the top: a run in which all is skipped ends well, one that collects nothing does not.
        pytest.importorskip("discord", reason="discord.py is not installed: make suite NAME=examples")
    spec = importlib.util.spec_from_file_location("discord_bot", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def user(number, *, bot=False):
    return {"id": str(number), "username": f"u{number}", "discriminator": "0", "avatar": None, "bot": bot}


def message(number, author, content, **more):
    """Return a message as Discord's gateway and its HTTP interface give it."""
    return {
        "id": str(number),
        "channel_id": str(CHANNEL),
        "author": user(author, bot=author == ME),
        "content": content,
        "timestamp": "2026-02-02T10:00:00+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "pinned": False,
        "type": 0,
        **more,
    }


class Server:
    """Stand in for Discord: bring messages to a bot, keep what it sends and edits."""

    def __init__(self, bot, client_user):
        self.state = bot._connection
        self.state.user = client_user(state=self.state, data=user(ME, bot=True))
        bot.http.request = self.request
        self.sent = {}
        self.rang = []
        self.number = 100

    async def request(self, route, json=None, **rest):
        if route.method == "POST":
            self.number += 1
            key = str(self.number)
            self.sent[key] = []
        else:
            assert route.method == "PATCH"
            key = route.url.rsplit("/", 1)[1]
        self.sent[key].append(json["content"])
        self.rang.append(json["allowed_mentions"])
        return message(key, ME, json["content"])

    def brings(self, author, content, **more):
        self.number += 1
        self.state.parse_message_create(message(self.number, author, content, **more))

    async def shows(self, text):
        """Wait until the last text of a message contains this one."""
        async with asyncio.timeout(60):
            while not any(text in texts[-1] for texts in self.sent.values()):
                await asyncio.sleep(0)

    @property
    def last(self):
        return [texts[-1] for texts in self.sent.values()]


class Agent:
    """Use tools, each as long as it is let."""

    def __init__(self, tools):
        self.tools = tools
        self.gate = asyncio.Semaphore(0)
        self.prompts = []

    def lets_end(self, tools):
        for _ in range(tools):
            self.gate.release()

    async def __call__(self, prompt):
        self.prompts.append(prompt)
        for number in range(1, self.tools + 1):
            yield ToolStarted(str(number), f"mcp__t{number}")
            await self.gate.acquire()
            yield ToolEnded(str(number), f"mcp__t{number}", success=number != 2)
        yield TurnEnded("*all* is well, @everyone")


def served(example, tools, talk):
    """Run the bot with an agent while `talk(server, agent)` happens; return the server and the agent."""

    async def serve():
        agent = Agent(tools)
        bot = example.Bot(agent)
        await bot._async_setup_hook()
        server = Server(bot, example.discord.ClientUser)
        await talk(server, agent)
        async with asyncio.timeout(60):
            while bot._chats:
                await asyncio.sleep(0)
        return server, agent

    return asyncio.run(serve())


def test_the_log_is_one_message_that_becomes_the_answer(example):
    async def talk(server, agent):
        server.brings(PERSON, "make it so")
        await server.shows("🔧 mcp\\_\\_t1 ...")
        agent.lets_end(1)
        await server.shows("🔧 mcp\\_\\_t1 ✓\n🔧 mcp\\_\\_t2 ...")
        agent.lets_end(1)
        await server.shows("all")

    server, agent = served(example, 2, talk)
    assert agent.prompts == ["make it so"]
    assert server.last == ["*all* is well, @everyone"]
    assert all(mentions == {"parse": []} for mentions in server.rang)


def test_stop_ends_it_before_the_next_tool_with_the_summary(example):
    async def talk(server, agent):
        server.brings(PERSON, "make it so")
        agent.lets_end(2)
        await server.shows("t3 ...")
        server.brings(PERSON, "Stop")
        await server.shows("Stopping before the next tool.")
        agent.lets_end(20)

    server, _ = served(example, 5, talk)
    assert server.last == ["Cancelled. Was working on: mcp\\_\\_t1 ✓ → mcp\\_\\_t2 ✗ → mcp\\_\\_t3 ✓"]


@pytest.mark.parametrize(("reply", "end"), [("yes", "*all* is well, @everyone"), ("stop", "Cancelled.")])
def test_the_checkpoint_at_20_tools_waits_and_obeys(example, reply, end):
    async def talk(server, agent):
        server.brings(PERSON, "make it so")
        agent.lets_end(21)
        await server.shows(checkpoint_text(20))
        server.brings(PERSON, reply)

    server, _ = served(example, 21, talk)
    assert server.last[0].startswith(end)


def test_messages_that_come_together_are_all_heard(example):
    async def talk(server, agent):
        server.brings(PERSON, "make it so")
        await server.shows("t1 ...")
        for content in ("by the way", "one more", "cancel", "thanks"):
            server.brings(PERSON, content)
        await server.shows("Stopping before the next tool.")
        agent.lets_end(20)

    server, agent = served(example, 5, talk)
    assert server.last[0].startswith("Cancelled.")
    assert agent.prompts == ["make it so"]


def test_only_the_one_who_began_is_heard_and_bots_begin_nothing(example):
    async def talk(server, agent):
        server.brings(PERSON, "make it so")
        await server.shows("t1 ...")
        server.brings(ME, "stop")
        server.brings(STRANGER, "stop")
        while len(agent.prompts) < 2:  # to the stranger it is a task
            await asyncio.sleep(0)
        agent.lets_end(4)

    server, agent = served(example, 2, talk)
    assert agent.prompts == ["make it so", "stop"]
    assert server.last == ["*all* is well, @everyone"] * 2


def test_without_a_token_it_says_where_to_get_one(example, monkeypatch):
    monkeypatch.delenv("DISCORD_TOKEN", raising=False)
    with pytest.raises(SystemExit, match="DISCORD_TOKEN is not set"):
        example.main()


def test_the_rehearsal_is_an_agent(example):
    async def first():
        events = example.rehearsal("x")
        event = await anext(events)
        await events.aclose()
        return event

    assert asyncio.run(first()) == ToolStarted("0", "read_file")
