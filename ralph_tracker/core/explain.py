"""One line that says why the adjusted score differs from the quality score."""

from ralph_tracker.core.adjusted import (
    Ground,
    code_growth,
    passing_growth,
    size_factor,
    starts_high,
    suppressed,
)
from ralph_tracker.core.findings import Integrity
from ralph_tracker.core.lineage import Yardstick
from ralph_tracker.core.metrics import BY_NAME, Metrics
from ralph_tracker.core.rounding import half_up, plain_number
from ralph_tracker.core.score import (
    COMPLEXITY_COST,
    ERROR_COST,
    LINT_ERROR_COST,
    WARNING_COST,
    Basis,
    growth_percent,
    plain_components,
)

_FINDINGS = (
    ("no_lint_errors", "lint_errors", LINT_ERROR_COST),
    ("error_count_inverted", "error_count", ERROR_COST),
    ("lint_warnings_inverted", "lint_warnings", WARNING_COST),
    ("complexity_reasonable", "complexity_score", COMPLEXITY_COST),
)


def difference(
    basis: Basis,
    now: Metrics,
    quality: float,
    adjusted: float,
    ground: Ground,
    yardstick: Yardstick,
    integrity: Integrity | None = None,
) -> str:
    """Say on which ground the adjusted score stands, in one line; empty where both scores are equal."""
    if basis.given_score or quality == adjusted:
        return ""
    reasons = [
        *_tests(basis, now, ground, yardstick),
        *_findings(basis, now),
        *_suppressions(basis, integrity),
        *_growth(basis, now),
    ]
    # What is left is the last decimal: a pass rate of 33.3 % is a third here.
    return "; ".join(reasons) or f"{ground.passes} of {yardstick.seen.union} tests count unrounded"


def _tests(basis: Basis, now: Metrics, ground: Ground, yardstick: Yardstick) -> list[str]:
    union = yardstick.seen.union
    if not union or now.test_count is None:
        return []
    passing, present = ground.passes / union * 100, min(100.0, ground.present / union * 100)
    grounded = {"all_tests_pass": passing, "pass_rate": passing, "test_count_vs_baseline": present}
    plain = plain_components(basis, now)
    if all(half_up(plain.get(name, value) or 0.0, 1) == half_up(value, 1) for name, value in grounded.items()):
        return []
    return [f"{ground.passes} of the {union} tests ever seen pass here"]


def _findings(basis: Basis, now: Metrics) -> list[str]:
    reasons = []
    measured = [row for row in _FINDINGS if row[0] in basis.components and now.number(row[1]) is not None]
    factor = size_factor(basis.baseline, now)
    if factor < 1 and any(now.number(row[1]) for row in measured if row[1] != "complexity_score"):
        size = f"{now.loc_total} lines of code count at the baseline's {basis.baseline.loc_total or 0}"
        reasons.append(f"findings in {size}")
    many = [BY_NAME[row[1]].label.lower() for row in measured if starts_high(basis.baseline, row[1], row[2])]
    if many:
        reasons.append(f"{', '.join(many)} measured against the many of the baseline")
    return reasons


def _suppressions(basis: Basis, integrity: Integrity | None) -> list[str]:
    more = max(suppressed(basis, integrity.suppressions).values()) if integrity is not None else 0
    return [f"{more} new suppressions count as findings"] if more else []


def _growth(basis: Basis, now: Metrics) -> list[str]:
    judged = code_growth(basis.baseline, now)
    if judged is None or now.loc_total is None or not basis.baseline.loc_total:
        return []
    plain = growth_percent(now.loc_total, basis.baseline.loc_total)
    if half_up(plain, 1) == half_up(judged, 1):
        return []
    tests = plain_number(half_up(passing_growth(basis.baseline, now), 1))
    return [f"code grew by {plain:.0f} %, counted as {judged:.0f} % beside {tests} times the passing tests"]
