"""What the sentence about a loop is made from: rollbacks that were undone are none, damage is unknown."""

import json

import pytest

from ralph_tracker.iteration.explain import kept_point
from ralph_tracker.loop.status import (
    advice,
    decision_now,
    highest_before,
    rolled_back,
    selected_iteration,
)
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.summary import summary_at


@pytest.fixture
def fallen(driven):
    """Return a loop whose second iteration deleted tests and was rolled back."""
    driven.start()
    driven.turn(lint_errors=1)
    driven.turn(test_count=8, tests_passed=8)
    driven.roll_back(1)
    return driven


def test_a_rollback_is_told_with_its_reasons_until_it_is_undone(fallen):
    assert [(each.iteration, each.alerts) for each in rolled_back(fallen.paths)] == [(2, ("test_deletion",))]
    with fallen.paths.events.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"schema_version": 1, "event": "rollback", "to": 2, "after": 2}) + "\n[]\n{}\n")
    assert rolled_back(fallen.paths) == ()


def test_what_is_damaged_is_unknown(fallen):
    assert kept_point(fallen.paths, 1).values["lint_errors"] == 1
    (fallen.paths.iteration(1) / "state.json").write_text("{")
    assert kept_point(fallen.paths, 1) == (1, {}, None)


def test_the_advice_is_what_was_selected_then_what_was_decided(fallen):
    summary = summary_at(fallen.paths)
    assert advice(summary, None, fallen.paths) == ""
    pending = summary._replace(carried_out=None)
    assert advice(pending, None, fallen.paths) == f"Go back to iteration {summary.decision['target_iteration']}."
    assert (
        advice(pending._replace(decision={**summary.decision, "action": "stop"}), None, fallen.paths)
        == f"Take iteration {summary.best_iteration}."
    )
    assert advice(pending._replace(decision={**summary.decision, "action": "escalate"}), None, fallen.paths) == (
        "A person has to decide."
    )
    assert advice(pending._replace(status="abandoned"), None, fallen.paths) == ""
    fallen.tracker.select_output(iteration=0, reason="a person's")
    assert advice(summary_at(fallen.paths), selected_iteration(fallen.paths), fallen.paths) == "Take iteration 0."


def test_a_rollback_is_told_as_carried_out_once_it_is(fallen):
    summary = summary_at(fallen.paths)
    target = summary.decision["target_iteration"]
    assert decision_now(summary._replace(head=target), fallen.paths) == f"rollback to iteration {target}, carried out"
    assert "carried out" not in decision_now(summary._replace(head=summary.iteration), fallen.paths)


def test_the_highest_score_before_an_iteration_needs_no_record_but_the_one_before(fallen):
    records = SealedRecords(fallen.paths)
    scores = [row["walked"]["score"] for row in records.rows()[0]]
    fallen.paths.trajectory.unlink()
    assert [highest_before(records, number) for number in (0, 1, 2)] == [None, scores[0], max(scores[:2])]
