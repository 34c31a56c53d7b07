"""What counts as a cancel, as an approval, and as neither."""

import asyncio

from ralph_tracker.steering.human_oversight import SILENCE_S, checkpoint_text, hold_checkpoint, is_approval, is_cancel
from tests.tables import table


@table("text", ["stop", "cancel", "STOP", "Cancel", "  stop\n", "Stop!", "cancel."])
def test_a_whole_message_in_any_case_cancels(text):
    assert is_cancel(text)
    assert not is_approval(text)


@table("text", ["yes", "continue", "go", "ok", "YES", " Ok \r\n", "go!"])
def test_a_whole_message_in_any_case_approves(text):
    assert is_approval(text)
    assert not is_cancel(text)


@table(
    "text", ["", "!", "don't stop", "stop it", "stopped", "nonstop", "cancel the meeting", "yes but", "okay", "goal"]
)
def test_a_word_inside_a_message_is_neither(text):
    assert not is_cancel(text)
    assert not is_approval(text)


def test_the_question_is_the_seeds_with_the_real_count():
    assert checkpoint_text(20) == "Used 20 tools. Reply 'yes' to continue or 'stop' to cancel."
    assert checkpoint_text(22) == "Used 22 tools. Reply 'yes' to continue or 'stop' to cancel."


def test_fifteen_minutes_of_silence_are_900_seconds():
    assert SILENCE_S == 900


def held(*replies):
    """Hold a checkpoint; return the answer and what was asked."""
    asked, left = [], list(replies)

    async def ask(question, times):
        asked.append((question, times))

    async def reply():
        return left.pop(0)

    answer = asyncio.run(hold_checkpoint(20, ask, reply))
    assert left == []
    return answer, asked


@table("reply", ["yes", "Continue", "go", "ok"])
def test_a_checkpoint_goes_on_at_a_yes(reply):
    assert held(reply) == (True, [(checkpoint_text(20), 0)])


@table("reply", ["stop", "Cancel", None], ids=["stop", "cancel", "silence"])
def test_a_checkpoint_ends_at_a_stop_or_at_silence(reply):
    assert held(reply) == (False, [(checkpoint_text(20), 0)])


@table(("last", "goes_on"), [("yes", True), ("stop", False), (None, False)])
def test_not_to_repeat_an_unclear_reply_is_not_taken_for_yes_but_asked_again(last, goes_on):
    answer, asked = held("maybe", "what have you done?", last)
    assert answer is goes_on
    assert asked == [(checkpoint_text(20), times) for times in range(3)]
