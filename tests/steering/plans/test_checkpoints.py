"""When a plan pauses: at its triggers, each budget once; what is shown and what an answer means."""

import pytest

from ralph_tracker.config.schema import validate_config
from ralph_tracker.steering import CheckpointRules, checkpoint_rules, checkpoint_triggers, choice_of
from ralph_tracker.steering.plan_driver import checkpoint_of, with_checkpoint
from tests.tables import table

HALF = ("complete", "complete", "pending", "pending")
BUDGET = CheckpointRules(warn_at_usd=6.0, max_cost_usd=10.0)


def test_at_half_of_the_tasks_and_the_warning_threshold_a_checkpoint_fires(planned):
    assert checkpoint_triggers(planned(*HALF, cost=3.0), BUDGET) == ("budget-warning",)


def test_under_budget_there_is_no_checkpoint(planned):
    assert checkpoint_triggers(planned(*HALF, cost=2.99), BUDGET) == ()


def test_a_test_failure_forces_a_checkpoint_whatever_the_cadence(planned):
    for rules in (CheckpointRules(), CheckpointRules(every=100)):
        assert checkpoint_triggers(planned(*HALF), rules, "tests/test_a.py") == ("test-failure",)


@pytest.mark.parametrize(
    ("spent", "fires"),
    [
        (8.99, ("budget-warning",)),
        (9.0, ("budget-critical", "budget-warning")),
        (12.0, ("budget-critical", "budget-warning")),
    ],
)
def test_nine_tenths_of_the_limit_are_critical(planned, spent, fires):
    assert checkpoint_triggers(planned("complete", "pending", cost=spent), BUDGET) == fires


def test_a_sum_of_cents_reaches_its_limit(planned):
    state = planned(*["complete"] * 3, "pending", cost=0.1)
    assert checkpoint_triggers(state, CheckpointRules(warn_at_usd=0.3)) == ("budget-warning",)
    assert checkpoint_triggers(state, CheckpointRules(max_cost_usd=1 / 3)) == ("budget-critical",)


def test_what_is_known_of_the_cost_counts_where_a_part_is_not(planned):
    state = planned(*HALF, cost=6.0)
    unknown = state.tasks[0]._replace(outcome=state.tasks[0].outcome._replace(cost_usd=None))
    assert checkpoint_triggers(state._replace(tasks=(unknown, *state.tasks[1:])), BUDGET) == ("budget-warning",)
    assert checkpoint_triggers(planned(*HALF, cost=None), BUDGET) == ()


def test_each_budget_trigger_fires_once(planned):
    once = with_checkpoint(planned("complete", "pending", "pending", cost=6.0), BUDGET)
    assert once.fired == ("budget-warning",)
    later = planned("complete", "complete", "pending", cost=6.0, fired=once.fired)
    assert checkpoint_triggers(later, BUDGET) == ("budget-critical",)
    assert checkpoint_triggers(with_checkpoint(later, BUDGET), BUDGET) == ()


@pytest.mark.parametrize(("every", "due"), [(None, []), (1, [1, 2, 3, 4, 5]), (2, [2, 4]), (3, [3])])
def test_a_scheduled_one_comes_after_every_so_many_tasks(planned, every, due):
    state, fired = planned(*["pending"] * 6), []
    for ran in range(1, 7):
        statuses = ["complete" if number < ran else "pending" for number in range(6)]
        state = planned(*statuses, scheduled_at=state.scheduled_at)
        state = with_checkpoint(state, CheckpointRules(every=every))
        if state.checkpoint:
            fired.append(ran)
    assert fired == due


def test_one_that_was_passed_over_is_not_lost(planned):
    state = planned(*["complete"] * 5, "pending", scheduled_at=2)
    assert checkpoint_triggers(state, CheckpointRules(every=2)) == ("scheduled",)


