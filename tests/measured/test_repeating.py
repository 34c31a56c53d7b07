"""A believed test that fails is run once more, in the project itself, before anything is called a regression."""

import json
import sys

import pytest

from ralph_tracker.iteration.gate_worktree import gate
from ralph_tracker.iteration.measure_iteration import configured_by
from ralph_tracker.iteration.reproduce import verify_again
from ralph_tracker.store.configured_loop import ConfiguredLoop

from .conftest import HANDS_ON, junit

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

PYTEST = {
    "run": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={reports}/junit.xml"],
    "reports": ["{reports}/junit.xml"],
    "timeout": 60,
}
# Fails while there is something left in a file outside of the tree, and takes a character of it away.
FRAIL = """\
from pathlib import Path


def test_frail():
    left = Path({left!r})
    text = left.read_text()
    left.write_text(text[1:])
    assert not text, f"{{len(text)}} left"


def test_firm():
    assert True
"""
OTHER = """\
from pathlib import Path

with Path({ran!r}).open("a") as log:
    log.write(".")


def test_other():
    pass
"""
# A runner of which nothing is known: the first report of a queue outside, else the one in the tree.
QUEUE = """\
echo . >> {outside}/ran
case "$1" in */repeat/*) {then} ;; esac
to=$1; test -d "$1" && to=$1/junit.xml
next=$(ls {outside}/queue | head -1)
if [ -n "$next" ]; then mv "{outside}/queue/$next" "$to"; else cp results.xml "$to"; fi
"""


def frail(shop, cwd="."):
    """Make a project of real tests; return how to have one fail so often, and how often the other file has run."""
    left, ran = shop.root.parent / "left", shop.root.parent / "ran"
    left.touch()
    shop.write(f"{cwd}/test_frail.py", FRAIL.format(left=str(left)))
    shop.write(f"{cwd}/tests/test_other.py", OTHER.format(ran=str(ran)))
    shop.configure({"tests": {**PYTEST, "cwd": cwd}})
    shop.start()
    return left.write_text, lambda: len(ran.read_text())


def queue_of(shop, then=":"):
    """Have the check hand on reports of a queue; return how to fill it, and how often it ran.

    `then` is what it does first when it is repeated.
    """
    outside = shop.root.parent / "outside"
    (outside / "queue").mkdir(parents=True)
    shop.write("measure.sh", QUEUE.format(outside=outside, then=then))

    def fill(*reports):
        for number, outcomes in enumerate(reports):
            (outside / "queue" / str(number)).write_text(junit(outcomes))

    return fill, lambda: (outside / "ran").read_text().count(".")


def iteration_folder(shop, number):
    (folder,) = (shop.root / ".aiwg").rglob(f"*{number}/tests.json")
    return folder.parent


def test_one_that_fails_once_is_flaky_and_nothing_is_rolled_back(workshop):
    fail, ran = frail(workshop)
    fail("x")
    workshop.write("app.py", "def one():\n    return 2\n")
    record = workshop.turn()
    assert [(alert.type, alert.message) for alert in record.alerts] == [
        ("flaky_test", "Flaky test failed, then passed: test_frail::test_frail")
    ]
    assert (record.metrics.tests_passed, record.metrics.tests_failed, record.metrics.pass_rate) == (3, 0, 100.0)
    assert (record.classification, record.verified, record.decision.action) == ("plateau", True, "continue")
    assert ran() == 2  # at the baseline and here: only the file concerned is repeated
    folder = iteration_folder(workshop, 1)
    tests = json.loads((folder / "tests.json").read_text())
    assert (tests["failed_first"], list(tests["messages"])) == (["test_frail::test_frail"],) * 2
    for place, failures in (("reports", 1), ("repeat/reports", 0)):
        assert f'failures="{failures}"' in (folder / place / "junit.xml").read_text()
    assert (folder / "repeat/output/tests.stdout").exists()
    later = workshop.turn()
    assert (later.alerts, later.open_alerts, later.metrics.tests_passed) == ((), (), 3)


def test_one_that_fails_twice_is_a_break_with_its_first_message(workshop):
    fail, ran = frail(workshop, cwd="app")
    fail("xx")
    record = workshop.turn()
    assert ran() == 2
    assert [alert.type for alert in record.alerts] == ["working_tests_failing"]
    assert (record.metrics.tests_failed, record.decision.action) == (1, "rollback")
    assert "failed again when repeated: 1 test" in record.notes
    messages = json.loads((iteration_folder(workshop, 1) / "tests.json").read_text())["messages"]
    assert "2 left" in messages["test_frail::test_frail"]


def test_a_failure_under_load_in_each_iteration_never_rolls_back(workshop):
    fill, ran = queue_of(workshop)
    workshop.results(a="passed", b="passed").start()
    for turn in range(5):
        workshop.write("app.py", f"def one():\n    return {turn + 2}\n")
        fill({"a": "failed", "b": "passed"})
        record = workshop.turn()
        assert {alert.type for alert in record.alerts} - {"stalled"} == {"flaky_test"}
        assert (record.metrics.tests_passed, record.decision.action) in {(2, "continue"), (2, "stop")}
    assert ran() == 11


