"""The evaluator that asks a person."""

import asyncio
import io
import os
import pty
import subprocess
import sys
import threading

import pytest

from ralph_tracker.steering.progress_evaluators import InteractiveProgressEvaluator, ProgressInfo, ask_at_terminal
from tests.tables import table

INFO = ProgressInfo(10, None, 1000, 60_000, "I have fixed the parser.", 0.5)
STOP = False, "User requested stop"
GO = True, "User approved continuation"


def verdict(*replies, info=INFO):
    """Return the verdict and what was asked; a reply is what a person says each time."""
    asked, left = [], list(replies)

    async def ask(question):
        asked.append(question)
        return left.pop(0)

    found = asyncio.run(InteractiveProgressEvaluator(ask).should_continue(info))
    assert not left
    return found, asked


@table(
    ("reply", "expected"),
    [("", GO), ("y", GO), ("Yes", GO), (" \n", GO), ("n", STOP), ("NO", STOP), ("stop", STOP), ("Cancel", STOP)],
)
def test_enter_continues_and_a_no_stops(reply, expected):
    assert verdict(reply)[0] == expected


def test_what_is_neither_yes_nor_no_is_asked_again():
    found, asked = verdict("why?", "hm", "n")
    assert found == STOP
    assert asked[1:] == ["Reply 'y' or Enter to continue, 'n' to stop: "] * 2


def test_the_end_of_input_stops():
    assert verdict(None)[0] == (False, "No one is there to answer: end of input")


@table(("cost", "shown"), [(0.5, "$0.50"), (None, "unknown")])
def test_a_person_sees_turn_cost_and_recent_output_without_what_controls_the_terminal(cost, shown):
    _, (question,) = verdict("y", info=INFO._replace(cost_so_far=cost, recent_output="x" * 200 + "\x1b[2Ja\nb"))
    assert question == (
        f"\n--- Progress Check (Turn 10) ---\nCost so far: {shown}\nRecent output: ...{'x' * 93}?[2Ja b\n"
        "Continue? [Y/n]: "
    )


def test_a_person_has_all_the_time():
    assert InteractiveProgressEvaluator.timeout_s is None


ASKS = """
import asyncio
from ralph_tracker.steering import InteractiveProgressEvaluator, ProgressInfo
info = ProgressInfo(10, None, 1000, 60_000, "I have fixed the parser.", 0.5)
print(asyncio.run(InteractiveProgressEvaluator().should_continue(info)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "expected"), [(b"\n", GO), (b"what?\nn\n", STOP), (b"\x04", None)])
def test_a_person_answers_at_a_real_terminal(typed, expected):
    ours, theirs = pty.openpty()
    asking = subprocess.Popen([sys.executable, "-c", ASKS], stdin=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    os.write(ours, typed)
    shown = asking.communicate(timeout=60)[0].decode()
    os.close(ours)
    assert "--- Progress Check (Turn 10) ---" in shown
    assert "I have fixed the parser.\nContinue? [Y/n]: " in shown
    assert shown.endswith(f"{expected or (False, 'No one is there to answer: end of input')}\n")


@pytest.mark.parametrize(("typed", "expected"), [("n\nmore\n", "n"), ("", None)])
def test_the_terminal_is_asked_for_a_line(monkeypatch, capsys, typed, expected):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert asyncio.run(ask_at_terminal("Continue? ")) == expected
    assert capsys.readouterr().out == "Continue? "


def test_a_session_that_ends_while_a_person_thinks_ends(monkeypatch):
    """Nobody can be made to press Enter."""
    reading, typed = threading.Event(), threading.Event()

    class Waiting(io.StringIO):
        def readline(self, *_):
            reading.set()
            typed.wait(60)
            return "late\n"

    async def session():
        asking = asyncio.ensure_future(ask_at_terminal("? "))
        await asyncio.to_thread(reading.wait, 60)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert not typed.is_set()

    monkeypatch.setattr("sys.stdin", Waiting())
    try:
        asyncio.run(session())
    finally:
        typed.set()
