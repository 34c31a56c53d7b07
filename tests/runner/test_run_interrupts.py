"""Ctrl-C once finishes the iteration, twice stops now; nothing of the agent is left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.runner.run import Interrupts
from tests.runner.conftest import Screen, step

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

PROGRAM = Path(sys.executable).with_name("ralph-tracker")


@pytest.fixture
def running(project, lifeline):
    """Start a run whose agent waits for `go`, and return it once the agent is at work."""
    process = None

    def start(*steps, wait="until [ -e ../go ]; do sleep 0.02; done"):
        nonlocal process
        agent = ("/bin/sh", "-c", f'{lifeline.grip}; {wait}; exec "$@"', "sh", *project.scripted(*steps))
        words = [PROGRAM, "run", "--root", project.root, "--max-iterations", "3", "--", *agent]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert lifeline.wait() == b"\n"
        return process

    yield start
    if process is not None:
        process.kill()
        process.communicate()


def test_once_finishes_the_iteration_and_a_later_run_goes_on(project, running):
    process = running(step(3, 1), step(4, 0), step(4, 0))
    process.send_signal(signal.SIGINT)
    said = next(line for line in process.stderr if b"Ctrl-C" in line)
    assert b": this iteration is finished first; " in said
    assert b"`ralph-tracker run --resume` continues later" in said
    (project.root.parent / "go").touch()
    out, _ = process.communicate()
    assert process.returncode == 130
    assert b"Stopped: as asked, after iteration 1\n" in out
    assert b"next: `ralph-tracker run --resume` continues" in out
    assert len(project.records()) == 2
    assert project.drive(resume=True).reason == "Target reached"


def test_twice_stops_now_and_the_agent_is_gone(project, running, lifeline):
    process = running(step(3, 1), step(4, 0), step(4, 0))
    process.send_signal(signal.SIGINT)
    next(line for line in process.stderr if b"Ctrl-C" in line)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.endswith(
        b"ralph-tracker: interrupted; recorded iterations are kept; `ralph-tracker run --resume` continues\n"
    )
    assert lifeline.wait() == b""
    assert len(project.records()) == 1
    assert project.progress()["at_work"]
    (project.root.parent / "go").touch()
    assert project.drive(resume=True).how == "stop"
    assert project.records()[1]["notes"][0].startswith("interrupted")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda number: number.name)
def test_another_end_takes_the_agent_along(project, running, lifeline, number):
    process = running(step(3, 1), wait="sleep 600")
    process.send_signal(number)
    process.communicate()
    assert lifeline.wait() == b""
    assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)


def test_another_end_and_the_status_say_how_to_go_on(project, running):
    process = running(step(3, 1), wait="printf half; sleep 600")
    status = [PROGRAM, "status", "--root", project.root]
    at_work = subprocess.run(status, capture_output=True, text=True, check=True).stdout
    assert "next: `ralph-tracker run` drives it now; Ctrl-C there ends it" in at_work
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate()
    assert out in {b"half\n", b""}
    assert err.endswith(b"recorded iterations are kept; `ralph-tracker run --resume` continues\n")
    stopped = subprocess.run(status, capture_output=True, text=True, check=True).stdout
    assert "next: `ralph-tracker run --resume` continues" in stopped


def test_a_pause_is_ended_at_once():
    """No iteration is at work then, so that nothing is to be finished."""
    told = []
    with Interrupts(lambda: told.append("once")) as interrupts:
        assert interrupts.wait(0.0)
        os.kill(os.getpid(), signal.SIGINT)
        assert not interrupts.wait(600.0)
        assert interrupts.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert told == ["once"]


@pytest.fixture
def no_deadlock():
    """Break a wait for a lock that never comes, with a TimeoutError."""

    def late(*_):
        raise TimeoutError("the handler waits for a lock of the wait that it interrupted")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 5.0)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def pressed_at(number):
    """Press Ctrl-C at a line of a pause (from 0); return what the pause returned, and whether it has so many lines."""
    lines, before = 0, sys.gettrace()

    def trace(_frame, event, _given):
        nonlocal lines
        if event == "line":
            lines += 1
            if lines == number + 1:
                os.kill(os.getpid(), signal.SIGINT)
        return trace

    with Interrupts(lambda: None) as interrupts:
        sys.settrace(trace)
        try:
            return interrupts.wait(0.0), lines > number
        finally:
            sys.settrace(before)


def test_ctrl_c_at_any_line_of_a_pause_ends_it(no_deadlock):
    results = [pressed_at(number) for number in range(20)]
    assert sum(pressed for _, pressed in results) > 2
    assert all(passed is not pressed for passed, pressed in results)


def test_a_run_is_stopped_while_it_waits(project):
    def asked(run):
        run.interrupts.wait = lambda _: os.kill(os.getpid(), signal.SIGINT) or False

    outcome = project.drive(project.scripted(step(4, 0, tries=[step(exit=1)])), change=asked)
    assert (outcome.how, outcome.reason) == ("asked", "as asked, before iteration 1 was done")
    assert project.drive(resume=True).how == "stop"
    assert [note.split(" (")[0] for note in project.records()[1]["notes"]] == ["agent: crashed: work", "agent: done"]


class Pressing(Screen):
    """Press Ctrl-C as soon as the agent has failed."""

    def line(self, text):
        super().line(text)
        if "crashed" in text:
            os.kill(os.getpid(), signal.SIGINT)


def test_a_run_that_was_asked_to_end_does_not_speak_of_another_try(project):
    project.screen = Pressing()
    outcome = project.drive(project.scripted(step(4, 0, tries=[step(exit=1)])), pause_s=600.0)
    assert outcome.how == "asked"
    assert [line for line in project.screen.lines if "trying again" in line] == []
    assert project.progress()["waited_s"] == 0
    project.screen = Screen()
    assert project.drive(resume=True).how == "stop"


def test_ctrl_c_is_what_it_was_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with Interrupts(lambda: None):
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
