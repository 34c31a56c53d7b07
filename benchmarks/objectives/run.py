"""Compare rules that say whether an optimising loop got better: eight real histories, and loops of known truth."""

import csv
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Final

from ralph_tracker.core.metrics import FurtherMetric
from ralph_tracker.core.objective import Level, Noise, State, after_state, compare

HISTORIES: Final = Path(__file__).parent / "histories"
# What each author took: the state at the head of the branch.
AUTHORS: Final = {"h1": 119, "h2": 67, "h3": 27, "h5": 58, "h7": 27, "h8": 21, "h10": 51, "h11": 29}
STEPS: Final = 40
REPEATS: Final = 3
AGAIN: Final = 5 * REPEATS  # as before an iteration is selected

Threshold = Callable[[float, Sequence[float]], float]


def _mad(values: Sequence[float]) -> float:
    center = median(values)
    return median(abs(value - center) for value in values)


SIMPLE: Final[dict[str, Threshold]] = {
    "strictly better": lambda *_: 0.0,
    "better by 1 %": lambda best, _: 0.01 * abs(best),
    "2 x MAD of all": lambda _, seen: 2 * _mad(seen) if len(seen) > 2 else 0.0,
}
WALK: Final = "the walk"


@dataclass
class History:
    """A history as its author logged it, without what crashed or failed its guard."""

    name: str
    objective: FurtherMetric
    states: list[State] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)  # of each state: another benchmark, machine or seed begins anew

    def median_of(self, number: int) -> float:
        """Return the level of a state: the median of its repeats, in all steps that measured its code."""
        return median([value for state in self.states if state.number == number for value in state.values])


def read(file: Path) -> tuple[History, dict[int, int]]:
    """Return a history, and by each step the state whose code it measured."""
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text, delimiter="\t"))
    direction = "down" if rows[0]["direction"] == "lower" else "up"
    history = History(file.stem, FurtherMetric(file.stem, None, rows[0]["unit"], direction))
    seen: dict[int, tuple[float, ...]] = {}
    states: dict[int, int] = {}
    for row in rows:
        step, repeats = int(row["step"]), row["repeats"]
        same = re.search(r"same (?:benchmark )?code as (\d+)", repeats)
        root = int(same[1]) if same else step
        number = states[step] = states.get(root, root)
        if row["status"] not in ("keep", "discard") or not row["value"] or "holdout=fail" in row["guard"]:
            continue
        logged = (
            () if "stale" in repeats else tuple(map(float, re.findall(r"\d+\.\d+|\d+(?=;)", repeats.split("same")[0])))
        )
        values = logged or (float(row["value"]),)
        history.states.append(State(number, values, seen.get(number, ())))
        history.phases.append(row["phase"])
        seen[number] = seen.get(number, ()) + values
    return history, states


def walk(history: History) -> Level:
    """Return where the walk ends."""
    level: Level | None = None
    before = None
    for phase, state in zip(history.phases, history.states, strict=True):
        level, _ = after_state(history.objective, level if phase == before else None, state)
        before = phase
    assert level is not None
    return level


def greedy(history: History, threshold: Threshold) -> int:
    """Return the state that a simple rule keeps, by the first logged value of each step."""
    kept: State | None = None
    before = None
    seen: list[float] = []
    for phase, state in zip(history.phases, history.states, strict=True):
        if kept is None or phase != before:
            kept, before, seen = state, phase, []
        seen.append(median(state.values))
        best = median(kept.values)
        gain = seen[-1] - best if history.objective.direction == "up" else best - seen[-1]
        if gain > threshold(best, seen):
            kept = state
    assert kept is not None
    return kept.number


def judge_history(file: Path) -> Iterator[tuple[str, str, int, float, str]]:
    """Yield for each rule the state that it takes, by which share it is behind the author's, and what that is."""
    history, states = read(file)
    author = states[AUTHORS[file.stem.split("-")[0]]]
    level = walk(history)
    width = level.noise.width(1, 1)
    taken = {WALK: level.kept} | {name: greedy(history, rule) for name, rule in SIMPLE.items()}
    for name, number in taken.items():
        here, there = history.median_of(number), history.median_of(author)
        ahead = here - there if history.objective.direction == "up" else there - here
        behind = -ahead / abs(there)
        said = (
            "the author's"
            if number == author
            else "better"
            if behind < 0
            else "equal"
            if not behind
            else "within noise"
        )
        yield history.name, name, number, behind, said if behind <= width else "BEHIND"


