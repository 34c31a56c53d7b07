"""Whether a session goes on, is nudged to come to its result, or is forced to (seed: continuation-strategy).

Fold the events; at the end of each turn there is a verdict with its score, the parts of it and its reasons. `steer`
also says it to the agent: a nudge that nobody hears is none.
"""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import Final, Literal, NamedTuple

from ralph_tracker.steering.continuation_metrics import ProgressMetrics
from ralph_tracker.steering.continuation_rules import Complexity, ComplexityLimits, ContinuationRules, Parts
from ralph_tracker.steering.events import Event, TurnEnded

Action = Literal["continue", "nudge_synthesis", "force_synthesis"]
_IDLE: Final = "idle"
_SPENT: Final = "spent"
_NEVER: Final[frozenset[str]] = frozenset()
_WORDS: Final = {
    "nudge_synthesis": "Come to a result now unless you are about to learn something new: {why}.",
    "force_synthesis": "Stop exploring. Call no more tools, and give your result from what you have: {why}.",
}


class Verdict(NamedTuple):
    """What is to be done after a turn.

    `score` is from 0 to 1, the sum of `parts`; `terms` are these before they are weighted, each from 0 to 1.
    `reasons` say what speaks against going on; none where nothing does, or the first turns are left alone.
    """

    turn: int
    action: Action
    score: float
    parts: Parts
    terms: Parts
    reasons: tuple[str, ...] = ()

    @property
    def message(self) -> str | None:
        """Return what the agent is told, None where it is left alone."""
        return message_of(self.action, *self.reasons)


def message_of(action: Action, *reasons: str) -> str | None:
    """Return what an agent is told that is to be nudged or forced, None where it goes on."""
    words = _WORDS.get(action)
    return None if words is None else words.format(why="; ".join(reasons))


