"""A session and its callbacks: seen, cancelled before a tool, held at checkpoints, and no worse off by what raises."""

import asyncio

import pytest

from ralph_tracker.steering.human_oversight import AgentCallbacks, Interaction, Outcome, follow
from ralph_tracker.steering.session_events import FileRead, PersonSaid, ToolEnded, ToolStarted, TurnEnded
from tests.tables import table


class Watching:
    """Record every callback; say what it is told to."""

    def __init__(self, cancel_at=None, replies=()):
        self.calls = []
        self.cancel_at = cancel_at
        self.replies = list(replies)

    async def start(self, name):
        self.calls.append(("start", name))

    async def end(self, name, success):
        self.calls.append(("end", name, success))

    async def cancelled(self):
        started = sum(call[0] == "start" for call in self.calls)
        return self.cancel_at is not None and started >= self.cancel_at

    async def checkpoint(self, used):
        self.calls.append(("checkpoint", used))
        return self.replies.pop(0)

    @property
    def callbacks(self):
        return AgentCallbacks(self.start, self.end, self.cancelled, self.checkpoint)

    @property
    def checkpoints(self):
        return [call[1] for call in self.calls if call[0] == "checkpoint"]


async def raising(*given):
    raise OSError("the chat is gone")


def one(number):
    """Return the events of one tool call."""
    return [ToolStarted(str(number), f"t{number}"), ToolEnded(str(number), f"t{number}", success=True)]


def sequence(first, last):
    return [event for number in range(first, last + 1) for event in one(number)]


def batch(first, last):
    """Return the events of calls that run at the same time."""
    both = [one(number) for number in range(first, last + 1)]
    return [start for start, _ in both] + [end for _, end in both]


def fed(interaction, events):
    """Feed events one after another; return what was said to each."""

    async def feed():
        return [await interaction.feed(event) for event in events]

    return asyncio.run(feed())


async def stream(events):
    for event in events:
        yield event


def test_tools_are_shown_as_they_start_and_end():
    watching = Watching()
    failing = ToolEnded("2", "b", success=False)
    events = [ToolStarted("1", "a"), ToolEnded("1", "a", success=True), FileRead("x"), ToolStarted("2", "b"), failing]
    assert fed(Interaction(watching.callbacks), events) == [True] * 5
    assert watching.calls == [("start", "a"), ("end", "a", True), ("start", "b"), ("end", "b", False)]


def test_a_cancel_is_seen_before_the_next_tool_and_the_answer_names_the_work():
    watching = Watching(cancel_at=2)
    interaction = Interaction(watching.callbacks)
    events = [*sequence(1, 2), ToolStarted("3", "t3")]
    assert fed(interaction, events) == [True, True, True, False, False]
    assert ("start", "t3") not in watching.calls
    assert interaction.summary() == "Cancelled. Was working on: t1 ✓ → t2 ✓"


def test_a_cancel_while_a_batch_runs_is_seen_before_its_next_call():
    watching = Watching(cancel_at=1)
    interaction = Interaction(watching.callbacks)
    assert fed(interaction, batch(1, 2)[:2]) == [True, False]
    assert interaction.summary() == "Cancelled. Was working on: t1 ✗"
    assert fed(interaction, [ToolEnded("1", "t1", success=True)]) == [False]
    assert interaction.summary() == "Cancelled. Was working on: t1 ✓"


@table("word", ["stop", "CANCEL"])
def test_a_word_in_the_stream_cancels_too(word):
    interaction = Interaction(AgentCallbacks())
    assert fed(interaction, [PersonSaid("don't stop"), PersonSaid(word), ToolStarted("1", "a")]) == [True, False, False]


def test_a_checkpoint_comes_after_20_tools_and_again_after_20_more():
    watching = Watching(replies=[True, True])
    interaction = Interaction(watching.callbacks)
    assert all(fed(interaction, sequence(1, 45)))
    assert watching.checkpoints == [20, 40]
    assert watching.calls.index(("checkpoint", 20)) == 40
    assert interaction.tools_used == 5


def test_a_no_at_the_checkpoint_ends_with_the_summary():
    watching = Watching(replies=[False])
    interaction = Interaction(watching.callbacks, every=2)
    assert fed(interaction, sequence(1, 3)) == [True, True, True, False, False, False]
    assert interaction.summary().startswith("Cancelled. Was working on: t1 ✓ → t2 ✓")
    assert ("start", "t3") not in watching.calls


