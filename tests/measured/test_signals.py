"""A signal to us while checks run: their whole tree ends, nothing half is recorded, and the loop goes on."""

import signal
import subprocess
import sys

import pytest

from ralph_tracker.errors import NotRecordedError

pytestmark = pytest.mark.slow

# The command line, which says when a check is watched over: what kills it earlier leaves the check alone.
OURS = """
import sys
from pathlib import Path
from ralph_tracker.cli.app import main
from ralph_tracker.measure.process import Watcher
watched, watch = Path(sys.argv.pop(1)), Watcher.watch
def told(watcher, group):
    watch(watcher, group)
    watched.touch()
Watcher.watch = told
main()
"""
HANGS = "until [ -e {} ]; do sleep 0.02; done; {}; (exec sleep 600) & exec sleep 600\n"


@pytest.fixture
def hanging(workshop, lifeline):
    """Return how a hook is sent a signal while its check hangs: (phase, signal) → (exit code, stderr)."""

    def run(phase: str, number: signal.Signals) -> tuple[int, str]:
        watched = workshop.root.parent / "watched"
        workshop.write("measure.sh", HANGS.format(watched, lifeline.grip))
        words = [sys.executable, "-c", OURS, watched, "hook", phase, "--root", workshop.root]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ours:
            assert lifeline.wait() == b"\n"
            ours.send_signal(number)
            assert lifeline.wait() == b""
            out, err = ours.communicate(timeout=60)
        assert out == ""
        return ours.returncode, err

    return run


KEPT = "recorded iterations are kept; the same command measures again\n"
ENDS = [
    pytest.param(signal.SIGINT, 130, f"ralph-tracker: interrupted; {KEPT}", id="Ctrl-C"),
    pytest.param(signal.SIGTERM, 143, f"ralph-tracker: ended by SIGTERM; {KEPT}", id="TERM"),
    pytest.param(signal.SIGHUP, 129, f"ralph-tracker: ended by SIGHUP; {KEPT}", marks=pytest.mark.slow, id="HUP"),
    pytest.param(signal.SIGKILL, -9, "", id="KILL"),
]


@pytest.mark.parametrize(("number", "code", "said"), ENDS)
def test_an_iteration_ends_with_its_checks_and_is_done_again(workshop, hanging, number, code, said):
    shop = workshop
    script = (shop.root / "measure.sh").read_text()
    shop.start()
    before = shop.paths.trajectory.read_bytes()
    assert hanging("post-iteration", number) == (code, said)
    assert shop.paths.trajectory.read_bytes() == before
    assert not shop.paths.iteration(1).exists()
    with pytest.raises(NotRecordedError, match="iteration 1 was not recorded"):
        shop.tracker.loop_decision()
    shop.write("measure.sh", script)
    assert (shop.turn().iteration, shop.turn().iteration) == (1, 2)
    assert shop.tracker.verify().is_whole


@pytest.mark.parametrize(("number", "code", "said"), ENDS)
def test_a_baseline_ends_with_its_checks_and_is_captured_again(workshop, hanging, number, code, said):
    script = (workshop.root / "measure.sh").read_text()
    assert hanging("pre-loop", number) == (code, said)
    assert not workshop.paths.iteration(0).exists()
    workshop.write("measure.sh", script)
    assert (workshop.start().loop_id, workshop.turn().iteration) == ("ralph-001", 1)


def test_a_hangup_that_nohup_asked_to_ignore_is_ignored(workshop, program, lifeline):
    """The check goes on after the signal, to its end."""
    go = workshop.root.parent / "go"
    script = (workshop.root / "measure.sh").read_text()
    workshop.write("measure.sh", f"{lifeline.grip}\nuntil [ -e {go} ]; do sleep 0.02; done\n{script}")
    words = ["/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh", program, "hook", "pre-loop", "--root", workshop.root]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ours:
        assert lifeline.wait() == b"\n"
        ours.send_signal(signal.SIGHUP)
        go.touch()
        out, err = ours.communicate(timeout=60)
    assert (ours.returncode, err) == (0, "")
    assert out.startswith("Baseline: ")
