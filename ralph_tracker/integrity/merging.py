"""Find tests that are gone in a test that holds more than before: as a case of it, or by what it asserts besides."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final

from ralph_tracker.integrity.fingerprints import Bag, Fingerprint, is_literal
from ralph_tracker.integrity.likeness import Index, Weights

COVERED: Final = 0.75  # share of a test that stands in the one that holds it
_CASES: Final = 2
_HOLDERS: Final = 8  # cases that hold a value: beyond, it hardly tells which of them
_WAITING: Final = frozenset({"try", "except", "as", "else", "assert", "False", "fail", "str", "in"})
_OF_ROW: Final = 0.5  # share of a case that stands in the test that it stands for


class Cases:
    """Be the cases of a test that are free to stand for another one, each for one."""

    def __init__(self, test: Fingerprint, known: Iterable[Bag] = ()) -> None:
        self._test = test
        self._frame = Counter(test.bag)
        before = list(known)
        self._rows: dict[int, Bag] = {}
        self._holders: dict[str, list[int]] = {}
        for number, row in enumerate(test.rows):
            self._frame.subtract(row)
            if row in before:
                before.remove(row)
                continue
            self._rows[number] = row
            for token in row:
                self._holders.setdefault(token, []).append(number)

    @property
    def free(self) -> Iterable[Bag]:
        """Return the cases that stand for no other test yet."""
        return self._rows.values()

    def __len__(self) -> int:
        return len(self._rows)

    def take(self, single: Fingerprint) -> bool:
        """Take the first case that the other test is one of; False where there is none."""
        known = [token for token in single.bag if token in self._holders]
        fewest = min((len(self._holders[token]) for token in known), default=0)
        telling = (self._holders[token] for token in known if len(self._holders[token]) <= max(fewest, _HOLDERS))
        for number, _ in Counter(chain.from_iterable(telling)).most_common():
            if number in self._rows and self._is_of(self._rows[number], single):
                del self._rows[number]
                return True
        return False

    def _is_of(self, row: Bag, single: Fingerprint) -> bool:
        """Tell whether it uses the values of that case and no others, and asks what the test of the cases asks."""
        values = (token for token in single.bag if is_literal(token) and token not in single.messages)
        if any(token not in row and self._frame[token] <= 0 for token in values):
            return False
        least = _OF_ROW if single.test.assertions else 1
        if sum(token in single.bag for token in row) < least * len(row):
            return False
        return _raises_as(self._test, single) or all(self._test.asks(demand, row) for demand in single.demands)


class _Target:
    """Be a test that may hold others: what it gained besides what it was."""

    def __init__(self, test: Fingerprint, origin: Fingerprint | None) -> None:
        self.test = test
        self._origin = origin
        self.cases = Cases(test, origin.rows if origin is not None else ())
        self._asserted: Counter[tuple[str, ...]] | None = None

    def takes(self, old: Fingerprint, weights: Weights) -> bool:
        """Take the other test in, as a case or by its assertions, each of which stands for one."""
        if not (self.cases or old.literals - old.messages <= self.test.literals):
            return False
        if weights.covered(_about(old, self.test), self.test.bag) < COVERED:
            return False
        if not old.test.assertions:  # a helper asserts for it: its values say which case it is
            return bool(old.literals) and self.cases.take(old)
        return self.cases.take(old) or self._assert(old) or self._holds_rows(old)

    def _holds_rows(self, old: Fingerprint) -> bool:
        """Tell whether each case of the other test is a part of a case of its own, and all is asked that was."""
        if len(old.rows) < _CASES or not all(self.test.asks(demand) for demand in old.demands):
            return False
        free = list(self.cases.free)
        for row in old.rows:
            held = next((each for each in free if row.keys() <= each.keys()), None)
            if held is None:
                return False
            free.remove(held)
        return True

    def _assert(self, old: Fingerprint) -> bool:
        if self._asserted is None:
            self._asserted = Counter(self.test.asserted)
            self._asserted.subtract(self._origin.asserted if self._origin is not None else {})
        if not old.literals - old.messages <= self.test.literals or any(
            self._asserted[each] < number for each, number in old.asserted.items()
        ):
            return False
        self._asserted.subtract(old.asserted)
        return True


def merges(
    gone: Iterable[Fingerprint],
    targets: Iterable[Fingerprint],
    origins: Mapping[Fingerprint, Fingerprint],
    weights: Weights,
) -> dict[Fingerprint, list[Fingerprint]]:
    """Return the tests that are gone by the test that holds each of them now, in the order given.

    `origins` are what the targets come from: what they held before is not what they gained.
    """
    gained = {new: gain for new in targets if (gain := _gain(new, origins.get(new)))}
    index = Index(gained, gained.__getitem__)
    known: dict[Fingerprint, _Target] = {}
    found: dict[Fingerprint, list[Fingerprint]] = {}
    for old in gone:
        for new in index.likely(old.bag):
            if new not in known:
                known[new] = _Target(new, origins.get(new))
            if known[new].takes(old, weights):
                found.setdefault(new, []).append(old)
                break
    return found


def repeated(
    gone: Iterable[Fingerprint], targets: Iterable[Fingerprint], weights: Weights
) -> dict[Fingerprint, list[Fingerprint]]:
    """Return the tests that are gone by a test of their file that asks more closely for all that they asked for."""
    found: dict[Fingerprint, list[Fingerprint]] = {}
    index = Index(targets)
    for old in gone:
        for new in index.likely(old.bag) if old.test.assertions else ():
            if new.path == old.path and _repeats(new, old) and weights.covered(old.bag, new.bag) >= COVERED:
                found.setdefault(new, []).append(old)
                break
    return found


def _about(old: Fingerprint, new: Fingerprint) -> Bag:
    """Return what a test is about: neither what it says when it fails nor how it waits for an exception."""
    left = old.messages | old.local | _WAITING if _raises_as(new, old) else old.messages
    return {token: number for token, number in old.bag.items() if token not in left} if left else old.bag


def _raises_as(new: Fingerprint, old: Fingerprint) -> bool:
    """Tell whether a call asks for the exception that the other test took by a handler of its own."""
    return "except" in old.bag and "except" not in new.bag and bool(old.expected) and old.expected <= new.expected


def _repeats(new: Fingerprint, old: Fingerprint) -> bool:
    """Tell whether each assertion is a part of one of the other test; what is asserted twice alike is lost with one."""
    asserted = [frozenset(each) for each in new.asserted]
    wanted = [frozenset(each) for each in old.asserted]
    return old.literals <= new.literals and all(any(each > one for each in asserted) for one in wanted)


def _gain(new: Fingerprint, origin: Fingerprint | None) -> Bag:
    if origin is None:
        return new.bag
    if origin.test.text == new.test.text:
        return {}
    before = origin.bag
    return {token: more for token, count in new.bag.items() if (more := count - before.get(token, 0)) > 0}
