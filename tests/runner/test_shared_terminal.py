"""What a person sees: the agent's own output, lines of ours, a status line where there is a terminal."""

import os
import pty
import subprocess
import sys

from tests.tables import table

SHOW = """
import time
from ralph_tracker.runner.shared_terminal import Screen
screen = Screen()
{}
"""


def seen(script, *, err_is_terminal=True):
    """Run a script with a screen; return what came on its standard output, and on its standard error."""
    leader, follower = pty.openpty()
    target = follower if err_is_terminal else subprocess.PIPE
    words = [sys.executable, "-c", SHOW.format(script)]
    done = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=target)
    os.close(follower)
    out, err = done.communicate()
    assert done.returncode == 0
    shown = b"" if err is None else err
    try:
        while err is None and (piece := os.read(leader, 1000)):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    return out, shown


def test_streams_are_passed_on_as_they_are():
    out, err = seen(r'screen.output(b"\x1b[1mbold\xff"); screen.errors(b"a sigh")', err_is_terminal=False)
    assert (out, err) == (b"\x1b[1mbold\xff", b"a sigh")


def test_a_line_of_ours_begins_on_a_line_of_its_own_and_is_harmless():
    _, err = seen(r'screen.errors(b"half"); screen.line("ours \x1b[2J"); screen.line("more")', err_is_terminal=False)
    assert err.startswith(b"half\nours ")
    assert err.endswith(b"[2J\nmore\n")
    assert b"\x1b" not in err


def test_what_follows_an_agent_has_a_line_of_its_own_on_either_stream():
    script = 'screen.output(b"half"); screen.errors(b"a sigh\\n"); screen.end(); screen.end(); screen.output(b"next")'
    assert seen(script, err_is_terminal=False) == (b"half\nnext", b"a sigh\n")


def test_a_status_is_shown_on_a_terminal_and_gone_before_the_next_word():
    _, err = seen('screen.status(lambda: "stands well"); screen.errors(b"word\\n")')
    assert err == b"\r\x1b[Kstands well\r\x1b[Kword\r\n"


@table(
    ("script", "terminal"),
    [
        ('screen.status(lambda: "stands well")', False),
        ('screen.errors(b"half a line"); screen.status(lambda: "stands well")', True),
        ('screen.errors(b"just now\\n"); screen.status(lambda: "stands well")', True),
    ],
    ids=["no terminal", "inside the agent's line", "while the agent prints"],
)
def test_a_status_is_not_shown(script, terminal):
    assert b"stands well" not in seen(script, err_is_terminal=terminal)[1]


def test_a_status_is_drawn_anew_once_a_second_at_most():
    _, err = seen('for _ in range(3): screen.status(lambda: "stands well")')
    assert err.count(b"stands well") == 1


def test_a_reader_who_has_gone_does_not_end_the_run():
    script = "import os; read, write = os.pipe(); os.dup2(write, 1); os.close(write); os.close(read)\n"
    script += 'screen.output(b"for nobody"); screen.output(b"again"); screen.line("goes on")'
    assert seen(script, err_is_terminal=False)[1] == b"goes on\n"
