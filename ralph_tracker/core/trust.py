"""Whether an iteration's score can be believed: its verdict, and the alerts that it hangs on (integrity.md)."""

from collections.abc import Iterable
from typing import NamedTuple

from ralph_tracker.core import alerts as raising
from ralph_tracker.core.alert_types import Alert, Mending, in_order
from ralph_tracker.core.findings import DISCOUNTING, SUSPICIOUS, Integrity, Severity, Verdict, is_clean
from ralph_tracker.core.identities import SeenTests
from ralph_tracker.core.integrity_alerts import raise_integrity_alerts
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import Measurement, Metrics
from ralph_tracker.core.rounding import half_up
from ralph_tracker.core.score import Basis


class Trust(NamedTuple):
    """Hold how far an iteration is believed, as its record has it.

    `union_rate` is the share of all tests ever seen that pass here, in percent with 1 decimal; None where no names are
    known. `found` is what the comparison gave: the findings that stand, those of accepted alerts too, and the rest.
    """

    verdict: Verdict
    union_rate: float | None
    found: Integrity


class Doubts(NamedTuple):
    """Hold what can be told of an iteration before its score: alerts of integrity, open ones, mended ones.

    `verdict` is None where nobody compared files and tests.
    """

    verdict: Verdict | None
    new: tuple[Alert, ...] = ()
    carried: tuple[Alert, ...] = ()
    mended: tuple[Alert, ...] = ()
    discounted: frozenset[str] = frozenset()

    @property
    def clean(self) -> bool:
        """Tell whether nothing is held against the iteration."""
        return is_clean(self.verdict)


def doubts_of(
    state: LoopState, basis: Basis, at: raising.Situation, metrics: Metrics, measurement: Measurement
) -> Doubts:
    """Tell what is held against an iteration; against a baseline only that its tests did not run."""
    integrity = measurement.integrity
    new = raise_integrity_alerts(at)
    carried, mended = _carried(state, at, metrics, measurement)
    counting = [alert for alert in (*new, *carried) if alert.id not in state.accepted]
    verdict = None if integrity is None else _verdict(counting, basis, metrics)
    return Doubts(verdict, new, carried, mended, _discounted(integrity, state.accepted_findings))


def _carried(
    state: LoopState, at: raising.Situation, metrics: Metrics, measurement: Measurement
) -> tuple[tuple[Alert, ...], tuple[Alert, ...]]:
    integrity = measurement.integrity
    mending = Mending(
        metrics=metrics,
        tests=measurement.tests,
        groups=raising.measured_groups(at),
        findings=None if integrity is None else {each.key: each for each in integrity.findings},
        aliases=state.seen.aliases,
    )
    left = [(alert, mending.left_of(alert)) for alert in state.line.open_alerts]
    carried = in_order(now for _, now in left if now is not None)
    return carried, in_order(alert for alert, now in left if now is None)


def _verdict(alerts: Iterable[Alert], basis: Basis, metrics: Metrics) -> Verdict:
    held = [alert for alert in alerts if alert.kind.rule is not None]
    if any(alert.severity is Severity.CRITICAL for alert in held):
        return "TAMPERED"
    if any(alert.severity is Severity.HIGH or alert.kind.rule in SUSPICIOUS for alert in held):
        return "SUSPECT"
    return "UNPROVEN" if basis.has_tests and not _ran(metrics) else "PASS"


def _ran(metrics: Metrics) -> bool:
    """Tell whether any test ran; where no counts are known, a rate says so."""
    if metrics.tests_passed is None and metrics.tests_failed is None:
        return metrics.pass_rate is not None
    return (metrics.tests_passed or 0) + (metrics.tests_failed or 0) > 0


def _discounted(integrity: Integrity | None, accepted: frozenset[str]) -> frozenset[str]:
    """Return the tests that a finding names and that count as not passing, unless a person accepted it."""
    if integrity is None:
        return frozenset()
    standing = (each for each in integrity.findings if each.rule in DISCOUNTING and each.stamp not in accepted)
    return frozenset(test for each in standing for test in each.tests)


def trust_of(doubts: Doubts, seen: SeenTests, measurement: Measurement) -> Trust | None:
    """Return what the record says of it, None where nobody compared files and tests."""
    found, tests = measurement.integrity, measurement.tests
    if found is None or doubts.verdict is None:
        return None
    share = None if tests is None else seen.passing_share(tests)
    rate = None if share is None else half_up(share * 100, 1)
    return Trust(verdict=doubts.verdict, union_rate=rate, found=found)
