"""Track tests by name: the last outcomes in the lineage, and every test the loop has seen (semantics § 2, § 5)."""

import re
from collections.abc import Iterable, Mapping
from itertools import compress
from operator import eq, ne
from typing import Final, NamedTuple

from ralph_tracker.core.metrics import FAILED, OUTCOME_RANK, PASSED, SKIPPED, TestResults

Ranges = tuple[tuple[int, int], ...]
NAMES_SHOWN: Final = 5
# The prefix of the ids of held-back tests, which the agent never sees.
HELD_BACK: Final = "held-back:"
_HELD_BACK_NAMES: Final = re.compile(rf"{HELD_BACK}[^\s,]+(?:, {HELD_BACK}[^\s,]+)*")
_PARTS: Final = re.compile(r"[^\w-]+")
_SUFFIX: Final = re.compile(r"\.(?:py|[cm]?[jt]sx?|rs|java|kt|go)(?=::|[ >:]|$)")
# The ids our readers give to a package or suite that failed as a whole.
_IN_PLACE_OF_TESTS: Final = ("(package)", "(build)", "(suite)", "(test file)")


class Aliases(NamedTuple):
    """The original names of tests by current id: one for a renamed test, several for a merged one.

    A test that was split is replaced by all of its parts. Original names are those under which the loop first saw a
    test.
    """

    stands_for: Mapping[str, tuple[str, ...]] = {}

    def after(self, matches: Mapping[str, tuple[str, ...]]) -> "Aliases":
        """Return the aliases extended by matches of missing tests with their replacements."""
        if not matches:
            return self
        found = dict(self.stands_for)
        for gone, news in matches.items():
            roots = self.names(gone)
            for new in news:
                known = found.get(new, ())
                more = tuple(root for root in roots if root != new and root not in known)
                if more:
                    found[new] = (*known, *more)
        return Aliases(found)

    def names(self, test: str) -> tuple[str, ...]:
        """Return the original names of a current test."""
        return self.stands_for.get(test, (test,))

    def roots(self, tests: Iterable[str]) -> frozenset[str]:
        """Return the original names of many tests."""
        return frozenset(tests if not self.stands_for else (name for test in tests for name in self.names(test)))

    def outcomes(self, now: Mapping[str, str]) -> Mapping[str, str]:
        """Return outcomes by original name; of the parts of a split test the worst counts.

        A test that is itself in the report keeps its own outcome.
        """
        if not self._new_names(now):
            return now
        found = dict(now)
        for test in self._new_names(now):
            olds = [old for old in self.stands_for[test] if old not in now]
            if olds:
                del found[test]
            for old in olds:
                before = found.get(old, now[test])
                found[old] = min(before, now[test], key=OUTCOME_RANK.__getitem__)
        return found

    def today(self, now: Mapping[str, str]) -> dict[str, str]:
        """Return the current test for each original name that is no longer in the report."""
        return {old: test for test in self._new_names(now) for old in self.stands_for[test] if old not in now}

    def _new_names(self, now: Mapping[str, str]) -> list[str]:
        return [test for test in self.stands_for if test in now] if self.stands_for else []


NO_ALIASES: Final = Aliases()


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


class Comparison(NamedTuple):
    """How the tests of an iteration compare with the lineage; each maps a test to its outcome before.

    `vanished`: in the latest report, not in this one. `broken`: passed before, fails now, and not known to be flaky;
    `flaky`: the same, but known to be flaky. `lost`: passed in the latest report, neither passes nor fails now.
    `added`: in no report of the lineage so far. `gained`: believed now, and did not pass when last reported.
    `not_collected`: in a file that does not load now; they are neither vanished nor lost. A replaced test has not
    vanished and is listed under its current name.
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

    `no_tests` were no tests, or were removed with their code. `not_loaded` are files, packages or suites that do not
    load. `disbelieved` tests pass but are named by a finding. `not_collected_before` are tests that could not be
    collected so far, with their outcome before; they are not gone yet.
    """

    no_tests: frozenset[str] = frozenset()
    not_loaded: frozenset[str] = frozenset()
    disbelieved: frozenset[str] = frozenset()
    not_collected_before: Mapping[str, str] = {}


