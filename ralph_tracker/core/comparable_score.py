"""Compute the adjusted score, and explain how it differs from the quality score (semantics § 2).

On the same basis, it counts findings at the baseline's size, growth beside that of the tests, and tests against all
that were ever seen.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from ralph_tracker.core.integrity_result import Integrity, SuppressionKind
from ralph_tracker.core.known_tests import SeenTests
from ralph_tracker.core.metrics import BY_NAME, SCORE_DECIMALS, Metrics, half_up, plain_number, without_noise
from ralph_tracker.core.score import (
    COMPLEXITY_COST,
    COMPONENT_BY_NAME,
    ERROR_COST,
    LINT_ERROR_COST,
    WARNING_COST,
    Basis,
    appropriate_size,
    bloat,
    dimension_scores,
    growth_percent,
    plain_components,
    points_left,
    weighted_sum,
)

HALF: Final = 50.0
NO_SUPPRESSIONS: Final[Mapping[SuppressionKind, int]] = MappingProxyType({})
LOC_OF_NOTHING: Final = 1000
TEST_PASS_COMPONENTS: Final = ("all_tests_pass", "pass_rate")
TEST_COUNT_COMPONENT: Final = "test_count_vs_baseline"
_TEST_COMPONENTS: Final = (*TEST_PASS_COMPONENTS, TEST_COUNT_COMPONENT)
# What one of the counts costs in its component, in points.
COSTS: Final[Mapping[str, float]] = {
    "no_lint_errors": LINT_ERROR_COST,
    "error_count_inverted": ERROR_COST,
    "lint_warnings_inverted": WARNING_COST,
    "complexity_reasonable": COMPLEXITY_COST,
}


class AdjustedParts(NamedTuple):
    """The parts of an adjusted score that no longer change.

    `fixed` is the share without the tests, `alone` the whole score by the formula's own test components (used while no
    test has ever run). `passes` and `present` count tests of this iteration among the tests ever seen; `unseen` those
    in its report that have never run so far: if they run later, they count as present.
    """

    fixed: float
    alone: float
    passes: int = 0
    present: int = 0
    unseen: int = 0


class WeightsOfTests(NamedTuple):
    """The weights of passing and of present tests in the score of one loop."""

    passing: float
    present: float


def weights_of_tests(basis: Basis) -> WeightsOfTests:
    """Return the weights of the tests ever seen; 0 if the score is given."""
    if basis.given_score:
        return WeightsOfTests(0.0, 0.0)
    passing = sum(basis.component_weight(name) for name in TEST_PASS_COMPONENTS)
    return WeightsOfTests(passing, basis.component_weight(TEST_COUNT_COMPONENT))


def adjusted_parts_of(
    basis: Basis,
    metrics: Metrics,
    *,
    given: float | None,
    passes: int,
    present: int,
    unseen: int,
    suppressions: Mapping[SuppressionKind, int] = NO_SUPPRESSIONS,
) -> AdjustedParts:
    """Return the fixed parts of an iteration's adjusted score.

    `suppressions` are those that are new since the baseline: each counts as a finding. Tests count only if their
    components were measured: half a report raises no score.
    """
    if basis.given_score:
        value = given or 0.0
        return AdjustedParts(fixed=value, alone=value)
    components = adjusted_components(basis, metrics, suppressions)
    alone = weighted_sum(basis, dimension_scores(basis, components))
    without = {name: 0.0 if name in _TEST_COMPONENTS else value for name, value in components.items()}
    passes_known = all(components.get(name, 0.0) is not None for name in TEST_PASS_COMPONENTS)
    count_known = components.get(TEST_COUNT_COMPONENT, 0.0) is not None
    return AdjustedParts(
        fixed=weighted_sum(basis, dimension_scores(basis, without)),
        alone=alone,
        passes=passes if passes_known else 0,
        present=present if count_known else 0,
        unseen=unseen if count_known else 0,
    )


def adjusted_score(parts: AdjustedParts, weights: WeightsOfTests, union: int, credit: int = 0) -> float:
    """Return the adjusted score now, 0 to 1 with 4 decimals.

    `union` is how many tests the loop has ever seen, `credit` how many of the iteration's unseen tests have run since.
    """
    if union <= 0:
        return half_up(parts.alone, SCORE_DECIMALS)
    passing = min(1.0, parts.passes / union)
    present = min(1.0, (parts.present + credit) / union)
    return half_up(parts.fixed + weights.passing * passing + weights.present * present, SCORE_DECIMALS)


class ScoreInputs(Protocol):
    """What an iteration is scored by."""

    @property
    def iteration(self) -> int: ...

    @property
    def adjusted_parts(self) -> AdjustedParts: ...


class Scorer(NamedTuple):
    """The measure that scores any iteration of the loop as of now."""

    weights: WeightsOfTests
    seen: SeenTests

    def score(self, at: ScoreInputs) -> float:
        """Return the adjusted score of an iteration against every test seen so far."""
        return adjusted_score(at.adjusted_parts, self.weights, self.seen.union, self.seen.credit(at.iteration))


def size_factor(baseline: Metrics, metrics: Metrics) -> float:
    """Return the factor that scales findings to the baseline's size, at most 1."""
    if metrics.loc_total is None or baseline.loc_total is None or metrics.loc_total == 0:
        return 1.0
    return min(1.0, (baseline.loc_total or LOC_OF_NOTHING) / metrics.loc_total)


