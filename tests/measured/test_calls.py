"""Calls that die, calls that are repeated, calls that do not fit the loop."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import InputError, LoopError, NotRecordedError

GIVEN = {"testing": {"test_count": 3, "tests_passed": 3, "tests_failed": 0}}
STOPS = 'if [ -e ../stop ]; then : > ../reached; sleep 60; fi\ncp results.xml "$1/junit.xml"\n'


def kill_in_the_middle_of_checks(shop, phase: str) -> None:
    """Run a hook in a process of its own and kill it while its check runs."""
    mark, reached = shop.root.parent / "stop", shop.root.parent / "reached"
    mark.touch()
    words = ["hook", phase, "--root", str(shop.root)]
    program = f"import sys; from ralph_tracker.cli.app import run; sys.exit(run({words!r}))"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not reached.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert reached.exists()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    mark.unlink()
    reached.unlink()


def test_an_iteration_that_was_killed_is_not_decided_on_and_is_done_again_under_its_number(workshop):
    shop = workshop.commit()
    shop.write("measure.sh", STOPS)
    shop.start()
    shop.passing(6)
    kill_in_the_middle_of_checks(shop, "post-iteration")
    with pytest.raises(NotRecordedError, match="iteration 1 was not recorded"):
        shop.tracker.loop_decision()
    record = shop.turn()
    assert (record.iteration, record.metrics.test_count, record.alerts) == (1, 6, ())
    assert shop.turn().iteration == 2
    assert run(["verify", "--root", str(shop.root)]) == 0
    assert not shop.paths.staging.exists()


def test_a_baseline_that_was_killed_is_captured_again(workshop):
    shop = workshop
    shop.write("measure.sh", STOPS)
    kill_in_the_middle_of_checks(shop, "pre-loop")
    with pytest.raises(LoopError, match="pre-loop"):
        shop.turn()
    assert (shop.start().loop_id, shop.turn().iteration) == ("ralph-001", 1)


def test_the_same_number_with_the_same_tree_changes_nothing_with_another_tree_it_is_refused(workshop, capsys):
    shop = workshop
    shop.start()
    words = ["hook", "post-iteration", "--iteration", "1", "--root", str(shop.root)]
    assert run(words) == 0
    capsys.readouterr()
    assert run(words) == 0
    assert "Iteration 1 is on record already" in capsys.readouterr().out
    shop.write("app.py", "changed\n")
    assert run(words) == 1
    assert "on record with another state" in capsys.readouterr().err
    with pytest.raises(LoopError, match="the next is 2"):
        shop.turn(iteration=3)
    assert shop.turn(iteration=2).iteration == 2


def test_a_loop_stays_measured_or_handed_in_as_its_baseline_was(workshop):
    workshop.start()
    with pytest.raises(InputError, match="leave --metrics out"):
        workshop.tracker.post_iteration(GIVEN)
    assert workshop.turn().iteration == 1
    workshop.tracker.pre_loop(GIVEN, new=True)
    with pytest.raises(InputError, match="pass --metrics FILE"):
        workshop.turn()
    assert workshop.tracker.post_iteration(GIVEN).record.iteration == 1


def test_an_iteration_without_any_change_is_one_more_iteration(workshop):
    workshop.start()
    first, second = workshop.turn(), workshop.turn()
    assert (first.iteration, second.iteration, first.tree == second.tree) == (1, 2, True)
