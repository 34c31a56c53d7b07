"""A tree that was measured with the same configuration and tools is not measured again."""

import json
import os
import subprocess
import sys

import pytest

from ralph_tracker.store.iteration_snapshots import CHECKS
from ralph_tracker.tracker import Tracker

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

GREEN = '<testsuite name="s"><testcase classname="t" name="test_a"/></testsuite>'
RED = '<testsuite name="s"><testcase classname="t" name="test_a"><failure/></testcase></testsuite>'


class Project:
    """A project whose check counts its runs beside the project."""

    def __init__(self, root, more=""):
        root.mkdir()
        self.root, self.runs = root, root.parent / "runs"
        bin_ = root.parent / "bin"
        bin_.mkdir()
        self.tool = bin_ / "count-tests"
        self.tool.write_text(f'#!/bin/sh\necho run >> {self.runs}\ncp results.xml "$1"\n')
        self.tool.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}"}
        check = f'{{run: [count-tests, "{{reports}}/junit.xml"], reports: ["{{reports}}/junit.xml"]{more}}}'
        (root / "ralph-tracker.yaml").write_text(f"checks: {{tests: {check}}}\nintegrity: {{rerun: never}}\n")

    @property
    def tracker(self):
        return Tracker(self.root, environment=self.environment)

    def begin(self, results):
        (self.root / "results.xml").write_text(results)
        self.tracker.pre_loop(None)

    def counted(self):
        return len(self.runs.read_text().splitlines())

    def iterate(self, **given):
        before = self.counted()
        record = self.tracker.post_iteration(None, **given).record
        return self.counted() > before, record


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "project")


def test_no_check_runs_and_the_record_says_so(project):
    project.begin(GREEN)
    ran, record = project.iterate()
    assert not ran
    assert record.notes == (
        "not_measured_again: tree, configuration and tools are those of iteration 0; --fresh runs the checks",
    )
    assert project.iterate()[1].notes == record.notes  # the iteration that was measured is named, not the one before


def test_the_verdict_is_that_of_a_measurement(project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    beside = Project(other / "project")
    for each in (project, beside):
        each.begin(RED)
    for _ in range(4):
        (ran, taken), (ran_again, measured) = project.iterate(), beside.iterate(fresh=True)
        assert (ran, ran_again) == (False, True)
        assert (taken.decision, taken.integrity, taken.metrics) == (
            measured.decision,
            measured.integrity,
            measured.metrics,
        )
        assert [alert.id for alert in taken.open_alerts] == [alert.id for alert in measured.open_alerts]
    assert taken.decision.is_stall


def test_done_after_no_change(project):
    project.begin(GREEN)
    project.iterate()
    assert project.tracker.loop_decision().decision.action == "stop"


def test_its_reports_and_output_are_kept_with_it(project):
    project.begin(RED)
    project.iterate()
    one, two = (project.root / f".aiwg/ralph/ralph-001/iterations/iteration-{number:03d}" for number in (0, 1))
    assert (two / "reports/junit.xml").read_text() == (one / "reports/junit.xml").read_text()
    [first], [second] = (json.loads((each / CHECKS).read_text())["checks"] for each in (one, two))
    assert second == {**first, "from_iteration": 0}
    assert project.tracker.verify().is_whole


@pytest.mark.parametrize("what", ["tree", "program", "variable"])
def test_what_changed_is_measured(project, what):
    project.begin(GREEN)
    if what == "tree":
        (project.root / "results.xml").write_text(RED)
    elif what == "program":
        project.tool.write_text(project.tool.read_text() + "# another version\n")
    else:
        project.environment["PYTEST_ADDOPTS"] = "-x"
    assert project.iterate()[0]
    assert not project.iterate()[0]


def test_a_check_that_came_to_no_end_runs_again(tmp_path):
    project = Project(tmp_path / "project")
    project.begin(GREEN)
    (project.root / "results.xml").unlink()
    assert project.iterate()[0]  # no report
    assert project.iterate()[0]


def test_held_back_tests_are_outside_of_the_tree(tmp_path):
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "x.txt").write_text("")
    project = Project(tmp_path / "project", f", held_back: {tmp_path / 'held'}")
    project.begin(GREEN)
    assert project.iterate()[0]


def test_fresh_is_an_option(project):
    project.begin(GREEN)
    before = project.counted()
    for more, runs in ((), 0), (("--fresh",), 1):
        command = [sys.executable, "-m", "ralph_tracker", "hook", "post-iteration", *more]
        subprocess.run(command, cwd=project.root, env=project.environment, check=True, capture_output=True)
        assert project.counted() == before + runs
