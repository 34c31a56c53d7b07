"""Lines from keys, and a reader that leaves the terminal as it was."""

import asyncio
import os
import pty
import termios

import pytest

from ralph_tracker.session_ui.terminal_session import Keyboard, TypedLine, can_read_from
from tests.tables import table


@table(
    ("pieces", "lines", "typed"),
    [
        ([b"stop\n"], ["stop"], ""),
        ([b"st", b"op\r"], ["stop"], ""),
        ([b"yes\nsto"], ["yes"], "sto"),
        ([b"stob\x7fp\n"], ["stop"], ""),
        ([b"\x7f\x08a\n"], ["a"], ""),
        ([b"never mind\x15stop\n"], ["stop"], ""),
        ([b"\x1b[A\x1b[1;5Cst\x1bOPop\x01\n"], ["stop"], ""),
        (["schön ✓\n".encode()[:4], "schön ✓\n".encode()[4:]], ["schön ✓"], ""),
        (["✓".encode()[:1], "✓".encode()[1:2], "✓".encode()[2:] + b"\n"], ["✓"], ""),
        ([b"\xff\xffa\xffbcdef\n"], ["\ufffd\ufffda\ufffdbcdef"], ""),
        ([b"\n\n"], ["", ""], ""),
        ([b"a" * 5000 + b"\n"], ["a" * 4096], ""),
    ],
    ids=[
        "a line",
        "in pieces",
        "the next one begun",
        "backspace",
        "backspace on nothing",
        "the line erased",
        "arrows do nothing",
        "a letter in two pieces",
        "a sign in three pieces",
        "no letters",
        "empty lines",
        "as long as a line may be",
    ],
)
def test_keys_make_lines(pieces, lines, typed):
    line = TypedLine()
    assert [each for piece in pieces for each in line.feed(piece)] == lines
    assert line.typed == typed
    assert not line.ended


def test_the_end_of_input_finishes_the_last_line():
    line = TypedLine()
    line.feed(b"yes")
    assert line.feed(b"") == ["yes"]
    assert line.feed(b"") == []
    assert line.ended


@pytest.mark.parametrize(("before", "ended"), [(b"", True), (b"half a line", False)])
def test_ctrl_d_ends_the_input_where_the_line_is_empty(before, ended):
    line = TypedLine()
    line.feed(before)
    line.feed(b"\x04")
    assert line.ended is ended


def heard_from(descriptor, act, *, quiet=False):
    """Listen to a descriptor while `act` does something; return the pieces up to the end of input."""

    async def listen():
        pieces = asyncio.Queue()
        keyboard = Keyboard(descriptor, pieces.put_nowait, quiet=quiet)
        try:
            act()
            heard = [await pieces.get()]
            while heard[-1]:
                heard.append(await pieces.get())
            return heard
        finally:
            keyboard.close()

    return asyncio.run(listen())


def test_a_pipe_is_heard_to_its_end():
    reading, writing = os.pipe()

    def write():
        os.write(writing, b"yes\n")
        os.close(writing)

    assert b"".join(heard_from(reading, write)) == b"yes\n"
    os.close(reading)


def test_a_terminal_that_has_gone_is_the_end_of_input():
    leader, follower = pty.openpty()
    assert heard_from(follower, lambda: os.close(leader), quiet=True) == [b""]
    os.close(follower)


def test_a_terminal_is_quiet_while_it_is_listened_to_and_as_before_after():
    leader, follower = pty.openpty()
    before = termios.tcgetattr(follower)

    async def listen():
        heard = asyncio.Queue()
        keyboard = Keyboard(follower, heard.put_nowait, quiet=True)
        quiet = termios.tcgetattr(follower)[3]
        os.write(leader, b"s")
        assert await heard.get() == b"s"
        keyboard.close()
        return quiet

    assert not asyncio.run(listen()) & (termios.ECHO | termios.ICANON)
    assert termios.tcgetattr(follower) == before
    os.close(leader)
    os.close(follower)


def test_a_pipe_and_a_terminal_of_nobodys_jobs_can_be_heard_and_what_is_closed_cannot():
    reading, writing = os.pipe()
    leader, follower = pty.openpty()
    assert can_read_from(reading)
    assert can_read_from(follower)
    for descriptor in (reading, writing, leader, follower):
        os.close(descriptor)
    assert not can_read_from(1_000_000)
