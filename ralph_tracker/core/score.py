"""Compute the specification's quality score on the baseline's basis (semantics § 2)."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.metrics import BY_NAME, METRICS, SCORE_DECIMALS, Group, Metrics, half_up
from ralph_tracker.core.thresholds import DIMENSIONS, Thresholds

FULL: Final = 100.0
ERROR_PARTS: Final[tuple[str, ...]] = ("lint_errors", "type_errors")


def points_left(count: float, cost: float) -> float:
    """Take `cost` points off 100 for each of `count`, not below 0."""
    return max(0.0, FULL - cost * count)


def growth_percent(now: float, before: float) -> float:
    """Return the growth from `before` (not 0) to `now` in percent."""
    return (now - before) / before * 100


def appropriate_size(growth: float) -> float:
    """Score a change of size in percent: 100 within ±20 %, one point less per percent beyond."""
    return min(FULL, max(0.0, FULL - (abs(growth) - 20.0)))


def bloat(growth: float) -> float:
    """Score 50 if the code grew by more than half, else 100."""
    return 50.0 if growth > 50.0 else FULL


def _all_tests_pass(metrics: Metrics, _: Metrics) -> float | None:
    count, passed, failed = metrics.test_count, metrics.tests_passed, metrics.tests_failed
    if count is None or passed is None or failed is None:
        return None
    if failed == 0 and passed > 0:
        return FULL
    return passed / count * 100 if count else 0.0


def _test_count_vs_baseline(metrics: Metrics, baseline: Metrics) -> float | None:
    if metrics.test_count is None:
        return None
    if not baseline.test_count:
        return FULL if metrics.test_count else 0.0
    return min(FULL, metrics.test_count / baseline.test_count * 100)


def _by_loc_growth(score: Callable[[float], float]) -> Callable[[Metrics, Metrics], float | None]:
    """Return a component's value from the growth of LOC, None if either size is unknown or the baseline has no line."""

    def value(metrics: Metrics, baseline: Metrics) -> float | None:
        if metrics.loc_total is None or not baseline.loc_total:
            return None
        return score(growth_percent(metrics.loc_total, baseline.loc_total))

    return value


def none_ran(metrics: Metrics) -> bool:
    """Return whether tests are reported and none of them ran (zero tests, or all skipped)."""
    return metrics.test_count is not None and metrics.tests_passed == 0 and metrics.tests_failed == 0


class Component(NamedTuple):
    """A part of a dimension; `value` returns 0 to 100, or None if it was not measured.

    `cost` is what each of the metric that it reads takes off, in points; None where it is no such count.
    """

    name: str
    dimension: str
    group: Group
    reads: tuple[str, ...]
    value: Callable[[Metrics, Metrics], float | None]
    cost: float | None = None


def _counted(name: str, dimension: str, metric: str, cost: float) -> Component:
    """Return a component that starts at 100 and loses points for each of a metric."""

    def value(metrics: Metrics, _: Metrics) -> float | None:
        count = metrics.number(metric)
        return None if count is None else points_left(count, cost)

    return Component(name, dimension, BY_NAME[metric].group, (metric,), value, cost)


COMPONENTS: Final[tuple[Component, ...]] = (
    Component(
        "all_tests_pass", "validation", Group.TESTS, ("test_count", "tests_passed", "tests_failed"), _all_tests_pass
    ),
    Component(
        "build_success",
        "validation",
        Group.BUILD,
        ("build_status",),
        lambda now, _: None if now.build_status is None else FULL if now.build_status == "success" else 0.0,
    ),
    _counted("no_lint_errors", "validation", "lint_errors", 5.0),
    Component(
        "coverage_percentage",
        "completeness",
        Group.COVERAGE,
        ("coverage_percentage",),
        lambda now, _: now.coverage_percentage,
    ),
    Component("test_count_vs_baseline", "completeness", Group.TESTS, ("test_count",), _test_count_vs_baseline),
    Component(
        "pass_rate",
        "correctness",
        Group.TESTS,
        ("pass_rate",),
        lambda now, _: 0.0 if now.pass_rate is None and none_ran(now) else now.pass_rate,
    ),
    _counted("error_count_inverted", "correctness", "error_count", 2.0),
    _counted("lint_warnings_inverted", "readability", "lint_warnings", 3.0),
    _counted("complexity_reasonable", "readability", "complexity_score", 5.0),
    Component("loc_appropriate", "efficiency", Group.CODE, ("loc_total",), _by_loc_growth(appropriate_size)),
    Component("no_code_bloat", "efficiency", Group.CODE, ("loc_total",), _by_loc_growth(bloat)),
)
COMPONENT_BY_NAME: Final[Mapping[str, Component]] = {part.name: part for part in COMPONENTS}