def test_not_to_repeat_a_batch_that_jumps_from_19_to_22_does_not_skip_the_checkpoint():
    watching = Watching(replies=[True])
    fed(Interaction(watching.callbacks), [*sequence(1, 19), *batch(20, 22), *sequence(23, 30)])
    assert watching.checkpoints == [22]


def test_calls_that_come_at_the_same_time_reach_the_checkpoint_too():
    watching = Watching(replies=[True])
    interaction = Interaction(watching.callbacks)

    async def at_once():
        for event in sequence(1, 19):
            await interaction.feed(event)
        starts, ends = batch(20, 22)[:3], batch(20, 22)[3:]
        assert await asyncio.gather(*map(interaction.feed, starts)) == [True] * 3
        return await asyncio.gather(*map(interaction.feed, ends))

    assert asyncio.run(at_once()) == [True] * 3
    assert watching.checkpoints == [22]


def test_a_tool_that_comes_while_the_person_is_asked_waits_for_the_answer():
    order = []
    interaction = None

    async def checkpoint(used):
        waiting = asyncio.ensure_future(interaction.feed(ToolStarted("3", "t3")))
        waiting.add_done_callback(lambda done: order.append(done.result()))
        await asyncio.sleep(0)
        order.append("answered")
        return False

    async def run():
        nonlocal interaction
        interaction = Interaction(AgentCallbacks(on_checkpoint=checkpoint), every=2)
        for event in sequence(1, 2):
            await interaction.feed(event)
        while len(order) < 2:
            await asyncio.sleep(0)

    asyncio.run(run())
    assert order == ["answered", False]


@table("extra", [0, 10])
def test_ends_that_never_come_do_not_put_the_checkpoint_off_for_ever(extra):
    watching = Watching(replies=[True])
    fed(Interaction(watching.callbacks), [ToolStarted(str(n), "t") for n in range(41 + extra)])
    assert watching.checkpoints == [40]


def test_ends_whose_starts_nobody_saw_are_counted():
    watching = Watching(replies=[True])
    fed(Interaction(watching.callbacks), [ToolEnded(str(n), "t", success=True) for n in range(20)])
    assert watching.checkpoints == [20]


def test_not_to_repeat_success_is_the_flag_of_the_tool_whatever_it_printed():
    watching = Watching()
    found = ToolEnded("1", "grep", success=True, result="not found: permission denied, timeout, Error")
    fed(Interaction(watching.callbacks), [ToolStarted("1", "grep"), found])
    assert watching.calls[-1] == ("end", "grep", True)


def test_not_to_repeat_a_cancel_typed_before_the_checkpoint_is_not_lost():
    watching = Watching(cancel_at=20, replies=[True])
    interaction = Interaction(watching.callbacks)
    assert fed(interaction, sequence(1, 20))[-1] is False
    assert watching.checkpoints == []
    assert interaction.cancelled


def test_a_cancel_in_the_stream_while_the_person_is_asked_beats_a_yes():
    interaction = None

    async def checkpoint(used):
        await interaction.feed(PersonSaid("stop"))
        return True

    interaction = Interaction(AgentCallbacks(on_checkpoint=checkpoint), every=1)
    assert fed(interaction, one(1)) == [True, False]
    assert interaction.tools_used == 1


@pytest.mark.parametrize("name", ["on_tool_start", "on_tool_end", "check_cancelled"])
def test_a_callback_that_raises_is_logged_and_loses_nothing(name, caplog):
    interaction = Interaction(AgentCallbacks(**{name: raising}))
    assert all(fed(interaction, sequence(1, 2)))
    assert interaction.summary() == "Cancelled. Was working on: t1 ✓ → t2 ✓"
    assert "a callback of the session failed" in caplog.text
    assert "the chat is gone" in caplog.text


def test_a_callback_that_is_not_async_is_logged_like_one_that_raises(caplog):
    assert all(fed(Interaction(AgentCallbacks(on_tool_start=lambda name: None)), one(1)))
    assert "a callback of the session failed" in caplog.text


def test_a_checkpoint_that_raises_counts_as_no_with_the_state_kept(caplog):
    interaction = Interaction(AgentCallbacks(on_checkpoint=raising), every=2)
    assert fed(interaction, sequence(1, 2))[-1] is False
    assert (interaction.cancelled, interaction.tools_used) == (True, 2)
    assert interaction.summary() == "Cancelled. Was working on: t1 ✓ → t2 ✓"
    assert "the chat is gone" in caplog.text


