"""Tests under other names: what a test of today was called when the loop first saw it."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.metrics import OUTCOME_RANK


class Aliases(NamedTuple):
    """Hold, for an id of today, the names that it stands for: a renamed test one, a merged test several.

    A test that was split is stood for by all of its parts. The names are those under which the loop first saw a test.
    """

    stands_for: Mapping[str, tuple[str, ...]] = {}

    def after(self, matches: Mapping[str, tuple[str, ...]]) -> "Aliases":
        """Return the aliases with more tests that are gone matched to those that stand for them."""
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
        """Return the names under which the loop first saw a test of today."""
        return self.stands_for.get(test, (test,))

    def roots(self, tests: Iterable[str]) -> frozenset[str]:
        """Return those names for many tests."""
        return frozenset(tests if not self.stands_for else (name for test in tests for name in self.names(test)))

    def outcomes(self, now: Mapping[str, str]) -> Mapping[str, str]:
        """Return outcomes by those names; of the parts of a split test the worst counts.

        A test that is itself in the report speaks for itself, whoever once stood for it.
        """
        if not self._renamed(now):
            return now
        found = dict(now)
        for test in self._renamed(now):
            olds = [old for old in self.stands_for[test] if old not in now]
            if olds:
                del found[test]
            for old in olds:
                before = found.get(old, now[test])
                found[old] = min(before, now[test], key=OUTCOME_RANK.__getitem__)
        return found

    def today(self, now: Mapping[str, str]) -> dict[str, str]:
        """Return, for the names that a report does not bear any more, the test of today that stands for each."""
        return {old: test for test in self._renamed(now) for old in self.stands_for[test] if old not in now}

    def _renamed(self, now: Mapping[str, str]) -> list[str]:
        return [test for test in self.stands_for if test in now] if self.stands_for else []


NO_ALIASES: Final = Aliases()
