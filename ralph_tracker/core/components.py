"""The components of the quality score: one table, each 0 to 100 (semantics § 2).

A component says which metrics it reads, so that the table alone tells what belongs to a loop, what is missing
in an iteration and to which group the missing part belongs.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.metrics import Group, Metrics

LINT_ERROR_COST: Final = 5.0
ERROR_COST: Final = 2.0
WARNING_COST: Final = 3.0
COMPLEXITY_COST: Final = 5.0
LOC_TOLERANCE: Final = 20.0
BLOAT_GROWTH: Final = 50.0
BLOAT_SCORE: Final = 50.0
FULL: Final = 100.0


def falling(count: float, cost: float) -> float:
    """Take `cost` points off 100 for each of `count`, not below 0."""
    return max(0.0, FULL - cost * count)


def growth_percent(now: float, before: float) -> float:
    """Return by how many percent `now` is above `before` (negative: below); `before` is not 0."""
    return (now - before) / before * 100


def appropriate_size(growth: float) -> float:
    """Score a change of size in percent: 100 within ±20 %, a point less for each percent beyond."""
    return min(FULL, max(0.0, FULL - (abs(growth) - LOC_TOLERANCE)))


def bloat(growth: float) -> float:
    """Score 50 where the code grew by more than half, else 100."""
    return BLOAT_SCORE if growth > BLOAT_GROWTH else FULL


def _all_tests_pass(now: Metrics, _: Metrics) -> float | None:
    count, passed, failed = now.test_count, now.tests_passed, now.tests_failed
    if count is None or passed is None or failed is None:
        return None
    if failed == 0 and passed > 0:
        return FULL
    return passed / count * 100 if count else 0.0


def _build_success(now: Metrics, _: Metrics) -> float | None:
    if now.build_status is None:
        return None
    return FULL if now.build_status == "success" else 0.0


def _no_lint_errors(now: Metrics, _: Metrics) -> float | None:
    return None if now.lint_errors is None else falling(now.lint_errors, LINT_ERROR_COST)


def _coverage(now: Metrics, _: Metrics) -> float | None:
    return now.coverage_percentage


def _test_count_vs_baseline(now: Metrics, baseline: Metrics) -> float | None:
    if now.test_count is None:
        return None
    if not baseline.test_count:
        return FULL if now.test_count else 0.0
    return min(FULL, now.test_count / baseline.test_count * 100)


def _pass_rate(now: Metrics, _: Metrics) -> float | None:
    if now.pass_rate is None and none_ran(now):
        return 0.0
    return now.pass_rate


def _error_count_inverted(now: Metrics, _: Metrics) -> float | None:
    return None if now.error_count is None else falling(now.error_count, ERROR_COST)


def _lint_warnings_inverted(now: Metrics, _: Metrics) -> float | None:
    return None if now.lint_warnings is None else falling(now.lint_warnings, WARNING_COST)


def _complexity_reasonable(now: Metrics, _: Metrics) -> float | None:
    return None if now.complexity_score is None else falling(now.complexity_score, COMPLEXITY_COST)


def _loc_growth(now: Metrics, baseline: Metrics) -> float | None:
    if now.loc_total is None or not baseline.loc_total:
        return None
    return growth_percent(now.loc_total, baseline.loc_total)


def _loc_appropriate(now: Metrics, baseline: Metrics) -> float | None:
    growth = _loc_growth(now, baseline)
    return None if growth is None else appropriate_size(growth)


def _no_code_bloat(now: Metrics, baseline: Metrics) -> float | None:
    growth = _loc_growth(now, baseline)
    return None if growth is None else bloat(growth)


def none_ran(now: Metrics) -> bool:
    """Tell whether tests are reported and none of them ran (zero tests, or all of them skipped)."""
    return now.test_count is not None and now.tests_passed == 0 and now.tests_failed == 0


class Component(NamedTuple):
    """Name a part of a dimension; `value` gives 0 to 100, or None where it was not measured."""

    name: str
    dimension: str
    group: Group
    reads: tuple[str, ...]
    value: Callable[[Metrics, Metrics], float | None]


COMPONENTS: Final[tuple[Component, ...]] = (
    Component(
        "all_tests_pass",
        "validation",
        Group.TESTS,
        ("test_count", "tests_passed", "tests_failed"),
        _all_tests_pass,
    ),
    Component("build_success", "validation", Group.BUILD, ("build_status",), _build_success),
    Component("no_lint_errors", "validation", Group.LINT, ("lint_errors",), _no_lint_errors),
    Component("coverage_percentage", "completeness", Group.COVERAGE, ("coverage_percentage",), _coverage),
    Component("test_count_vs_baseline", "completeness", Group.TESTS, ("test_count",), _test_count_vs_baseline),
    Component("pass_rate", "correctness", Group.TESTS, ("pass_rate",), _pass_rate),
    Component("error_count_inverted", "correctness", Group.LINT, ("error_count",), _error_count_inverted),
    Component("lint_warnings_inverted", "readability", Group.LINT, ("lint_warnings",), _lint_warnings_inverted),
    Component("complexity_reasonable", "readability", Group.CODE, ("complexity_score",), _complexity_reasonable),
    Component("loc_appropriate", "efficiency", Group.CODE, ("loc_total",), _loc_appropriate),
    Component("no_code_bloat", "efficiency", Group.CODE, ("loc_total",), _no_code_bloat),
)
COMPONENT_BY_NAME: Final[Mapping[str, Component]] = {part.name: part for part in COMPONENTS}
