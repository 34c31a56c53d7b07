"""What a command has started does not outlive us, whatever ends us."""

import signal
import subprocess
import sys

import pytest

from ralph_tracker.measure.process import Watcher

# Says when the group is watched over; a check that begins earlier than that waits for it.
RUNS_A_CHECK = """
import os, sys
from pathlib import Path
from ralph_tracker.measure.process import Streams, run_command
from ralph_tracker.measure.process import Watcher
here, watch = Path("."), Watcher.watch
def told(watcher, group):
    watch(watcher, group)
    (here / "watched").touch()
Watcher.watch = told
streams = Streams(here / "out", here / "err")
run_command(sys.argv[1], streams, cwd=here, env=dict(os.environ), timeout_s=600)
"""


@pytest.fixture
def process():
    """Return a process with a group of its own, which ends when its standard input does."""
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, start_new_session=True) as made:
        yield made


def test_what_a_check_has_started_ends_where_we_are_killed(tmp_path, lifeline):
    """The inner process is deaf to SIGTERM."""
    script = f"until [ -e watched ]; do sleep 0.02; done; {lifeline.grip}; (trap '' TERM; sleep 600) & sleep 600"
    with subprocess.Popen([sys.executable, "-c", RUNS_A_CHECK, script], cwd=tmp_path) as ours:
        assert lifeline.wait() == b"\n"
        ours.kill()
        assert lifeline.wait() == b""
    assert ours.returncode == -signal.SIGKILL


def test_a_command_that_is_alone_with_us_is_watched_from_its_first_instant(tmp_path, lifeline):
    """It kills us as the first thing that it does, and finds that the watcher knew of it before."""
    script = f"[ -e watched ] || exit; {lifeline.grip}; kill -9 $PPID; sleep 600"
    with subprocess.Popen([sys.executable, "-c", RUNS_A_CHECK, script], cwd=tmp_path) as ours:
        assert lifeline.wait() == b"\n"
        assert lifeline.wait() == b""
    assert ours.returncode == -signal.SIGKILL


def test_nothing_is_ended_where_we_go_on(process):
    with Watcher() as watcher:
        watcher.watch(process.pid)
    assert watcher.process.returncode == 0
    assert process.poll() is None


def test_a_group_ends_with_the_body_that_an_exception_ends(process):
    """Ctrl-C and SIGTERM may come just when the group has begun and nobody has it in hand yet."""

    def interrupted():
        with Watcher() as watcher:
            watcher.watch(process.pid)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert process.wait(20) == -signal.SIGTERM


def test_a_watcher_of_nothing_ends_with_the_body(process):
    with Watcher() as watcher:
        assert watcher.process.poll() is None
    assert watcher.process.returncode == 0
    assert process.poll() is None


def test_a_watcher_that_somebody_has_killed_does_no_harm(process):
    with Watcher() as watcher:
        watcher.watch(process.pid)
        watcher.process.kill()
        watcher.process.wait()
    assert process.poll() is None
