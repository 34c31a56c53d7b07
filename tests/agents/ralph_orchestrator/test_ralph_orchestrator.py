"""The hook on payloads of the runner, in a project with a real check and a real store."""

import json
import os

import pytest

from ralph_tracker.agents import ralph_orchestrator_events as hook
from ralph_tracker.agents.ralph_orchestrator_events import COMPLETE, ERROR, ITERATION, START
from ralph_tracker.cli.app import answer_host, run
from ralph_tracker.errors import InputError
from ralph_tracker.tracker import Tracker

# A check that costs nothing: the report is what the test wrote. A file that the command named would be one of its own.
CONFIG = """\
codebase: {keep: always}
checks:
  tests: {run: "cp results.* {reports}/junit.xml", reports: ["{reports}/junit.xml"]}
"""


class Runner:
    """Play the runner in a project; the agent makes one more test pass in each of its iterations."""

    def __init__(self, root, payload):
        self.root, self.payload, self.passing = root, payload, 0
        self.environment = {"PATH": os.environ["PATH"]}
        (root / "ralph-tracker.yaml").write_text(CONFIG)
        self.work(0)

    def work(self, more=1):
        self.passing += more
        cases = (
            f'<testcase classname="t" name="t{n}">{"" if n < self.passing else "<failure/>"}</testcase>'
            for n in range(9)
        )
        (self.root / "results.xml").write_text(f'<testsuite name="s">{"".join(cases)}</testsuite>')

    def send(self, name, current=0, **more):
        """Return what the hook prints for an event."""
        return self.raw(json.dumps(self.payload(name, current, root=self.root, **more)).encode())

    def raw(self, data):
        file = self.root.parent / "event"
        file.write_bytes(data)
        descriptor = os.open(file, os.O_RDONLY)
        try:
            return hook.answer(self.environment, descriptor)
        finally:
            os.close(descriptor)

    def run(self, iterations, end=COMPLETE, **more):
        """Play a run of so many iterations."""
        self.send(START, **more)
        for number in range(1, iterations + 1):
            self.send(ITERATION, number, **more)
            self.work()
        if end is not None:
            self.send(end, iterations, **more)

    def state(self, loop="ralph-001"):
        return json.loads((self.root / ".aiwg" / "ralph" / loop / "state.json").read_text())

    @property
    def at(self):
        state = self.state()
        return state["iteration"], state["status"]


@pytest.fixture
def runner(tmp_path, payload):
    root = tmp_path / "project"
    root.mkdir()
    return Runner(root.resolve(), payload)


def test_iteration_n_is_measured_when_the_next_one_starts_and_at_the_end(runner):
    assert runner.send(START) == "Baseline captured, await iteration 1\n"
    assert runner.send(ITERATION, 1) == ""
    runner.work()
    assert runner.send(ITERATION, 2).startswith("iteration 1: ")
    runner.work()
    lines = runner.send(COMPLETE, 2).splitlines()
    assert lines[0].startswith("iteration 2: ")
    assert lines[1].startswith("Selected iteration 2")
    assert runner.at == (2, "finished")
    assert [Tracker(runner.root).store().summary().best_iteration] == [2]


def test_a_call_that_is_repeated_changes_nothing(runner):
    runner.send(START)
    assert runner.send(START) == ""
    runner.send(ITERATION, 1)
    runner.work()
    for _ in range(3):
        runner.send(ITERATION, 2)
        assert runner.at == (1, "running")
    for _ in range(2):
        runner.send(COMPLETE, 1)
        assert runner.at == (1, "finished")


def test_a_loop_that_ends_with_an_error_stays_open_and_a_resumed_run_goes_on(runner):
    runner.run(2, ERROR)
    assert runner.at == (2, "running")
    assert (runner.root / ".aiwg" / "output").is_dir()
    runner.run(1, COMPLETE, pid=5)
    assert runner.at == (3, "finished")


def test_what_a_killed_run_left_behind_is_measured_when_it_is_resumed(runner):
    runner.run(2, None)
    assert runner.at == (1, "running")
    assert runner.send(START, pid=5).startswith("iteration 2: ")
    assert runner.at == (2, "running")


def test_another_task_gets_a_loop_of_its_own(runner):
    runner.run(1, ERROR)
    lines = runner.send(START, loop="primary-2", pid=5).splitlines()
    assert lines[-1] == "Baseline captured, await iteration 1"
    assert runner.at == (1, "finished")
    assert runner.state("ralph-002")["status"] == "running"


def test_a_baseline_by_hand_is_taken_up(runner):
    Tracker(runner.root, environment=runner.environment).pre_loop(None)
    assert runner.send(START) == ""
    runner.send(ITERATION, 1)
    runner.work()
    runner.send(ITERATION, 2)
    assert runner.at == (1, "running")


def test_a_rollback_that_was_carried_out_is_not_measured_again(runner):
    runner.run(1, None)
    runner.send(ITERATION, 2)
    runner.work(-1)
    runner.send(ITERATION, 3)
    decided = Tracker(runner.root, environment=runner.environment).loop_decision(apply=True)
    assert (decided.decision.action, decided.carried_out) == ("rollback", True)
    runner.passing += 1
    assert runner.send(ITERATION, 3) == ""
    assert runner.at == (2, "running")


def test_without_a_loop_nothing_happens_and_other_events_never_do(runner):
    for name in (ITERATION, COMPLETE, ERROR):
        assert runner.send(name, 3) == ""
    assert not (runner.root / ".aiwg").exists()
    runner.send(START)
    runner.send(ITERATION, 1)
    runner.work()
    assert runner.send("post.iteration.start", 1) == ""
    assert runner.send("pre.plan.created", 1) == ""
    runner.send(ITERATION, 2)
    assert runner.at == (1, "running")


def test_what_is_remembered_may_be_damaged(runner):
    runner.run(1, None)
    (runner.root / ".aiwg" / "ralph" / "ralph-001" / hook.STANDING).write_text("{")
    assert runner.send(ITERATION, 2) == ""
    runner.work()
    runner.send(ITERATION, 3)
    assert runner.at == (1, "running")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no event of ralph-orchestrator"),
        (b"no json", "no event of ralph-orchestrator"),
        (b"\xff{}", "no event of ralph-orchestrator"),
        (b"[" * 100_000, "no event of ralph-orchestrator"),
        (b"x" * (hook.READ_AT_MOST + 1), "more than 1048576 bytes"),
    ],
    ids=["nothing", "text", "bytes", "deep", "much"],
)
def test_what_is_no_event_is_refused(runner, data, said):
    with pytest.raises(InputError, match=said):
        runner.raw(data)


def test_a_person_who_calls_it_is_told_who_does(runner):
    master, terminal = os.openpty()
    try:
        with pytest.raises(InputError, match="ralph-orchestrator calls this by itself"):
            hook.answer(runner.environment, terminal)
    finally:
        os.close(master)
        os.close(terminal)


def test_the_command_ends_with_0_and_one_line_whatever_happens(capsys):
    assert answer_host("hook", ["ralph-orchestrator"]) == 0  # what a test has for standard input is no event
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ralph-tracker: agent hook: ")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_its_configuration_is_not_ours_to_merge(verb, capsys, tmp_path):
    assert run(["agent", verb, "ralph-orchestrator", "--root", str(tmp_path)]) == 2
    assert "name `ralph-tracker agent hook ralph-orchestrator` in them" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