class Basis(NamedTuple):
    """What every iteration of a loop is judged on; fixed at the baseline.

    `components` names what belongs to the loop. `error_parts` are the metrics whose sum is error_count; None if
    error_count is handed in, empty if the loop has none. `given_score` says that the scores are handed in. `weights`
    leave out dropped dimensions and sum to 1 (empty without any).
    """

    baseline: Metrics
    components: tuple[str, ...]
    error_parts: tuple[str, ...] | None
    given_score: bool
    weights: Mapping[str, float]

    def in_dimension(self, dimension: str) -> tuple[str, ...]:
        """Return the components of the loop in that dimension."""
        return tuple(name for name in self.components if COMPONENT_BY_NAME[name].dimension == dimension)

    @property
    def has_tests(self) -> bool:
        """Return whether tests belong to the loop."""
        return any(COMPONENT_BY_NAME[name].group is Group.TESTS for name in self.components)


def basis_of(
    baseline: Metrics, thresholds: Thresholds, *, given_score: bool, configured: frozenset[Group] = frozenset()
) -> Basis:
    """Return the basis of a loop: what the baseline has and what a configured check measures."""
    parts = tuple(name for name in ERROR_PARTS if baseline.get(name) is not None or BY_NAME[name].group in configured)
    error_parts = None if baseline.error_count is not None else parts
    recorded = recorded_metrics(baseline, error_parts)
    components = tuple(
        part.name
        for part in COMPONENTS
        if part.value(recorded, recorded) is not None
        or (part.group in configured and part.dimension != "efficiency")
        or (part.name == "error_count_inverted" and error_parts)
    )
    dimensions = {COMPONENT_BY_NAME[name].dimension for name in components}
    weights = {name: thresholds.score.weights[name] for name in DIMENSIONS if name in dimensions}
    total = sum(weights.values())
    return Basis(
        baseline=recorded,
        components=components,
        error_parts=error_parts,
        given_score=given_score,
        weights={name: weight / total for name, weight in weights.items()} if total else {},
    )


def recorded_metrics(metrics: Metrics, error_parts: tuple[str, ...] | None) -> Metrics:
    """Derive what can be derived and round to the recorded decimals, once.

    error_count comes from the same source as at the baseline: as given (`error_parts` None), or as the sum of its
    parts, None if one of them is missing.
    """
    values = dict(metrics.known_values())
    passed, failed = metrics.tests_passed, metrics.tests_failed
    if metrics.test_count is not None and passed is not None and failed is not None:
        values.setdefault("tests_skipped", metrics.test_count - passed - failed)
    if passed is not None and failed is not None and passed + failed > 0:
        values.setdefault("pass_rate", passed / (passed + failed) * 100)
    covered, total = metrics.coverage_lines_covered, metrics.coverage_lines_total
    if covered is not None and total:
        values.setdefault("coverage_percentage", covered / total * 100)
    if error_parts is not None:
        values.pop("error_count", None)
        counts = [metrics.number(name) for name in error_parts]
        if counts and None not in counts:
            values["error_count"] = int(sum(count for count in counts if count is not None))
    for spec in METRICS:
        value = values.get(spec.name)
        if spec.decimals and isinstance(value, int | float):
            values[spec.name] = half_up(value, spec.decimals)
    return Metrics()._replace(**values)


class Score(NamedTuple):
    """A score and its parts.

    `value` is 0 to 1 with 4 decimals; `dimensions` 0 to 100, unrounded, only those that the loop has; `components` 0 to
    100, None if not measured (counts as 0); `evidence` is the share of the components that was measured (1 if there are
    none).
    """

    value: float
    dimensions: Mapping[str, float]
    components: Mapping[str, float | None]
    evidence: float


def quality_score(basis: Basis, metrics: Metrics, given: float | None = None) -> Score:
    """Score one iteration by the specification's formula; a given score is kept."""
    components = plain_components(basis, metrics)
    dimensions = dimension_scores(basis, components)
    value = given if basis.given_score and given is not None else weighted_sum(basis, dimensions)
    return Score(
        value=half_up(value, SCORE_DECIMALS),
        dimensions=dimensions,
        components=components,
        evidence=sum(value is not None for value in components.values()) / len(components) if components else 1.0,
    )


def plain_components(basis: Basis, metrics: Metrics) -> dict[str, float | None]:
    """Return each component of the loop by the formula, None if it was not measured."""
    return {name: COMPONENT_BY_NAME[name].value(metrics, basis.baseline) for name in basis.components}


def dimension_scores(basis: Basis, components: Mapping[str, float | None]) -> dict[str, float]:
    """Return the plain mean of each dimension's components; a missing component counts 0."""
    scores = {}
    for dimension in basis.weights:
        names = basis.in_dimension(dimension)
        scores[dimension] = sum(components[name] or 0.0 for name in names) / len(names)
    return scores


def weighted_sum(basis: Basis, dimensions: Mapping[str, float]) -> float:
    """Return the weighted sum of the dimensions, 0 to 1, unrounded."""
    return sum(weight * dimensions[name] for name, weight in basis.weights.items()) / 100
