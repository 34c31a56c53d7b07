"""Classify an iteration as baseline, forward, plateau, regression or stalled (semantics § 4)."""

from collections.abc import Mapping
from math import fsum
from types import MappingProxyType
from typing import NamedTuple

from ralph_tracker.core.lineage import FLAT, Classification, Lineage, PastIteration
from ralph_tracker.core.metrics import (
    BY_NAME,
    KEY_METRICS,
    SCORE_DECIMALS,
    Metrics,
    Readings,
    delta,
    errors_at_size,
    half_up,
    without_noise,
)
from ralph_tracker.core.thresholds import StallThresholds, Thresholds


class MetricStep(NamedTuple):
    """The four metrics of an iteration and their previous values, as the rules compare them.

    `now` has error_count at the previous size; both hold only metrics measured on both sides. `missing` names metrics
    that the lineage had and score components that were not measured now. `gained` and `lost` say whether tests became
    believed or stopped passing. `named`: tests were compared by name. `uncovered`: fewer lines are covered than before.
    """

    now: dict[str, float]
    before: dict[str, float]
    missing: tuple[str, ...]
    gained: bool = False
    lost: bool = False
    named: bool = False
    uncovered: bool = False

    def delta(self, name: str) -> float | None:
        """Return the difference at the recorded decimals, None if it cannot be compared."""
        if name not in self.now:
            return None
        return delta(self.now[name], self.before[name], BY_NAME[name].decimals)

    def without_fall(self, name: str) -> "MetricStep":
        """Return the step with a fall of that metric ignored."""
        if name not in self.now or self.now[name] >= self.before[name]:
            return self
        return self._replace(now={**self.now, name: self.before[name]})


def step_of(
    metrics: Metrics, readings: Readings, components: Mapping[str, float | None] = MappingProxyType({})
) -> MetricStep:
    """Compare the four metrics with their previous values, errors at the previous size."""
    now, before, missing = {}, {}, []
    for name in KEY_METRICS:
        reading, value = readings.get(name), metrics.number(name)
        if reading is None:
            continue
        if value is None:
            missing.append(name)
            continue
        earlier_loc = readings["loc_total"].value if "loc_total" in readings else None
        now[name] = errors_at_size(int(value), metrics.loc_total, earlier_loc) if name == "error_count" else value
        before[name] = reading.value
    missing += [name for name, value in components.items() if value is None]
    return MetricStep(now=now, before=before, missing=tuple(missing))


class ScoreContext(NamedTuple):
    """The parts of the score that the class depends on: this iteration and its lineage.

    `given` says that the scores are handed in.
    """

    point: PastIteration
    line: Lineage
    given: bool

    @property
    def change(self) -> float:
        """Return the change of the score since the previous iteration."""
        return half_up(self.point.score - self.line.points[-1].score, SCORE_DECIMALS)


def classify(step: MetricStep, scored: ScoreContext, thresholds: Thresholds, *, broke: bool) -> Classification:
    """Return the class by the first rule that holds; the lineage must hold the baseline.

    `broke` says that a working test fails now, or that the build broke.
    """
    if broke:
        return "regression"
    if not step.now and (scored.given or not step.missing):
        return _by_score_alone(step, scored, thresholds)
    if _is_regression(step, thresholds):
        return "regression"
    if step.named and step.gained and not step.lost and not step.missing:
        return "forward"
    if not step.missing and all(_is_steady(step, name, thresholds.stall.tolerance) for name in step.now):
        return "stalled" if _is_stalled(scored, thresholds.stall) else "plateau"
    better = (step.gained and not step.lost) or scored.change > 0
    return "forward" if _is_forward(step, thresholds) or (better and not step.missing) else "plateau"


def _by_score_alone(step: MetricStep, scored: ScoreContext, thresholds: Thresholds) -> Classification:
    """Classify by scores only; a missing metric causes no regression, but prevents forward."""
    change, band = scored.change, thresholds.classification.score_band
    if change < -band:
        return "regression"
    if change > band:
        return "plateau" if step.missing else "forward"
    return "stalled" if not step.missing and _is_stalled(scored, thresholds.stall) else "plateau"


def _is_regression(step: MetricStep, thresholds: Thresholds) -> bool:
    limits = thresholds.classification
    if _below(step, "test_count", 0) or _below(step, "pass_rate", limits.pass_rate_drop):
        return True
    less_covered = _below(step, "coverage_percentage", limits.coverage_drop)
    if step.named:
        # By name no loss can hide: untested new code lowers coverage and adds findings, but breaks nothing.
        return less_covered and step.uncovered and not step.gained
    return less_covered or (not step.gained and (step.delta("error_count") or 0) > thresholds.alerts.error_increase)


def _below(step: MetricStep, name: str, tolerance: float) -> bool:
    change = step.delta(name)
    return change is not None and change < -tolerance


def _is_steady(step: MetricStep, name: str, tolerance: float) -> bool:
    change = abs(step.delta(name) or 0)
    if name not in ("test_count", "error_count"):
        return change <= tolerance
    return change * 100 <= tolerance * step.before[name]


def _is_forward(step: MetricStep, thresholds: Thresholds) -> bool:
    """Return whether rule 4 holds; fewer tests were already classified as a regression."""
    if step.missing or not step.now or (step.delta("error_count") or 0) > 0:
        return False
    rate = step.now.get("pass_rate")
    good = rate is None or rate > step.before["pass_rate"] or rate >= thresholds.classification.good_pass_rate
    return good and (step.delta("coverage_percentage") or 0) >= 0


def _is_stalled(scored: ScoreContext, thresholds: StallThresholds) -> bool:
    """Return whether the window is flat and nothing is better than just before it."""
    earlier = scored.line.points[-(thresholds.window - 1) :]
    if len(scored.line.points) < thresholds.window or any(p.classification not in FLAT for p in earlier):
        return False
    if any(point.moved for point in (*earlier, scored.point)):
        return False
    start = scored.line.points[-thresholds.window]
    scores = [point.score for point in (*earlier, scored.point)]
    gain = half_up(scores[-1] - start.score, SCORE_DECIMALS)
    # The population variance: importing `statistics` takes longer than scoring.
    mean = fsum(scores) / len(scores)
    variance = without_noise(fsum((score - mean) ** 2 for score in scores) / len(scores))
    return (
        variance < thresholds.variance
        and gain <= thresholds.score_gain
        and not any(_metric_is_better(name, scored.point, start) for name in KEY_METRICS)
    )


def _metric_is_better(name: str, now: PastIteration, start: PastIteration) -> bool:
    value, before = now.value(name), start.value(name)
    if value is None or before is None:
        return False
    if name == "error_count":
        return errors_at_size(int(value), now.loc, start.loc) < before
    return value > before
