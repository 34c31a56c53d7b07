"""When a plan pauses, what it shows then, and what the answer means (seed: checkpoints-and-ux, 4.2)."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.steering.plan import OpenCheckpoint, PlanState, Trigger
from ralph_tracker.steering.progress import TaskProgressSummary, compute_progress_summary, format_standing

Choice = Literal["continue", "adjust", "abort"]
BY_SEVERITY: Final[tuple[Trigger, ...]] = ("budget-critical", "test-failure", "budget-warning", "scheduled")
CHOICES: Final = "[Continue] [Adjust plan] [Abort]"
CRITICAL_SHARE: Final = 0.9
_ONCE: Final[frozenset[Trigger]] = frozenset({"budget-critical", "budget-warning"})
# Sums of costs are binary fractions: $0.10 and $0.20 have to reach $0.30.
_CENTS_OF_NOTHING: Final = 1e-9
_WORDS: Final[Mapping[str, Choice]] = {
    **dict.fromkeys(("continue", "c", "1", "yes", "go", "ok"), "continue"),
    **dict.fromkeys(("adjust", "adjust plan", "2", "edit"), "adjust"),
    **dict.fromkeys(("abort", "3", "stop", "cancel", "quit", "q"), "abort"),
}


class CheckpointRules(NamedTuple):
    """Say when a plan pauses.

    `every` is after how many tasks, None never; `unattended` is the answer where nobody can be asked. `warn_at_usd` and
    `max_cost_usd` (the seed's warnAtUsd and hardLimitUsd) are USD for the whole plan, None is no limit.
    """

    every: int | None = None
    unattended: Literal["abort", "continue"] = "abort"
    warn_at_usd: float | None = None
    max_cost_usd: float | None = None


class Checkpoint(NamedTuple):
    """What a person is shown and asked; `failed` names what failed in validation, None if nothing did."""

    trigger: Trigger
    summary: TaskProgressSummary
    failed: str | None = None

    @property
    def text(self) -> str:
        """Return the three lines of a checkpoint: where the plan stands, the trigger, the choices."""
        return format_checkpoint(self)


def checkpoint_rules(document: Mapping[str, Any]) -> CheckpointRules:
    """Return the rules that a validated configuration holds; a key that it does not know is as by default."""
    budget = {name: document.get("loop", {}).get(name) for name in ("warn_at_usd", "max_cost_usd")}
    return CheckpointRules(**{**document.get("checkpoints", {}), **budget})


def checkpoint_triggers(state: PlanState, rules: CheckpointRules, failed: str | None = None) -> tuple[Trigger, ...]:
    """Return what asks for a pause after a task, the most severe first; nothing does where no task is left.

    `failed` names what failed in validation of that task. A budget trigger that has fired is not returned again. Where
    a cost is not known, what is known of it counts.
    """
    if not state.pending:
        return ()
    spent = compute_progress_summary(state).cumulative_cost or 0.0
    limit = None if rules.max_cost_usd is None else CRITICAL_SHARE * rules.max_cost_usd
    holds: dict[Trigger, bool] = {
        "budget-critical": _reached(spent, limit),
        "test-failure": failed is not None,
        "budget-warning": _reached(spent, rules.warn_at_usd),
        "scheduled": rules.every is not None and len(state.ran) - state.scheduled_at >= rules.every,
    }
    return tuple(trigger for trigger in BY_SEVERITY if holds[trigger] and trigger not in state.fired)


def _reached(spent: float, limit: float | None) -> bool:
    return limit is not None and spent >= limit - _CENTS_OF_NOTHING


def with_checkpoint(state: PlanState, rules: CheckpointRules, failed: str | None = None) -> PlanState:
    """Return the state with the checkpoint that is due after a task, as it is where none is.

    Of several triggers the most severe is shown; all count as fired.
    """
    triggers = checkpoint_triggers(state, rules, failed)
    if not triggers:
        return state
    return state._replace(
        checkpoint=OpenCheckpoint(triggers[0], failed),
        fired=(*state.fired, *(trigger for trigger in triggers if trigger in _ONCE)),
        scheduled_at=len(state.ran) if "scheduled" in triggers else state.scheduled_at,
    )


def checkpoint_of(state: PlanState) -> Checkpoint | None:
    """Return the checkpoint that waits for an answer, with the numbers of now; None if none does.

    Where no task is left there is nothing to ask.
    """
    if state.checkpoint is None or not state.pending:
        return None
    return Checkpoint(state.checkpoint.trigger, compute_progress_summary(state), state.checkpoint.failed)


def format_checkpoint(checkpoint: Checkpoint) -> str:
    """Return where the plan stands, the trigger and the choices, a line each, no line break at the end."""
    trigger = checkpoint.trigger.replace("-", " ")
    if checkpoint.trigger == "test-failure" and checkpoint.failed:
        trigger += f" in {' '.join(checkpoint.failed.split())}"
    return f"Checkpoint: {format_standing(checkpoint.summary)}\nTrigger: {trigger}\n{CHOICES}"


def choice_of(answer: str | None) -> Choice | None:
    """Return what an answer means; None for one that is unclear, which is asked again.

    No answer at all, a closed dialog or the end of input, is an abort: nobody has said that it may go on.
    """
    if answer is None:
        return "abort"
    return _WORDS.get(" ".join(answer.strip().strip("[].!").casefold().split()))