def compare(
    known: KnownTests,
    tests: TestResults | None,
    flaky: frozenset[str],
    aliases: Aliases = NO_ALIASES,
    uncounted: IgnoredTests = IgnoredTests(),  # noqa: B008  # a value
) -> Comparison | None:
    """Compare by name; None if either side has no identities."""
    if tests is None or not (known.present or known.gone):
        return None
    now, before = aliases.outcomes(tests.outcomes), aliases.outcomes(known.present)
    if uncounted.not_collected_before:
        before = {**uncounted.not_collected_before, **before}
    today = aliases.today(tests.outcomes)
    changed, new = _differences(now, before)
    failing = [name for name in changed if now.get(name) == FAILED and before[name] == PASSED]
    failing += [name for name in sorted(new) if now[name] == FAILED and known.gone.get(name) == PASSED]
    gone = [name for name in changed if name not in now and name not in uncounted.no_tests]
    not_collected = {name: before[name] for name in _not_collected(gone, uncounted.not_loaded, aliases)}
    gained = [name for name in changed if now.get(name) == PASSED]
    gained += [name for name in new if now[name] == PASSED and known.gone.get(name) != PASSED]
    return Comparison(
        vanished={name: before[name] for name in gone if name not in not_collected},
        broken=dict.fromkeys((today.get(name, name) for name in failing if name not in flaky), PASSED),
        flaky=dict.fromkeys((today.get(name, name) for name in failing if name in flaky), PASSED),
        lost={
            today.get(name, name): PASSED
            for name in changed
            if before[name] == PASSED and now.get(name) != FAILED and name not in not_collected
            if name in now or name not in uncounted.no_tests
        },
        added=tuple(name for name in new if name not in known.gone),
        gained=tuple(sorted(today.get(name, name) for name in gained if name not in uncounted.disbelieved)),
        not_collected=not_collected,
    )


def _not_collected(gone: Iterable[str], not_loaded: frozenset[str], aliases: Aliases) -> list[str]:
    """Return the tests in places that do not load, by any of their ids, because tests move between files."""
    if not not_loaded:
        return []
    moved = {name for later, names in aliases.stands_for.items() if belongs_to_any(later, not_loaded) for name in names}
    return [name for name in gone if name in moved or belongs_to_any(name, not_loaded)]


def belongs_to_any(test: str, places: Iterable[str]) -> bool:
    """Return whether a test id lies in one of the files, packages or suites, whatever separates its parts."""
    name = f".{_plain(test)}."
    return any(f".{_plain(place)}." in name for place in places)


def without_unloaded(tests: TestResults) -> TestResults:
    """Return results without the entries that runners report for tests they could not collect."""
    places = {_plain(place) for place in tests.not_loaded}
    if not places:
        return tests
    kept = {
        name: how
        for name, how in tests.outcomes.items()
        if how != FAILED or not (_plain(name) in places or name.endswith(_IN_PLACE_OF_TESTS))
    }
    return tests._replace(outcomes=kept)


def _plain(name: str) -> str:
    """Return the name of a file, package or test with dots between its parts, without file suffixes."""
    return _PARTS.sub(".", _SUFFIX.sub("", name)).strip(".")


class FailingTests(NamedTuple):
    """The failing tests by current name: those that are `new` and those that failed before, `still`."""

    new: tuple[str, ...] = ()
    still: tuple[str, ...] = ()


def list_failing(known: KnownTests, tests: TestResults | None, aliases: Aliases = NO_ALIASES) -> FailingTests | None:
    """Return the failing tests, sorted; None if the report has no names."""
    if tests is None:
        return None
    before = {name for outcomes in (known.present, known.gone) for name, how in outcomes.items() if how == FAILED}
    roots = aliases.roots(before)
    now = sorted(name for name, how in tests.outcomes.items() if how == FAILED)
    still = {name for name in now if name in before or not roots.isdisjoint(aliases.names(name))}
    return FailingTests(tuple(name for name in now if name not in still), tuple(name for name in now if name in still))


def _same_names(now: Mapping[str, str], before: Mapping[str, str]) -> bool:
    """Return whether both have the same names in the same order; the usual case, which costs no look-up."""
    return len(now) == len(before) and all(map(eq, now, before))


def _differences(now: Mapping[str, str], before: Mapping[str, str]) -> tuple[list[str], set[str]]:
    """Return the names of `before` that are gone or changed their outcome, and the new names."""
    if _same_names(now, before):
        return list(compress(before, map(ne, now.values(), before.values()))), set()
    return [name for name, outcome in before.items() if now.get(name) != outcome], now.keys() - before.keys()


def are_restored(before: Mapping[str, str], tests: TestResults, aliases: Aliases = NO_ALIASES) -> bool:
    """Return whether all of those tests are back with an outcome at least as good as before."""
    now = aliases.outcomes(tests.outcomes)
    wanted = ((name, was) for test, was in before.items() for name in aliases.names(test))
    return all(name in now and OUTCOME_RANK[now[name]] >= OUTCOME_RANK[was] for name, was in wanted)