def findings_at_size(baseline: Metrics, metrics: Metrics) -> float | None:
    """Return error_count at the baseline's size, None if unknown."""
    return None if metrics.error_count is None else metrics.error_count * size_factor(baseline, metrics)


def code_growth(baseline: Metrics, metrics: Metrics) -> float | None:
    """Return the growth of LOC in percent, growth divided by the growth of the passing tests first.

    Shrinking is returned as it is. From a baseline without a passing test each passing test counts once. None if either
    size is unknown or the baseline has no line.
    """
    if metrics.loc_total is None or not baseline.loc_total:
        return None
    growth = metrics.loc_total / baseline.loc_total
    if growth <= 1:
        return growth_percent(metrics.loc_total, baseline.loc_total)
    return without_noise((max(1.0, growth / passing_growth(baseline, metrics)) - 1) * 100)


def passing_growth(baseline: Metrics, metrics: Metrics) -> float:
    """Return the growth factor of the passing tests, at least 1."""
    if metrics.tests_passed is None or baseline.tests_passed is None:
        return 1.0
    return max(1.0, metrics.tests_passed / max(1, baseline.tests_passed))


def suppression_growth(basis: Basis, suppressions: Mapping[SuppressionKind, int]) -> dict[str, int]:
    """Return how much each count of findings grows by new suppressions; a linter's count as errors if the loop has
    those.
    """
    lint, types = (max(0, suppressions.get(kind, 0)) for kind in ("lint", "types"))
    parts = ("lint_errors", "type_errors") if basis.error_parts is None else basis.error_parts
    has_errors = "no_lint_errors" in basis.components
    return {
        "lint_errors": lint if has_errors else 0,
        "lint_warnings": 0 if has_errors else lint,
        "error_count": (lint if "lint_errors" in parts else 0) + (types if "type_errors" in parts else 0),
    }


