"""What an iteration lacks to complete a task, and which checks a task has."""

import re

import pytest

from ralph_tracker.config.load import config_of
from ralph_tracker.iteration.measure_iteration import configured_by
from ralph_tracker.runner.plan_run import added_checks, named_checks, unmet
from ralph_tracker.steering import Task
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.iteration_snapshots import CHECKS
from ralph_tracker.tracker import Tracker
from tests.runner.conftest import CONFIG, report

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

CONFIGURED = {"checks": {"tests": {"run": "pytest -q"}, "Plan-1": {"run": ["make", "all"]}}}


def task(*checks):
    return Task("a", "A", "", checks)


@pytest.mark.parametrize(
    ("checks", "added"),
    [
        ((), {}),
        (("tests", "Plan-1"), {}),
        (("pytest -q",), {}),
        (("mypy", "tests", "ruff check", "mypy"), {"plan-2": {"run": "mypy"}, "plan-3": {"run": "ruff check"}}),
    ],
    ids=["none", "names", "a command that is configured", "commands"],
)
def test_commands_become_checks_by_names_that_are_free(checks, added):
    assert added_checks(task(*checks), config_of(CONFIGURED, None)) == added


@pytest.mark.parametrize(
    ("checks", "named"),
    [
        ((), [("tests", "tests"), ("Plan-1", "Plan-1"), ("plan-2", "plan-2")]),
        (("mypy", "tests"), [("mypy", "plan-2"), ("tests", "tests")]),
        (("pytest -q",), [("pytest -q", "tests")]),
    ],
    ids=["none", "a command and a name", "a command that is configured"],
)
def test_what_has_to_hold_is_found_in_what_was_frozen(checks, named):
    frozen = {"checks": {**CONFIGURED["checks"], "plan-2": {"run": "mypy"}}}
    assert [(each.word, each.check.name) for each in named_checks(task(*checks), frozen)] == named


@pytest.fixture
def lacks(project):
    """Return what takes a baseline with a configuration, and says what it lacks; `spoil` gets its folder before."""

    def look(config=CONFIG, spoil=None):
        (project.root / "ralph-tracker.yaml").write_text(config)
        tracker = Tracker(project.root)
        tracker.pre_loop(None, allow_missing=True)
        store = tracker.store()
        if spoil is not None:
            spoil(store.paths.iteration(0))
        loop = ConfiguredLoop.read(store, configured_by)
        return unmet(store, named_checks(task(), loop.config.document), loop.record(0))

    return look


@pytest.mark.parametrize(
    ("passed", "failed", "found"), [(4, 0, ()), (3, 1, ("tests: 1 test fails",)), (2, 2, ("tests: 2 tests fail",))]
)
def test_a_command_that_says_0_does_not_hide_tests_that_fail(project, lacks, passed, failed, found):
    (project.root / "report.xml").write_text(report(passed, failed))
    assert lacks() == found


def test_a_check_that_left_no_report_does_not_hold(lacks):
    (why,) = lacks("checks:\n  tests: {run: 'true', reports: ['{reports}/junit.xml']}\n")
    assert why.startswith("tests: check `tests` did not write ")
    assert "junit.xml (exit 0 after " in why


@pytest.mark.parametrize(
    ("run", "why"),
    [
        ("echo a word >&2; exit 3", r"tests: exit 3 after .* s; it said: a word"),
        ("sleep 60", r"tests: ended at its time limit after .* s"),
        ("kill -9 $$", r"tests: killed by SIGKILL after .* s"),
    ],
    ids=["failed", "beyond its time", "killed"],
)
def test_how_a_check_ended_is_told(project, lacks, run, why):
    (project.root / "report.xml").write_text(report(4, 0))
    checks = f"checks:\n  tests: {{run: '{run}', timeout: 1s, kind: build}}\n"
    (found,) = lacks(checks)
    assert re.fullmatch(why, found)


def test_what_is_not_known_to_have_run_does_not_hold(project, lacks):
    (project.root / "report.xml").write_text(report(4, 0))
    assert lacks(spoil=lambda folder: (folder / CHECKS).unlink()) == ("tests: not run",)