class Continuation:
    """Fold a session's events; memory and the time for an event stay the same however long it lasts.

    `interventions` counts the nudges and forces that were given. `context_tokens` is what the agent's context took at
    the last turn that told it, None until one does: nothing is held against a session then.
    """

    __slots__ = ("_before", "_nudged", "_nudged_at", "context_tokens", "interventions", "limits", "metrics", "rules")

    def __init__(
        self,
        complexity: Complexity = "medium",
        *,
        rules: ContinuationRules | None = None,
        context_window: int | None = None,
    ) -> None:
        """Begin a session; `rules` None are the defaults, `context_window` None, in tokens, is that of the rules."""
        rules = rules or ContinuationRules()
        if context_window is not None:
            rules = rules._replace(tokens=rules.tokens._replace(context_window=context_window))
        self.rules: ContinuationRules = rules
        self.limits: ComplexityLimits = rules.complexity[complexity]
        self.metrics = ProgressMetrics(rules)
        self.context_tokens: int | None = None
        self.interventions = 0
        self._nudged = _NEVER  # the streaks that were nudged and have not ended
        self._nudged_at = 0  # the repeats in a row when that was
        self._before = (_NEVER, 0)

    @property
    def terms(self) -> Parts:
        """Return the parts of the score as they stand now, each from 0 to 1, before they are weighted."""
        metrics, rules, limits = self.metrics, self.rules, self.limits
        return Parts(
            velocity=min(1.0, metrics.progress_velocity / rules.full_velocity),
            not_stuck=max(0.0, 1 - metrics.consecutive_file_revisits / rules.stuck_repeats),
            tokens=rules.tokens.room(self.context_tokens),
            interventions=max(0.0, 1 - self.interventions / limits.max_interventions),
            complexity=limits.share,
        )

    @property
    def score(self) -> float:
        """Return the score as it stands now, from 0 to 1."""
        return _sum(_weighted(self.terms, self.rules.weights))

    def fold(self, event: Event) -> Verdict | None:
        """Take an event in, and return what is to be done where it ends a turn; None everywhere else.

        A nudge or force that is returned counts as given: pass its message on, or call `not_given`.
        """
        self.metrics.fold(event)
        if not isinstance(event, TurnEnded):
            return None
        if event.context_tokens is not None:
            self.context_tokens = event.context_tokens
        terms = self.terms
        parts = _weighted(terms, self.rules.weights)
        score = _sum(parts)
        action, reasons = self._decide(score)
        self.interventions += action != "continue"
        return Verdict(self.metrics.total_iterations, action, score, parts, terms, reasons)

    def not_given(self) -> None:
        """Take back that the last nudge or force was given: the next turn that asks for it gives it again."""
        self._nudged, self._nudged_at = self._before
        self.interventions = max(0, self.interventions - 1)

    def _decide(self, score: float) -> tuple[Action, tuple[str, ...]]:
        repeats = self.metrics.consecutive_file_revisits
        is_warm = self.metrics.total_iterations > self.rules.warm_up_turns
        idle, spent = self._idle(score, is_warm=is_warm), self._spent()
        holds = {_IDLE: idle, _SPENT: spent}
        self._nudged = frozenset(streak for streak in self._nudged if holds[streak])
        self._nudged_at = min(self._nudged_at, repeats)
        self._before = (self._nudged, self._nudged_at)
        forced = self._forced(score, is_warm=is_warm)
        if forced:
            return "force_synthesis", forced
        reasons = idle + spent
        if _IDLE in self._nudged or not reasons:
            self._nudged |= {_SPENT} if spent else _NEVER  # it was told to come to its result: once is enough
        elif idle or _SPENT not in self._nudged:
            self._nudged, self._nudged_at = frozenset(each for each in holds if holds[each]), repeats
            return "nudge_synthesis", reasons
        return "continue", (*reasons, "it was nudged for that already") if reasons else ()

    def _forced(self, score: float, *, is_warm: bool) -> tuple[str, ...]:
        """Return why there is no more going on at all."""
        metrics, tokens, most = self.metrics, self.rules.tokens, self.limits.max_iterations
        is_stuck, is_nudged = metrics.is_stuck_loop, _IDLE in self._nudged
        reasons = []
        if tokens.should_force_synthesis(self.context_tokens):
            reasons.append(f"{self._taken()}, {tokens.limit:.0%} is the hard limit")
        if metrics.total_iterations >= most:
            reasons.append(f"{metrics.total_iterations} of {most} turns are used")
        answers = metrics.tools_used and metrics.iterations_without_tools  # a turn of words alone repeats no call
        if is_stuck and is_nudged and not answers and metrics.consecutive_file_revisits > self._nudged_at:
            reasons.append(f"the last {metrics.consecutive_file_revisits} calls repeat earlier ones, after a nudge")
        if is_warm and score < self.rules.nudge_from and (is_nudged or not is_stuck):
            reasons.append(f"the score {score:.2f} is below {self.rules.nudge_from:g}")
        return tuple(reasons)

    def _idle(self, score: float, *, is_warm: bool) -> tuple[str, ...]:
        """Return what speaks for a nudge because the session gets nowhere."""
        metrics, rules = self.metrics, self.rules
        reasons = []
        if metrics.is_stuck_loop:
            reasons.append(f"the last {metrics.consecutive_file_revisits} calls repeat earlier ones")
        if is_warm and score < rules.continue_from:
            reasons.append(f"the score {score:.2f} is below {rules.continue_from:g}")
        if is_warm and rules.tokens.should_nudge_synthesis(self.context_tokens) and not metrics.is_making_progress:
            turns = min(metrics.total_iterations, rules.velocity_turns)
            reasons.append(f"{self._taken()}, and the last {turns} turns brought nothing new")
        return tuple(reasons)

    def _spent(self) -> tuple[str, ...]:
        used, budget = self.metrics.tools_used, self.limits.tool_budget
        return (f"{used} of {budget} tool calls are used",) if used >= budget else ()

    def _taken(self) -> str:
        return f"{self.rules.tokens.used(self.context_tokens or 0):.0%} of the context window is taken"


async def steer(
    events: AsyncIterable[Event], continuation: Continuation, say: Callable[[str], Awaitable[object]]
) -> AsyncIterator[Verdict]:
    """Fold a running session and say every nudge and force to the agent; yield each turn's verdict after that.

    Where `say` raises, it is logged, the session goes on, and the next turn tries again.
    """
    async for event in events:
        verdict = continuation.fold(event)
        if verdict is None:
            continue
        if verdict.message is not None:
            try:
                await say(verdict.message)
            except Exception:  # whatever a channel to an agent raises
                import logging  # noqa: PLC0415  # hooks that fold a session at every turn do without

                log = logging.getLogger(__name__)
                log.exception("%s at turn %d was not delivered", verdict.action, verdict.turn)
                continuation.not_given()
        yield verdict


def _weighted(terms: Parts, weights: Parts) -> Parts:
    return Parts._make(round(term * weight, 9) for term, weight in zip(terms, weights, strict=True))


def _sum(parts: Parts) -> float:
    return round(sum(parts), 9)  # 0.6 is 0.6, in whatever order it was added up
