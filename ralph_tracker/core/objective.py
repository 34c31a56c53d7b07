"""Judge a number that a loop optimises: better, worse, or not distinguishable from the best level so far.

Noise is the spread of repeats of one state, never that of the trend. A state is judged by the median of all its
repeats: the best of them is luck.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, sqrt
from typing import Literal, NamedTuple

from ralph_tracker.core.metrics import FurtherMetric, plain_number
from ralph_tracker.short_text import percent

Outcome = Literal["better", "worse", "not distinguishable"]


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
        # Two numbers alone do not show a spread.
        return sqrt(self.squares / self.freedom) if self.freedom >= 2 else None

    def width(self, one: int, other: int) -> float:
        """Return by which share the medians of so many repeats differ by chance; 0 where nothing is known of it."""
        # Two standard errors of the difference.
        return 2 * (self.deviation or 0.0) * sqrt(1 / one + 1 / other)


def _spread(values: Sequence[float]) -> Noise:
    """Return the noise of one state alone; a single value, or values around 0, say nothing."""
    center = sum(values) / len(values) if values else 0.0
    if len(values) == 1 or not center:
        return Noise()
    return Noise(sum((value / center - 1) ** 2 for value in values), len(values) - 1)


def median(values: Sequence[float]) -> float:
    """Return the middle one, or the mean of the two in the middle; the standard library's takes `status` a while."""
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def believable(values: Sequence[float]) -> tuple[float, ...]:
    """Return the values if there is one and all are finite, otherwise none: no number is not 0."""
    return tuple(values) if all(map(isfinite, values)) else ()


def loss_of(metric: FurtherMetric, value: float) -> float:
    """Return a value turned so that the lower one is the better."""
    return -value if metric.direction == "up" else value


def compare(objective: FurtherMetric, values: Sequence[float], best: Sequence[float], noise: Noise) -> Outcome:
    """Say how the repeats of a state compare with those of the best one; both have at least one."""
    here, there = median(values), median(best)
    gain = loss_of(objective, there) - loss_of(objective, here)
    if abs(gain) <= noise.width(len(values), len(best)) * abs(there):
        return "not distinguishable"
    return "better" if gain > 0 else "worse"


def loses_too_much(guard: FurtherMetric, values: Sequence[float], start: Sequence[float]) -> bool:
    """Return whether a guard lost more than it may against the start, which small steps down cannot move."""
    if guard.max_loss is None:
        return False
    change = median(values) - median(start)
    return loss_of(guard, change) > guard.max_loss * abs(median(start))


class Level(NamedTuple):
    """How far a loop has come: the kept state, the best one, and the noise seen so far; that of a guard is the start.

    `segment` names the benchmark and the machine that it is of; with another one it begins anew.
    """

    kept: int
    best: int
    values: tuple[float, ...]
    noise: Noise = Noise()
    segment: str = ""

    def goes_on(self, metric: FurtherMetric) -> bool:
        """Return whether numbers compare with it; those of a benchmark that is not known do."""
        return self.segment in {"", metric.segment} or not metric.segment


class State(NamedTuple):
    """A state whose tests and guards held, with its repeats; none where its run failed.

    `earlier` are repeats of the same state that were judged before.
    """

    number: int
    values: tuple[float, ...]
    earlier: tuple[float, ...] = ()


def after_state(objective: FurtherMetric, level: Level | None, state: State) -> tuple[Level | None, Outcome | None]:
    """Return the level after one more state, and how it compares; None where it has no number, or is the first.

    A state that is not worse takes the place of the kept one. The best level stays where the medians are not better,
    so that small steps down do not add up.
    """
    values = believable(state.earlier + state.values)
    if not values:
        return level, None
    if level is None:
        return Level(state.number, state.number, values, Noise().with_repeats(values)), None
    level = level._replace(noise=level.noise.with_repeats(state.values, state.earlier))
    if state.number == level.best:
        return level._replace(values=values), None
    outcome = compare(objective, values, level.values, level.noise)
    if outcome == "worse":
        return level, outcome
    here, there = median(values), median(level.values)
    ahead = loss_of(objective, here) <= loss_of(objective, there)
    level = level._replace(kept=state.number)
    return (level._replace(best=state.number, values=values) if ahead else level), outcome


class Progress(NamedTuple):
    """How far a loop has come with each of its objectives, and where each guard began, by their names."""

    levels: Mapping[str, Level] = {}
    starts: Mapping[str, Level] = {}


