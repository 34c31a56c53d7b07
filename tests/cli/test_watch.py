"""`watch`: the loop on a terminal, of any size, with and without colours, until it ends or Ctrl-C."""

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from rich.console import Console

from ralph_tracker.cli import watch
from ralph_tracker.report.charts import Trend, trend
from ralph_tracker.runner.read_activity import Activity
from ralph_tracker.store.find import find_loop
from tests.tables import table

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen:
    """A terminal in which `watch` runs."""

    def __init__(self, program, root, columns=100, **environment):
        self.master, slave = pty.openpty()
        self.resize(columns, slave)
        kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
        self.process = subprocess.Popen(
            [program, "watch", "--root", root], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env={**kept, "TERM": "xterm-256color", **environment},
        )  # fmt: skip
        os.close(slave)
        self.shown = ""

    def resize(self, columns, terminal=None):
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(self.master if terminal is None else terminal, termios.TIOCSWINSZ, size)

    def until(self, words, seconds=30):
        """Read until these words are shown; return all that was shown since the last time."""
        end = time.monotonic() + seconds
        while words not in ESCAPE.sub("", self.shown):
            assert time.monotonic() < end, self.shown
            if select.select([self.master], [], [], 0.2)[0]:
                self.shown += os.read(self.master, 1 << 16).decode("utf-8", "replace")
        shown, self.shown = self.shown, ""
        return shown

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30)
        os.close(self.master)
        return code


@pytest.fixture
def screen_of(program):
    """Return what opens terminals on projects, and ends what is left in them."""
    opened = []

    def start(project, **how):
        opened.append(Screen(program, project.root, **how))
        return opened[-1]

    yield start
    for screen in opened:
        if screen.process.poll() is None:
            screen.end()


def test_it_draws_what_is_recorded_meanwhile_and_ends_with_the_loop(running, metrics_of, screen_of):
    screen = screen_of(running)
    first = screen.until("working on iteration 2")
    assert "\x1b[1m" in first
    running.must("post-iteration", metrics_of(test_count=11, tests_passed=11))
    assert "▲ 2" in ESCAPE.sub("", screen.until("working on iteration 3"))
    running.must("post-loop")
    assert "now: the loop is finished" in ESCAPE.sub("", screen.until("next: read"))
    assert screen.process.wait(30) == 0


def test_it_follows_the_size_of_the_terminal_and_leaves_colours_out(running, screen_of):
    screen = screen_of(running, NO_COLOR="1")
    assert "result" in ESCAPE.sub("", screen.until("working on iteration 2"))
    screen.resize(44)
    os.killpg(screen.process.pid, signal.SIGWINCH)
    deadline = time.monotonic() + 30
    while "result" in (shown := ESCAPE.sub("", screen.until("next: "))):
        assert time.monotonic() < deadline, shown
    assert not re.search(r"\x1b\[(?:\d+;)*3[0-7]m", shown)
    assert screen.end() == 0


def test_a_damaged_loop_is_named_until_it_can_be_read_again(running, screen_of):
    screen = screen_of(running)
    screen.until("working on iteration 2")
    folder = running.root / ".aiwg/ralph/ralph-001"
    kept = {path: path.read_bytes() for path in (folder / "state.json", folder / "iterations/iteration-001/state.json")}
    for path in kept:
        path.write_bytes(b"{")
    screen.until("ralph-001 cannot be read: iteration 1")
    for path, data in kept.items():
        path.write_bytes(data)
    screen.until("working on iteration 2")
    assert screen.end() == 0


def test_in_a_pipe_it_is_drawn_once(dropped, monkeypatch):
    shown = dropped.ralph("watch").out
    assert "\x1b" not in shown
    assert [line for line in shown.splitlines() if line.startswith("CRITICAL")]
    assert "cost: at least $1.50\n" in shown
    monkeypatch.setenv("COLUMNS", "44")
    assert max(map(len, dropped.ralph("watch").out.splitlines())) <= 44


