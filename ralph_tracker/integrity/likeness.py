"""How like two tests are, rare tokens counting more than common ones, and which are likely to be like a given one."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import chain
from operator import itemgetter
from typing import Final

from ralph_tracker.integrity.fingerprints import Bag, Fingerprint
from ralph_tracker.integrity.moves import Moves

# Measured on successive releases of public packages: below, what was paired was another test now and then.
RENAMED: Final = 0.7  # likeness of tests whose names share a word
RECOGNISED: Final = 0.85  # the same where they share none
EXTENDED: Final = 0.4  # the same where one's name is the other's and more
KEPT: Final = 0.5  # share of its demands that a renamed test still makes
_RARE: Final = 8  # tokens of a test that are looked up
_COMMON: Final = 25  # tests that hold a token: of those beyond, it tells little
_LIKELY: Final = 8  # tests that are compared in full
_BETWEEN: Final = re.compile(r"(?<=[^_])_+(?=[^_])")  # the words of a name
_BY_NAME: Final = 0.1  # of a likeness, what the words of the name decide


class _Weight(dict[str, float]):
    """Weigh a token that no test held in full."""

    def __missing__(self, _: str) -> float:
        return 1.0


class Weights:
    """Weigh tokens by how many of the given tests hold them: boilerplate says little about which test it is."""

    def __init__(self, tests: Iterable[Fingerprint]) -> None:
        self._tests = tests
        self._wholes: dict[Fingerprint, float] = {}

    @cached_property
    def _weight(self) -> _Weight:
        # Most tests that are gone are found again by their names or as they were: nobody asks for any weight then.
        holders = Counter(chain.from_iterable(test.bag for test in self._tests))
        return _Weight((token, 1 / math.sqrt(count)) for token, count in holders.items())

    def likeness(self, one: Fingerprint, other: Fingerprint) -> float:
        """Return 1 for tests of the same tokens, 0 for tests that share none, the words of their names included."""
        whole = self._whole(one) + self._whole(other)
        body = 2 * self.shared(one.bag, other.bag) / whole if whole else float(one.content == other.content)
        words = len(one.words) + len(other.words)
        name = 2 * len(one.words & other.words) / words if words else 0.0
        return (1 - _BY_NAME) * body + _BY_NAME * name

    def shared(self, one: Bag, other: Bag) -> float:
        """Return the weight of what both hold."""
        weight = self._weight
        return math.fsum(min(one[token], other[token]) * weight[token] for token in one.keys() & other.keys())

    def covered(self, part: Bag, whole: Bag) -> float:
        """Return the share of what one test is made of that stands in the other too, whatever else that holds."""
        weight = self._weight.__getitem__
        total = math.fsum(map(weight, part))
        return math.fsum(map(weight, part.keys() & whole.keys())) / total if total else 1.0

    def _whole(self, test: Fingerprint) -> float:
        if test not in self._wholes:
            self._wholes[test] = self.shared(test.bag, test.bag)
        return self._wholes[test]


class Index:
    """Find the tests that share rare tokens with a given one, few of however many."""

    def __init__(self, tests: Iterable[Fingerprint], bag: Callable[[Fingerprint], Bag] = lambda test: test.bag) -> None:
        self._tests = tuple(tests)
        self._holders: dict[str, list[int]] = {}
        for position, test in enumerate(self._tests):
            for token in bag(test):
                self._holders.setdefault(token, []).append(position)

    def likely(self, bag: Bag, most: int = _LIKELY) -> list[Fingerprint]:
        """Return the tests that share most of its rare tokens, in the order of how many."""
        known = sorted((token for token in bag if token in self._holders), key=self._rarity)
        shared = Counter(chain.from_iterable(self._holders[token][:_COMMON] for token in known[:_RARE]))
        best = nsmallest(most, ((-number, position) for position, number in shared.items()))
        return [self._tests[position] for _, position in best]

    def _rarity(self, token: str) -> tuple[int, str]:
        return len(self._holders[token]), token


def renamed(
    gone: Iterable[Fingerprint], new: Iterable[Fingerprint], kept: Iterable[Fingerprint], weights: Weights
) -> Iterator[tuple[Fingerprint, Fingerprint]]:
    """Yield what is gone with the new test that is closest to it, and to nothing else.

    A new test that is closer to one that is kept is its copy, and stands for nothing.
    """
    gone = tuple(gone)
    index = Index((*gone, *kept))
    missing = set(gone)
    claims: dict[Fingerprint, list[tuple[float, Fingerprint]]] = {}
    for test in new:
        scores = sorted(((weights.likeness(old, test), old) for old in index.likely(test.bag)), key=itemgetter(0))
        if not scores or scores[-1][1] not in missing or not _leads(scores):
            continue
        likeness, old = scores[-1]
        if likeness >= (RENAMED if old.words & test.words else RECOGNISED) and _keeps(old, test):
            claims.setdefault(old, []).append((likeness, test))
    for old, found in claims.items():
        found.sort(key=itemgetter(0))
        if _leads(found):
            yield old, found[-1][1]


def extended(moves: Moves[Fingerprint], weights: Weights) -> list[tuple[Fingerprint, Fingerprint]]:
    """Return what is gone with the closest of the new tests of its file or class that say more by their names.

    Several that ask all that it asked need not be like it.
    """
    scored = []
    longer: dict[str, list[Fingerprint]] = {}
    for new in moves.new:
        for name in _beginnings(new.function):
            longer.setdefault(name, []).append(new)
    for old in moves.gone:
        named = longer.get(old.function, []) if old.words else []
        near = [new for new in named[:_LIKELY] if _is_near(old, new) and _keeps(old, new)]
        asking = [new for new in near if all(map(new.asks, old.demands))] if old.demands else []
        for new in near:
            likeness = weights.likeness(old, new)
            if likeness >= EXTENDED or (new in asking and len(asking) > 1):
                scored.append((likeness, old, new))
    scored.sort(key=lambda each: -each[0])
    return [(old, new) for _, old, new in scored]


def _beginnings(name: str) -> Iterator[str]:
    return (name[: found.start()] for found in _BETWEEN.finditer(name))


def _is_near(old: Fingerprint, new: Fingerprint) -> bool:
    near = old.classes == new.classes and (bool(old.classes) or old.path == new.path)
    return near and all(row in new.rows for row in old.rows)


def _leads(scores: Sequence[tuple[float, Fingerprint]]) -> bool:
    """Tell whether the last is alone at the top."""
    return len(scores) == 1 or scores[-1][0] > scores[-2][0]


def _keeps(old: Fingerprint, new: Fingerprint) -> bool:
    """Tell whether it asks enough of what the old one asked: a copy that was hollowed out stands for nothing."""
    asked = sum(new.asks(demand) for demand in old.demands)
    return asked >= KEPT * len(old.demands)
