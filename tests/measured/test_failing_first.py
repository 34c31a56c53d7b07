"""Tests that failed last run alone first: a red iteration is known early, and what was not run is not lost."""

import sys

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.iteration.measure_iteration import configured_by
from ralph_tracker.iteration.repeat_failing import failing_first
from ralph_tracker.store.configured_loop import ConfiguredLoop

from .conftest import HANDS_ON

pytestmark = pytest.mark.slow

PYTEST = {
    "run": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={reports}/junit.xml"],
    "reports": ["{reports}/junit.xml"],
    "timeout": 60,
}


@pytest.fixture
def shop(workshop):
    """Return a loop with a failing test in one file; another file notes beside the project that it was run."""
    workshop.write("test_box.py", "def test_lid():\n    assert False\n")
    ran = workshop.root.parent / "ran"
    workshop.write("test_other.py", f"open({str(ran)!r}, 'a').write('.')\n\n\ndef test_other():\n    pass\n")
    workshop.configure({"tests": PYTEST}).start()
    ran.unlink()
    return workshop


def hook(shop, *more):
    return run(["hook", "post-iteration", "--root", str(shop.root), *more])


def test_while_they_fail_nothing_else_runs_and_nothing_is_recorded(shop, capsys):
    shop.write("box.py", "lid = 1\n")
    assert hook(shop, "--fail-early") == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "1 of 1 test that failed in iteration 0 still fail: test_box::test_lid." in said
    assert "No other test was run, and nothing was recorded" in said
    assert not (shop.root.parent / "ran").exists()
    assert shop.tracker.store().summary().iteration == 0


def test_once_they_pass_all_is_measured(shop):
    shop.write("test_box.py", "def test_lid():\n    assert True\n")
    assert hook(shop, "--fail-early") == 0
    assert (shop.root.parent / "ran").exists()
    assert shop.tracker.store().summary().iteration == 1


def test_options_that_want_a_record_are_refused(shop, capsys):
    assert hook(shop, "--fail-early", "--json") == 2
    assert "--fail-early excludes --json and --metrics" in capsys.readouterr().err


@pytest.mark.parametrize("why", ["all pass", "runner takes no files", "two checks of tests"])
def test_where_none_can_run_alone(workshop, why):
    workshop.results(t1="passed" if why == "all pass" else "failed")
    checks = {"tests": HANDS_ON}
    if why == "two checks of tests":
        workshop.write("test_box.py", "def test_lid():\n    assert False\n")
        checks = {"tests": PYTEST, "more": {**HANDS_ON, "kind": "tests", "run": "cp results.xml {reports}/more.xml"}}
        checks["more"]["reports"] = ["{reports}/more.xml"]
    workshop.configure(checks).start()
    loop = ConfiguredLoop.read(workshop.tracker.store(), configured_by)
    assert failing_first(loop, 0, workshop.environment) is None
    assert failing_first(loop, None, workshop.environment) is None
