"""How far a plan has come: counted and estimated from its state, and never a cost that nobody knows."""

import pytest

from ralph_tracker.steering import (
    LiveProgress,
    ToolStarted,
    TurnEnded,
    compute_progress_summary,
    format_progress_summary,
)
from ralph_tracker.steering.plan import format_standing

STATES = {
    "nothing ran": (("pending",) * 3, (0, 3, 0, 0), 0, None),
    "some are complete": (("complete", "complete", "pending"), (2, 1, 0, 0), 6.0, 3.0),
    "skipped ones cost nothing and are not left": (("complete", "skipped", "pending"), (1, 1, 1, 0), 3.0, 3.0),
    "what failed was paid for": (("complete", "failed", "pending"), (1, 1, 0, 1), 6.0, 6.0),
    "nothing is complete yet": (("failed", "pending"), (0, 1, 0, 1), 3.0, None),
    "all is done": (("complete", "complete"), (2, 0, 0, 0), 6.0, 0.0),
    "no task is left of it": ((), (0, 0, 0, 0), 0, None),
}


@pytest.mark.parametrize("name", STATES)
def test_compute_progress_summary_with_various_states(planned, name):
    statuses, counts, cost, estimate = STATES[name]
    got = compute_progress_summary(planned(*statuses, cost=3.0))
    assert (got.tasks_completed, got.tasks_remaining, got.tasks_skipped, got.tasks_failed) == counts
    assert (got.cumulative_cost, got.estimated_remaining_cost) == (cost, estimate)
    assert got.tasks_total == len(statuses)


def test_estimated_cost_is_cost_by_completed_times_remaining(planned):
    state = planned(*["complete"] * 5, *["skipped"] * 4, *["pending"] * 11, cost=3.0)
    summary = compute_progress_summary(state)
    assert summary.estimated_remaining_cost == 33.0
    assert format_standing(summary) == "5/20 tasks done | $15.00 spent | ~$33.00 remaining"


def test_before_the_first_completion_the_estimate_is_unknown_and_not_free(planned):
    text = format_progress_summary(compute_progress_summary(planned("pending", "pending")))
    assert text.startswith("Progress: 0/2 tasks done | $0.00 spent | ~unknown remaining")


@pytest.mark.parametrize(
    ("costs", "spent"), [((None, None), "unknown spent"), ((None, 2.0), "at least $2.00 spent")], ids=["none", "one"]
)
def test_a_cost_that_nobody_told_is_no_cost_of_zero(planned, costs, spent):
    state = planned("complete", "complete", "pending")
    tasks = [
        each._replace(outcome=each.outcome._replace(cost_usd=cost))
        for each, cost in zip(state.tasks[:2], costs, strict=True)
    ]
    summary = compute_progress_summary(state._replace(tasks=(*tasks, state.tasks[2])))
    assert summary.estimated_remaining_cost is None
    assert format_standing(summary) == f"2/3 tasks done | {spent} | ~unknown remaining"


def test_a_state_that_kept_no_outcome_has_an_unknown_cost(planned):
    state = planned("complete", "pending")
    bare = state._replace(tasks=(state.tasks[0]._replace(outcome=None), state.tasks[1]))
    assert compute_progress_summary(bare).cumulative_cost is None


def test_it_names_changed_files_once_fix_cycles_and_the_task_that_is_next(planned):
    state = planned("complete", "failed", "skipped", "pending", "pending")
    summary = compute_progress_summary(state)
    assert summary.changed_files_so_far == ("1.py", "all.py", "2.py")
    assert (summary.fix_cycles_so_far, summary.current_task_title) == (2, "Title 4")
    assert format_progress_summary(summary) == (
        "Progress: 1/5 tasks done | $2.00 spent | ~$4.00 remaining | 2 to do | 1 skipped | 1 failed | 3 changed files"
        " | 2 fix cycles | next: Title 4"
    )


def test_the_task_at_work_is_the_current_one(planned):
    assert compute_progress_summary(planned("pending", "pending", current="t2")).current_task_title == "Title 2"
    assert compute_progress_summary(planned("complete")).current_task_title is None


def test_one_is_told_in_the_singular(planned):
    state = planned("complete")
    only = state.tasks[0].outcome._replace(changed_files=("a.py",))
    one = state._replace(tasks=(state.tasks[0]._replace(outcome=only),))
    assert format_progress_summary(compute_progress_summary(one)).endswith("0 to do | 1 changed file | 1 fix cycle")


def test_while_a_task_runs_its_cost_and_the_percentage_are_live(planned):
    live = LiveProgress(compute_progress_summary(planned("complete", "skipped", "pending", "pending")))
    assert live.line() == "50% | 1/4 tasks done | $1.00 spent | now: Title 3"
    for event in (ToolStarted("1", "Read"), TurnEnded(cost_usd=0.25), TurnEnded(cost_usd=0.5)):
        live.fold(event)
    assert live.line() == "50% | 1/4 tasks done | $1.75 spent | now: Title 3"
    assert (live.turns, live.task_cost) == (2, 0.75)


@pytest.mark.parametrize(
    ("statuses", "spent"),
    [(("complete", "pending"), "at least $1.00 spent"), (("pending",), "unknown spent")],
    ids=["something is known", "nothing is known"],
)
def test_turns_that_tell_no_cost_make_it_a_lower_bound(planned, statuses, spent):
    live = LiveProgress(compute_progress_summary(planned(*statuses)))
    live.fold(TurnEnded("hello"))
    assert f" | {spent} | " in live.line()


def test_a_plan_of_no_task_is_all_done(planned):
    assert LiveProgress(compute_progress_summary(planned())).line() == "100% | 0/0 tasks done | $0.00 spent"


def test_what_live_progress_keeps_does_not_grow(planned):
    live = LiveProgress(compute_progress_summary(planned("pending")))
    for _ in range(1000):
        live.fold(TurnEnded("x" * 100, cost_usd=0.001))
    assert {type(value).__name__ for value in vars(live).values()} == {"TaskProgressSummary", "float", "int"}
