"""The situation that the feedback is made from, read back from the records of a loop."""

import json

import pytest

from ralph_tracker.agents.feedback import (
    TOKENS,
    RolledBackIteration,
    alert_line,
    current_feedback_facts,
    feedback_facts_of,
    score_parts,
    token_budget_of,
    undone,
)
from ralph_tracker.core.alert_types import TYPES, Alert
from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.store.loop_store import LoopStore

GREEN = {"test_add": "passed", "test_sub": "passed"}
RED = {"test_add": "failed", "test_sub": "passed"}


def test_after_a_rollback_the_files_are_judged_that_the_agent_has(driven):
    driven.start(tests=GREEN | {"test_old": "failed"})
    record = driven.turn(tests=RED | {"test_old": "failed"})
    store = LoopStore(driven.paths)
    before = feedback_facts_of(store, record, driven.root, record.decision)
    assert (before.undone, [test.name for test in before.problems.failing]) == (None, ["test_add", "test_old"])
    driven.roll_back(0)
    after = feedback_facts_of(store, record, driven.root, record.decision)
    assert [test.name for test in after.problems.failing] == ["test_old"]
    assert [test.name for test in after.undone.lacked.failing if test.is_broken] == ["test_add"]
    assert after.parts == score_parts(store, 0)
    assert current_feedback_facts(store, store.summary(), driven.root)._replace(with_rules=False) == after._replace(
        decision=None
    )


def test_the_parts_of_the_score_add_up_to_what_is_missing(driven):
    driven.start(tests=GREEN)
    record = driven.turn(tests=RED)
    missing = sum(part.points for part in score_parts(LoopStore(driven.paths), 1))
    assert missing == pytest.approx(100 * (1 - record.quality_score), abs=0.1)


@pytest.mark.parametrize("damage", ["", '{"iteration_metrics": {"weights": 3, "components": {}}}'])
def test_of_a_damaged_record_nothing_is_known(driven, damage):
    driven.start(tests=GREEN)
    record = driven.turn(tests=RED)
    folder = driven.paths.iteration(1)
    for name in ("metrics.json", "measurement.json"):
        (folder / name).write_text(damage)
    found = feedback_facts_of(LoopStore(driven.paths), record, driven.root)
    assert (found.problems, found.parts, undone(LoopStore(driven.paths), 1)) == (None, (), RolledBackIteration(1))


def test_the_place_of_an_alert_is_told():
    found = Finding("R1", Severity.HIGH, "m", "a.py", 3)
    line = alert_line(Alert(kind=TYPES[0], iteration=2, message="gone", findings=(found,)))
    assert line.endswith(": gone (a.py:3)")


def test_the_budget_is_that_of_the_loop(driven):
    (driven.root / "ralph-tracker.yaml").write_text("version: 1\nfeedback: {tokens: 300}\n")
    driven.start(tests=GREEN)
    assert token_budget_of(LoopStore(driven.paths)) == 300


def test_a_loop_of_an_earlier_version_has_the_usual_budget(driven):
    driven.start(tests=GREEN)
    path = driven.paths.loop_file
    path.write_text(path.read_text().replace("  feedback:\n    tokens: 800\n", ""))
    assert "feedback" not in path.read_text()
    assert token_budget_of(LoopStore(driven.paths)) == TOKENS
    assert json.dumps(token_budget_of(LoopStore(driven.paths))) == "800"
