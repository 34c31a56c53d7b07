"""A plan is driven from wherever its state stands: each task once, a summary after each, a pause where one is due."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.errors import InputError
from ralph_tracker.steering import (
    CheckpointRules,
    PlanCalls,
    PlanState,
    PlanTask,
    Task,
    TaskOutcome,
    apply_plan_adjustment,
    drive_plan,
    parse_plan_revision,
)
from ralph_tracker.steering.plan import STATUSES

EACH = CheckpointRules(every=1)


def run_all(state):
    """Return the ids of the tasks in the order in which a driver runs them."""
    ran = []

    async def run_task(assignment):
        ran.append(assignment.task.id)
        return TaskOutcome("complete")

    asyncio.run(drive_plan(state, CheckpointRules(), PlanCalls(run_task, lambda _: None, lambda _: None)))
    return ran


def later(desk, **more):
    """Return a desk of a later run."""
    return type(desk)(**more)


def lines(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_checkpoint_adjust_continue(desk, planned):
    """The acceptance test of the seed: a checkpoint, an adjusted plan, and the run goes on with it."""
    desk.answers = ["Adjust plan", "Continue"]
    desk.edits = ["t5: Title 5\nskip: t4: Title 4\nt3: Title 3\n"]
    desk.confirms = [True]
    ended = desk.drive(planned(*["pending"] * 5), EACH)
    assert desk.asked[0].splitlines() == [
        "Checkpoint: 1/5 tasks done | $1.00 spent | ~$4.00 remaining",
        "Trigger: scheduled",
        "[Continue] [Adjust plan] [Abort]",
    ]
    assert lines(desk.edited[0]) == ["t2: Title 2", "t3: Title 3", "t4: Title 4", "t5: Title 5"]
    assert desk.questions == ["Dropping task t2. Skipping task t4. New order: t5, t3. Confirm?"]
    assert desk.asked[1].splitlines()[0] == "Checkpoint: 2/4 tasks done | $2.00 spent | ~$1.00 remaining"
    assert desk.ran == ["t1", "t5", "t3"]
    assert (ended.how, desk.kept) == ("done", ended.state)
    assert [(each.id, each.status) for each in ended.state.tasks] == [
        ("t1", "complete"),
        ("t5", "complete"),
        ("t4", "skipped"),
        ("t3", "complete"),
    ]
    assert "- Title 1 (complete)" in desk.assigned[1].prompt


def test_a_reorder_never_makes_a_task_that_is_left_run_never(desk, tasks):
    """The original put finished tasks at the end while its index stayed: 4, 2, 3 after task 1 lost task 4."""
    desk.answers = ["adjust"]
    desk.edits = ["t4\nt2\nt3"]
    desk.confirms = [True]
    desk.outcomes["t1"] = TaskOutcome("complete", 1.0, validation_failure="the tests")
    assert desk.drive(tasks).how == "done"
    assert desk.ran == ["t1", "t4", "t2", "t3"]


def test_without_a_trigger_every_task_runs_and_a_summary_follows_each(desk, tasks):
    ended = desk.drive(tasks)
    assert (ended.how, desk.ran, desk.asked) == ("done", ["t1", "t2", "t3", "t4"], [])
    assert [told.partition(" | ")[0] for told in desk.told] == [f"Progress: {n}/4 tasks done" for n in range(1, 5)]
    assert ended.reason == desk.told[-1]
    assert [each.position for each in desk.assigned] == [1, 2, 3, 4]


def test_the_test_failure_trigger_fires_at_the_task_that_failed(desk, tasks):
    desk.outcomes["t2"] = TaskOutcome("failed", 1.0)
    desk.answers = ["abort"]
    ended = desk.drive(tasks)
    assert desk.ran == ["t1", "t2"]
    assert "Trigger: test failure in task t2" in desk.asked[0]
    assert (ended.how, ended.reason) == ("aborted", "aborted at a checkpoint (test failure); the state is kept")


@pytest.mark.parametrize(
    "answer", [None, EOFError(), RuntimeError("the window is gone")], ids=["closed", "end", "broken"]
)
def test_a_checkpoint_that_nobody_answers_aborts_and_keeps_the_state(desk, tasks, answer):
    desk.answers = [answer]
    ended = desk.drive(tasks, EACH)
    assert (ended.how, desk.ran, desk.kept) == ("aborted", ["t1"], ended.state)
    again = later(desk, answers=["continue"] * 3)
    assert again.drive(desk.kept, EACH).how == "done"
    assert again.ran == ["t2", "t3", "t4"]
    assert again.asked[0] == desk.asked[0]


def test_an_unclear_answer_is_asked_again(desk, tasks):
    desk.answers = ["hm", "", "abort"]
    assert desk.drive(tasks, EACH).how == "aborted"
    assert len(desk.asked) == 3
    assert desk.told[-1] == "not understood; answer continue, adjust or abort"


@pytest.mark.parametrize(("rule", "how", "ran"), [("abort", "aborted", 1), ("continue", "done", 4)])
def test_where_nobody_can_be_asked_the_configuration_answers(desk, tasks, rule, how, ran):
    ended = desk.drive(tasks, EACH._replace(unattended=rule), alone=True)
    assert (ended.how, len(desk.ran)) == (how, ran)
    assert desk.told[1].startswith("Checkpoint: 1/4 tasks done")
    assert desk.told[2] == "Trigger: scheduled"
    assert not [told for told in desk.told if "\n" in told]


def test_an_unattended_abort_says_what_would_let_it_go_on(desk, tasks):
    ended = desk.drive(tasks, EACH, alone=True)
    assert ended.reason == (
        "a checkpoint (scheduled), nobody to ask, and checkpoints.unattended is abort; the state is kept"
    )
    assert later(desk).drive(ended.state, EACH, alone=True).state == ended.state


def test_a_budget_pauses_once(desk, tasks):
    desk.answers = ["continue", "continue"]
    desk.drive(tasks, CheckpointRules(warn_at_usd=1.0, max_cost_usd=3.3))
    assert [text.splitlines()[1] for text in desk.asked] == ["Trigger: budget warning", "Trigger: budget critical"]


def test_an_edit_that_was_cancelled_or_changed_nothing_goes_back_to_the_checkpoint(desk, tasks):
    desk.answers = ["adjust", "adjust", "abort"]
    desk.edits = [None, lambda text: text]
    assert desk.drive(tasks, EACH).how == "aborted"
    assert desk.edited[0] == desk.edited[1]
    assert desk.told[-1] == "nothing was changed"


def test_a_refused_edit_is_told_in_one_line_and_kept_for_the_next_try(desk, tasks):
    desk.answers = ["adjust", "adjust", "abort"]
    desk.edits = ["t2\nnew: thing", None]
    assert desk.drive(tasks, EACH).how == "aborted"
    assert desk.told[-1].startswith("line 2: no remaining task 'new'")
    assert desk.edited[1] == "t2\nnew: thing"


def test_an_editor_that_does_not_start_goes_back_to_the_checkpoint(desk, tasks):
    desk.answers = ["adjust", "abort"]
    desk.edits = [InputError("no editor; set EDITOR")]
    assert desk.drive(tasks, EACH).how == "aborted"
    assert desk.told[-1] == "no editor; set EDITOR"


def test_an_adjustment_that_is_not_confirmed_is_not_applied(desk, tasks):
    desk.answers = ["adjust", "adjust", "continue", *["continue"] * 2]
    desk.edits = ["t3\n", None]
    desk.confirms = [False]
    assert desk.drive(tasks, EACH).how == "done"
    assert desk.ran == ["t1", "t2", "t3", "t4"]
    assert desk.edited[1] == "t3\n"


def test_notes_of_ignored_edits_are_told(desk, tasks):
    desk.answers = ["adjust", *["continue"] * 3]
    desk.edits = ["t2: Another\nt3\n"]
    desk.confirms = [True]
    desk.drive(tasks, EACH)
    assert any(told.startswith("line 1: the text of task t2 cannot be changed") for told in desk.told)
    assert desk.ran == ["t1", "t2", "t3"]


def test_dropping_all_that_is_left_ends_the_plan(desk, tasks):
    desk.answers = ["adjust"]
    desk.edits = [""]
    desk.confirms = [True]
    ended = desk.drive(tasks, EACH)
    assert (ended.how, desk.ran) == ("done", ["t1"])
    assert desk.questions == ["Dropping tasks t2, t3, t4. No task is left: the plan ends here. Confirm?"]


def test_a_task_that_was_stopped_is_still_to_do_and_resumed_later(desk, tasks):
    desk.outcomes["t2"] = TaskOutcome("stopped", 5.0, reason="stopped as asked")
    ended = desk.drive(tasks, EACH._replace(unattended="continue"), alone=True)
    assert (ended.how, ended.reason, desk.ran) == ("stopped", "stopped as asked", ["t1", "t2"])
    again = later(desk)
    assert again.drive(desk.kept).how == "done"
    assert again.ran == ["t2", "t3", "t4"]
    assert [each.is_resumed for each in again.assigned] == [True, False, False]


def test_whatever_ends_a_run_in_a_task_that_task_runs_again(desk, tasks):
    desk.outcomes["t3"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        desk.drive(tasks)
    again = later(desk)
    assert again.drive(desk.kept).how == "done"
    assert (again.ran, again.assigned[0].is_resumed) == (["t3", "t4"], True)


def test_what_has_to_be_known_of_a_task_is_saved_before_it_runs(desk, planned):
    """And a later run is told that an earlier one has ended in it."""
    resumed = []

    def begin(state, each, is_resumed):
        resumed.append((state.current, is_resumed))
        return each._replace(loops=(*each.loops, f"loop-{len(resumed)}"))

    desk.outcomes["t1"] = TaskOutcome("stopped", reason="a person")
    for _ in range(2):
        desk.drive(desk.kept if desk.saved else planned("pending"), begin=begin)
        assert desk.kept.task_named("t1").loops == desk.assigned[-1].begun.loops
    assert resumed == [("t1", False), ("t1", True)]
    assert desk.kept.task_named("t1").loops == ("loop-1", "loop-2")


def test_a_plan_without_anything_to_do_is_done(desk, planned):
    assert desk.drive(planned("complete", "skipped")).how == "done"
    assert (desk.ran, desk.saved) == ([], [])


@st.composite
def states_with_edits(draw):
    """Draw a plan at any stage, and a valid edit of what is left of it, as a person would type it."""
    statuses = draw(st.lists(st.sampled_from([*STATUSES, "pending"]), min_size=1, max_size=8))
    made = [PlanTask(Task(f"t{number}", f"Title {number}"), status) for number, status in enumerate(statuses)]
    pending = [each.id for each in made if each.status == "pending"]
    order = draw(st.permutations(pending))
    kept = order[: draw(st.integers(0, len(order)))]
    marked = draw(st.sets(st.sampled_from(kept))) if kept else set()
    text = "".join(f"{'skip: ' if each in marked else ''}{each}: any\n" for each in kept)
    return PlanState(tuple(made)), text, [each for each in kept if each not in marked]


@given(states_with_edits())
def test_every_kept_pending_task_runs_exactly_once_in_the_given_order(drawn):
    state, text, expected = drawn
    after = apply_plan_adjustment(state, parse_plan_revision(state, text).adjustment)
    ran = run_all(after)
    assert ran == expected


@given(states_with_edits())
def test_finished_tasks_never_run_again_and_keep_their_order_and_status(drawn):
    state, text, _ = drawn
    after = apply_plan_adjustment(state, parse_plan_revision(state, text).adjustment)
    before = [each for each in state.tasks if each.status != "pending"]
    settled = {each.id for each in before}
    assert [each for each in after.tasks if each.id in settled] == before
    assert settled.isdisjoint(run_all(after))
    first = len(state.tasks) if not state.pending else [each.status for each in state.tasks].index("pending")
    assert after.tasks[:first] == state.tasks[:first]
