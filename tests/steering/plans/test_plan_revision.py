"""Revising a plan only takes away and reorders, and every task that is kept runs exactly once, in the given order."""

import pytest

from ralph_tracker.errors import InputError
from ralph_tracker.steering import (
    PlanAdjustment,
    apply_plan_adjustment,
    format_adjustment,
    parse_plan_revision,
    plan_revision_text,
)

MIXED = ("complete", "pending", "pending", "skipped", "pending")


def ids(state):
    return [each.id for each in state.tasks]


def statuses(state):
    return {each.id: each.status for each in state.tasks}


def test_apply_plan_adjustment_drop_2_tasks(planned):
    after = apply_plan_adjustment(planned(*MIXED), PlanAdjustment(dropped=("t2", "t5")))
    assert ids(after) == ["t1", "t3", "t4"]
    assert after.dropped == ("t2", "t5")


def test_apply_plan_adjustment_reorder(planned):
    after = apply_plan_adjustment(planned(*["pending"] * 4), PlanAdjustment(reordered=("t4", "t2", "t3", "t1")))
    assert ids(after) == ["t4", "t2", "t3", "t1"]
    assert after.position("t4") == 1


def test_apply_plan_adjustment_skip(planned):
    after = apply_plan_adjustment(planned(*MIXED), PlanAdjustment(skipped=("t3",)))
    assert statuses(after)["t3"] == "skipped"
    assert ids(after) == ids(planned(*MIXED))


@pytest.mark.parametrize("status", ["complete", "failed", "skipped"])
@pytest.mark.parametrize("field", ["dropped", "skipped", "reordered"])
def test_apply_plan_adjustment_refuse_completed(planned, field, status):
    with pytest.raises(InputError, match=rf"task t1 is {status} and stays as it is; nothing was changed"):
        apply_plan_adjustment(planned(status, "pending"), PlanAdjustment(**{field: ("t1",)}))


def test_finished_tasks_keep_their_places_when_the_rest_is_reordered(planned):
    after = apply_plan_adjustment(planned("complete", *["pending"] * 3), PlanAdjustment(reordered=("t4", "t2", "t3")))
    assert ids(after) == ["t1", "t4", "t2", "t3"]


def test_those_that_a_new_order_does_not_name_come_after_it(planned):
    after = apply_plan_adjustment(planned(*MIXED), PlanAdjustment(reordered=("t5",)))
    assert ids(after) == ["t1", "t5", "t2", "t4", "t3"]


@pytest.mark.parametrize(
    ("adjustment", "says"),
    [
        (PlanAdjustment(dropped=("nil",)), "no task 'nil' in the plan"),
        (PlanAdjustment(reordered=("t2", "t2")), "task t2 is named twice"),
        (PlanAdjustment(dropped=("t2",), skipped=("t2",)), "task t2 is named twice"),
    ],
)
def test_what_cannot_be_is_refused(planned, adjustment, says):
    with pytest.raises(InputError, match=says):
        apply_plan_adjustment(planned(*MIXED), adjustment)


def test_it_is_pure(planned):
    state = planned(*MIXED)
    apply_plan_adjustment(state, PlanAdjustment(("t2",), ("t3",), ("t5", "t3", "t2")))
    assert state == planned(*MIXED)


@pytest.mark.parametrize(("change", "left"), [({"dropped": ("t2",)}, None), ({"dropped": ("t3",)}, "t2")])
def test_a_task_that_was_begun_and_is_dropped_is_not_at_work(planned, change, left):
    assert apply_plan_adjustment(planned(*MIXED, current="t2"), PlanAdjustment(**change)).current == left


def test_the_list_holds_the_remaining_tasks_and_says_what_can_be_done(planned):
    lines = plan_revision_text(planned(*MIXED)).splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["t2: Title 2", "t3: Title 3", "t5: Title 5"]
    assert "`skip:`" in "".join(lines)


def test_a_list_that_was_not_edited_changes_nothing(planned):
    state = planned(*MIXED)
    assert parse_plan_revision(state, plan_revision_text(state)).adjustment.is_empty


EDITS = {
    "a line deleted": ("t2: Title 2\nt5: Title 5", PlanAdjustment(dropped=("t3",))),
    "a line marked": ("t2: Title 2\nskip: t3: Title 3\nt5: Title 5", PlanAdjustment(skipped=("t3",))),
    "marked carelessly": ("t2\n  SKIP :t3\n- t5: Title 5\n", PlanAdjustment(skipped=("t3",))),
    "lines moved": ("t5: Title 5\nt2: Title 2\nt3: Title 3", PlanAdjustment(reordered=("t5", "t2", "t3"))),
    "all at once": (
        "# mine\n\nskip: t5: Title 5\n* t2: Title 2\n",
        PlanAdjustment(("t3",), ("t5",), ("t5", "t2")),
    ),
    "all deleted": ("", PlanAdjustment(dropped=("t2", "t3", "t5"))),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_list_means_its_adjustment(planned, name):
    text, adjustment = EDITS[name]
    revision = parse_plan_revision(planned(*MIXED), text)
    assert revision == (adjustment, ())
    apply_plan_adjustment(planned(*MIXED), adjustment)


def test_edited_text_is_ignored_with_a_note(planned):
    revision = parse_plan_revision(planned(*MIXED), "t2: Another title\nt3:  Title   3 \nt5\n")
    assert revision.adjustment.is_empty
    assert revision.notes == ("line 1: the text of task t2 cannot be changed here; that edit is ignored",)


REFUSED = {
    "a new task": ("t2: Title 2\nnew: More", "line 2: no remaining task 'new'; tasks cannot be added"),
    "a line of prose": ("please be quick", "line 1: no remaining task 'please be quick'"),
    "a long line": ("x" * 500, f"line 1: no remaining task '{'x' * 39}…'"),
    "one that is done": ("# head\nt1: Title 1", "line 2: task t1 is complete and stays as it is; delete the line"),
    "one that was skipped": ("t4", "line 1: task t4 is skipped and stays"),
    "one twice": ("t2\nt3\n\nskip: t2", "line 4: task t2 is given twice, first in line 1; keep one"),
    "a mark without a task": ("skip:", "line 1: no remaining task ''"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_unusable_line_is_refused_with_its_number(planned, name):
    text, says = REFUSED[name]
    with pytest.raises(InputError) as caught:
        parse_plan_revision(planned(*MIXED), text)
    assert str(caught.value).startswith(says)
    assert str(caught.value).endswith("; nothing was changed")


QUESTIONS = {
    "drop": (PlanAdjustment(dropped=("t2",)), "Dropping task t2. Confirm?"),
    "skip": (PlanAdjustment(skipped=("t2", "t3")), "Skipping tasks t2, t3. Confirm?"),
    "order": (
        PlanAdjustment(("t3",), (), ("t5", "t2")),
        "Dropping task t3. New order: t5, t2. Confirm?",
    ),
    "nothing left": (
        PlanAdjustment(("t2", "t3"), ("t5",), ("t5", "t2")),
        "Dropping tasks t2, t3. Skipping task t5. No task is left: the plan ends here. Confirm?",
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_will_be_done_is_asked_first(planned, name):
    adjustment, question = QUESTIONS[name]
    assert format_adjustment(planned(*MIXED), adjustment) == question
