"""Every threshold of semantics.md as one frozen value; each field is a key of the configuration."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

DIMENSIONS: Final[tuple[str, ...]] = (
    "validation",
    "completeness",
    "correctness",
    "readability",
    "efficiency",
)
SelectionMode = Literal["believed", "highest_quality_verified", "highest_quality", "most_recent_above_threshold"]
SELECTION_MODES: Final[tuple[SelectionMode, ...]] = (
    "believed",
    "highest_quality_verified",
    "highest_quality",
    "most_recent_above_threshold",
)


class LoopLimits(NamedTuple):
    """Bound a loop; None is no limit. `target_score` is where it may stop as done, None: nowhere."""

    max_iterations: int | None = 20
    target_score: float | None = None
    max_cost_usd: float | None = None
    warn_at_usd: float | None = None
    max_minutes: float | None = None


class AlertRules(NamedTuple):
    """`coverage_drop` in points, `error_increase` a count, `complexity_growth` a share of the previous value."""

    coverage_drop: float = 2.0
    error_increase: int = 5
    complexity_growth: float = 0.5


class ClassificationRules(NamedTuple):
    """`pass_rate_drop` and `coverage_drop` in points; `good_pass_rate` in percent; `score_band` of the score."""

    pass_rate_drop: float = 5.0
    coverage_drop: float = 2.0
    good_pass_rate: float = 90.0
    score_band: float = 0.02


class StallRules(NamedTuple):
    """`tolerance` in points, or percent of a count; `variance` and `score_gain` of the score."""

    window: int = 3
    tolerance: float = 2.0
    variance: float = 0.02
    score_gain: float = 0.005


class CyclingRules(NamedTuple):
    """`terminate_after` is the last iteration at which a cycle is reported without ending the loop."""

    window: int = 5
    terminate_after: int = 10
    score_change: float = 0.005
    tree_visits: int = 3


class DecisionRules(NamedTuple):
    """`rollback_margin` of the score, `evidence` a share, `rollbacks_in_a_row` where a person is asked."""

    rollback_margin: float = 0.1
    evidence: float = 0.6
    rollbacks_in_a_row: int = 3


class ScoreRules(NamedTuple):
    """Weights of the dimensions (they sum to 1) and the score from which a selection is accepted."""

    weights: Mapping[str, float] = dict(zip(DIMENSIONS, (0.30, 0.25, 0.25, 0.10, 0.10), strict=True))
    acceptance: float = 0.70


class Rules(NamedTuple):
    """All thresholds of one loop, frozen at pre_loop."""

    loop: LoopLimits = LoopLimits()
    alerts: AlertRules = AlertRules()
    classification: ClassificationRules = ClassificationRules()
    stall: StallRules = StallRules()
    cycling: CyclingRules = CyclingRules()
    decision: DecisionRules = DecisionRules()
    score: ScoreRules = ScoreRules()
    selection_mode: SelectionMode = "believed"
