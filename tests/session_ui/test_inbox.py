"""What a person wrote: kept, answered, never lost."""

import asyncio

import pytest

from ralph_tracker.session_ui.session_dialog import KEPT_MESSAGES, Inbox


def test_a_word_that_cancels_is_kept_whenever_it_comes():
    inbox = Inbox()
    inbox.add("don't stop")
    assert not inbox.cancelled
    inbox.add("Stop")
    inbox.add("yes")
    assert inbox.cancelled


def test_what_is_neither_an_answer_nor_a_cancel_waits_for_whoever_takes_it():
    inbox = Inbox()
    inbox.add("use pytest")
    inbox.add("stop")
    inbox.add("please")
    assert inbox.take() == ["use pytest", "please"]
    assert inbox.take() == []


def test_only_the_last_messages_are_kept():
    inbox = Inbox()
    for number in range(KEPT_MESSAGES + 2):
        inbox.add(str(number))
    assert inbox.take()[0] == "2"


def test_what_was_said_before_the_question_is_no_answer():
    async def asked():
        inbox = Inbox()
        inbox.add("yes")
        waiting = asyncio.ensure_future(inbox.reply(60))
        await asyncio.sleep(0)
        inbox.add("no idea")
        return await waiting

    assert asyncio.run(asked()) == "no idea"


def test_an_answer_that_comes_while_the_question_is_put_again_is_not_lost():
    async def asked():
        inbox = Inbox()
        waiting = asyncio.ensure_future(inbox.reply(60))
        await asyncio.sleep(0)
        inbox.add("maybe")
        inbox.add("yes")
        first = await waiting
        return first, await inbox.reply(60), inbox.take()

    assert asyncio.run(asked()) == ("maybe", "yes", [])


def test_once_settled_what_comes_is_no_answer_any_more():
    async def asked():
        inbox = Inbox()
        waiting = asyncio.ensure_future(inbox.reply(60))
        await asyncio.sleep(0)
        inbox.add("yes")
        await waiting
        inbox.settle()
        inbox.add("use pytest")
        return inbox.take()

    assert asyncio.run(asked()) == ["use pytest"]


def test_silence_is_none():
    assert asyncio.run(Inbox().reply(0)) is None


@pytest.mark.parametrize("when", ["before", "while it is asked"])
def test_where_nobody_is_there_any_more_the_answer_is_none(when):
    async def asked():
        inbox = Inbox()
        if when == "before":
            inbox.close()
        waiting = asyncio.ensure_future(inbox.reply(60))
        await asyncio.sleep(0)
        if when != "before":
            inbox.close()
        return await waiting

    assert asyncio.run(asked()) is None
