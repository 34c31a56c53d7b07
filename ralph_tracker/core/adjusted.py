"""The same formula on equal ground: `adjusted_score` (semantics § 2).

An iteration is judged against every test that the loop has ever seen, its findings at the baseline's size, and
its growth beside the growth of its passing tests. The set of tests seen grows while the loop runs, so what is
kept of an iteration is a line in 1 / |U|, which gives its value at any later time.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ralph_tracker.core.findings import SuppressionKind
from ralph_tracker.core.metrics import Metrics
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up, without_noise
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
    falling,
    growth_percent,
    plain_components,
    weighted,
)

HALF: Final = 50.0
NO_SUPPRESSIONS: Final[Mapping[SuppressionKind, int]] = MappingProxyType({})
LOC_OF_NOTHING: Final = 1000
TEST_PASS_COMPONENTS: Final = ("all_tests_pass", "pass_rate")
TEST_COUNT_COMPONENT: Final = "test_count_vs_baseline"
_TEST_COMPONENTS: Final = (*TEST_PASS_COMPONENTS, TEST_COUNT_COMPONENT)


class Ground(NamedTuple):
    """Hold the parts of an adjusted score that do not change any more.

    `fixed` is the share without the tests, `alone` the whole by the formula's own test components (used while no
    test has ever run). `passes` and `present` count tests of this iteration that belong to the tests ever seen;
    `unseen` those in its report that have never run so far: should they run later, they count as present.
    """

    fixed: float
    alone: float
    passes: int = 0
    present: int = 0
    unseen: int = 0


class TestWeights(NamedTuple):
    """Hold the shares of the score that passing and present tests have in one loop."""

    passing: float
    present: float


TestWeights.__test__ = False  # type: ignore[attr-defined]  # a test runner would collect it by its name


def test_weights(basis: Basis) -> TestWeights:
    """Return how much of the score hangs on the tests ever seen; nothing where the score is given."""
    if basis.given_score:
        return TestWeights(0.0, 0.0)
    passing = sum(basis.component_weight(name) for name in TEST_PASS_COMPONENTS)
    return TestWeights(passing, basis.component_weight(TEST_COUNT_COMPONENT))


test_weights.__test__ = False  # type: ignore[attr-defined]  # as above


def ground_of(
    basis: Basis,
    now: Metrics,
    *,
    given: float | None,
    passes: int,
    present: int,
    unseen: int,
    suppressions: Mapping[SuppressionKind, int] = NO_SUPPRESSIONS,
) -> Ground:
    """Take the fixed parts of the adjusted score of one iteration.

    `suppressions` are those that are new since the baseline: each counts as a finding. Tests count only where their
    components were measured: half a report raises no score.
    """
    if basis.given_score:
        value = given or 0.0
        return Ground(fixed=value, alone=value)
    components = adjusted_components(basis, now, suppressions)
    alone = weighted(basis, dimension_scores(basis, components))
    without = {name: 0.0 if name in _TEST_COMPONENTS else value for name, value in components.items()}
    passes_known = all(components.get(name, 0.0) is not None for name in TEST_PASS_COMPONENTS)
    count_known = components.get(TEST_COUNT_COMPONENT, 0.0) is not None
    return Ground(
        fixed=weighted(basis, dimension_scores(basis, without)),
        alone=alone,
        passes=passes if passes_known else 0,
        present=present if count_known else 0,
        unseen=unseen if count_known else 0,
    )


def adjusted_score(ground: Ground, weights: TestWeights, union: int, credit: int = 0) -> float:
    """Return the adjusted score now, 0 to 1 with 4 decimals.

    `union` is how many tests the loop has ever seen, `credit` how many of the iteration's unseen tests have run
    since.
    """
    if union <= 0:
        return half_up(ground.alone, SCORE_DECIMALS)
    passing = min(1.0, ground.passes / union)
    present = min(1.0, (ground.present + credit) / union)
    return half_up(ground.fixed + weights.passing * passing + weights.present * present, SCORE_DECIMALS)


def size_factor(baseline: Metrics, now: Metrics) -> float:
    """Return what findings are multiplied with to stand at the baseline's size; never above 1."""
    if now.loc_total is None or baseline.loc_total is None or now.loc_total == 0:
        return 1.0
    return min(1.0, (baseline.loc_total or LOC_OF_NOTHING) / now.loc_total)


def code_growth(baseline: Metrics, now: Metrics) -> float | None:
    """Return the growth of LOC in percent, growth divided by the growth of the passing tests first.

    Shrinking is returned as it is. From a baseline without a passing test each passing test counts once. None
    where either size is unknown or the baseline has no line.
    """
    if now.loc_total is None or not baseline.loc_total:
        return None
    growth = now.loc_total / baseline.loc_total
    if growth <= 1:
        return growth_percent(now.loc_total, baseline.loc_total)
    return without_noise((max(1.0, growth / passing_growth(baseline, now)) - 1) * 100)


def passing_growth(baseline: Metrics, now: Metrics) -> float:
    """Return how many times the passing tests have become, at least 1."""
    if now.tests_passed is None or baseline.tests_passed is None:
        return 1.0
    return max(1.0, now.tests_passed / max(1, baseline.tests_passed))


def suppressed(basis: Basis, suppressions: Mapping[SuppressionKind, int]) -> dict[str, int]:
    """Return how many new suppressions each count of findings grows by; a linter's are errors where those count."""
    lint, types = (max(0, suppressions.get(kind, 0)) for kind in ("lint", "types"))
    parts = ("lint_errors", "type_errors") if basis.error_parts is None else basis.error_parts
    has_errors = "no_lint_errors" in basis.components
    return {
        "lint_errors": lint if has_errors else 0,
        "lint_warnings": 0 if has_errors else lint,
        "error_count": (lint if "lint_errors" in parts else 0) + (types if "type_errors" in parts else 0),
    }


def adjusted_components(
    basis: Basis, now: Metrics, suppressions: Mapping[SuppressionKind, int] = NO_SUPPRESSIONS
) -> dict[str, float | None]:
    """Return the components on equal ground, the test components as the formula has them."""
    more = suppressed(basis, suppressions)
    factor = size_factor(basis.baseline, now)
    components = plain_components(basis, now)
    for name, cost in _COSTS.items():
        if components.get(name) is not None:
            metric = COMPONENT_BY_NAME[name].reads[0]
            scale = 1.0 if metric == "complexity_score" else factor
            components[name] = _cost_against(basis.baseline, now, metric, cost, scale, more.get(metric, 0))
    growth = code_growth(basis.baseline, now)
    if growth is not None:
        components["loc_appropriate"] = appropriate_size(growth)
        components["no_code_bloat"] = bloat(growth)
    return components


_COSTS: Final[Mapping[str, float]] = {
    "no_lint_errors": LINT_ERROR_COST,
    "error_count_inverted": ERROR_COST,
    "lint_warnings_inverted": WARNING_COST,
    "complexity_reasonable": COMPLEXITY_COST,
}


def starts_high(baseline: Metrics, metric: str, cost: float) -> bool:
    """Tell whether the baseline's own value already costs more than half of the component."""
    start = baseline.number(metric)
    return start is not None and cost * start > HALF


def _cost_against(  # a count, its price and the ground that it is judged on
    baseline: Metrics, now: Metrics, metric: str, cost: float, factor: float, more: int
) -> float:
    value = ((now.number(metric) or 0.0) + more) * factor
    start = baseline.number(metric) or 0.0
    if starts_high(baseline, metric, cost):
        return max(0.0, 100.0 - HALF * value / start)
    return falling(value, cost)
