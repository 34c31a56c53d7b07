"""Two iterations side by side: what of the metrics and of the tests differs, in either order."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ralph_tracker.core.deltas import delta
from ralph_tracker.core.metrics import FAILED, METRICS, PASSED, Direction, MetricSpec, Value
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up

Verdict = Literal["better", "worse", "same", "changed", "unknown"]
OutcomeKind = Literal["broken", "fixed", "newly_skipped", "new", "gone"]
OUTCOME_KINDS: Final[tuple[OutcomeKind, ...]] = get_args(OutcomeKind)
_KIND_NOW: Final[Mapping[str, OutcomeKind]] = {FAILED: "broken", PASSED: "fixed"}
_BUILD_RANK: Final[Mapping[Value, int]] = {"failure": 0, "success": 1}


@dataclass(frozen=True, slots=True)
class MetricChange:
    """Hold one metric or score of two iterations.

    `change` is None where a side was not measured or is no number. The verdict goes by the direction of the metric:
    `changed` where it has none, `unknown` where a side was not measured.
    """

    name: str
    before: Value | None
    after: Value | None
    change: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class OutcomeChange:
    """Hold one test whose outcome differs; None where the report does not have it."""

    id: str
    before: str | None
    after: str | None


OutcomeChanges = Mapping[OutcomeKind, tuple[OutcomeChange, ...]]


def metric_changes(before: Mapping[str, Value], after: Mapping[str, Value]) -> tuple[MetricChange, ...]:
    """Compare what was measured, by name, in the order of the table; what neither side has is left out."""
    both = ((spec, before.get(spec.name), after.get(spec.name)) for spec in METRICS)
    return tuple(_metric_change(spec, old, new) for spec, old, new in both if (old, new) != (None, None))


def _metric_change(spec: MetricSpec, before: Value | None, after: Value | None) -> MetricChange:
    if before is None or after is None:
        return MetricChange(spec.name, before, after, None, "unknown")
    if isinstance(before, str) or isinstance(after, str):
        return MetricChange(spec.name, before, after, None, _verdict_of_words(spec, before, after))
    change = delta(after, before, spec.decimals)
    return MetricChange(spec.name, before, after, change, _verdict(change, spec.direction))


def _verdict_of_words(spec: MetricSpec, before: Value, after: Value) -> Verdict:
    if before == after:
        return "same"
    if before not in _BUILD_RANK or after not in _BUILD_RANK:
        return "changed"
    return _verdict(_BUILD_RANK[after] - _BUILD_RANK[before], spec.direction)


def score_change(name: str, before: float | None, after: float | None) -> MetricChange:
    """Compare two scores of 0 to 1."""
    if before is None or after is None:
        return MetricChange(name, before, after, None, "unknown")
    change = half_up(after - before, SCORE_DECIMALS)
    return MetricChange(name, before, after, change, _verdict(change, Direction.UP_IS_BETTER))


def _verdict(change: float, direction: Direction) -> Verdict:
    if not change:
        return "same"
    if direction is Direction.NEUTRAL:
        return "changed"
    return "better" if (change > 0) is (direction is Direction.UP_IS_BETTER) else "worse"


def outcome_changes(before: Mapping[str, str], after: Mapping[str, str]) -> OutcomeChanges:
    """Sort the tests whose outcome differs into kinds, each by name; no test is in two.

    A test in both reports is `broken` where it fails now, `fixed` where it passes now, else `newly_skipped`.
    """
    found: dict[OutcomeKind, list[OutcomeChange]] = {kind: [] for kind in OUTCOME_KINDS}
    for name in sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)):
        change = OutcomeChange(name, before.get(name), after.get(name))
        found[_kind_of(change)].append(change)
    return {kind: tuple(changes) for kind, changes in found.items()}


def _kind_of(change: OutcomeChange) -> OutcomeKind:
    if change.before is None:
        return "new"
    if change.after is None:
        return "gone"
    return _KIND_NOW.get(change.after, "newly_skipped")