def test_one_that_was_red_already_is_not_repeated(workshop):
    fill, ran = queue_of(workshop)
    workshop.results(a="failed", b="passed").start()
    workshop.turn()
    assert ran() == 2
    fill({"a": "failed", "b": "failed"})
    assert workshop.turn().metrics.tests_failed == 1
    assert ran() == 4


def test_a_runner_that_cannot_be_limited_runs_whole_and_only_the_named_test_changes(workshop):
    fill, ran = queue_of(workshop)
    workshop.results(a="passed", b="passed", red="failed").start()
    fill({"a": "failed", "b": "passed", "red": "failed"}, {"a": "passed", "b": "failed", "red": "passed"})
    record = workshop.turn()
    assert ran() == 3
    assert (record.metrics.tests_passed, record.metrics.tests_failed) == (2, 1)
    assert [alert.type for alert in record.alerts] == ["flaky_test"]


def test_only_the_check_that_reported_it_runs_again_after_what_that_needs(workshop):
    fill, ran = queue_of(workshop)
    count = {name: workshop.root.parent / name for name in ("made", "others")}
    others = f'echo . >> {count["others"]}; cp others.xml "$0/others.xml"'
    workshop.write("sub/others.xml", junit({"a": "passed"}))
    workshop.configure(
        {
            "build": {"run": f"echo . >> {count['made']}", "kind": "build"},
            "tests": {**HANDS_ON, "needs": ["build"]},
            "others": {
                "run": ["sh", "-c", others, "{reports}"],
                "kind": "tests",
                "cwd": "sub",
                "reports": ["{reports}/others.xml"],
            },
        }
    )
    workshop.results(a="passed").start()
    fill({"a": "failed"})
    record = workshop.turn()
    assert record.metrics.tests_passed == 2
    assert [alert.message for alert in record.alerts] == ["Flaky test failed, then passed: s::t::a"]
    assert ran() == 3
    assert {name: path.read_text().count(".") for name, path in count.items()} == {"made": 3, "others": 2}


def test_a_report_in_the_project_stays_that_of_all_tests(workshop):
    fill, _ = queue_of(workshop)
    workshop.configure({"tests": {"run": "sh measure.sh ours.xml", "reports": ["ours.xml"]}})
    workshop.write(".gitignore", ".aiwg/\nours.xml\n")
    workshop.results(a="passed", b="passed").start()
    fill({"a": "failed", "b": "passed"}, {"a": "passed"})
    record = workshop.turn()
    assert record.metrics.tests_passed == 2
    assert (workshop.root / "ours.xml").read_text() == junit({"a": "failed", "b": "passed"})


def test_what_the_repetition_writes_into_the_tree_is_told(workshop):
    fill, _ = queue_of(workshop, then="touch made-then")
    workshop.results(a="passed").start()
    fill({"a": "failed"})
    assert any("tree_changed_by_checks: made-then" in note for note in workshop.turn().notes)


def test_a_repetition_that_takes_too_long_leaves_the_failure(workshop):
    fill, _ = queue_of(workshop, then="sleep 30")
    workshop.configure({"tests": {**HANDS_ON, "timeout": 1}})
    workshop.results(a="passed").start()
    fill({"a": "failed"})
    record = workshop.turn()
    assert record.metrics.tests_failed == 1
    assert "failed, and not in the report when repeated: s::t::a" in record.notes


def test_held_back_tests_are_not_repeated(workshop, tmp_path):
    fill, ran = queue_of(workshop)
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden/x.txt").touch()
    workshop.configure({"hidden": {**HANDS_ON, "kind": "tests", "held_back": str(tmp_path / "hidden")}})
    workshop.results(a="passed").start()
    fill({"a": "failed"})
    assert [alert.type for alert in workshop.turn().alerts] == ["working_tests_failing"]
    assert ran() == 2


def test_the_gate_repeats_too(workshop):
    fill, ran = queue_of(workshop)
    workshop.results(a="passed", b="passed").start()
    fill({"a": "failed", "b": "passed"})
    found = gate(workshop.root, None, None, now=workshop.clock.now(), environment=workshop.environment)
    assert (found.verdict, [alert.type for alert in found.alerts], ran()) == ("pass", ["flaky_test"], 3)


def test_measuring_again_for_a_proof_repeats_too(workshop):
    fill, ran = queue_of(workshop)
    workshop.results(a="passed", b="passed").start()
    workshop.turn()
    fill({"a": "failed", "b": "passed"})
    loop = ConfiguredLoop.read(workshop.tracker.store(), configured_by)
    verify_again(loop, 1, workshop.environment, None)
    assert ran() == 4
