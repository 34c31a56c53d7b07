"""Every threshold of semantics.md as one frozen value.

Each field is a key of the configuration, which takes its type, bounds, default and description from here.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple


class Bounds(NamedTuple):
    """The least and the most that a number may be, and what it must exceed; None is no bound."""

    least: float | None = None
    most: float | None = None
    above: float | None = None


class OtherNames(NamedTuple):
    """Names by which the configuration may have a field too."""

    names: tuple[str, ...]


Share = Annotated[float, Bounds(0, 1)]
Amount = Annotated[float, Bounds(0)]
Count = Annotated[int, Bounds(1)]
DIMENSIONS: Final[tuple[str, ...]] = (
    "validation",
    "completeness",
    "correctness",
    "readability",
    "efficiency",
)
CHECK_TIMEOUT: Final = "15m"
SelectionMode = str  # one of ours, or of a plug-in
SELECTION_MODES: Final = ("walk", "highest_quality_verified", "highest_quality", "most_recent_above_threshold")


class LoopLimits(NamedTuple):
    """Where a loop ends; null is no limit. `target_score` is where it may stop as done.

    With `until` done it ends once an iteration changes nothing and everything passes; with green already at the first
    iteration where everything passes and a test was gained.
    """

    max_iterations: Count | None = 20
    target_score: Share | None = None
    max_cost_usd: Annotated[Amount | None, OtherNames(("hardLimitUsd",))] = None
    warn_at_usd: Annotated[Amount | None, OtherNames(("warnAtUsd",))] = None
    max_minutes: Amount | None = None
    until: Literal["done", "green"] = "done"


class AlertThresholds(NamedTuple):
    """Beyond these an iteration raises an alert; `classification.coverage_drop` decides the class of the iteration.

    `coverage_drop` in points, `error_increase` a count (where tests have no names it decides the class too),
    `complexity_growth` a share of the previous value.
    """

    coverage_drop: Amount = 2.0
    error_increase: Annotated[int, Bounds(0)] = 5
    complexity_growth: Amount = 0.5


class ClassificationThresholds(NamedTuple):
    """These decide the class of an iteration; `alerts.coverage_drop` only decides whether it raises an alert.

    `pass_rate_drop` and `coverage_drop` in points; `good_pass_rate` in percent; `score_band` of the score.
    """

    pass_rate_drop: Amount = 5.0
    coverage_drop: Amount = 2.0
    good_pass_rate: Annotated[float, Bounds(0, 100)] = 90.0
    score_band: Share = 0.02


class StallThresholds(NamedTuple):
    """A loop is stalled after `window` iterations without progress.

    Without progress: each metric within `tolerance` (points, or percent of a count) of the one before, the variance of
    the scores below `variance`, the score at most `score_gain` above the one before the window.
    """

    window: Annotated[int, Bounds(2, 100)] = 3
    tolerance: Amount = 2.0
    variance: Amount = 0.02
    score_gain: Share = 0.005


class CyclingThresholds(NamedTuple):
    """How far back cycles are looked for. After iteration `terminate_after` a cycle ends the loop."""

    window: Annotated[int, Bounds(5, 100)] = 5
    terminate_after: Annotated[int, Bounds(0)] = 10
    score_change: Share = 0.005
    tree_visits: Annotated[int, Bounds(2)] = 3


class DecisionThresholds(NamedTuple):
    """`rollback_margin` of the score, `evidence` a share, `rollbacks_in_a_row` after which a person is asked."""

    rollback_margin: Share = 0.1
    evidence: Share = 0.6
    rollbacks_in_a_row: Count = 3


class ScoreThresholds(NamedTuple):
    """The weights of the dimensions, which sum to 1, and the score from which a selection is accepted."""

    weights: Mapping[str, Share] = dict(zip(DIMENSIONS, (0.30, 0.25, 0.25, 0.10, 0.10), strict=True))
    acceptance: Share = 0.70


class SelectionThresholds(NamedTuple):
    """How the iteration to take is chosen.

    `mode` walk takes the latest that broke nothing and is not worse for nothing. With `questions` refuse one that
    raises a question is not taken, whatever it gains. With `against` baseline each iteration is an alternative to the
    others: it is compared with the baseline, and the one with most gains is taken.
    """

    mode: SelectionMode = "walk"
    questions: Literal["ask", "refuse"] = "ask"
    against: Literal["kept", "baseline"] = "kept"


class Thresholds(NamedTuple):
    """All thresholds of one loop, frozen at pre_loop."""

    loop: LoopLimits = LoopLimits()
    alerts: AlertThresholds = AlertThresholds()
    classification: ClassificationThresholds = ClassificationThresholds()
    stall: StallThresholds = StallThresholds()
    cycling: CyclingThresholds = CyclingThresholds()
    decision: DecisionThresholds = DecisionThresholds()
    score: ScoreThresholds = ScoreThresholds()
    selection: SelectionThresholds = SelectionThresholds()
