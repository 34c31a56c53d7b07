"""A plan that was killed, wherever that was, comes to the same end by the same command."""

import subprocess

import pytest

from ralph_tracker.cli.app import run as command_line
from ralph_tracker.tracker import Tracker
from tests.runner.conftest import step
from tests.runner.test_run_resume import came_to_it, gone, struck
from tests.sweep import chosen

DONE = step(4, 0, prints="done")
DONE["write"]["done.txt"] = "x"


@pytest.mark.slow
@pytest.mark.faults
def test_a_plan_that_is_killed_anywhere_goes_on_and_no_iteration_is_lost_or_there_twice(
    project, planned, lifeline, request
):
    planned.write({"id": "a"}, {"id": "b", "checks": ["test -e done.txt"]})
    steps = planned.scripted(a=[step(3, 1), step(1, 3), step(4, 0)], b=[DONE])
    agent = ("/bin/sh", "-c", f'{lifeline.grip}; exec "$@"', "sh", *steps)
    words = ("--plan", str(planned.file), "--", *agent)
    pristine = {path: path.read_bytes() for path in planned.root.iterdir() if path.is_file()}
    code, total = struck(project, 0, lifeline, *words)
    assert code == 0
    expected = told(planned)
    for at in chosen(range(1, int(total) + 1), 3, request.node):
        for folder in (planned.root, planned.file.parent):
            subprocess.run(["/bin/rm", "-rf", str(folder / ".aiwg"), str(folder / "done.txt")], check=True)
        for path, content in pristine.items():
            path.write_bytes(content)
        code, _ = struck(project, at, lifeline, *words)
        assert came_to_it(code, at, total), at
        gone(lifeline)
        code, _ = struck(project, 0, lifeline, *words)
        assert code == 0, at
        assert told(planned) == expected, at
        for name in planned.loops():
            assert command_line(["verify", "--root", str(planned.root), "--loop-id", name]) == 0, at


def told(planned):
    """Return what a plan comes to, however often it was ended on the way."""
    loops = {
        name: [(each["iteration"], each["previous_iteration"], each["testing"], each["action"]) for each in records]
        for name in planned.loops()
        if (records := planned.records(name))
    }
    outcomes = [planned.outcome(name)._replace(cost_usd=None) for name in "ab"]
    statuses = [Tracker(planned.root, name).store().summary().status for name in loops]
    current = Tracker(planned.root).project.current_loop_id()
    files = {path.name: path.read_text() for path in planned.root.iterdir() if path.is_file()}
    return loops, planned.statuses(), outcomes, statuses, current, files
