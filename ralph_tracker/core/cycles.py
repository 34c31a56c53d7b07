"""Find cycles: an iteration that repeats an earlier tree, or metrics that go round (semantics § 6)."""

from typing import Final, NamedTuple

from ralph_tracker.core.lineage import Lineage, PastIteration, Scorer
from ralph_tracker.core.metrics import KEY_METRICS, SCORE_DECIMALS, Measurement, half_up
from ralph_tracker.core.rules import CyclingRules

PERIODS: Final = (2, 3)


class Cycle(NamedTuple):
    """The iteration that this one repeats; `same_tree` if the content is the same for the third time."""

    repeats: int
    same_tree: bool


def find_cycle(
    point: PastIteration, line: Lineage, measurement: Measurement, scorer: Scorer, rules: CyclingRules
) -> Cycle | None:
    """Return the cycle that this iteration closes, one of the same tree first; None without one."""
    returned_to_tree = not line.points or line.points[-1].tree != measurement.tree
    if measurement.tree is not None and returned_to_tree and measurement.tree_visits + 1 >= rules.tree_visits:
        return Cycle(measurement.tree_last or 0, same_tree=True)
    names = tuple(name for name in KEY_METRICS if name in line.parts() or point.value(name) is not None)
    if not names or not point.has(names):
        return None
    earlier = [p for p in line.complete if p.has(names)]
    window = [*earlier[-(rules.window - 1) :], point]
    repeats = _periodic(window, names)
    if repeats is None and point.iteration > rules.terminate_after:
        repeats = _constant_window(window, names, scorer, rules)
    return None if repeats is None else Cycle(repeats, same_tree=False)


def _periodic(window: list[PastIteration], names: tuple[str, ...]) -> int | None:
    """Return the iteration that a pattern A B A B or A B C A B repeats, None without such a pattern."""
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


def _constant_window(
    window: list[PastIteration], names: tuple[str, ...], scorer: Scorer, rules: CyclingRules
) -> int | None:
    """Return the repeated iteration of a constant window, None without one; known trees must repeat too."""
    if len(window) < rules.window or len({point.signature(names) for point in window}) > 1:
        return None
    scores = [scorer.score(point) for point in window]
    trees = [point.tree for point in window if point.tree is not None]
    moved = half_up(max(scores) - min(scores), SCORE_DECIMALS) > rules.score_change
    if moved or (len(trees) > 1 and len(set(trees)) == len(trees)):
        return None
    return window[-2].iteration
