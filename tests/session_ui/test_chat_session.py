"""A session in a chat: one message that lives, a person who is heard at any time, an answer that arrives."""

import asyncio

import pytest

from ralph_tracker.session_ui.chat_session import BROKEN_OFF, NO_ANSWER, STARTING, STOPPING, ChatSession, pieces_of
from ralph_tracker.steering.human_oversight import Interaction, Outcome, checkpoint_text, follow
from ralph_tracker.steering.session_events import ToolEnded, ToolStarted, TurnEnded
from tests.tables import table


class FakeChat:
    """Keep every text that each message ever had; `refuse` names the methods that raise."""

    def __init__(self, refuse=()):
        self.messages = []
        self.refuse = set(refuse)
        self.coming = asyncio.Queue()
        self.gate = asyncio.Event()
        self.gate.set()

    async def send(self, text):
        if "send" in self.refuse:
            raise OSError("refused")
        self.messages.append([text])
        return len(self.messages) - 1

    async def edit(self, message, text):
        await self.gate.wait()
        if "edit" in self.refuse:
            raise OSError("refused")
        self.messages[message].append(text)

    async def next_message(self):
        text = await self.coming.get()
        if text is OSError:
            raise OSError("gone")
        return text

    @property
    def last(self):
        return [texts[-1] for texts in self.messages]


