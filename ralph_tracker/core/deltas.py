"""Compute differences of recorded values, and scale findings to another code size (semantics § 3, § 4)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.metrics import METRICS, Metrics
from ralph_tracker.core.rounding import half_up, whole


class Reading(NamedTuple):
    """A measured number and the iteration that measured it."""

    value: float
    iteration: int


Readings = Mapping[str, Reading]
NO_READINGS: Final[Readings] = {}
# The build status as a reading: 1 if it failed.
BUILD_FAILED: Final = "build_failed"


def read(metrics: Metrics, iteration: int, before: Readings = NO_READINGS) -> dict[str, Reading]:
    """Return the latest reading of every numeric metric; a metric that is missing now keeps its earlier one."""
    readings = dict(before)
    for spec in METRICS:
        value = metrics.number(spec.name) if spec.numeric else None
        if value is not None:
            readings[spec.name] = Reading(value, iteration)
    if metrics.build_status is not None:
        readings[BUILD_FAILED] = Reading(float(metrics.build_status == "failure"), iteration)
    return readings


def delta(now: float, before: float, decimals: int) -> float:
    """Return the difference of two recorded values, rounded to their decimals; an int for counts."""
    difference = half_up(now - before, decimals)
    return difference if decimals else int(difference)


def deltas(now: Metrics, before: Readings) -> dict[str, float]:
    """Return the delta of every numeric metric measured on both sides, under its published name."""
    found = {}
    for spec in METRICS:
        value, earlier = now.number(spec.name) if spec.numeric else None, before.get(spec.name)
        if value is not None and earlier is not None:
            found[spec.delta_name] = delta(value, earlier.value, spec.decimals)
    return found


def errors_at_size(error_count: int, loc: int | None, earlier_loc: float | None) -> int:
    """Return error_count scaled to the earlier size of the code.

    Only growth is scaled: twice the code with less than twice the findings is no regression. If a size is unknown, or
    the code shrank, the count is unchanged.
    """
    if loc is None or earlier_loc is None or loc <= earlier_loc:
        return error_count
    return whole(error_count * earlier_loc / loc)
