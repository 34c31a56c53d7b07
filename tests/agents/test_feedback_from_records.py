"""The situation that the feedback is made from, read back from the records of a loop."""

import pytest

from ralph_tracker.agents.feedback import (
    TOKENS,
    feedback_facts_of,
    feedback_of,
)
from ralph_tracker.iteration.measure_iteration import configured_by
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.write import LoopStore

GREEN = {"test_add": "passed", "test_sub": "passed"}
RED = {"test_add": "failed", "test_sub": "passed"}


def loop_of(driven):
    return ConfiguredLoop.read(LoopStore(driven.paths), configured_by)


def test_after_a_rollback_the_files_are_judged_that_the_agent_has(driven):
    driven.start(tests=GREEN | {"test_old": "failed"})
    driven.turn(tests=RED | {"test_old": "failed", "test_new": "passed"})
    before = feedback_facts_of(loop_of(driven), driven.root)
    assert (before.undone, [test.name for test in before.problems.failing]) == (None, ["test_add", "test_old"])
    driven.roll_back(0)
    after = feedback_facts_of(loop_of(driven), driven.root)
    assert [test.name for test in after.problems.failing] == ["test_old"]
    assert [test.name for test in after.undone.lacked.failing if test.is_broken] == ["test_add"]
    assert after.undone.gained == ("test_new",)
    assert after.earlier == ()


def test_an_earlier_rollback_is_told_with_its_reason(driven):
    driven.start(tests=GREEN)
    driven.turn(tests=RED)
    driven.roll_back(0)
    driven.turn(tests=GREEN)
    facts = feedback_facts_of(loop_of(driven), driven.root)
    assert facts.earlier == ("iteration 1: Previously passing tests now failing: test_add",)


def test_the_place_of_an_alert_is_told(driven):
    (driven.root / "ralph-tracker.yaml").write_text("version: 1\ncodebase: {keep: always}\n")
    driven.start(tests=GREEN)
    (driven.root / "box.py").write_text("class Box:\n    def __eq__(self, other):\n        return True\n")
    driven.turn(tests=GREEN)
    (question,) = feedback_facts_of(loop_of(driven), driven.root).questions
    assert question.endswith(" (box.py:2)")


def test_passing_tests_that_went_are_asked_of_the_agent_by_name(driven):
    driven.start(tests={**GREEN, "test_old": "passed"})
    driven.turn(tests=GREEN)
    alerts = feedback_facts_of(loop_of(driven), driven.root).questions
    assert [each.count("test_old") for each in alerts if "test_deletion" not in each] == [1], alerts


def test_what_is_left_of_the_limits_is_told(driven):
    limits = "version: 1\nloop: {max_iterations: 5, max_minutes: 90, max_cost_usd: 2}\n"
    (driven.root / "ralph-tracker.yaml").write_text(limits)
    driven.start(tests=GREEN)
    driven.turn(tests=GREEN, usage={"cost_usd": 0.5})
    iterations, minutes, cost = feedback_facts_of(loop_of(driven), driven.root).left
    assert (iterations, cost) == ("4 iterations", "$1.50")
    assert minutes.endswith(" minutes")


@pytest.mark.parametrize("damage", ["", '{"iteration_metrics": {"weights": 3, "components": {}}}'])
def test_of_a_damaged_record_nothing_is_known(driven, damage):
    driven.start(tests=GREEN)
    driven.turn(tests=RED)
    folder = driven.paths.iteration(1)
    for name in ("metrics.json", "measurement.json"):
        (folder / name).write_text(damage)
    found = feedback_facts_of(loop_of(driven), driven.root)
    assert (found.problems, found.changed, found.undone) == (None, None, None)


def test_the_budget_is_that_of_the_loop(driven):
    (driven.root / "ralph-tracker.yaml").write_text("version: 1\nfeedback: {tokens: 100}\n")
    driven.start(tests={f"test_{chr(97 + number)}": "failed" for number in range(20)})
    assert len(feedback_of(loop_of(driven), driven.root)) < 100 * 4 < TOKENS


def test_a_loop_of_an_earlier_version_has_the_usual_budget(driven):
    driven.start(tests=GREEN)
    path = driven.paths.loop_file
    path.write_text(path.read_text().replace("  feedback:\n    tokens: 800\n    fail_early: false\n", ""))
    assert "feedback" not in path.read_text()
    assert feedback_of(loop_of(driven), driven.root).startswith("Iteration 0: baseline")