async def settled():
    """Let everything that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


def calls(last, at=None):
    """Yield calls t1 to t`last`; `at` are coroutine functions to run inside of a tool, by its number."""

    async def agent():
        for number in range(1, last + 1):
            yield ToolStarted(str(number), f"t{number}")
            if at and number in at:
                await at[number]()
            yield ToolEnded(str(number), f"t{number}", success=number != 2)
        yield TurnEnded("all is well")

    return agent()


def served(agent_of, chat_of=FakeChat, **options):
    """Run a session to its end; return the chat and the outcome."""

    async def serve():
        chat = chat_of()
        async with ChatSession(chat, **options) as session:
            outcome = await follow(agent_of(chat), Interaction(session.callbacks))
            await session.finish(outcome)
        return chat, outcome

    return asyncio.run(serve())


def test_the_log_is_one_message_that_becomes_the_answer():
    async def look():
        await settled()

    chat, outcome = served(lambda chat: calls(3, {1: look, 3: look}))
    assert outcome == Outcome("all is well")
    assert chat.messages == [
        [STARTING, "🔧 t1 ...", "🔧 t1 ✓\n🔧 t2 ✗\n🔧 t3 ...", "all is well"],
    ]


def test_a_stop_while_a_tool_runs_ends_the_session_before_the_next():
    def agent_of(chat):
        async def stop():
            await chat.coming.put("Stop")
            await settled()

        return calls(3, {2: stop})

    chat, outcome = served(agent_of)
    assert outcome == Outcome("Cancelled. Was working on: t1 ✓ → t2 ✗", cancelled=True)
    assert chat.messages[0][-2:] == [f"🔧 t1 ✓\n🔧 t2 ...\n{STOPPING}", outcome.text]


def answered(*replies, tools=21):
    """Run a session whose person gives these replies, each once the question stands."""

    def agent_of(chat):
        async def person():
            for times, reply in enumerate(replies, 1):
                while sum(text.endswith(checkpoint_text(20)) for texts in chat.messages for text in texts) < times:
                    await asyncio.sleep(0)
                await settled()
                await chat.coming.put(reply)

        agent = calls(tools)

        async def with_person():
            task = asyncio.ensure_future(person())
            async for event in agent:
                yield event
            await task

        return with_person()

    return served(agent_of)


def test_a_checkpoint_updates_the_message_and_a_yes_goes_on():
    chat, outcome = answered("yes")
    assert outcome == Outcome("all is well")
    assert len(chat.messages) == 1
    question = next(text for text in chat.messages[0] if "Used" in text)
    assert question.splitlines()[-2:] == ["🔧 t20 ✓", checkpoint_text(20)]


def test_an_unclear_reply_is_asked_again_in_a_new_message():
    chat, outcome = answered("maybe", "go")
    assert outcome == Outcome("all is well")
    assert chat.last == ["all is well", checkpoint_text(20)]


def test_a_stop_at_the_checkpoint_ends_with_the_summary():
    chat, outcome = answered("cancel")
    assert outcome.cancelled
    assert chat.last == [outcome.text]
    assert outcome.text.endswith("t19 ✓ → t20 ✓")


def test_silence_at_the_checkpoint_ends_with_the_summary():
    chat, outcome = served(lambda chat: calls(21), silence_s=0)
    assert outcome.cancelled
    assert chat.last == [outcome.text]


def test_not_to_repeat_a_cancel_typed_before_the_checkpoint_is_not_swallowed_by_it():
    def agent_of(chat):
        async def stop():
            await chat.coming.put("stop")
            await settled()

        return calls(21, {20: stop})

    chat, outcome = served(agent_of)
    assert outcome.cancelled
    assert not any("Used" in text for text in chat.messages[0])


def test_a_cancel_that_only_the_transport_has_heard_is_a_no_at_the_checkpoint():
    async def serve():
        chat = FakeChat()
        async with ChatSession(chat) as session:
            await chat.coming.put("stop")
            await settled()
            goes_on = await session.callbacks.on_checkpoint(20)
            await settled()
            return goes_on, chat.last

    assert asyncio.run(serve()) == (False, [STOPPING])


def test_a_yes_typed_before_the_question_is_no_answer_and_is_handed_on():
    async def serve():
        chat = FakeChat()
        async with ChatSession(chat, silence_s=0) as session:
            await chat.coming.put("yes")
            await settled()
            outcome = await follow(calls(21), Interaction(session.callbacks))
            return outcome.cancelled, session.take_messages()

    assert asyncio.run(serve()) == (True, ["yes"])


def test_a_chat_that_refuses_edits_gets_the_answer_in_a_new_message(caplog):
    chat, outcome = served(lambda chat: calls(3), lambda: FakeChat({"edit"}))
    assert outcome == Outcome("all is well")
    assert chat.messages == [[STARTING], ["all is well"]]
    assert "the chat did not take a message" in caplog.text


def test_a_question_that_cannot_be_edited_in_is_sent():
    chat, outcome = served(lambda chat: calls(21), lambda: FakeChat({"edit"}), silence_s=0)
    assert outcome.cancelled
    assert chat.last == [STARTING, checkpoint_text(20), outcome.text]


def test_a_chat_that_takes_nothing_at_first_gets_all_later():
    def agent_of(chat):
        async def fix():
            chat.refuse = set()

        return calls(3, {3: fix})

    chat, _ = served(agent_of, lambda: FakeChat({"send", "edit"}))
    assert chat.last == ["all is well"]


def test_a_question_that_cannot_be_shown_at_all_counts_as_no(caplog):
    async def serve():
        chat = FakeChat({"send", "edit"})
        async with ChatSession(chat) as session:
            return await follow(calls(21), Interaction(session.callbacks))

    outcome = asyncio.run(serve())
    assert outcome.cancelled
    assert outcome.text.endswith("→ t20 ✓")


@pytest.mark.parametrize("end", [None, OSError], ids=["closed", "raises"])
def test_a_chat_that_can_no_longer_be_heard_ends_at_the_next_checkpoint(end):
    def agent_of(chat):
        chat.coming.put_nowait(end)
        return calls(21)

    _, outcome = served(agent_of)
    assert outcome.cancelled


def test_many_tools_during_one_slow_edit_become_one_edit():
    def agent_of(chat):
        async def slow():
            await settled()
            chat.gate.clear()

        async def fast():
            await settled()
            chat.gate.set()
            await settled()

        return calls(12, {1: slow, 12: fast})

    chat, _ = served(agent_of)
    assert len(chat.messages[0]) <= 6
    assert chat.last == ["all is well"]


def test_a_log_that_does_not_fit_shows_its_end_and_the_question():
    chat, _ = served(lambda chat: calls(20), limit=100, silence_s=0)
    question = next(text for text in chat.messages[0] if "Used" in text)
    assert len(question) <= 100
    assert question.endswith(f"🔧 t20 ✓\n{checkpoint_text(20)}")


def test_a_long_answer_is_sent_in_several_messages():
    async def agent():
        yield TurnEnded("first line\nsecond line\n" + "x" * 25)

    chat, _ = served(lambda chat: agent(), limit=22)
    assert chat.last == ["first line\nsecond line", "x" * 22, "x" * 3]


def test_a_session_without_a_word_says_so():
    async def agent():
        yield TurnEnded(" ")

    assert served(lambda chat: agent())[0].last == [NO_ANSWER]


def test_names_of_tools_are_plain_text_and_the_answer_is_as_it_was_said():
    def escape(text):
        return text.replace("_", "\\_")

    async def agent():
        yield ToolStarted("1", "a__b")
        await settled()
        yield TurnEnded("_done_")

    chat, _ = served(lambda chat: agent(), escape=escape)
    assert chat.messages[0][1:] == ["🔧 a\\_\\_b ...", "_done_"]


def test_the_summary_of_a_cancelled_session_is_plain_text_too():
    def agent_of(chat):
        async def stop():
            await chat.coming.put("stop")
            await settled()

        return calls(1, {1: stop})

    assert served(agent_of, escape=str.upper)[0].last == ["CANCELLED. WAS WORKING ON: T1 ✓"]


def test_a_session_that_breaks_off_says_so():
    async def serve(chat):
        async with ChatSession(chat) as session:
            await session.callbacks.on_tool_start("a")
            raise ZeroDivisionError

    async def run():
        chat = FakeChat()
        with pytest.raises(ZeroDivisionError):
            await serve(chat)
        return chat

    assert asyncio.run(run()).last == [f"🔧 a ...\n{BROKEN_OFF}"]


@table(
    ("text", "limit", "pieces"),
    [
        ("", 5, []),
        ("abc", 5, ["abc"]),
        ("abcde", 5, ["abcde"]),
        ("abcdef", 5, ["abcde", "f"]),
        ("abc\ndef", 5, ["abc", "def"]),
        ("a\nbcdefg", 5, ["a\nbcd", "efg"]),
        ("abcde\nf", 5, ["abcde", "f"]),
        ("abcde\n\n", 5, ["abcde"]),
    ],
)
def test_pieces_are_cut_at_ends_of_lines_that_are_not_far(text, limit, pieces):
    assert pieces_of(text, limit) == pieces
