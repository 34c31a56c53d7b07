"""Classify an iteration as baseline, forward, plateau, regression or stalled (semantics § 4)."""

from collections.abc import Mapping
from math import fsum
from typing import NamedTuple

from ralph_tracker.core.alert_rules import AlertFacts
from ralph_tracker.core.lineage import FLAT, Judged, Lineage, PastIteration
from ralph_tracker.core.metrics import (
    BY_NAME,
    KEY_METRICS,
    SCORE_DECIMALS,
    delta,
    errors_at_size,
    half_up,
    without_noise,
)
from ralph_tracker.core.thresholds import StallThresholds, Thresholds


class MetricStep(NamedTuple):
    """The four metrics of an iteration and their previous values, as the rules compare them.

    `now` has error_count at the previous size; both hold only metrics measured on both sides. `missing` names metrics
    that the lineage had and score components that were not measured now. `score_change` is that of the score.
    """

    facts: AlertFacts
    now: Mapping[str, float]
    before: Mapping[str, float]
    missing: tuple[str, ...]
    score_change: float

    @property
    def is_named(self) -> bool:
        """Return whether tests were compared by name."""
        return self.facts.tests is not None

    def delta(self, name: str) -> float | None:
        """Return the difference at the recorded decimals, None if it cannot be compared."""
        if name not in self.now:
            return None
        return delta(self.now[name], self.before[name], BY_NAME[name].decimals)


def _step(facts: AlertFacts, change: float) -> MetricStep:
    """Compare the four metrics with their previous values, errors at the previous size."""
    now, before, missing = {}, {}, []
    for name in KEY_METRICS:
        reading, value = facts.line.readings.get(name), facts.metrics.number(name)
        if reading is None:
            continue
        if value is None:
            missing.append(name)
            continue
        earlier_loc = facts.line.readings["loc_total"].value if "loc_total" in facts.line.readings else None
        if name == "error_count":
            value = errors_at_size(int(value), facts.metrics.loc_total, earlier_loc)
        if name == "test_count" and facts.fall_is_explained:
            value = max(value, reading.value)  # few tests went for nothing, so the count alone says nothing
        now[name], before[name] = value, reading.value
    missing += [name for name, value in facts.components.items() if value is None]
    return MetricStep(facts, now, before, tuple(missing), change)


def classify(facts: AlertFacts, point: PastIteration, *, broke: bool) -> Judged:
    """Return the class of a point by the first rule that holds; the lineage must hold the baseline.

    `broke` says that a working test fails now, or that the build broke.
    """
    if broke:
        return "regression"
    limits, line = facts.state.thresholds, facts.line
    step = _step(facts, half_up(point.score - line.points[-1].score, SCORE_DECIMALS))
    gained = facts.gained and not facts.lost and not step.missing
    flat: Judged = "plateau"
    if not step.missing and _is_stalled(point, line, limits.stall):
        flat = "stalled"
    if not step.now and (facts.basis.given_score or not step.missing):  # the score alone
        band = limits.classification.score_band
        if abs(step.score_change) <= band:
            return flat
        if step.score_change < 0:
            return "regression"
        return "plateau" if step.missing else "forward"
    if _is_regression(step, limits):
        return "regression"
    if step.is_named and gained:
        return "forward"
    if not step.missing and all(_is_steady(step, name, limits.stall.tolerance) for name in step.now):
        return flat
    better = not step.missing and (gained or step.score_change > 0)
    return "forward" if better or _is_forward(step, limits) else "plateau"


def _is_regression(step: MetricStep, thresholds: Thresholds) -> bool:
    limits = thresholds.classification
    if _below(step, "test_count", 0) or _below(step, "pass_rate", limits.pass_rate_drop):
        return True
    less_covered = _below(step, "coverage_percentage", limits.coverage_drop)
    gained = step.facts.gained
    if step.is_named:
        # By name no loss can hide: untested new code lowers coverage and adds findings, but breaks nothing.
        return less_covered and not gained and (step.facts.change("coverage_lines_covered") or 0) < 0
    return less_covered or (not gained and (step.delta("error_count") or 0) > thresholds.alerts.error_increase)


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


def _is_stalled(point: PastIteration, line: Lineage, thresholds: StallThresholds) -> bool:
    """Return whether the window is flat and nothing is better than just before it."""
    earlier = line.points[-(thresholds.window - 1) :]
    if len(line.points) < thresholds.window or any(each.classification not in FLAT for each in earlier):
        return False
    window = (*earlier, point)
    if any(each.moved for each in window):
        return False
    start = line.points[-thresholds.window]
    scores = [each.score for each in window]
    gain = half_up(scores[-1] - start.score, SCORE_DECIMALS)
    # The population variance: importing `statistics` takes longer than scoring.
    mean = fsum(scores) / len(scores)
    variance = without_noise(fsum((score - mean) ** 2 for score in scores) / len(scores))
    return (
        variance < thresholds.variance
        and gain <= thresholds.score_gain
        and not any(_metric_is_better(name, point, start) for name in KEY_METRICS)
    )


def _metric_is_better(name: str, now: PastIteration, start: PastIteration) -> bool:
    value, before = now.value(name), start.value(name)
    if value is None or before is None:
        return False
    if name == "error_count":
        return errors_at_size(int(value), now.loc, start.loc) < before
    return value > before