@dataclass
class Outcome:
    """What a rule did in a simulated loop: how far its choice is behind the best truth, and false improvements."""

    regret: float
    false: int


def simulate(seed: int) -> dict[str, Outcome]:
    """Run each rule through the same draws: a step changes the kept state by a few percent, or by nothing."""
    return {WALK: _simulate(seed, None)} | {name: _simulate(seed, rule) for name, rule in SIMPLE.items()}


def _measure(truth: float, noise: float, random: Random, repeats: int = REPEATS) -> tuple[float, ...]:
    """Measure a time: mostly near the truth, one in twenty disturbed."""
    return tuple(truth * (1 + random.gauss(0, noise)) * (1.1 if random.random() < 0.05 else 1) for _ in range(repeats))


def _simulate(seed: int, threshold: Threshold | None) -> Outcome:
    random = Random(seed)
    noise = random.choice((0.005, 0.01, 0.02, 0.04))
    objective = FurtherMetric("time", None, "ms", "down")
    truths, seen, false = {0: 100.0}, list[float](), 0
    values = _measure(100.0, noise, random)
    kept = values
    number = 0
    taken = {0: median(values)}
    level, _ = after_state(objective, None, State(0, values))
    assert level is not None
    for step in range(1, STEPS + 1):
        change = random.choice((0, 0, 0, -1, -1, 1, 1, 1)) * random.uniform(0.005, 0.06)
        before = truths[number]
        truths[step] = before * (1 + change)
        values = _measure(truths[step], noise, random)
        if threshold is None:
            best = truths[level.best]
            level, outcome = after_state(objective, level, State(step, values))
            assert level is not None
            false += outcome == "better" and truths[step] >= best
            number = level.kept
            if number == step:
                taken[step] = median(values)
        else:
            seen.append(median(values))
            if median(kept) - median(values) > threshold(median(kept), seen):
                false += truths[step] >= before
                number, kept = step, values
    if threshold is None and len(taken) > 1:
        rival = min((each for each in taken if each != number), key=lambda each: (taken[each], -each))
        again = [_measure(truths[each], noise, random, AGAIN) for each in (number, rival)]
        # By fresh repeats of both: whatever was found by being the best was also lucky. Ties go to the later.
        spread = Noise().with_repeats(again[0]).with_repeats(again[1])
        number = rival if compare(objective, again[0], again[1], spread) == "worse" else number
    return Outcome(truths[number] / min(truths.values()) - 1, false)


def main() -> int:
    """Print both tables; end with 1 where the walk is behind a simple rule."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=200, help="how many loops to simulate (default: 200)")
    loops = parser.parse_args().loops
    rows = [row for file in sorted(HISTORIES.glob("*.tsv")) for row in judge_history(file)]
    print(f"{'history':28} {'rule':16} {'takes':>5} {'behind author':>14}")
    for name, rule, number, behind, said in rows:
        print(f"{name:28} {rule:16} {number:5} {behind:13.2%}  {said}")
    misses = {rule: sum(row[4] == "BEHIND" for row in rows if row[1] == rule) for rule in (WALK, *SIMPLE)}
    results = [simulate(seed) for seed in range(loops)]
    print(f"\n{'rule':16} {'behind author':>14} {'mean regret':>12} {'false improvements':>19}")
    regrets = {}
    for rule, missed in misses.items():
        regrets[rule] = mean(result[rule].regret for result in results)
        false = sum(result[rule].false for result in results)
        print(f"{rule:16} {missed:8} of {len(rows) // 4:2} {regrets[rule]:12.2%} {false:19}")
    return int(misses[WALK] > min(misses.values()))


if __name__ == "__main__":
    raise SystemExit(main())
