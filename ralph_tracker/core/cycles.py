"""Metrics that go round in circles (semantics § 6)."""

from typing import Final, NamedTuple

from ralph_tracker.core.lineage import Line, Point, Yardstick
from ralph_tracker.core.metrics import FOUR, Measurement
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up
from ralph_tracker.core.rules import CyclingRules

PERIODS: Final = (2, 3)


class Cycle(NamedTuple):
    """Say which iteration this one repeats; `same_tree` is the certain kind, one content for the third time."""

    repeats: int
    same_tree: bool


def find_cycle(
    point: Point, line: Line, measurement: Measurement, yardstick: Yardstick, rules: CyclingRules
) -> Cycle | None:
    """Return the cycle that this iteration closes, the certain kind first, None where there is none."""
    came_back = not line.points or line.points[-1].tree != measurement.tree
    if measurement.tree is not None and came_back and measurement.tree_visits + 1 >= rules.tree_visits:
        return Cycle(measurement.tree_last or 0, same_tree=True)
    names = tuple(name for name in FOUR if name in line.parts() or point.value(name) is not None)
    if not names or not point.has(names):
        return None
    earlier = [p for p in line.complete if p.has(names)]
    window = [*earlier[-(rules.window - 1) :], point]
    repeats = _periodic(window, names)
    if repeats is None and point.iteration > rules.terminate_after:
        repeats = _standing(window, names, yardstick, rules)
    return None if repeats is None else Cycle(repeats, same_tree=False)


def _periodic(window: list[Point], names: tuple[str, ...]) -> int | None:
    """Find A B A B or A B C A B: two in a row repeat, with something else between."""
    signs = [point.signature(names) for point in window]
    for period in PERIODS:
        span = signs[-(period + 2) :]
        if (
            len(span) == period + 2
            and span[-1] == span[-1 - period]
            and span[-2] == span[-2 - period]
            and len(set(span)) > 1
        ):
            return window[-1 - period].iteration
    return None


def _standing(window: list[Point], names: tuple[str, ...], yardstick: Yardstick, rules: CyclingRules) -> int | None:
    """Find a window that is all the same; where trees are known, one of them must have come back."""
    if len(window) < rules.window or len({point.signature(names) for point in window}) > 1:
        return None
    scores = [yardstick.score(point.iteration, point.ground) for point in window]
    trees = [point.tree for point in window if point.tree is not None]
    moved = half_up(max(scores) - min(scores), SCORE_DECIMALS) > rules.score_change
    if moved or (len(trees) > 1 and len(set(trees)) == len(trees)):
        return None
    return window[-2].iteration
