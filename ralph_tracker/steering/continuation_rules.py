"""Every threshold of the continuation (seed: continuation-strategy), each a key of the section `continuation`."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

Complexity = Literal["simple", "medium", "complex", "generation"]
COMPLEXITIES: Final[tuple[Complexity, ...]] = get_args(Complexity)


class ComplexityLimits(NamedTuple):
    """What a task of one complexity is allowed: nudges, turns, tool calls, and its share of the score, 0 to 1."""

    max_interventions: int
    max_iterations: int
    tool_budget: int
    share: float


class Parts(NamedTuple):
    """A number for each part of the score: its weight, its value from 0 to 1, or both multiplied."""

    velocity: float
    not_stuck: float
    tokens: float
    interventions: float
    complexity: float


LIMITS: Final[Mapping[Complexity, ComplexityLimits]] = {
    "simple": ComplexityLimits(5, 10, 10, 0.25),
    "medium": ComplexityLimits(10, 25, 25, 0.50),
    "complex": ComplexityLimits(20, 50, 100, 1.00),
    "generation": ComplexityLimits(15, 35, 50, 0.75),
}
WEIGHTS: Final = Parts(0.30, 0.25, 0.20, 0.15, 0.10)


class TokenBudget(NamedTuple):
    """What of the context window, in tokens, may be used; the limits are shares of it.

    From `soft` on a session without progress is nudged, from `hard` on any session is forced. `synthesis` is what the
    final answer needs: it stays free even where `hard` would take it.
    """

    context_window: int = 128_000
    soft: float = 0.30
    hard: float = 0.70
    synthesis: float = 0.15

    @property
    def limit(self) -> float:
        """Return the share of the window at which the session is forced."""
        return min(self.hard, 1 - self.synthesis)

    def used(self, context_tokens: int) -> float:
        """Return the share of the window that is taken; over 1 where the agent's window is larger than was said."""
        return context_tokens / self.context_window

    def should_nudge_synthesis(self, context_tokens: int | None) -> bool:
        """Tell whether the soft limit is reached; nothing is reached where the tokens are not known (None)."""
        return context_tokens is not None and self.used(context_tokens) >= self.soft

    def should_force_synthesis(self, context_tokens: int | None) -> bool:
        """Tell whether the hard limit is reached; None as above."""
        return context_tokens is not None and self.used(context_tokens) >= self.limit

    def room(self, context_tokens: int | None) -> float:
        """Return 1 up to the soft limit, falling to 0 at the hard one; 1 where the tokens are not known (None)."""
        if context_tokens is None:
            return 1.0
        used = self.used(context_tokens)
        if used >= self.limit:
            return 0.0
        return 1.0 if used <= self.soft else (self.limit - used) / (self.limit - self.soft)


class ContinuationRules(NamedTuple):
    """Hold the thresholds.

    `velocity_turns` is how far back velocity looks; `full_velocity`, in progress events a turn, scores in full;
    `stuck_repeats` in a row are a stuck loop. `large_context` is in tokens. A score from `continue_from` on goes on,
    one from `nudge_from` on is nudged, a lower one is forced; the first `warm_up_turns` are left alone.
    """

    velocity_turns: int = 5
    full_velocity: float = 0.5
    stuck_repeats: int = 3
    complexity: Mapping[Complexity, ComplexityLimits] = LIMITS
    large_context: int = 100_000
    tokens: TokenBudget = TokenBudget()
    weights: Parts = WEIGHTS
    continue_from: float = 0.6
    nudge_from: float = 0.3
    warm_up_turns: int = 3


def continuation_rules_of(section: Mapping[str, Any]) -> ContinuationRules:
    """Return the thresholds of the section `continuation` of a validated configuration."""
    complexity = section["complexity"]
    return ContinuationRules(
        **section["progress"],
        complexity={name: ComplexityLimits(**complexity[name]) for name in COMPLEXITIES},
        large_context=complexity["large_context"],
        tokens=TokenBudget(**section["token_budgets"]),
        weights=Parts(**section["weights"]),
        **section["score"],
    )
