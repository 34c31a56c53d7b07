"""Track tests by name: their last outcomes in the lineage, and how an iteration compares with them (semantics § 5)."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import compress
from operator import eq, ne
from typing import Final, NamedTuple

from ralph_tracker.core.metrics import FAILED, OUTCOME_RANK, PASSED, TestResults
from ralph_tracker.short_text import first_few

Ranges = tuple[tuple[int, int], ...]
NAMES_SHOWN: Final = 5
# The prefix of the ids of held-back tests, which the agent never sees.
HELD_BACK: Final = "held-back:"
_HELD_BACK_NAMES: Final = re.compile(rf"{HELD_BACK}[^\s,]+(?:, {HELD_BACK}[^\s,]+)*")
_SUFFIX: Final = re.compile(r"\.(?:py|[cm]?[jt]sx?|rs|java|kt|go)(?=::|[ >:]|$)")
# What failed is the run itself, not one of its tests: as a test, and as the place of what it did not collect.
WHOLE_RUN: Final = "(test run)"
# The place of the tests that a run did not come to, since it stopped at one that failed.
STOPPED_RUN: Final = "(stopped run)"


class KnownTests(NamedTuple):
    """The last outcome of every test in the lineage: those of its latest report, and those gone since."""

    present: Mapping[str, str] = {}
    gone: Mapping[str, str] = {}

    def after(self, tests: TestResults | None) -> "KnownTests":
        """Return the known tests after one more iteration; unchanged without a report."""
        if tests is None:
            return self
        now = tests.outcomes
        gone = {name: outcome for name, outcome in self.gone.items() if name not in now}
        if not _same_names(now, self.present):
            gone.update((name, self.present[name]) for name in self.present.keys() - now.keys())
        return KnownTests(now, gone)


class ChangedTests(NamedTuple):
    """How the tests of an iteration compare with the lineage; each maps a test to its outcome before.

    `vanished`: in the latest report, not in this one. `broken`: passed before, fails now, and not known to be flaky;
    `flaky`: the same, but known to be flaky. `lost`: passed in the latest report, neither passes nor fails now.
    `added`: in no report of the lineage so far. `gained`: believed now, and did not pass when last reported.
    `not_collected`: in a file that does not load now; they are neither vanished nor lost.
    """

    vanished: Mapping[str, str]
    broken: Mapping[str, str]
    flaky: Mapping[str, str]
    lost: Mapping[str, str]
    added: tuple[str, ...]
    gained: tuple[str, ...] = ()
    not_collected: Mapping[str, str] = {}


class IgnoredTests(NamedTuple):
    """What a comparison leaves out.

    `not_loaded` are files, packages or suites that do not load. `no_gain` pass and count as no gain, since a finding
    names them or a run showed it. `not_collected_before` are tests that could not be collected so far, with their
    outcome before; they are not gone yet. `not_loaded_before` is what did not load in the latest iteration.
    """

    not_loaded: frozenset[str] = frozenset()
    no_gain: frozenset[str] = frozenset()
    not_collected_before: Mapping[str, str] = {}
    not_loaded_before: frozenset[str] = frozenset()

    def uncollected(self, gone: Iterable[str]) -> frozenset[str]:
        """Return those of the tests that are gone which were not collected.

        A run that failed as a whole hides all of its tests, but one that failed so before only what it hid then: a
        suite whose runs always fail would excuse every deletion.
        """
        failed_before = {place for place in self.not_loaded & self.not_loaded_before if place.endswith(WHOLE_RUN)}
        places = self.not_loaded - failed_before
        if not self.not_loaded:
            return frozenset()
        return frozenset(
            name
            for name in gone
            if (places and belongs_to_any(name, places))
            or (failed_before and name in self.not_collected_before and belongs_to_any(name, failed_before))
        )


def compare(
    known: KnownTests,
    tests: TestResults | None,
    flaky: frozenset[str],
    ignored: IgnoredTests = IgnoredTests(),  # noqa: B008  # a value
) -> ChangedTests | None:
    """Compare by name; None if either side has no identities."""
    if tests is None or not (known.present or known.gone):
        return None
    now, before = tests.outcomes, known.present
    if ignored.not_collected_before:
        before = {**ignored.not_collected_before, **before}
    changed, new = differences(now, before)
    failing = [name for name in changed if now.get(name) == FAILED and before[name] == PASSED]
    failing += [name for name in sorted(new) if now[name] == FAILED and known.gone.get(name) == PASSED]
    cut_off = cut_short((name for name in changed if name not in now), before, now)
    failing += sorted(cut_off)
    gone = [name for name in changed if name not in now and name not in cut_off]
    uncollected = ignored.uncollected(gone)
    not_collected = {name: before[name] for name in gone if name in uncollected}
    gained = [name for name in changed if now.get(name) == PASSED]
    gained += [name for name in new if now[name] == PASSED and known.gone.get(name) != PASSED]
    return ChangedTests(
        vanished={name: before[name] for name in gone if name not in not_collected},
        broken=dict.fromkeys((name for name in failing if name not in flaky), PASSED),
        flaky=dict.fromkeys((name for name in failing if name in flaky), PASSED),
        lost={
            name: PASSED
            for name in changed
            if before[name] == PASSED and now.get(name) != FAILED and name not in not_collected and name not in cut_off
        },
        added=tuple(name for name in new if name not in known.gone),
        gained=tuple(sorted(name for name in gained if name not in ignored.no_gain)),
        not_collected=not_collected,
    )


def group_of(test: str) -> str:
    """Return the group that a test is in, "" if its id names none."""
    return test.rpartition(" > ")[0]


def cut_short(gone: Iterable[str], before: Mapping[str, str], now: Mapping[str, str]) -> frozenset[str]:
    """Return the tests that passed and did not run, since their group ended at an error.

    The error is reported as one more test of the group, under a name of its own. Tests that failed are left out: those
    may have been removed.
    """
    ended = {group_of(name) for name, how in now.items() if how == FAILED and name not in before} - {""}
    if not ended:
        return frozenset()
    places = tuple(f"{group} > " for group in ended)
    return frozenset(name for name in gone if before[name] == PASSED and name.startswith(places))


def belongs_to_any(test: str, places: Iterable[str]) -> bool:
    """Return whether a test id lies in one of the files, packages, suites or runs, whatever separates its parts."""
    name = f".{dotted(test)}."
    return any(
        f".{dotted(place.removesuffix(WHOLE_RUN).removesuffix(STOPPED_RUN))}.".replace("..", ".") in name
        for place in places
    )


def is_of_run(place: str) -> bool:
    """Return whether a place of what did not load is a whole run, and no file, package or suite."""
    return place.endswith((WHOLE_RUN, STOPPED_RUN))


def describe_not_loaded(place: str, why: str) -> str:
    """Return in one line what does not load, or how a run failed as a whole."""
    if is_of_run(place) or (why and why.startswith(place)):
        return why
    return f"{place}: {why}" if why else place


def dotted(name: str) -> str:
    """Return the name of a file, package or test with dots between its parts, without file suffixes."""
    return re.sub(r"[^\w-]+", ".", _SUFFIX.sub("", name)).strip(".")


def _same_names(now: Mapping[str, str], before: Mapping[str, str]) -> bool:
    """Return whether both have the same names in the same order; the usual case, which costs no look-up."""
    return len(now) == len(before) and all(map(eq, now, before))


def differences(now: Mapping[str, str], before: Mapping[str, str]) -> tuple[list[str], set[str]]:
    """Return the names of `before` that are gone or changed their outcome, and the names that are new in `now`."""
    if _same_names(now, before):
        return list(compress(before, map(ne, now.values(), before.values()))), set()
    return [name for name, outcome in before.items() if now.get(name) != outcome], now.keys() - before.keys()


def are_restored(before: Mapping[str, str], tests: TestResults, explained: Collection[str] = ()) -> bool:
    """Return whether all of those tests are back with an outcome at least as good, or need not be back."""
    now = tests.outcomes
    return all(
        name in explained or (name in now and OUTCOME_RANK[now[name]] >= OUTCOME_RANK[was])
        for name, was in before.items()
    )


def names_in_short(names: Iterable[str]) -> str:
    """Return the first few names, sorted, and how many more there are."""
    return first_few(sorted(names), NAMES_SHOWN)


def without_held_back(text: str) -> str:
    """Return a text for the agent, with the names of held-back tests removed."""
    return _HELD_BACK_NAMES.sub("held-back tests", text) if HELD_BACK in text else text


def extend_ranges(ranges: Ranges, iteration: int) -> Ranges:
    """Return ranges of iterations with one more, which is after all of them."""
    if ranges and ranges[-1][1] == iteration - 1:
        return (*ranges[:-1], (ranges[-1][0], iteration))
    return (*ranges, (iteration, iteration))
