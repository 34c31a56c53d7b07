"""A session on a terminal, driven in a pseudo-terminal; and one whose output or input is none."""

import asyncio
import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios

import pytest
from rich.console import Console

from ralph_tracker.session_ui.session_dialog import STOPPING
from ralph_tracker.session_ui.terminal_session import TerminalSession
from ralph_tracker.steering.human_oversight import Interaction, Outcome, checkpoint_text, follow
from ralph_tracker.steering.session_events import ToolEnded, ToolStarted, TurnEnded

pytestmark = pytest.mark.slow

ROWS = 12
SHOWS_CURSOR = "\x1b[?25h"
CLOSED = 1_000_000  # no process has that many open
# Each tool waits for a byte from the one who watches, so that "while a tool runs" is a moment that can be met.
CHILD = """
import asyncio, fcntl, signal, sys, termios
from ralph_tracker.steering import Interaction, ToolEnded, ToolStarted, TurnEnded, follow
from ralph_tracker.session_ui.terminal_session import TerminalSession

if len(sys.argv) == 3:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

async def agent(gate, ran):
    for number in range(1, 46):
        yield ToolStarted(str(number), f"t{number}")
        ran.write(f"t{number} ")
        ran.flush()
        await gate.readexactly(1)
        yield ToolEnded(str(number), f"t{number}", success=number != 2)
    yield TurnEnded("all is well\\nin two lines")

async def main():
    gate = asyncio.StreamReader()
    pipe = open(int(sys.argv[1]), "rb", 0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(gate), pipe
    )
    with open(sys.argv[2], "w") as ran:
        async with TerminalSession() as session:
            outcome = await follow(agent(gate, ran), Interaction(session.callbacks))
            await session.finish(outcome)
    transport.close()

try:
    asyncio.run(main())
except KeyboardInterrupt:
    sys.exit(130)
"""


