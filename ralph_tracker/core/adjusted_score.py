"""Compute the adjusted score (semantics § 2).

It counts findings at the baseline's size, growth of code beside that of the tests, and only tests that are believed. It
is computed once, when the iteration is recorded.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import Integrity, SuppressionKind
from ralph_tracker.core.metrics import (
    SCORE_DECIMALS,
    Metrics,
    Readings,
    deltas,
    half_up,
    without_noise,
)
from ralph_tracker.core.score import (
    COMPONENTS,
    Basis,
    Component,
    appropriate_size,
    bloat,
    dimension_scores,
    plain_components,
    points_left,
    weighted_sum,
)

HALF: Final = 50.0
NO_SUPPRESSIONS: Final[Mapping[SuppressionKind, int]] = MappingProxyType({})
LOC_OF_NOTHING: Final = 1000
TEST_PASS_COMPONENTS: Final = ("all_tests_pass", "pass_rate")
_FINDINGS: Final[Mapping[SuppressionKind, tuple[str, ...]]] = {
    "lint": ("lint_errors", "lint_warnings"),
    "types": ("type_errors",),
    "coverage": (),
}


class TestTally(NamedTuple):
    """The tests that an adjusted score counts: believed passes, those that ran here, and those missing here.

    Missing are dropped and hidden tests, and those that could not be collected. `reported` counts all of this report
    where tests were compared by name, so that a test that is gone for a good reason is not missed; else None.
    """

    believed: int
    ran: int
    missing: int = 0
    reported: int | None = None

    @property
    def passing_share(self) -> float | None:
        """Return the share of believed passes in percent, None where there is no test to count."""
        total = self.ran + self.missing
        return self.believed / total * 100 if total > 0 else None

    @property
    def present_share(self) -> float | None:
        """Return the share of tests that are there in percent; None where names do not tell, or there is none."""
        return self.reported / (self.reported + self.missing) * 100 if self.reported else None


TestTally.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it by its name


def adjusted_score(
    basis: Basis,
    metrics: Metrics,
    given: float | None,
    tally: TestTally | None,
    suppressions: Mapping[SuppressionKind, int] = NO_SUPPRESSIONS,
) -> float:
    """Return the adjusted score, 0 to 1 with 4 decimals; a given score is its own.

    `tally` is None where the number of passing tests is unknown. `suppressions` are those that are new since the
    baseline: each counts as a finding.
    """
    if basis.given_score:
        return given or 0.0
    components = adjusted_components(basis, metrics, suppressions)
    if tally is not None:
        shares = dict.fromkeys(TEST_PASS_COMPONENTS, tally.passing_share)
        for name, share in {**shares, "test_count_vs_baseline": tally.present_share}.items():
            if share is not None and components.get(name) is not None:  # half a report raises no score
                components[name] = share
    return half_up(weighted_sum(basis, dimension_scores(basis, components)), SCORE_DECIMALS)


def size_factor(baseline: Metrics, metrics: Metrics) -> float:
    """Return the factor that scales findings to the baseline's size, at most 1."""
    if metrics.loc_total is None or baseline.loc_total is None or metrics.loc_total == 0:
        return 1.0
    return min(1.0, (baseline.loc_total or LOC_OF_NOTHING) / metrics.loc_total)


def code_growth(baseline: Metrics, metrics: Metrics) -> float | None:
    """Return the growth of LOC in percent, divided by the growth of the passing tests first; 0 where it shrank.

    Less code that passes the same tests is no loss. From a baseline without a passing test each passing test counts
    once. None if either size is unknown or the baseline has no line.
    """
    if metrics.loc_total is None or not baseline.loc_total:
        return None
    growth = metrics.loc_total / baseline.loc_total
    return without_noise((max(1.0, growth / passing_growth(baseline, metrics)) - 1) * 100)


def passing_growth(baseline: Metrics, metrics: Metrics) -> float:
    """Return the growth factor of the passing tests, at least 1."""
    if metrics.tests_passed is None or baseline.tests_passed is None:
        return 1.0
    return max(1.0, metrics.tests_passed / max(1, baseline.tests_passed))


def with_hidden_findings(found: Integrity, before: Readings, metrics: Metrics) -> Integrity:
    """Return it with new suppressions of whole files counted by what they may hide: the fall in findings."""
    if not found.blanket:
        return found
    change = deltas(metrics, before)
    hidden = {
        kind: sum(max(0, -int(change.get(f"{name}_delta", 0))) for name in _FINDINGS[kind]) for kind in found.blanket
    }
    counts = {kind: count + hidden.get(kind, 0) for kind, count in found.suppressions.items()}
    return found._replace(suppressions=counts, blanket=frozenset())


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
    """Return the components with findings and growth at the baseline's size; tests count by the plain formula."""
    more = suppression_growth(basis, suppressions)
    factor = size_factor(basis.baseline, metrics)
    components = plain_components(basis, metrics)
    for part in COMPONENTS:
        if part.cost is None or components.get(part.name) is None:
            continue
        metric = part.reads[0]
        value = (metrics.number(metric) or 0.0) + more.get(metric, 0)
        if metric != "complexity_score":
            value *= factor
        if starts_high(basis.baseline, part):
            components[part.name] = max(0.0, 100.0 - HALF * value / (basis.baseline.number(metric) or 0.0))
        else:
            components[part.name] = points_left(value, part.cost)
    growth = code_growth(basis.baseline, metrics)
    if growth is not None:
        components["loc_appropriate"] = appropriate_size(growth)
        components["no_code_bloat"] = bloat(growth)
    return components


def starts_high(baseline: Metrics, part: Component) -> bool:
    """Return whether the baseline's own count already costs more than half of the component."""
    start = baseline.number(part.reads[0])
    return start is not None and (part.cost or 0.0) * start > HALF