def test_of_several_triggers_the_most_severe_is_shown_and_all_count_as_fired(planned):
    rules = BUDGET._replace(every=1)
    state = with_checkpoint(planned("complete", "pending", cost=9.5), rules, "the tests")
    assert state.checkpoint.trigger == "budget-critical"
    assert (set(state.fired), state.scheduled_at) == ({"budget-critical", "budget-warning"}, 1)
    assert with_checkpoint(state._replace(checkpoint=None), rules).checkpoint is None


@pytest.mark.parametrize(
    ("spent", "failed", "every", "trigger"),
    [
        (9.0, "x", 1, "budget-critical"),
        (6.0, "x", 1, "test-failure"),
        (6.0, None, 1, "budget-warning"),
        (1.0, None, 1, "scheduled"),
    ],
)
def test_severity_goes_critical_failure_warning_scheduled(planned, spent, failed, every, trigger):
    state = planned("complete", "pending", cost=spent)
    assert checkpoint_triggers(state, BUDGET._replace(every=every), failed)[0] == trigger


def test_where_no_task_is_left_there_is_nothing_to_ask(planned):
    rules = CheckpointRules(every=1, max_cost_usd=1.0)
    assert checkpoint_triggers(planned("complete", "skipped", cost=5.0), rules, "the tests") == ()
    waiting = with_checkpoint(planned("complete", "pending"), rules)
    assert checkpoint_of(waiting)
    assert checkpoint_of(planned("complete", "skipped", checkpoint=waiting.checkpoint)) is None


def test_it_shows_where_the_plan_stands_the_trigger_and_the_choices(planned):
    state = planned(*["complete"] * 5, *["skipped"] * 4, *["pending"] * 11, cost=3.0)
    shown = checkpoint_of(with_checkpoint(state, CheckpointRules(every=5)))
    assert shown.text.splitlines() == [
        "Checkpoint: 5/20 tasks done | $15.00 spent | ~$33.00 remaining",
        "Trigger: scheduled",
        "[Continue] [Adjust plan] [Abort]",
    ]


def test_before_the_first_completion_it_says_that_the_rest_is_unknown(planned):
    shown = checkpoint_of(with_checkpoint(planned("failed", "pending"), CheckpointRules(), "tests/test_a.py\nand more"))
    assert shown.text.splitlines()[:2] == [
        "Checkpoint: 0/2 tasks done | $1.00 spent | ~unknown remaining",
        "Trigger: test failure in tests/test_a.py and more",
    ]


@pytest.mark.parametrize(
    ("cost", "line"), [(6.0, "Trigger: budget warning"), (9.0, "Trigger: budget critical")], ids=["warning", "critical"]
)
def test_it_names_a_budget(planned, cost, line):
    shown = checkpoint_of(with_checkpoint(planned("complete", "pending", cost=cost), BUDGET, None))
    assert shown.text.splitlines()[1] == line


ANSWERS = {
    "Continue": "continue", " yes ": "continue", "GO": "continue", "ok.": "continue", "1": "continue",
    "Adjust plan": "adjust", "adjust": "adjust", "[Adjust  plan]": "adjust", "edit": "adjust",
    "Abort": "abort", "stop": "abort", "q": "abort", "3": "abort",
}  # fmt: skip


@table("answer", ANSWERS)
def test_an_answer_means_its_choice(answer):
    assert choice_of(answer) == ANSWERS[answer]


@table("answer", ["", "a", "maybe", "not now", "yes but stop", "continue?"])
def test_an_unclear_answer_is_no_choice(answer):
    assert choice_of(answer) is None


def test_a_closed_dialog_is_abort_and_not_continue():
    assert choice_of(None) == "abort"


def test_the_rules_are_those_of_the_configuration_with_the_names_of_the_seed():
    raw = {"checkpoints": {"every": 2, "unattended": "continue"}, "loop": {"warnAtUsd": 5.0, "hardLimitUsd": 20.0}}
    assert checkpoint_rules(validate_config(raw, "a file")) == CheckpointRules(2, "continue", 5.0, 20.0)
    assert checkpoint_rules(validate_config({}, "a file")) == CheckpointRules() == checkpoint_rules({})