def adjusted_components(
    basis: Basis, metrics: Metrics, suppressions: Mapping[SuppressionKind, int] = NO_SUPPRESSIONS
) -> dict[str, float | None]:
    """Return the components at the baseline's size, the test components by the plain formula."""
    more = suppression_growth(basis, suppressions)
    factor = size_factor(basis.baseline, metrics)
    components = plain_components(basis, metrics)
    for name, cost in COSTS.items():
        if components.get(name) is None:
            continue
        metric = COMPONENT_BY_NAME[name].reads[0]
        value = (metrics.number(metric) or 0.0) + more.get(metric, 0)
        if metric != "complexity_score":
            value *= factor
        if starts_high(basis.baseline, metric, cost):
            components[name] = max(0.0, 100.0 - HALF * value / (basis.baseline.number(metric) or 0.0))
        else:
            components[name] = points_left(value, cost)
    growth = code_growth(basis.baseline, metrics)
    if growth is not None:
        components["loc_appropriate"] = appropriate_size(growth)
        components["no_code_bloat"] = bloat(growth)
    return components


def starts_high(baseline: Metrics, metric: str, cost: float) -> bool:
    """Return whether the baseline's own value already costs more than half of the component."""
    start = baseline.number(metric)
    return start is not None and cost * start > HALF


def why_adjusted(
    basis: Basis,
    metrics: Metrics,
    quality: float,
    adjusted: float,
    adjusted_parts: AdjustedParts,
    scorer: Scorer,
    integrity: Integrity | None = None,
) -> str:
    """Explain in one line why the adjusted score differs; "" if both scores are equal."""
    if basis.given_score or quality == adjusted:
        return ""
    reasons = [*_because_of_tests(basis, metrics, adjusted_parts, scorer), *_because_of_findings(basis, metrics)]
    more = max(suppression_growth(basis, integrity.suppressions).values()) if integrity is not None else 0
    if more:
        reasons.append(f"{more} new suppressions count as findings")
    reasons += _because_of_growth(basis, metrics)
    # What is left is rounding: a pass rate of 33.3 % is a third here.
    return "; ".join(reasons) or f"{adjusted_parts.passes} of {scorer.seen.union} tests count unrounded"


def _because_of_tests(basis: Basis, metrics: Metrics, adjusted_parts: AdjustedParts, scorer: Scorer) -> list[str]:
    union = scorer.seen.union
    if not union or metrics.test_count is None:
        return []
    passing, present = adjusted_parts.passes / union * 100, min(100.0, adjusted_parts.present / union * 100)
    grounded = {"all_tests_pass": passing, "pass_rate": passing, "test_count_vs_baseline": present}
    plain = plain_components(basis, metrics)
    if all(half_up(plain.get(name, value) or 0.0, 1) == half_up(value, 1) for name, value in grounded.items()):
        return []
    return [f"{adjusted_parts.passes} of the {union} tests ever seen pass here"]


def _because_of_findings(basis: Basis, metrics: Metrics) -> list[str]:
    reasons = []
    costs = {COMPONENT_BY_NAME[name].reads[0]: cost for name, cost in COSTS.items() if name in basis.components}
    measured = {metric: cost for metric, cost in costs.items() if metrics.number(metric) is not None}
    factor = size_factor(basis.baseline, metrics)
    if factor < 1 and any(metrics.number(metric) for metric in measured if metric != "complexity_score"):
        size = f"{metrics.loc_total} lines of code count at the baseline's {basis.baseline.loc_total or 0}"
        reasons.append(f"findings in {size}")
    many = [
        BY_NAME[metric].label.lower() for metric, cost in measured.items() if starts_high(basis.baseline, metric, cost)
    ]
    if many:
        reasons.append(f"{', '.join(many)} measured against the many of the baseline")
    return reasons


def _because_of_growth(basis: Basis, metrics: Metrics) -> list[str]:
    judged = code_growth(basis.baseline, metrics)
    if judged is None or metrics.loc_total is None or not basis.baseline.loc_total:
        return []
    plain = growth_percent(metrics.loc_total, basis.baseline.loc_total)
    if half_up(plain, 1) == half_up(judged, 1):
        return []
    tests = plain_number(half_up(passing_growth(basis.baseline, metrics), 1))
    return [f"code grew by {plain:.0f} %, counted as {judged:.0f} % beside {tests} times the passing tests"]