class Weighed(NamedTuple):
    """What the numbers of an iteration say beside those before it; without `goals` there are guards alone.

    `lost` is the guard that does not hold, whatever tests were gained, and `worse` why a goal is worse, each as the
    verb of a sentence: what is better in one goal and worse in another one is worse. `note` tells how the goals stand.
    `after` is the progress if its tests and guards hold.
    """

    goals: tuple[FurtherMetric, ...]
    after: Progress
    outcomes: tuple[Outcome | None, ...] = ()
    lost: str | None = None
    worse: str | None = None
    note: str = ""

    @property
    def is_better(self) -> bool:
        """Return whether a number got better, none got worse, and the guards hold."""
        return "better" in self.outcomes and self.lost is None and self.worse is None

    def progress(self, number: int, before: Progress, rule: int | None, *, gained: bool) -> Progress:
        """Return the progress after the iteration, which a rule (None: none of them) kept from being taken.

        One that gains tests is where later ones begin, however good the numbers were without those tests. Of one that
        was refused for its numbers alone, only the noise counts.
        """
        after = self.after.levels
        if rule is None and gained:
            begun = {goal.name: goal.samples for goal in self.goals if goal.samples}
            levels = {name: after[name]._replace(kept=number, best=number, values=own) for name, own in begun.items()}
            return self.after._replace(levels={**after, **levels})
        # Rule 4 of the walk asks for the numbers.
        if rule == 4 and self.lost is None and "worse" in self.outcomes:
            noisy = {name: level._replace(noise=after[name].noise) for name, level in before.levels.items()}
            return before._replace(levels=noisy)
        return self.after if rule is None else before


class _Judged(NamedTuple):
    """What the numbers of one goal say: the level after them, the outcome, the note, and why it is worse."""

    level: Level | None
    outcome: Outcome | None
    note: str
    worse: str | None = None


def weigh(before: Progress, number: int, metrics: Iterable[FurtherMetric]) -> Weighed | None:
    """Compare the objectives and guards of an iteration with those before; None where the loop has none."""
    metrics = tuple(metrics)
    goals = tuple(each for each in metrics if each.objective)
    guards = [each for each in metrics if each.max_loss is not None]
    if not goals and not guards:
        return None
    starts = dict(before.starts)
    for guard in guards:
        begun = starts.get(guard.name)
        if guard.samples and (begun is None or not begun.goes_on(guard)):
            starts[guard.name] = Level(number, number, guard.samples, segment=guard.segment)
    judged = [_judge(before.levels.get(goal.name), number, goal) for goal in goals]
    levels = {goal.name: one.level for goal, one in zip(goals, judged, strict=True) if one.level is not None}
    return Weighed(
        goals,
        Progress(levels, starts),
        tuple(one.outcome for one in judged),
        next((lost for guard in guards if (lost := _loss(guard, starts.get(guard.name)))), None),
        next((one.worse for one in judged if one.worse), None),
        "; ".join(one.note for one in judged),
    )


def _judge(before: Level | None, number: int, goal: FurtherMetric) -> _Judged:
    if not goal.samples:
        return _Judged(before, None, f"{goal.name}: no number", f"has no number for {goal.name}")
    anew = before is not None and not before.goes_on(goal)
    start = None if anew else before
    # Figures that scatter do not come twice: they are those of an earlier run.
    stale = start is not None and len(set(goal.samples)) > 1 and goal.samples == start.values
    state = State(number, (), goal.samples) if goal.counted or stale else State(number, goal.samples)
    level, outcome = after_state(goal, start, state)
    shown = f"{goal.name} {in_unit(median(goal.samples), goal)}"
    if level is not None:
        level = level._replace(segment=goal.segment or level.segment)
    if start is None or level is None or outcome is None:
        why = ", which begins anew: its benchmark or the machine is another one" if anew else ""
        return _Judged(level, None, f"{shown}{why}")
    if stale and not goal.counted:
        return _Judged(
            level, outcome, f"{shown}, every figure as in iteration {start.best}; let its check measure anew"
        )
    then = median(start.values)
    than, spread = f"iteration {start.best} ({in_unit(then, goal)})", _spread_in_words(level.noise)
    if outcome == "not distinguishable":
        return _Judged(level, outcome, f"{shown}, within the noise of {than}, {spread}")
    share = f"{percent(abs(median(goal.samples) - then) / abs(then))} " if then else ""
    how = f"{shown}, {share}{outcome} than {than}, {spread}"
    return _Judged(level, outcome, how, f"has {how}" if outcome == "worse" else None)


def _loss(guard: FurtherMetric, start: Level | None) -> str | None:
    if start is None or (guard.samples and not loses_too_much(guard, guard.samples, start.values)):
        return None
    if not guard.samples:
        return f"has no number for the guard {guard.name}"
    now, then = (in_unit(median(values), guard) for values in (guard.samples, start.values))
    return f"has {guard.name} {now}, which may lose {percent(guard.max_loss or 0)} of {then} at the start"


def in_unit(value: float, metric: FurtherMetric) -> str:
    """Return a number for people, with four digits that count and its unit."""
    return f"{plain_number(float(f'{value:.4g}'))} {metric.unit}"


def _spread_in_words(noise: Noise) -> str:
    return "spread unknown" if noise.deviation is None else f"spread {percent(noise.deviation)}"