def test_a_session_that_was_ended_can_be_approved_and_goes_on_with_a_fresh_budget():
    watching = Watching(replies=[False, True])
    interaction = Interaction(watching.callbacks, every=2)
    fed(interaction, sequence(1, 2))
    interaction.approve()
    assert all(fed(interaction, sequence(3, 4)))
    assert watching.checkpoints == [2, 4]
    assert interaction.summary() == "Cancelled. Was working on: t1 ✓ → t2 ✓ → t3 ✓ → t4 ✓"


def test_a_cancelled_task_is_not_taken_for_a_callback_that_raises():
    async def cancelled():
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        fed(Interaction(AgentCallbacks(check_cancelled=cancelled)), one(1))


@table("callbacks", [None, AgentCallbacks()], ids=["no callbacks", "all left out"])
def test_without_callbacks_the_plain_loop_is_as_before(callbacks):
    events = [*sequence(1, 50), TurnEnded("done")]
    assert all(fed(Interaction(callbacks), events))
    assert asyncio.run(follow(stream(events), Interaction(callbacks))) == Outcome("done")


def test_without_callbacks_a_word_is_for_the_agent():
    assert fed(Interaction(), [PersonSaid("stop"), *one(1)]) == [True, True, True]


def test_the_answer_is_what_the_last_turn_said():
    events = [TurnEnded("let me look"), *one(1), TurnEnded("all is well")]
    assert asyncio.run(follow(stream(events), Interaction(Watching().callbacks))) == Outcome("all is well")


def test_an_agent_that_is_cancelled_does_not_run_the_next_tool_and_is_closed():
    ran = []

    async def agent():
        try:
            for number in range(1, 4):
                yield ToolStarted(str(number), f"t{number}")
                ran.append(number)
                yield PersonSaid("stop" if number == 2 else "go on")
                yield ToolEnded(str(number), f"t{number}", success=True)
        finally:
            ran.append("closed")

    outcome = asyncio.run(follow(agent(), Interaction(AgentCallbacks())))
    assert outcome == Outcome("Cancelled. Was working on: t1 ✓ → t2 ✓", cancelled=True)
    assert ran == [1, 2, "closed"]


def test_an_answer_that_came_first_is_not_lost_to_a_late_stop():
    events = [*one(1), PersonSaid("stop"), TurnEnded("done")]
    assert asyncio.run(follow(stream(events), Interaction(AgentCallbacks()))) == Outcome("done")


def test_an_iterator_that_cannot_be_closed_is_followed_too():
    class Plain:
        def __init__(self):
            self.left = [TurnEnded("done")]

        def __aiter__(self):
            return self

        async def __anext__(self):
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop()

    assert asyncio.run(follow(Plain(), Interaction(AgentCallbacks()))) == Outcome("done")


def test_a_host_that_cannot_wait_at_the_end_of_a_tool_waits_before_the_next_one():
    asked, answered = [], []

    async def run():
        answer = asyncio.Event()

        async def checkpoint(used):
            asked.append(used)
            await answer.wait()
            answered.append(used)
            return len(asked) == 1

        interaction = Interaction(AgentCallbacks(on_checkpoint=checkpoint), every=1)
        refused = []
        for number in range(1, 4):
            start, end = one(number)
            interaction.fold(start)
            if len(asked) == 1 and not answered:
                asyncio.get_running_loop().call_soon(answer.set)
            refused.append(await interaction.refuse(start))
            if refused[-1] is None:
                interaction.fold(end)
            await asyncio.sleep(0)
        return refused

    assert asyncio.run(run()) == [None, None, "Cancelled. Was working on: t1 ✓ → t2 ✓"]
    assert asked == answered == [1, 2]


def test_a_host_that_cannot_wait_hands_on_what_a_person_says():
    async def run():
        interaction = Interaction(AgentCallbacks())
        interaction.fold(TurnEnded("hm"))
        interaction.fold(PersonSaid("stop"))
        await asyncio.sleep(0)
        return await interaction.refuse(one(1)[0])

    assert asyncio.run(run()) == "Cancelled. No tool had run yet."


def test_what_is_kept_does_not_grow_with_the_session():
    interaction = Interaction(AgentCallbacks())
    fed(interaction, sequence(1, 500))
    few = len(interaction.summary())
    fed(interaction, sequence(501, 999))
    assert len(interaction.summary()) <= few + 10
