"""The line of descent: what the present state descends from, and all that later iterations need of it."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.deltas import NO_READINGS, Readings
from ralph_tracker.core.findings import SuppressionKind
from ralph_tracker.core.identities import SeenTests
from ralph_tracker.core.metrics import FOUR, Measurement, Metrics
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up
from ralph_tracker.core.rules import CyclingRules
from ralph_tracker.core.score import AdjustedParts, TestWeights, adjusted_score

Judged = Literal["forward", "plateau", "regression", "stalled"]
Classification = Literal["baseline", Judged]
Signature = tuple[float | None, ...]
FLAT: Final[frozenset[str]] = frozenset({"plateau", "stalled"})
PERIODS: Final = (2, 3)


class PastIteration(NamedTuple):
    """What of one iteration the windows look at: the four metrics, size, tree, class, score and tasks done."""

    iteration: int
    classification: Classification
    four: Signature
    loc: int | None
    tree: str | None
    ground: AdjustedParts
    tasks_done: int | None = None

    def has(self, names: tuple[str, ...]) -> bool:
        """Tell whether all those of the four were measured."""
        return all(self.value(name) is not None for name in names)

    def value(self, name: str) -> float | None:
        """Return one of the four."""
        return self.four[FOUR.index(name)]

    def signature(self, names: tuple[str, ...]) -> Signature:
        """Return the values of those of the four, in their order."""
        return tuple(self.value(name) for name in names)


def signature_of(metrics: Metrics) -> Signature:
    """Return the four metrics of an iteration, None where not measured."""
    return tuple(metrics.number(name) for name in FOUR)


class Lineage(NamedTuple):
    """The state of a line after its last iteration.

    `segments` are the iterations on it as ranges (a rollback cuts one short). `readings` are the latest values of
    each metric. `points` are the last iterations, `complete` the last that had every part of the signature.
    `suppressions` are those that are new since the baseline. `references` maps each file that decides about tests and
    is not in its reference form to the iteration that has that form (integrity.md). `not_loaded` names what did not
    build.
    """

    segments: tuple[tuple[int, int], ...] = ()
    readings: Readings = NO_READINGS
    points: tuple[PastIteration, ...] = ()
    complete: tuple[PastIteration, ...] = ()
    open_alerts: tuple[Alert, ...] = ()
    suppressions: Mapping[SuppressionKind, int] = {}
    references: Mapping[str, int] = {}
    not_loaded: frozenset[str] = frozenset()

    @property
    def head(self) -> int | None:
        """Return the last iteration of the line, None before the baseline."""
        return self.segments[-1][1] if self.segments else None

    @property
    def awaited(self) -> dict[str, str]:
        """Return the tests that are not collected since something does not load, with their outcome before."""
        broken = (alert for alert in self.open_alerts if alert.type == "build_broken")
        return {test: was for alert in broken for test, was in alert.tests.items()}

    def extended(self, iteration: int) -> tuple[tuple[int, int], ...]:
        """Return the segments with one more iteration at the end."""
        if self.segments and self.segments[-1][1] == iteration - 1:
            return (*self.segments[:-1], (self.segments[-1][0], iteration))
        return (*self.segments, (iteration, iteration))

    def parts(self) -> tuple[str, ...]:
        """Return those of the four metrics that the line has ever measured."""
        return tuple(name for name in FOUR if name in self.readings)


class Scorer(NamedTuple):
    """Score any iteration of the loop as of now."""

    weights: TestWeights
    seen: SeenTests

    def score(self, iteration: int, ground: AdjustedParts) -> float:
        """Return the adjusted score of that iteration against every test seen so far."""
        return adjusted_score(ground, self.weights, self.seen.union, self.seen.credit(iteration))


class Cycle(NamedTuple):
    """Say which iteration this one repeats; `same_tree` is the certain kind, one content for the third time."""

    repeats: int
    same_tree: bool


def find_cycle(
    point: PastIteration, line: Lineage, measurement: Measurement, yardstick: Scorer, rules: CyclingRules
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


def _periodic(window: list[PastIteration], names: tuple[str, ...]) -> int | None:
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


def _standing(
    window: list[PastIteration], names: tuple[str, ...], yardstick: Scorer, rules: CyclingRules
) -> int | None:
    """Find a window that is all the same; where trees are known, one of them must have come back."""
    if len(window) < rules.window or len({point.signature(names) for point in window}) > 1:
        return None
    scores = [yardstick.score(point.iteration, point.ground) for point in window]
    trees = [point.tree for point in window if point.tree is not None]
    moved = half_up(max(scores) - min(scores), SCORE_DECIMALS) > rules.score_change
    if moved or (len(trees) > 1 and len(set(trees)) == len(trees)):
        return None
    return window[-2].iteration
