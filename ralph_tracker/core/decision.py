"""Decide whether to continue, stop, roll back or ask a person, by the first rule that holds (semantics § 7)."""

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.alert_rules import STALL_ALTERNATIVES
from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.core.lineage import Classification
from ralph_tracker.core.metrics import SCORE_DECIMALS, half_up, plain_number, quantity
from ralph_tracker.core.thresholds import Thresholds

Action = Literal["continue", "stop", "rollback", "escalate"]
STALL_RULE: Final = 10
BLOCKED_RULE: Final = 6
DONE_RULE: Final = 12  # asked before 9
_ROW_OF_REPEATED_ROLLBACKS: Final = 3
_MESSAGES_SHOWN: Final = 3


class Decision(
    ValueObject,
    document="action target_iteration reason confidence alternatives",
    shown="action target_iteration confidence reason",
):
    """What the loop should do next.

    `confidence` is 0 to 1 with 2 decimals. `target_iteration` is set for a rollback only. `rule` is the deciding row of
    the table in semantics § 7.
    """

    action: Action
    reason: str
    confidence: float
    target_iteration: int | None = None
    alternatives: tuple[str, ...] = ()
    rule: int = 11

    @property
    def is_stall(self) -> bool:
        """Return whether it ends the loop only because nothing improves."""
        return self.rule == STALL_RULE

    @property
    def is_done(self) -> bool:
        """Return whether it ends the loop because nothing is left to do."""
        return self.rule == DONE_RULE

    @property
    def counts_as_rollback(self) -> bool:
        """Return whether it is a rollback, or the escalation that replaces one too many."""
        return self.action == "rollback" or self.rule == _ROW_OF_REPEATED_ROLLBACKS


class DecisionFacts(NamedTuple):
    """What a decision depends on.

    `alerts` are the new and the open ones that nobody accepted, in order. `cost_usd` is the known cost so far, None if
    unknown. `elapsed_s` counts from pre_loop. `rollbacks` counts the latest consecutive decisions that were a rollback
    or the escalation that replaced one. `target_tests_hold`: no test fails and one passes, or the loop has no tests.
    `trusted`: integrity found nothing, or was not asked. `met_target`: the baseline reached the target already.
    `open_tasks` is None without a plan. `working`: a task of the plan was ticked while metrics did not change, or the
    loop has tests and none has run yet. `questions` counts what only a person can say. `green`: tests were measured, at
    least one passes, none fails, and everything loads and builds. `unchanged`: no file differs from the iteration that
    it descends from. `gained`: a test passes that did not in the kept iteration.
    """

    iteration: int
    classification: Classification
    alerts: tuple[Alert, ...]
    score: float
    best_score: float
    best_iteration: int
    verified: bool
    evidence: float
    target_tests_hold: bool
    trusted: bool = True
    same_tree_cycle: bool = False
    cost_usd: float | None = None
    elapsed_s: float | None = None
    rollbacks: int = 0
    blocked: str | None = None
    met_target: bool = False
    open_tasks: int | None = None
    working: bool = False
    questions: int = 0
    green: bool = False
    unchanged: bool = False
    gained: bool = False

    def requires_rollback(self, alert: Alert) -> bool:
        """Return whether a CRITICAL alert calls for a rollback: it is new, or its rollback target still scores no
        worse.

        Deleted tests call for it once: an agent that goes on without them means it.
        """
        if alert.severity is not Severity.CRITICAL:
            return False
        if alert.iteration == self.iteration:
            return True
        if alert.type == "test_deletion":
            return False
        if alert.rollback_to is None:
            return True
        return alert.rollback_score is not None and self.score <= alert.rollback_score


BASELINE_DECISION: Final = Decision(
    action="continue", reason="Baseline captured, await iteration 1", confidence=1.0, rule=0
)


def decide(facts: DecisionFacts, thresholds: Thresholds) -> Decision:
    """Return the decision by the first rule that holds; the same facts give the same decision.

    Its confidence is scaled by the evidence, except for rules with a fixed confidence.
    """
    found = (rule(facts, thresholds) for rule in _RULES)
    decision = next((each for each in found if each is not None), None) or _continue(facts)
    if decision.rule in {0, 1, 2, 8}:
        return decision
    return decision._replace(confidence=half_up(decision.confidence * facts.evidence, 2))


def _infinite_loop(facts: DecisionFacts, _: Thresholds) -> Decision | None:
    if all(alert.type != "infinite_loop" for alert in facts.alerts):
        return None
    reason = "Loop should terminate due to metrics cycling; state is preserved"
    return Decision(action="stop", reason=reason, confidence=0.99 if facts.same_tree_cycle else 0.90, rule=1)


def _limit(facts: DecisionFacts, thresholds: Thresholds) -> Decision | None:
    limits, reached = thresholds.loop, _done(facts, thresholds) or _target(facts, thresholds)
    minutes = None if facts.elapsed_s is None else facts.elapsed_s / 60
    reason = None
    if limits.max_iterations is not None and facts.iteration >= limits.max_iterations:
        reason = f"Iteration limit reached: {facts.iteration} of {limits.max_iterations}"
    elif _is_reached(facts.cost_usd, limits.max_cost_usd):
        reason = f"Cost limit reached: ${facts.cost_usd:.2f} of ${limits.max_cost_usd:.2f}"
    elif _is_reached(minutes, limits.max_minutes):
        spent, limit = plain_number(half_up(minutes or 0, 1)), plain_number(limits.max_minutes or 0)
        reason = f"Time limit reached: {spent} of {limit} minutes"
    if reason and reached and _uncertain(facts, thresholds) is None:
        return reached  # what was reached is not hidden by what ends the loop anyway
    if reason and facts.blocked is not None:
        return _blocked(facts, thresholds)  # a limit says nothing of what a person has to do
    return Decision(action="stop", reason=reason, confidence=1.0, rule=2) if reason else None


