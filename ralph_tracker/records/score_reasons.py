"""Explain how the adjusted score of an iteration differs from its quality score."""

from collections.abc import Mapping

from ralph_tracker.core.adjusted_score import (
    NO_SUPPRESSIONS,
    TEST_PASS_COMPONENTS,
    TestTally,
    code_growth,
    passing_growth,
    size_factor,
    starts_high,
    suppression_growth,
)
from ralph_tracker.core.integrity_result import SuppressionKind
from ralph_tracker.core.metrics import BY_NAME, Metrics, half_up, plain_number, quantity
from ralph_tracker.core.score import COMPONENTS, Basis, growth_percent, plain_components


def why_adjusted(
    basis: Basis,
    metrics: Metrics,
    quality: float,
    adjusted: float,
    tally: TestTally | None,
    suppressions: Mapping[SuppressionKind, int] = NO_SUPPRESSIONS,
) -> str:
    """Explain in one line why the adjusted score differs; "" if both scores are equal."""
    if basis.given_score or quality == adjusted:
        return ""
    reasons, plain, now, baseline = [], plain_components(basis, metrics), metrics.loc_total, basis.baseline
    share = None if tally is None else tally.passing_share
    if tally is not None and share is not None:
        rates = {half_up(plain.get(name, share) or 0.0, 1) for name in TEST_PASS_COMPONENTS}
        if rates != {half_up(share, 1)}:
            missing = f", {tally.missing} of them missing" if tally.missing else ""
            tests = quantity(tally.ran + tally.missing, "test")
            reasons.append(f"{tally.believed} of {tests} pass and are believed{missing}")
    counted = [part for part in COMPONENTS if part.cost is not None and plain.get(part.name) is not None]
    found = any(metrics.number(part.reads[0]) for part in counted if part.reads[0] != "complexity_score")
    if found and size_factor(baseline, metrics) < 1:
        reasons.append(f"findings in {now} lines of code count at the baseline's {baseline.loc_total or 0}")
    many = [BY_NAME[part.reads[0]].label.lower() for part in counted if starts_high(baseline, part)]
    if many:
        reasons.append(f"{', '.join(dict.fromkeys(many))} measured against the many of the baseline")
    more = max(suppression_growth(basis, suppressions).values())
    if more:
        reasons.append(f"{more} new suppressions count as findings")
    judged, growth = code_growth(baseline, metrics), growth_percent(now or 0, baseline.loc_total or 1)
    if judged is not None and half_up(max(growth, 0.0), 1) != half_up(judged, 1):  # less code costs nothing
        times = plain_number(half_up(passing_growth(baseline, metrics), 1))
        reasons.append(f"code grew by {growth:.0f} %, counted as {judged:.0f} % beside {times} times the passing tests")
    # What is left is rounding: a pass rate of 33.3 % is a third here.
    return "; ".join(reasons) or "the share of passing tests counts unrounded"
