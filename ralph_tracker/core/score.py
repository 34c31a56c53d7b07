"""What belongs to a loop (fixed at the baseline) and the seed's quality score (semantics § 2)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.components import COMPONENT_BY_NAME, COMPONENTS
from ralph_tracker.core.metrics import METRICS, Group, Metrics
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up
from ralph_tracker.core.rules import DIMENSIONS, Rules

ERROR_PARTS: Final[tuple[str, ...]] = ("lint_errors", "type_errors")
_PART_GROUP: Final[Mapping[str, Group]] = {"lint_errors": Group.LINT, "type_errors": Group.TYPES}


class Basis(NamedTuple):
    """Hold what every iteration of a loop is judged on; fixed at the baseline.

    `components` names what belongs to the loop. `error_parts` are the metrics whose sum is error_count; None
    where error_count is handed in, empty where the loop has none. `given_score` says that an outside judge
    scores. `weights` are those used: dropped dimensions are out, the rest sums to 1 (empty with none left).
    """

    baseline: Metrics
    components: tuple[str, ...]
    error_parts: tuple[str, ...] | None
    given_score: bool
    weights: Mapping[str, float]

    def component_weight(self, name: str) -> float:
        """Return the share of the whole score that a component holds, 0 where it is not in the loop."""
        if name not in self.components:
            return 0.0
        dimension = COMPONENT_BY_NAME[name].dimension
        return self.weights[dimension] / len(self.in_dimension(dimension))

    def in_dimension(self, dimension: str) -> tuple[str, ...]:
        """Return the components of the loop in that dimension."""
        return tuple(name for name in self.components if COMPONENT_BY_NAME[name].dimension == dimension)

    @property
    def has_tests(self) -> bool:
        """Say whether tests belong to the loop."""
        return any(COMPONENT_BY_NAME[name].group is Group.TESTS for name in self.components)


def basis_of(
    baseline: Metrics, rules: Rules, *, given_score: bool, configured: frozenset[Group] = frozenset()
) -> Basis:
    """Fix what belongs to the loop: what the baseline has and what a configured check measures."""
    parts = tuple(name for name in ERROR_PARTS if _has_part(name, baseline, configured))
    error_parts = None if baseline.error_count is not None else parts
    recorded = recorded_metrics(baseline, error_parts)
    components = tuple(
        part.name
        for part in COMPONENTS
        if part.value(recorded, recorded) is not None
        or (part.group in configured and part.dimension != "efficiency")
        or (part.name == "error_count_inverted" and error_parts)
    )
    return Basis(
        baseline=recorded,
        components=components,
        error_parts=error_parts,
        given_score=given_score,
        weights=_weights_used(components, rules),
    )


def _has_part(name: str, baseline: Metrics, configured: frozenset[Group]) -> bool:
    return baseline.get(name) is not None or _PART_GROUP[name] in configured


def _weights_used(components: tuple[str, ...], rules: Rules) -> dict[str, float]:
    present = {COMPONENT_BY_NAME[name].dimension for name in components}
    kept = {name: rules.score.weights[name] for name in DIMENSIONS if name in present}
    total = sum(kept.values())
    return {name: weight / total for name, weight in kept.items()} if total else {}


def recorded_metrics(measured: Metrics, error_parts: tuple[str, ...] | None) -> Metrics:
    """Derive what can be derived and round to the recorded decimals, once.

    error_count comes from where the baseline had it: as given (`error_parts` None), or as the sum of its parts,
    absent where one of them is.
    """
    values = dict(measured.measured())
    passed, failed = measured.tests_passed, measured.tests_failed
    if measured.test_count is not None and passed is not None and failed is not None:
        values.setdefault("tests_skipped", measured.test_count - passed - failed)
    if passed is not None and failed is not None and passed + failed > 0:
        values.setdefault("pass_rate", passed / (passed + failed) * 100)
    covered, total = measured.coverage_lines_covered, measured.coverage_lines_total
    if covered is not None and total:
        values.setdefault("coverage_percentage", covered / total * 100)
    if error_parts is not None:
        values.pop("error_count", None)
        counts = [measured.number(name) for name in error_parts]
        if counts and None not in counts:
            values["error_count"] = int(sum(count for count in counts if count is not None))
    for spec in METRICS:
        value = values.get(spec.name)
        if spec.decimals and isinstance(value, int | float):
            values[spec.name] = half_up(value, spec.decimals)
    return Metrics()._replace(**values)  # type: ignore[arg-type]  # the table and the fields are one list


class Score(NamedTuple):
    """Hold a score and where it comes from.

    `value` is 0 to 1 with 4 decimals; `dimensions` 0 to 100, unrounded, only those that the loop has;
    `components` 0 to 100, None where a component of the loop was not measured (it counted 0); `evidence` is the
    share of the components that was measured (1 where there are none).
    """

    value: float
    dimensions: Mapping[str, float]
    components: Mapping[str, float | None]
    evidence: float


def quality_score(basis: Basis, now: Metrics, given: float | None = None) -> Score:
    """Score one iteration by the seed's formula; a given score is kept as it is."""
    components = plain_components(basis, now)
    dimensions = dimension_scores(basis, components)
    value = given if basis.given_score and given is not None else weighted(basis, dimensions)
    return Score(
        value=half_up(value, SCORE_DECIMALS),
        dimensions=dimensions,
        components=components,
        evidence=evidence_of(components),
    )


def plain_components(basis: Basis, now: Metrics) -> dict[str, float | None]:
    """Return each component of the loop as the formula has it, None where it was not measured."""
    return {name: COMPONENT_BY_NAME[name].value(now, basis.baseline) for name in basis.components}


def dimension_scores(basis: Basis, components: Mapping[str, float | None]) -> dict[str, float]:
    """Return the plain mean of each dimension's components; an absent component counts 0."""
    scores = {}
    for dimension in basis.weights:
        names = basis.in_dimension(dimension)
        scores[dimension] = sum(components[name] or 0.0 for name in names) / len(names)
    return scores


def weighted(basis: Basis, dimensions: Mapping[str, float]) -> float:
    """Return the weighted sum of the dimensions, 0 to 1, unrounded."""
    return sum(weight * dimensions[name] for name, weight in basis.weights.items()) / 100


def evidence_of(components: Mapping[str, float | None]) -> float:
    """Return the share of the loop's components that was measured."""
    if not components:
        return 1.0
    return sum(value is not None for value in components.values()) / len(components)
