"""The lineage: the iterations the current tree descends from, and the cycle that a new one closes with them."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.integrity_result import SuppressionKind
from ralph_tracker.core.known_tests import WHOLE_RUN
from ralph_tracker.core.metrics import KEY_METRICS, NO_READINGS, SCORE_DECIMALS, Measurement, Readings, half_up
from ralph_tracker.core.thresholds import CyclingThresholds

Judged = Literal["forward", "plateau", "regression", "stalled"]
Classification = Literal["baseline", Judged]
Signature = tuple[float | None, ...]
FLAT: Final[frozenset[str]] = frozenset({"plateau", "stalled"})


class PastIteration(NamedTuple):
    """One iteration as the stall and cycle windows see it: four metrics, size, tree, class, score and tasks done.

    `score` is the adjusted one. `moved` says that tests went for a good reason: no sign of standing still.
    """

    iteration: int
    classification: Classification
    key_metrics: Signature
    loc: int | None
    tree: str | None
    score: float
    tasks_done: int | None = None
    moved: bool = False

    def has(self, names: tuple[str, ...]) -> bool:
        """Return whether all of the named metrics were measured."""
        return all(self.value(name) is not None for name in names)

    def value(self, name: str) -> float | None:
        """Return one of the four metrics."""
        return self.key_metrics[KEY_METRICS.index(name)]

    def signature(self, names: tuple[str, ...]) -> Signature:
        """Return the values of the named metrics, in order."""
        return tuple(self.value(name) for name in names)


class Lineage(NamedTuple):
    """The state of a lineage after its last iteration.

    `segments` are its iterations as ranges (a rollback cuts one short). `readings` are the latest values of each
    metric. `points` are the last iterations, `complete` the last that had every part of the signature. `suppressions`
    are those that are new since the baseline. `references` maps each test file that was edited while green to the
    iteration with the form that is still run (integrity.md). `not_loaded` names what did not build, `failing_runs`
    those of them that are runs which failed as a whole after one that did not.
    """

    segments: tuple[tuple[int, int], ...] = ()
    readings: Readings = NO_READINGS
    points: tuple[PastIteration, ...] = ()
    complete: tuple[PastIteration, ...] = ()
    open_alerts: tuple[Alert, ...] = ()
    suppressions: Mapping[SuppressionKind, int] = {}
    references: Mapping[str, int] = {}
    not_loaded: frozenset[str] = frozenset()
    failing_runs: frozenset[str] = frozenset()

    @property
    def head(self) -> int | None:
        """Return the last iteration, None before the baseline."""
        return self.segments[-1][1] if self.segments else None

    @property
    def not_collected_before(self) -> dict[str, str]:
        """Return the tests that are not collected since something does not load, with their outcome before."""
        broken = (alert for alert in self.open_alerts if alert.type == "build_broken")
        return {test: was for alert in broken for test, was in alert.tests.items()}

    def failing_runs_now(self, not_loaded: Iterable[str]) -> frozenset[str]:
        """Return the runs that fail as a whole now, and did not always do so in the lineage."""
        runs = {place for place in not_loaded if place.endswith(WHOLE_RUN)}
        return frozenset(runs - (self.not_loaded - self.failing_runs)) if self.segments else frozenset()

    def parts(self) -> tuple[str, ...]:
        """Return those of the four metrics that the lineage has ever measured."""
        return tuple(name for name in KEY_METRICS if name in self.readings)


class Cycle(NamedTuple):
    """The iteration that this one repeats; `same_tree` if the content is the same for the third time."""

    repeats: int
    same_tree: bool


def find_cycle(
    point: PastIteration, line: Lineage, measurement: Measurement, thresholds: CyclingThresholds
) -> Cycle | None:
    """Return the cycle that this iteration closes, one of the same tree first; None without one."""
    returned_to_tree = not line.points or line.points[-1].tree != measurement.tree
    if measurement.tree is not None and returned_to_tree and measurement.tree_visits + 1 >= thresholds.tree_visits:
        return Cycle(measurement.tree_last or 0, same_tree=True)
    if any(each.objective for each in measurement.further):
        return None  # its metrics stay the same while its number gets better
    names = tuple(name for name in KEY_METRICS if name in line.parts() or point.value(name) is not None)
    if not names or not point.has(names):
        return None
    earlier = [p for p in line.complete if p.has(names)]
    window = [*earlier[-(thresholds.window - 1) :], point]
    repeats = _periodic(window, names)
    if repeats is None and point.iteration > thresholds.terminate_after:
        repeats = _constant_window(window, names, thresholds)
    return None if repeats is None else Cycle(repeats, same_tree=False)


def _periodic(window: list[PastIteration], names: tuple[str, ...]) -> int | None:
    """Return the iteration that a pattern A B A B or A B C A B repeats, None without such a pattern."""
    signs = [point.signature(names) for point in window]
    for period in (2, 3):
        span = signs[-(period + 2) :]
        if (
            len(span) == period + 2
            and span[-1] == span[-1 - period]
            and span[-2] == span[-2 - period]
            and len(set(span)) > 1
        ):
            return window[-1 - period].iteration
    return None


def _constant_window(window: list[PastIteration], names: tuple[str, ...], thresholds: CyclingThresholds) -> int | None:
    """Return the repeated iteration of a constant window, None without one; known trees must repeat too."""
    if len(window) < thresholds.window or len({point.signature(names) for point in window}) > 1:
        return None
    scores = [point.score for point in window]
    trees = [point.tree for point in window if point.tree is not None]
    moved = half_up(max(scores) - min(scores), SCORE_DECIMALS) > thresholds.score_change
    if moved or (len(trees) > 1 and len(set(trees)) == len(trees)):
        return None
    return window[-2].iteration
