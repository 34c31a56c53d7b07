"""Decide when a plan pauses, what it shows then, and what the answer means."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.steering.plan import OpenCheckpoint, PlanState, Trigger
from ralph_tracker.steering.progress import TaskProgressSummary, compute_progress_summary, format_standing

Choice = Literal["continue", "adjust", "abort"]
BY_SEVERITY: Final[tuple[Trigger, ...]] = ("budget-critical", "test-failure", "budget-warning", "scheduled")
CHOICES: Final = "[Continue] [Adjust plan] [Abort]"
CRITICAL_SHARE: Final = 0.9
_ONCE: Final[frozenset[Trigger]] = frozenset({"budget-critical", "budget-warning"})
# Sums of costs are binary fractions: $0.10 plus $0.20 must reach $0.30.
_CENTS_OF_NOTHING: Final = 1e-9
_WORDS: Final[Mapping[str, Choice]] = {
    **dict.fromkeys(("continue", "c", "1", "yes", "go", "ok"), "continue"),
    **dict.fromkeys(("adjust", "adjust plan", "2", "edit"), "adjust"),
    **dict.fromkeys(("abort", "3", "stop", "cancel", "quit", "q"), "abort"),
}


class CheckpointRules(NamedTuple):
    """When a plan pauses.

    `every` is a number of tasks, None for never; `unattended` is the answer if nobody can be asked. `warn_at_usd` and
    `max_cost_usd` are USD for the whole plan, None is no limit.
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
        """Return the three lines of a checkpoint: the plan's progress, the trigger, the choices."""
        return format_checkpoint(self)


def checkpoint_rules(document: Mapping[str, Any]) -> CheckpointRules:
    """Return the rules in a validated configuration, with defaults for missing keys."""
    budget = {name: document.get("loop", {}).get(name) for name in ("warn_at_usd", "max_cost_usd")}
    return CheckpointRules(**{**document.get("checkpoints", {}), **budget})


def checkpoint_triggers(state: PlanState, rules: CheckpointRules, failed: str | None = None) -> tuple[Trigger, ...]:
    """Return what triggers a pause after a task, most severe first; nothing if no task is left.

    `failed` names what failed in validation of that task. A budget trigger fires only once. Tasks of unknown cost are
    ignored.
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
    """Return the state with the checkpoint that is due after a task, unchanged if none is.

    The most severe trigger is shown; all count as fired.
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
    """Return the checkpoint waiting for an answer, with current numbers; None if there is none.

    Without remaining tasks there is none.
    """
    if state.checkpoint is None or not state.pending:
        return None
    return Checkpoint(state.checkpoint.trigger, compute_progress_summary(state), state.checkpoint.failed)


def format_checkpoint(checkpoint: Checkpoint) -> str:
    """Return the plan's progress, the trigger and the choices, one line each, without a final line break."""
    trigger = checkpoint.trigger.replace("-", " ")
    if checkpoint.trigger == "test-failure" and checkpoint.failed:
        trigger += f" in {' '.join(checkpoint.failed.split())}"
    return f"Checkpoint: {format_standing(checkpoint.summary)}\nTrigger: {trigger}\n{CHOICES}"


def choice_of(answer: str | None) -> Choice | None:
    """Return the meaning of an answer; None if it is unclear and must be asked again.

    No answer (a closed dialog, or the end of input) aborts, because nobody approved.
    """
    if answer is None:
        return "abort"
    return _WORDS.get(" ".join(answer.strip().strip("[].!").casefold().split()))
