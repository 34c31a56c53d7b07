"""One word for what an iteration was: baseline, forward, plateau, regression or stalled (semantics § 4)."""

from collections.abc import Mapping, Sequence
from math import fsum
from types import MappingProxyType
from typing import Final, NamedTuple

from ralph_tracker.core.deltas import Readings, delta, errors_at_size
from ralph_tracker.core.line import FLAT, Classification, Line, Point, Yardstick
from ralph_tracker.core.metrics import BY_NAME, FOUR, Metrics
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up, without_noise
from ralph_tracker.core.rules import Rules, StallRules

_COUNTS: Final = ("test_count", "error_count")


class Step(NamedTuple):
    """Hold the four metrics of an iteration beside their previous values, as the rules compare them.

    `now` has error_count at the previous size; only metrics that both sides have are in `now` and `before`.
    `missing` names those that the line had and that were not measured now, and the components of the score likewise.
    """

    now: dict[str, float]
    before: dict[str, float]
    missing: tuple[str, ...]

    def delta(self, name: str) -> float | None:
        """Return the difference at the recorded decimals, None where it cannot be compared."""
        if name not in self.now:
            return None
        return delta(self.now[name], self.before[name], BY_NAME[name].decimals)

    def without_fall(self, name: str) -> "Step":
        """Return the same with that metric as it was, where it fell."""
        if name not in self.now or self.now[name] >= self.before[name]:
            return self
        return self._replace(now={**self.now, name: self.before[name]})


def step_of(
    metrics: Metrics, readings: Readings, components: Mapping[str, float | None] = MappingProxyType({})
) -> Step:
    """Put the four metrics beside their previous values, errors at the previous size."""
    now, before, missing = {}, {}, []
    for name in FOUR:
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
    return Step(now=now, before=before, missing=tuple(missing))


class Scored(NamedTuple):
    """Hold what of the score a class depends on: the point of this iteration, the line before it, the measure.

    `given` says that an outside judge scores.
    """

    point: Point
    line: Line
    yardstick: Yardstick
    given: bool

    def score(self, point: Point) -> float:
        """Return the adjusted score of a point as of now."""
        return self.yardstick.score(point.iteration, point.ground)

    @property
    def change(self) -> float:
        """Return how the score moved from the iteration before, both judged as of now."""
        return half_up(self.score(self.point) - self.score(self.line.points[-1]), SCORE_DECIMALS)


def classify(step: Step, scored: Scored, rules: Rules, *, working_tests_failing: bool) -> Classification:
    """Return the class by the first rule that holds; the line has at least its baseline."""
    if working_tests_failing:
        return "regression"
    if not step.now and (scored.given or not step.missing):
        return _by_score_alone(step, scored, rules)
    if _is_regression(step, rules):
        return "regression"
    if _is_plateau(step, rules.stall.tolerance):
        return "stalled" if _is_stalled(scored, rules.stall) else "plateau"
    if _is_forward(step, rules) or (scored.change > 0 and not step.missing):
        return "forward"
    return "plateau"


def _by_score_alone(step: Step, scored: Scored, rules: Rules) -> Classification:
    """Compare scores only; a missing metric cannot cause a regression, but prevents forward."""
    change, band = scored.change, rules.classification.score_band
    if change < -band:
        return "regression"
    if change > band:
        return "plateau" if step.missing else "forward"
    return "stalled" if not step.missing and _is_stalled(scored, rules.stall) else "plateau"


def _is_regression(step: Step, rules: Rules) -> bool:
    limits = rules.classification
    return (
        _below(step, "test_count", 0)
        or _below(step, "pass_rate", limits.pass_rate_drop)
        or _below(step, "coverage_percentage", limits.coverage_drop)
        or (step.delta("error_count") or 0) > 0
    )


def _below(step: Step, name: str, tolerance: float) -> bool:
    change = step.delta(name)
    return change is not None and change < -tolerance


def _is_plateau(step: Step, tolerance: float) -> bool:
    return not step.missing and all(_is_steady(step, name, tolerance) for name in step.now)


def _is_steady(step: Step, name: str, tolerance: float) -> bool:
    change = abs(step.delta(name) or 0)
    if name not in _COUNTS:
        return change <= tolerance
    return change * 100 <= tolerance * step.before[name]


def _is_forward(step: Step, rules: Rules) -> bool:
    """Tell whether rule 4 holds; fewer tests or more errors are a regression already and do not come here."""
    if step.missing or not step.now:
        return False
    rate = step.now.get("pass_rate")
    good = rate is None or rate > step.before["pass_rate"] or rate >= rules.classification.good_pass_rate
    return good and (step.delta("coverage_percentage") or 0) >= 0


def _is_stalled(scored: Scored, rules: StallRules) -> bool:
    """Tell whether the window stands still and nothing is better than just before it."""
    earlier = scored.line.points[-(rules.window - 1) :]
    if len(scored.line.points) < rules.window or any(p.classification not in FLAT for p in earlier):
        return False
    start = scored.line.points[-rules.window]
    scores = [scored.score(point) for point in (*earlier, scored.point)]
    gain = half_up(scores[-1] - scored.score(start), SCORE_DECIMALS)
    variance = without_noise(_variance(scores))
    return variance < rules.variance and gain <= rules.score_gain and not _is_better(scored.point, start)


def _variance(scores: Sequence[float]) -> float:
    """Return the variance of the whole; the module for it costs a hook more than all its scores."""
    mean = fsum(scores) / len(scores)
    return fsum((score - mean) ** 2 for score in scores) / len(scores)


def _is_better(now: Point, start: Point) -> bool:
    return any(_metric_is_better(name, now, start) for name in FOUR)


def _metric_is_better(name: str, now: Point, start: Point) -> bool:
    value, before = now.value(name), start.value(name)
    if value is None or before is None:
        return False
    if name == "error_count":
        return errors_at_size(int(value), now.loc, start.loc) < before
    return value > before