# A shell that knows one job: it has the terminal while that is stopped, in its own modes, until a line is typed.
SHELL = """
import fcntl, os, signal, subprocess, sys, termios

signal.signal(signal.SIGTTOU, signal.SIG_IGN)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
modes = termios.tcgetattr(0)
job = subprocess.Popen(
    [sys.executable, "-c", *sys.argv[1:], "job"], process_group=0, close_fds=False,
    preexec_fn=lambda: (os.tcsetpgrp(0, os.getpid()), signal.signal(signal.SIGTTOU, signal.SIG_DFL)),
)
while os.WIFSTOPPED(status := os.waitpid(job.pid, os.WUNTRACED)[1]):
    os.tcsetpgrp(0, os.getpgrp())
    echoes = bool(termios.tcgetattr(0)[3] & termios.ECHO)
    termios.tcsetattr(0, termios.TCSADRAIN, modes)
    print("stopped, echoes:", echoes, flush=True)
    typed = sys.stdin.readline()
    if typed.startswith("bg"):
        os.killpg(job.pid, signal.SIGCONT)
        print("in the background", flush=True)
        typed = sys.stdin.readline()
    os.tcsetpgrp(0, job.pid)
    os.killpg(job.pid, signal.SIGCONT)
os.tcsetpgrp(0, os.getpgrp())
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Person:
    """Sit before a pseudo-terminal in which a session runs; let its tools end one by one."""

    def __init__(self, ran, shell=()):
        self.ran_file = ran
        self.leader, self.follower = pty.openpty()
        fcntl.ioctl(self.follower, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, 400, 0, 0))
        reading, self.gate = os.pipe()
        self.living, alive = os.pipe()  # its end tells that the session has ended
        words = [sys.executable, "-c", *shell, CHILD, str(reading), str(ran)]
        streams = {"stdin": self.follower, "stdout": self.follower, "stderr": self.follower}
        environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
        self.process = subprocess.Popen(
            words, **streams, pass_fds=[reading, alive], start_new_session=True, env=environment | {"TERM": "xterm"}
        )
        os.close(reading)
        os.close(alive)
        self.shown = b""
        self.read_to = 0

    def sees(self, text):
        """Wait until something new is shown."""
        while (at := self.shown.find(text.encode(), self.read_to)) < 0:
            ready, _, _ = select.select([self.leader], [], [], 60)
            assert ready, f"{text!r} was not shown, but {self.shown[self.read_to :]!r}"
            self.shown += os.read(self.leader, 65536)
        self.read_to = at + len(text.encode())

    def types(self, text):
        os.write(self.leader, text.encode())

    def lets_end(self, tools):
        os.write(self.gate, b"." * tools)

    def waits_for(self, tools):
        """Wait until so many have begun, where nothing shows it."""
        for _ in range(6000):
            if len(self.ran) >= tools:
                return
            select.select([self.living], [], [], 0.01)
        pytest.fail(f"only {self.ran} began")

    @property
    def ran(self):
        return self.ran_file.read_text().split()

    def stays_to_the_end(self):
        """Return the exit code, and the screen as it is then."""
        while self.leader in (ready := select.select([self.leader, self.living], [], [], 60)[0]) or not ready:
            assert ready, f"it does not end; shown: {self.shown[self.read_to :]!r}"
            self.shown += os.read(self.leader, 65536)
        return self.process.wait(), screen(self.shown.decode())

    def echoes(self):
        return bool(termios.tcgetattr(self.follower)[3] & termios.ECHO)

    def leaves(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for descriptor in (self.leader, self.follower, self.gate, self.living):
            os.close(descriptor)


def screen(shown):
    """Return the lines of a wide screen on which all of it was written."""
    lines, row, column = [""], 0, 0
    for part in re.split(r"(\x1b\[[0-9;?]*[A-Za-z]|\r|\n)", shown):
        if part == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r":
            column = 0
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part in {"\x1b[H", "\x1b[2J"}:
            lines, row, column = ([""], 0, 0) if part == "\x1b[2J" else (lines, 0, 0)
        elif moved := re.fullmatch(r"\x1b\[(\d*)A", part):
            row = max(0, row - int(moved[1] or 1))
        elif not part.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + len(part) :]
            column += len(part)
    while lines and not lines[-1]:
        lines.pop()
    return lines


@pytest.fixture
def person(tmp_path):
    made = Person(tmp_path / "ran")
    yield made
    made.leaves()


def test_lines_appear_as_tools_run_and_the_answer_replaces_them(person):
    person.sees("🔧 t1 ...")
    person.lets_end(1)
    person.sees("🔧 t1 ✓")
    person.sees("🔧 t2 ...")
    person.lets_end(1)
    person.sees("🔧 t2 ✗")
    person.lets_end(18)
    person.sees(checkpoint_text(20))
    person.types("yes\r")
    person.lets_end(20)
    person.sees(checkpoint_text(40))
    person.types("go\r")
    person.lets_end(5)
    person.sees("in two lines")
    assert person.stays_to_the_end() == (0, ["all is well", "in two lines"])
    assert len(person.ran) == 45


def test_stop_typed_mid_run_ends_it_before_the_next_tool_with_the_summary_line(person):
    person.lets_end(2)
    person.sees("🔧 t3 ...")
    person.types("stob")
    person.sees("> stob")
    person.types("\x7fp\r")
    person.sees(STOPPING)
    person.lets_end(20)
    summary = "Cancelled. Was working on: t1 ✓ → t2 ✗ → t3 ✓"
    assert person.stays_to_the_end() == (0, [summary])
    assert person.ran == ["t1", "t2", "t3"]


def test_the_checkpoint_at_20_tools_waits_and_obeys_a_yes(person):
    person.lets_end(25)
    person.sees(checkpoint_text(20))
    person.types("maybe\r")
    person.sees(f"> maybe\r\n{checkpoint_text(20)}")
    assert len(person.ran) == 20
    person.types("yes\r")
    person.sees("🔧 t26 ...")
    assert len(person.ran) >= 25


def test_the_checkpoint_at_20_tools_waits_and_obeys_a_stop(person):
    person.lets_end(25)
    person.sees(checkpoint_text(20))
    person.types("STOP\r")
    code, shown = person.stays_to_the_end()
    assert (code, len(shown)) == (0, 1)
    assert shown[0].startswith("Cancelled. Was working on: t1 ✓ → t2 ✗ → t3 ✓")
    assert shown[0].endswith("→ t20 ✓")
    assert len(person.ran) == 20


def test_a_terminal_that_is_closed_at_the_checkpoint_is_a_no(person):
    person.lets_end(25)
    person.sees(checkpoint_text(20))
    person.types("\x04")
    assert person.stays_to_the_end()[1][0].endswith("→ t20 ✓")


def test_the_log_fits_on_the_screen(person):
    person.lets_end(19)
    person.sees("🔧 t20 ...")
    assert len(screen(person.shown.decode())) < ROWS


@pytest.fixture
def person_of_a_shell(tmp_path):
    made = Person(tmp_path / "ran", [SHELL])
    yield made
    made.leaves()


def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back(person_of_a_shell):
    person = person_of_a_shell
    person.lets_end(1)
    person.sees("🔧 t2 ...")
    person.types("sto")
    person.sees("> sto")
    person.types("\x1a")
    person.sees("stopped, echoes: True\r\n")
    assert person.shown.rfind(b"\x1b[?25h") > person.shown.rfind(b"\x1b[?25l")
    assert person.echoes()
    person.types("fg\r")
    person.sees("🔧 t1 ✓")
    person.sees("> sto")
    assert not person.echoes()
    person.types("p\r")
    person.sees(STOPPING)
    person.lets_end(20)
    code, shown = person.stays_to_the_end()
    assert code == 0
    assert shown == ["stopped, echoes: True", "fg", "Cancelled. Was working on: t1 ✓ → t2 ✗"]
    assert person.echoes()


def test_in_the_background_it_leaves_the_terminal_alone_and_tools_go_on(person_of_a_shell):
    person = person_of_a_shell
    person.sees("🔧 t1 ...")
    person.types("\x1a")
    person.sees("stopped, echoes: True\r\n")
    person.types("bg\r")
    person.sees("in the background\r\n")
    person.lets_end(2)
    person.waits_for(3)
    assert person.echoes()
    person.types("fg\r")
    person.sees("🔧 t1 ✓")
    person.sees("🔧 t3 ...")
    assert not person.echoes()
    person.types("stop\r")
    person.sees(STOPPING)
    person.lets_end(1)
    code, shown = person.stays_to_the_end()
    summary = "Cancelled. Was working on: t1 ✓ → t2 ✗ → t3 ✓"
    assert (code, shown) == (0, ["stopped, echoes: True", "bg", "in the background", "fg", summary])


def test_a_program_that_was_stopped_at_once_takes_the_terminal_when_it_goes_on(person):
    person.sees("🔧 t1 ...")
    os.kill(person.process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, person.process.pid, os.WSTOPPED | os.WNOWAIT)
    modes = termios.tcgetattr(person.follower)
    modes[3] |= termios.ECHO | termios.ICANON
    termios.tcsetattr(person.follower, termios.TCSANOW, modes)
    os.kill(person.process.pid, signal.SIGCONT)
    person.sees(SHOWS_CURSOR)
    person.sees("🔧 t1 ...")
    person.types("x")
    person.sees("> x")
    assert not person.echoes()


def test_where_it_cannot_be_stopped_it_goes_on(person):
    """Nobody would take it up again: the kernel does not stop a job without a shell."""
    person.sees("🔧 t1 ...")
    person.types("\x1a")
    person.sees(SHOWS_CURSOR)
    person.sees("🔧 t1 ...")
    person.types("x")
    person.sees("> x")
    assert not person.echoes()
    person.lets_end(45)
    person.sees("🔧 t20 ✓")


@pytest.mark.parametrize(("rows", "columns"), [(ROWS, 20), (4, 400), (4, 20), (30, 500)])
def test_a_terminal_of_another_size_is_drawn_anew_and_fits(person, rows, columns):
    person.lets_end(9)
    person.sees("🔧 t10 ...")
    person.types("not a word that means anything to it")
    person.sees("anything to it")
    before = len(person.shown)
    fcntl.ioctl(person.leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    person.sees("🔧 t10 ...")
    person.sees("to it")
    drawn = screen(person.shown.decode())
    assert len(drawn) < rows
    assert max(len(line) for line in drawn) <= columns
    assert (b"\x1b[2J" in person.shown[before:]) == (columns < 400)
    person.types("\x15stop\r")
    person.sees(STOPPING[:8])
    person.lets_end(1)
    code, shown = person.stays_to_the_end()
    assert (code, len(shown)) == (0, 1)
    assert shown[0].startswith("Cancelled. Was working on: t1 ✓")


def test_ctrl_c_leaves_the_terminal_as_it_was(person):
    assert person.echoes()
    person.sees("🔧 t1 ...")
    assert not person.echoes()
    os.killpg(person.process.pid, signal.SIGINT)
    code, shown = person.stays_to_the_end()
    assert code == 130
    assert shown == []
    assert person.echoes()
    assert person.shown.rfind(b"\x1b[?25h") > person.shown.rfind(b"\x1b[?25l")


async def some(*names):
    for name in names:
        yield ToolStarted(name, name)
        yield ToolEnded(name, name, success=True)
    yield TurnEnded("all is well")


def shown_of(events, descriptor, *, encoding="utf-8", every=20, **options):
    """Run a session whose output is a file; return its outcome and what it printed."""
    stream = io.BytesIO()
    console = Console(file=io.TextIOWrapper(stream, encoding=encoding, write_through=True), **options)

    async def run():
        async with TerminalSession(console, descriptor) as session:
            outcome = await follow(events, Interaction(session.callbacks, every))
            await session.finish(outcome)
            return outcome

    outcome = asyncio.run(run())
    console.file.flush()
    return outcome, stream.getvalue().decode(encoding)


@pytest.fixture
def typed():
    """Give a descriptor from which these bytes come, then nothing more."""
    opened = []

    def give(data):
        reading, writing = os.pipe()
        os.write(writing, data)
        opened.extend((reading, writing))
        return reading

    yield give
    for descriptor in opened:
        os.close(descriptor)


def test_where_the_output_is_no_terminal_each_start_and_end_is_a_line(typed):
    outcome, shown = shown_of(some("a", "b"), typed(b""))
    assert outcome == Outcome("all is well")
    assert shown == "🔧 a ...\n🔧 a ✓\n🔧 b ...\n🔧 b ✓\nall is well\n"


def test_where_the_terminal_can_do_nothing_lines_are_printed_too(typed):
    options = {"force_terminal": True, "_environ": {"TERM": "dumb"}}
    assert shown_of(some("a"), typed(b""), **options)[1] == "🔧 a ...\n🔧 a ✓\nall is well\n"


def test_a_stream_that_knows_no_signs_gets_their_numbers(typed):
    shown = shown_of(some("a"), typed(b""), encoding="ascii")[1]
    assert shown == "\\U0001f527 a ...\n\\U0001f527 a \\u2713\nall is well\n"


def test_a_name_cannot_move_the_cursor(typed):
    shown = shown_of(some("\x1b[2Ja"), typed(b""), force_terminal=True, width=80, height=24)[1]
    assert "\x1b[2J" not in shown
    assert "\\u001b[2Ja" in shown


def test_where_nobody_can_be_heard_the_first_checkpoint_ends_the_session():
    outcome, shown = shown_of(some("a", "b"), CLOSED, every=1)
    assert outcome == Outcome("Cancelled. Was working on: a ✓", cancelled=True)
    assert shown.splitlines()[2:] == [checkpoint_text(1), outcome.text]


def test_a_message_that_is_no_answer_is_handed_on(typed):
    async def run():
        heard = asyncio.Event()

        async def agent():
            yield ToolStarted("1", "a")
            await heard.wait()
            yield TurnEnded("done")

        async with TerminalSession(Console(file=io.StringIO()), typed(b"use pytest\n")) as session:
            following = asyncio.ensure_future(follow(agent(), Interaction(session.callbacks)))
            while not (said := session.take_messages()):
                await asyncio.sleep(0)
            heard.set()
            await following
            return said

    assert asyncio.run(run()) == ["use pytest"]