def names_in_short(names: Iterable[str]) -> str:
    """Return the first few names, sorted, and how many more there are."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:NAMES_SHOWN])
    rest = len(ordered) - NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def without_held_back(text: str) -> str:
    """Return a text for the agent, with the names of held-back tests removed."""
    return _HELD_BACK_NAMES.sub("held-back tests", text) if HELD_BACK in text else text


class SeenTests(NamedTuple):
    """Every test that the loop has seen in a clean iteration, in the lineage or not.

    `ran`: tests that passed or failed at least once, without accepted removals (`excluded`). `waiting`: tests that were
    only ever skipped, with the iterations whose reports had them, as ranges. `enrolled`: how many waiting tests with
    those ranges ran later; it credits earlier iterations. `counted`: the highest test_count of iterations without
    identities, less `excluded_count`. `flaky`: tests whose reruns disagreed. All names are original ones, see
    `aliases`.
    """

    ran: frozenset[str] = frozenset()
    waiting: Mapping[str, Ranges] = {}
    enrolled: Mapping[Ranges, int] = {}
    flaky: frozenset[str] = frozenset()
    counted: int = 0
    excluded: frozenset[str] = frozenset()
    excluded_count: int = 0
    aliases: Aliases = NO_ALIASES

    @property
    def union(self) -> int:
        """Return |U|, the number of tests that an iteration is judged against."""
        return max(len(self.ran), self.counted - self.excluded_count)

    def credit(self, iteration: int) -> int:
        """Return how many tests that were only skipped in that iteration's report have run since."""
        return sum(
            count
            for ranges, count in self.enrolled.items()
            if any(first <= iteration <= last for first, last in ranges)
        )

    def with_aliases(self, matches: Mapping[str, tuple[str, ...]], none: frozenset[str] = frozenset()) -> "SeenTests":
        """Return a copy with the matches added to the aliases, and the ids in `none` excluded."""
        if not matches:
            return self
        gone = self.aliases.roots(none)
        return self._replace(aliases=self.aliases.after(matches), ran=self.ran - gone, excluded=self.excluded | gone)

    def with_flaky(self, tests: TestResults | None) -> "SeenTests":
        """Return a copy with the tests added whose reruns disagreed."""
        if tests is None or not tests.flaky:
            return self
        return self._replace(flaky=self.flaky | self.aliases.roots(tests.flaky))

    def after(self, iteration: int, test_count: int | None, tests: TestResults | None) -> "SeenTests":
        """Return a copy after one more clean iteration."""
        if tests is None:
            return self._replace(counted=max(self.counted, test_count or 0))
        now = self.aliases.outcomes(tests.outcomes)
        unknown = set() if self.ran.issuperset(now) else now.keys() - self.ran - self.excluded
        running = {name for name in unknown if now[name] != SKIPPED}
        skipped = unknown - running
        waiting, enrolled = self.waiting, self.enrolled
        if skipped or (running and waiting):
            waiting = {name: ranges for name, ranges in self.waiting.items() if name not in running}
            waiting.update((name, extend_ranges(waiting.get(name, ()), iteration)) for name in skipped)
            enrolled = dict(self.enrolled)
            for name in running & self.waiting.keys():
                enrolled[self.waiting[name]] = enrolled.get(self.waiting[name], 0) + 1
        return self._replace(
            ran=self.ran | running if running else self.ran,
            waiting=waiting,
            enrolled=enrolled,
        ).with_flaky(tests)

    def tally(
        self,
        metrics_passed: int | None,
        test_count: int | None,
        tests: TestResults | None,
        discounted: Iterable[str] = (),
    ) -> "TestTally":
        """Count an iteration's tests that are among those ever seen; by its counts if it has no names.

        `discounted` tests do not pass, whatever the report says.
        """
        if tests is None:
            return TestTally(metrics_passed or 0, test_count or 0, 0)
        now = self.aliases.outcomes(tests.outcomes)
        doubted = self.aliases.roots(discounted) & self.ran
        doubtful = sum(now.get(name) == PASSED for name in doubted)
        if self.ran.issuperset(now):
            return TestTally(list(now.values()).count(PASSED) - doubtful, len(now), 0)
        seen = now.keys() & self.ran
        passes = sum(now[name] == PASSED for name in seen) - doubtful
        unseen = len(now.keys() & self.waiting.keys()) if self.waiting else 0
        return TestTally(passes, len(seen), unseen)

    def passing_share(self, tests: TestResults) -> float | None:
        """Return the share (0 to 1) of all tests, ever seen or here, that pass here; None if there are none.

        Tests here count even before a clean iteration has recorded them.
        """
        now = self.aliases.outcomes(tests.outcomes)
        here = now.keys() - self.excluded if self.excluded else now.keys()
        counted = (name for name in here if name in self.ran or now[name] != SKIPPED)
        union = len(self.ran.union(counted))
        return sum(now[name] == PASSED for name in here) / union if union else None


class TestTally(NamedTuple):
    """How many tests of an iteration pass, are present, or have never run, among those ever seen."""

    passes: int
    present: int
    unseen: int


def extend_ranges(ranges: Ranges, iteration: int) -> Ranges:
    """Return ranges of iterations with one more, which is after all of them."""
    if ranges and ranges[-1][1] == iteration - 1:
        return (*ranges[:-1], (ranges[-1][0], iteration))
    return (*ranges, (iteration, iteration))
