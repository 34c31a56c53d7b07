"""Tests by name: what the line knows of each, and every test that the loop has ever seen (semantics § 2, § 5)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ralph_tracker.core.metrics import FAILED, OUTCOME_RANK, PASSED, SKIPPED, TestResults

Ranges = tuple[tuple[int, int], ...]
NAMES_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class KnownTests:
    """Hold the last outcome of every test on the line: those of its latest report, and those gone since."""

    present: Mapping[str, str] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)

    def after(self, tests: TestResults | None) -> "KnownTests":
        """Return what the line knows after one more iteration; a missing report changes nothing."""
        if tests is None:
            return self
        now = tests.outcomes
        gone = {name: outcome for name, outcome in self.gone.items() if name not in now}
        gone.update((name, self.present[name]) for name in self.present.keys() - now.keys())
        return KnownTests(now, gone)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hold how the tests of an iteration stand against the line; each maps a test to its outcome before.

    `vanished`: in the latest report, not in this one. `broken`: passed before, fails now, and not known to be
    flaky; `flaky`: the same, but known to be flaky. `lost`: passed in the latest report, neither passes nor fails
    now. `added`: in no report of the line so far.
    """

    vanished: Mapping[str, str]
    broken: Mapping[str, str]
    flaky: Mapping[str, str]
    lost: Mapping[str, str]
    added: tuple[str, ...]


def compare(known: KnownTests, tests: TestResults | None, flaky: frozenset[str]) -> Comparison | None:
    """Compare by name; None where either side has no identities."""
    if tests is None or not (known.present or known.gone):
        return None
    now, before = tests.outcomes, known.present
    same = now == before
    changed = [] if same else [name for name, outcome in before.items() if now.get(name) != outcome]
    new = set() if same else now.keys() - before.keys()
    failing = [name for name in changed if now.get(name) == FAILED and before[name] == PASSED]
    failing += [name for name in sorted(new) if now[name] == FAILED and known.gone.get(name) == PASSED]
    return Comparison(
        vanished={name: before[name] for name in changed if name not in now},
        broken=dict.fromkeys((name for name in failing if name not in flaky), PASSED),
        flaky=dict.fromkeys((name for name in failing if name in flaky), PASSED),
        lost={name: PASSED for name in changed if before[name] == PASSED and now.get(name) != FAILED},
        added=tuple(name for name in new if name not in known.gone),
    )


def restored(before: Mapping[str, str], tests: TestResults) -> bool:
    """Tell whether all those tests are back with an outcome at least as good as before."""
    now = tests.outcomes
    return all(name in now and OUTCOME_RANK[now[name]] >= OUTCOME_RANK[was] for name, was in before.items())


def names_in_short(names: Iterable[str]) -> str:
    """Write the first few names, sorted, and how many more there are."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:NAMES_SHOWN])
    rest = len(ordered) - NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


@dataclass(frozen=True, slots=True)
class SeenTests:
    """Hold every test that the loop has ever seen in a clean iteration, on the line or off it.

    `ran`: tests that passed or failed at least once; accepted removals (`excluded`) are not in it. `waiting`:
    tests that were only ever skipped, with the iterations whose reports had them, as ranges. `enrolled`: how many
    waiting tests with those ranges ran later; it credits earlier iterations. `counted`: the highest test_count of
    iterations without identities, less `excluded_count`. `flaky`: tests whose reruns disagreed.
    """

    ran: frozenset[str] = frozenset()
    waiting: Mapping[str, Ranges] = field(default_factory=dict)
    enrolled: Mapping[Ranges, int] = field(default_factory=dict)
    flaky: frozenset[str] = frozenset()
    counted: int = 0
    excluded: frozenset[str] = frozenset()
    excluded_count: int = 0

    @property
    def union(self) -> int:
        """Return |U|: how many tests an iteration is judged against."""
        return max(len(self.ran), self.counted - self.excluded_count)

    def credit(self, iteration: int) -> int:
        """Return how many tests that were only skipped in that iteration's report have run since."""
        return sum(count for ranges, count in self.enrolled.items() if _within(ranges, iteration))

    def after(self, iteration: int, test_count: int | None, tests: TestResults | None) -> "SeenTests":
        """Return what the loop has seen after one more clean iteration."""
        if tests is None:
            return replace(self, counted=max(self.counted, test_count or 0))
        now = tests.outcomes
        unknown = set() if self.ran.issuperset(now) else now.keys() - self.ran - self.excluded
        running = {name for name in unknown if now[name] != SKIPPED}
        skipped = unknown - running
        waiting, enrolled = self.waiting, self.enrolled
        if skipped or (running and waiting):
            waiting = {name: ranges for name, ranges in self.waiting.items() if name not in running}
            waiting.update((name, _extended(waiting.get(name, ()), iteration)) for name in skipped)
            enrolled = dict(self.enrolled)
            for name in running & self.waiting.keys():
                enrolled[self.waiting[name]] = enrolled.get(self.waiting[name], 0) + 1
        return replace(
            self,
            ran=self.ran | running if running else self.ran,
            waiting=waiting,
            enrolled=enrolled,
            flaky=self.flaky | tests.flaky,
        )

    def standing(self, metrics_passed: int | None, test_count: int | None, tests: TestResults | None) -> "Standing":
        """Count an iteration's tests that are among those ever seen; by its counts where it has no names."""
        if tests is None:
            return Standing(metrics_passed or 0, test_count or 0, 0)
        now = tests.outcomes
        if self.ran.issuperset(now):
            return Standing(list(now.values()).count(PASSED), len(now), 0)
        seen = now.keys() & self.ran
        passes = sum(now[name] == PASSED for name in seen)
        unseen = len(now.keys() & self.waiting.keys()) if self.waiting else 0
        return Standing(passes, len(seen), unseen)


@dataclass(frozen=True, slots=True)
class Standing:
    """Count the tests of one iteration that pass, are present, or have never run, among those ever seen."""

    passes: int
    present: int
    unseen: int


def _within(ranges: Ranges, iteration: int) -> bool:
    return any(first <= iteration <= last for first, last in ranges)


def _extended(ranges: Ranges, iteration: int) -> Ranges:
    if ranges and ranges[-1][1] == iteration - 1:
        return (*ranges[:-1], (ranges[-1][0], iteration))
    return (*ranges, (iteration, iteration))
