"""A run that was ended, by whatever and wherever, is gone on with: nothing is lost, no iteration is there twice."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from ralph_tracker.cli.app import run as command_line
from ralph_tracker.errors import InputError, LoopError, RecordError
from ralph_tracker.tracker import Tracker
from tests.runner.conftest import report, step
from tests.sweep import chosen

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

LOGIN = step(exit=1, prints="Invalid API key · Please run /login")

# Python tells of each thing that it does with files and processes; at one of them it is killed.
KILLED = """
import os, signal, sys
at, seen = int(sys.argv.pop(1)), 0
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate", "subprocess.Popen", "os.listdir"}
def counted(event, arguments):
    global seen
    flags = arguments[2] if event == "open" else None
    if event in CHANGES or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)
from ralph_tracker.cli.app import main
sys.addaudithook(counted)
try:
    main()
finally:
    print(seen, file=sys.stderr)
"""


def stopped_by_a_person(project, *steps):
    """Return a project whose run stands before iteration 2: the first needed a person."""
    outcome = project.drive(project.scripted(LOGIN, *steps), max_iterations=3)
    assert outcome.how == "escalate"
    return project


def test_it_goes_on_with_the_same_command_after_a_person_has_looked(project):
    stopped_by_a_person(project, step(3, 1), step(4, 0))
    outcome = project.drive(resume=True)
    assert outcome.reason == "Target reached"
    assert [record["testing"]["tests_passed"] for record in project.records()] == [2, 2, 3, 4]


def test_a_loop_whose_time_passed_while_it_waited_for_a_person_ends_without_another_run(project):
    assert project.drive(project.scripted(LOGIN), max_minutes=5).how == "escalate"

    def an_hour_later(run):
        run.now = lambda: time.time() + 3600

    outcome = project.drive(resume=True, change=an_hour_later)
    assert outcome.reason == "Time limit reached: 5 minutes are over before the agent can run again"
    assert len(project.records()) == 2
    assert len(list((project.folder / "agent").glob("*.out"))) == 1


def test_another_command_may_take_over(project):
    stopped_by_a_person(project)
    outcome = project.drive(("/bin/sh", "-c", "cp ../good.xml report.xml"), resume=True, retries=0)
    assert outcome.how == "escalate"
    (project.root.parent / "good.xml").write_text(report(4, 0))
    assert project.drive(resume=True).reason == "Target reached"


def test_what_was_recorded_by_hand_meanwhile_counts(project):
    stopped_by_a_person(project, step(3, 1), step(4, 0))
    (project.root / "report.xml").write_text(report(3, 1))
    Tracker(project.root).post_iteration(None)
    project.drive(resume=True)
    assert [record["testing"]["tests_passed"] for record in project.records()] == [2, 2, 3, 4]


def test_with_a_command_and_no_loop_yet_one_begins(project):
    assert project.drive(project.scripted(step(4, 0)), resume=True, max_iterations=1).how == "stop"


def test_a_loop_that_hooks_have_driven_is_taken_over(project):
    Tracker(project.root).pre_loop(None, limits={"max_iterations": 1})
    with pytest.raises(LoopError, match="ralph-001 was not driven by `run`; give the agent's command"):
        project.drive(resume=True)
    assert project.drive(project.scripted(step(4, 0)), resume=True).how == "stop"


def test_an_agent_that_was_at_work_is_run_again_and_its_cost_counted(project):
    """Its output tells what it cost, although nobody saw its end."""
    stopped_by_a_person(project, step(4, 0))
    file = project.folder / "run.json"
    file.write_text(json.dumps(project.progress() | {"tried": 1, "at_work": True}))
    spent = {"type": "result", "subtype": "success", "session_id": "s", "total_cost_usd": 0.5, "is_error": False}
    (project.folder / "agent" / "iteration-002-1.out").write_text(json.dumps(spent) + "\n")
    project.drive(resume=True)
    second = project.records()[2]
    assert second["usage"]["cost_usd"] == 0.5
    assert second["notes"] == ["interrupted: the run was stopped from outside", "agent: done"]


class TestRefused:
    def test_without_a_loop_and_a_command(self, project):
        with pytest.raises(LoopError, match=r"nothing to resume; start with `ralph-tracker run -- AGENT COMMAND`"):
            project.drive(resume=True)

    def test_limits_which_are_frozen(self, project):
        stopped_by_a_person(project)
        with pytest.raises(InputError, match="--max-iterations: the limits are frozen with loop ralph-001"):
            project.drive(resume=True, max_iterations=9)

    @pytest.mark.parametrize("command", [(), ("/bin/true",)], ids=["the same command", "another command"])
    def test_a_loop_that_is_finished(self, project, command):
        project.drive(project.scripted(step(4, 0)), max_iterations=1)
        with pytest.raises(LoopError, match="ralph-001 is finished, nothing to resume; start another one"):
            project.drive(command, resume=True)

    def test_a_loop_that_was_abandoned(self, project):
        stopped_by_a_person(project)
        Tracker(project.root).pre_loop(None, new=True)
        with pytest.raises(LoopError, match="ralph-002 was not driven by `run`"):
            project.drive(resume=True)

    def test_a_journal_that_is_damaged_but_not_with_a_command(self, project):
        stopped_by_a_person(project, step(3, 1), step(4, 0))
        (project.folder / "run.json").write_text("{")
        with pytest.raises(RecordError, match=r"run\.json: damaged"):
            project.drive(resume=True)
        assert project.drive(project.scripted(LOGIN, step(3, 1), step(4, 0)), resume=True).how == "stop"


def struck(project, at, lifeline, *arguments):
    """Run the command line and kill it at that event; return its code, and the events that there were."""
    words = [sys.executable, "-c", KILLED, str(at), "run", "--root", str(project.root), "--pause", "0", *arguments]
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stderr.decode().rstrip().rpartition("\n")[2]


def came_to_it(code, at, total):
    """Tell whether a run was killed at that event, or had ended before: it writes less where the clock went on.

    What was written in the second in which git looked is looked at again, so that no two runs are alike; the most that
    was seen is two in a hundred.
    """
    return code == -signal.SIGKILL or (code == 0 and at > 0.95 * int(total))


@pytest.mark.slow
@pytest.mark.faults
def test_a_run_that_is_killed_anywhere_goes_on_and_no_agent_survives(project, lifeline, tmp_path, request):
    """The agent holds a pipe while it lives: nobody holds it once the run is gone."""
    steps = project.scripted(step(3, 1), step(1, 3), step(4, 0))
    agent = ("/bin/sh", "-c", f'exec 9>{tmp_path / "lifeline"}; exec "$@"', "sh", *steps)
    pristine = {path: path.read_bytes() for path in (project.root / "report.xml", project.root / "ralph-tracker.yaml")}
    code, total = struck(project, 0, lifeline, "--max-iterations", "3", "--", *agent)
    assert code == 0
    expected = told(project)
    for at in chosen(range(1, int(total) + 1), 3, request.node):
        subprocess.run(["/bin/rm", "-rf", str(project.root / ".aiwg")], check=True)
        for path, content in pristine.items():
            path.write_bytes(content)
        code, _ = struck(project, at, lifeline, "--max-iterations", "3", "--", *agent)
        assert came_to_it(code, at, total), at
        gone(lifeline)
        begun = (project.folder / "iterations" / "iteration-000").is_dir()
        limits = () if begun else ("--max-iterations", "3")
        code, _ = struck(project, 0, lifeline, "--resume", *limits, "--", *agent)
        assert code in {0, 1}, at  # 1: the loop had come to its end already
        assert told(project) == expected, at
        assert command_line(["verify", "--root", str(project.root)]) == 0, at


def told(project):
    """Return what a run comes to, however often it was ended on the way."""
    records = project.records()
    state = json.loads((project.folder / "state.json").read_text())
    columns = [(each["iteration"], each["previous_iteration"], each["testing"], each["action"]) for each in records]
    return columns, state["status"], (project.root / ".aiwg" / "output" / "report.xml").read_text()


def gone(lifeline):
    """Wait until nobody holds the agent's pipe."""
    while True:
        try:
            if os.read(lifeline.reading, 100) == b"":
                return
        except BlockingIOError:
            time.sleep(0.01)
