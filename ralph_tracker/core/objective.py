"""Judge a number that a loop optimises: better, worse, or not distinguishable from the best level so far.

Noise is the spread of repeats of one state, never that of the trend. A state is judged by the median of all its
repeats: the best of them is luck.
"""

from collections.abc import Sequence
from math import isfinite, sqrt
from statistics import mean, median
from typing import Final, Literal, NamedTuple

Outcome = Literal["better", "worse", "not distinguishable"]
_FEWEST: Final = 2  # degrees of freedom: two numbers alone do not show a spread
_WIDTH: Final = 2  # standard errors of a difference


class Objective(NamedTuple):
    """What is optimised, and what may be lost: `max_loss` is a share of the start, for a guard (0.02 for 2 %)."""

    name: str
    unit: str
    direction: Literal["down", "up"]
    max_loss: float | None = None


class Noise(NamedTuple):
    """Collect how far repeats of one state differ: squares of relative deviations, and their degrees of freedom."""

    squares: float = 0.0
    freedom: int = 0

    def with_repeats(self, values: Sequence[float], earlier: Sequence[float] = ()) -> "Noise":
        """Add the repeats of a state, of which the earlier ones are counted already."""
        before, now = _spread(earlier), _spread((*earlier, *values))
        return Noise(self.squares - before.squares + now.squares, self.freedom - before.freedom + now.freedom)

    @property
    def deviation(self) -> float | None:
        """Return the relative standard deviation; None where too few repeats are known."""
        return sqrt(self.squares / self.freedom) if self.freedom >= _FEWEST else None

    def width(self, one: int, other: int) -> float:
        """Return by which share the medians of so many repeats differ by chance; 0 where nothing is known of it."""
        return _WIDTH * (self.deviation or 0.0) * sqrt(1 / one + 1 / other)


def _spread(values: Sequence[float]) -> Noise:
    """Return the noise of one state alone; a single value, or values around 0, say nothing."""
    center = mean(values) if values else 0.0
    if len(values) == 1 or not center:
        return Noise()
    return Noise(sum((value / center - 1) ** 2 for value in values), len(values) - 1)


def believable(values: Sequence[float]) -> tuple[float, ...]:
    """Return the values if there is one and all are finite, otherwise none: no number is not 0."""
    return tuple(values) if all(map(isfinite, values)) else ()


def compare(objective: Objective, values: Sequence[float], best: Sequence[float], noise: Noise) -> Outcome:
    """Say how the repeats of a state compare with those of the best one; both have at least one."""
    here, there = median(values), median(best)
    gain = here - there if objective.direction == "up" else there - here
    if abs(gain) <= noise.width(len(values), len(best)) * abs(there):
        return "not distinguishable"
    return "better" if gain > 0 else "worse"


def loses_too_much(guard: Objective, values: Sequence[float], start: Sequence[float]) -> bool:
    """Return whether a guard lost more than it may against the start, which small steps down cannot move."""
    if guard.max_loss is None:
        return False
    change = median(values) - median(start)
    loss = -change if guard.direction == "up" else change
    return loss > guard.max_loss * abs(median(start))


class Level(NamedTuple):
    """How far a loop has come: the kept state, the best one, and the noise seen so far.

    `segment` names what values are bound to (the benchmark's digest, machine and seed): another one begins anew.
    """

    kept: int
    best: int
    values: tuple[float, ...]
    noise: Noise = Noise()
    segment: str = ""


class State(NamedTuple):
    """A state whose tests and guards held, with its repeats; none where its run failed.

    `earlier` are repeats of the same state that were judged before.
    """

    number: int
    values: tuple[float, ...]
    segment: str = ""
    earlier: tuple[float, ...] = ()


def after_state(objective: Objective, level: Level | None, state: State) -> tuple[Level | None, Outcome | None]:
    """Return the level after one more state, and how it compares; None where it has no number or begins a segment.

    A state that is not worse takes the place of the kept one. The best level stays where the medians are not better,
    so that small steps down do not add up.
    """
    if not believable(state.values):
        return level, None
    values = state.earlier + state.values
    if level is None or level.segment != state.segment:
        return Level(state.number, state.number, values, Noise().with_repeats(values), state.segment), None
    level = level._replace(noise=level.noise.with_repeats(state.values, state.earlier))
    if state.number == level.best:
        return level._replace(values=values), None
    outcome = compare(objective, values, level.values, level.noise)
    if outcome == "worse":
        return level, outcome
    here, there = median(values), median(level.values)
    ahead = here >= there if objective.direction == "up" else here <= there
    level = level._replace(kept=state.number)
    return (level._replace(best=state.number, values=values) if ahead else level), outcome


def name_winner(objective: Objective, level: Level, kept: Sequence[float], best: Sequence[float], noise: Noise) -> int:
    """Return which of the kept and the best state wins by fresh, interleaved repeats of both; ties go to the later.

    The repeats by which they were found are left out: whatever was found by being high was also lucky.
    """
    return level.best if compare(objective, kept, best, noise) == "worse" else max(level.kept, level.best)