def _is_reached(value: float | None, limit: float | None) -> bool:
    return value is not None and limit is not None and value >= limit


def _too_many_rollbacks(facts: DecisionFacts, thresholds: Thresholds) -> Decision | None:
    wanted = _critical(facts, thresholds) or _regression(facts, thresholds)
    if wanted is None or wanted.action != "rollback":
        return None
    if facts.rollbacks < thresholds.decision.rollbacks_in_a_row - 1:
        return None
    reason = "Escalate to human - repeated regression detected"
    return Decision(action="escalate", reason=reason, confidence=0.80, rule=_ROW_OF_REPEATED_ROLLBACKS)


def _critical(facts: DecisionFacts, _: Thresholds) -> Decision | None:
    alerts = [alert for alert in facts.alerts if facts.requires_rollback(alert)]
    if not alerts:
        return None
    target = min(alerts, key=lambda alert: alert.iteration).rollback_to
    if target is None:
        reason = f"Loop should terminate due to critical regression, no verified iteration is left: {_why(alerts)}"
        return Decision(action="stop", reason=reason, confidence=0.95, rule=4)
    reason = f"Rollback to iteration {target} due to regression: {_why(alerts)}"
    return Decision(action="rollback", reason=reason, confidence=0.95, target_iteration=target, rule=4)


def _regression(facts: DecisionFacts, thresholds: Thresholds) -> Decision | None:
    floor = half_up(facts.best_score - thresholds.decision.rollback_margin, SCORE_DECIMALS)
    if facts.classification != "regression" or facts.score >= floor:
        return None
    target = facts.best_iteration
    reason = f"Rollback to iteration {target} due to regression"
    return Decision(action="rollback", reason=reason, confidence=0.90, target_iteration=target, rule=5)


def _blocked(facts: DecisionFacts, _: Thresholds) -> Decision | None:
    if facts.blocked is None:
        return None
    reason = f"Escalate to human - blocked: {facts.blocked}"
    return Decision(action="escalate", reason=reason, confidence=0.90, rule=BLOCKED_RULE)


def _cycling(facts: DecisionFacts, _: Thresholds) -> Decision | None:
    if all(alert.type != "metric_cycling" for alert in facts.alerts):
        return None
    reason = "Escalate to human - metric cycling detected"
    return Decision(action="escalate", reason=reason, confidence=0.75, rule=7)


def _uncertain(facts: DecisionFacts, thresholds: Thresholds) -> Decision | None:
    if facts.evidence >= thresholds.decision.evidence:
        return None
    reason = "Escalate to human - measurement incomplete detected"
    return Decision(action="escalate", reason=reason, confidence=0.40, rule=8)


def _done(facts: DecisionFacts, thresholds: Thresholds) -> Decision | None:
    at_green = thresholds.loop.until == "green" and facts.gained
    if not (facts.green and (facts.unchanged or at_green)) or facts.questions or not _is_sound(facts):
        return None
    what = "nothing changed" if facts.unchanged else "tests were gained"
    return Decision(action="stop", reason=f"Done: {what} and everything passes", confidence=0.95, rule=DONE_RULE)


def _is_sound(facts: DecisionFacts) -> bool:
    """Return whether nothing that was found, and no open task, speaks against an end."""
    grave = any(alert.severity <= Severity.HIGH for alert in facts.alerts)
    return facts.verified and facts.trusted and not grave and not facts.open_tasks


def _target(facts: DecisionFacts, thresholds: Thresholds) -> Decision | None:
    target = thresholds.loop.target_score
    if target is None or facts.score < target or facts.met_target:
        return None
    if not (_is_sound(facts) and facts.target_tests_hold):
        return None
    return Decision(action="stop", reason="Target reached", confidence=0.95, rule=9)


def _stalled(facts: DecisionFacts, thresholds: Thresholds) -> Decision | None:
    if facts.classification != "stalled" or facts.working:
        return None
    return Decision(
        action="stop",
        reason=f"No meaningful progress for {thresholds.stall.window} iterations",
        confidence=0.85,
        alternatives=STALL_ALTERNATIVES,
        rule=STALL_RULE,
    )


def _continue(facts: DecisionFacts) -> Decision:
    confidence = 0.60
    if facts.classification == "forward":
        reason, confidence = "Continue - forward progress detected", 0.90
    elif facts.classification == "regression":
        why = _why(facts.alerts)
        reason = "Continue - regression within limits" + (f": {why}" if why else "")
    else:
        reason = "Continue - no forward progress yet (plateau)"
    if facts.questions:
        waits = "waits" if facts.questions == 1 else "wait"
        reason += f"; {quantity(facts.questions, 'question')} {waits} for you: `ralph-tracker questions`"
    return Decision(action="continue", reason=reason, confidence=confidence)


_RULES: Final[tuple[Callable[[DecisionFacts, Thresholds], Decision | None], ...]] = (
    _infinite_loop,
    _limit,
    _too_many_rollbacks,
    _critical,
    _regression,
    _blocked,
    _cycling,
    _uncertain,
    _done,
    _target,
    _stalled,
)


def _why(alerts: list[Alert] | tuple[Alert, ...]) -> str:
    shown = "; ".join(alert.message for alert in alerts[:_MESSAGES_SHOWN])
    rest = len(alerts) - _MESSAGES_SHOWN
    return f"{shown}; and {rest} more" if rest > 0 else shown