def test_a_hostile_name_moves_nothing(project):
    name = "a\x1b[2Jb\u202e[red]c[/red]"
    project.must("pre-loop", {"tests": [{"id": name, "outcome": "failed"}]})
    shown = project.ralph("watch").out
    assert "failing: a\\u001b[2Jb\\u202e[red]c[/red]" in shown
    assert "\x1b" not in shown


@table(
    ("scores", "peak", "columns", "drawn"),
    [
        ((), None, 10, Trend("", None)),
        ((0.5, 0.5), 0, 10, Trend("▅▅", 0)),
        ((0.90, 0.95, 0.92), 1, 10, Trend("▁█▄", 1)),
        ((0.1, 0.2, 0.3, 0.4), 2, 2, Trend("▁█", 1)),
        ((0.1, 0.4, 0.3), 7, 9, Trend("▁█▆", None)),
    ],
)
def test_scores_are_drawn_from_the_least_to_the_greatest_with_the_column_of_the_peak(scores, peak, columns, drawn):
    assert trend([*enumerate(scores)], peak, columns) == drawn


def test_it_waits_for_a_loop_and_q_ends_it(project, screen_of):
    screen = screen_of(project)
    screen.until("waiting for a loop in ")  # a long folder is broken over lines
    project.started()
    screen.until("working on iteration 1")
    os.write(screen.master, b"q")
    assert screen.process.wait(30) == 0


def test_the_arrows_scroll_through_what_is_wrong(dropped, screen_of):
    screen = screen_of(dropped)
    screen.until("CRITICAL test_deletion")
    os.write(screen.master, b"\x1b[B")
    while "CRITICAL" in screen.until("next: "):
        pass
    os.write(screen.master, b"\x1b[A")
    screen.until("CRITICAL test_deletion")
    assert screen.end() == 0


def test_alerts_of_what_was_rolled_back_are_no_longer_shown(dropped):
    shown = watch.read(find_loop(dropped.root, None, {}))
    kinds = [
        [
            str(line).partition(" ")[0]
            for line in watch._problems(shown._replace(summary=shown.summary._replace(head=at)))
        ]
        for at in (shown.summary.iteration, 0)
    ]
    assert ["CRITICAL" in each for each in kinds] == [True, False]


@table(("width", "height"), [(80, 24), (40, 12), (200, 50), (20, 6)], ids=str)
def test_head_and_foot_are_on_a_screen_of_any_size_which_is_filled(dropped, width, height):
    shown = watch.read(find_loop(dropped.root, None, {}))._replace(sentence="Forty words. " * 40)
    console = Console(width=width, height=height, record=True, file=io.StringIO())
    console.print(watch.drawn(shown, Activity("working on iteration 3"), width, height, 0.0))
    lines = console.export_text().splitlines()
    assert (len(lines), max(map(len, lines)) <= width) == (height, True)
    assert lines[0].startswith("ralph-001: running"[:width])
    assert [line[:4] for line in lines if line[:4] in {"cost", "now:", "next"}] == ["cost", "now:", "next"]


@table("height", [12, 15, 40], ids=str)
def test_what_happens_now_and_next_is_on_a_screen_of_any_height(dropped, height):
    shown = watch.read(find_loop(dropped.root, None, {}))
    loud = [
        {**alert, "message": f"{alert['message']}, t.py::TestA::test_{n}"}
        for n in range(5)
        for alert in shown.summary.alerts
    ]
    shown = shown._replace(summary=shown.summary._replace(alerts=tuple(loud)))
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(watch.drawn(shown, Activity("working on iteration 3"), 80, height, 0.0))
    lines = console.export_text().splitlines()
    assert len(lines) == height
    assert "cost: at least $1.50" in lines
    assert "now: working on iteration 3" in lines
    assert any(line.startswith("next: ") for line in lines)
    assert sum(line.startswith("CRITICAL") for line in lines) == {12: 1, 15: 1, 40: 5}[height]
    assert not any("TestA" in line for line in lines)
