"""Find the tests of the old source that bear another name now: moved, renamed, merged with others or split."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from ralph_tracker.integrity.fingerprints import Fingerprint
from ralph_tracker.integrity.likeness import Weights, extended, renamed
from ralph_tracker.integrity.moves import Moves
from ralph_tracker.integrity.splitting import splits

# Measured on successive releases of public packages: below, what was paired was another test now and then.
MOVED: Final = 0.6  # likeness of tests whose function bears the same name in another file or class
HELD: Final = 0.8  # share of what a test is made of that its namesake holds, whatever else that asks
SAME: Final = 0.2  # likeness of the only tests of a name that tells, in one file, or in classes of one name
WENT: Final = 0.2  # share of a file's tests that tell where the file went
NAMED: Final = 0.5  # the same of their names
_FEW: Final = 3
_TOLD: Final = 6  # tokens of a body that are enough to know a test by
_TELLING: Final = 2  # words of a name that tells one test from others
_COMPARED: Final = 400  # pairs of namesakes that are compared in full


class Regrouping:
    """Be what became of tests; all its mappings go by the test that is there now.

    `origins`: the test it comes from; `how`: by what, for those of another name (`TestPair`); `others`: further tests
    that it holds; `parts`: further tests that hold what its origin held.
    """

    def __init__(self, kept: Mapping[Fingerprint, Fingerprint], moves: Moves[Fingerprint]) -> None:
        self.origins = dict(kept)
        self.how: dict[Fingerprint, str] = {}
        self.others: dict[Fingerprint, tuple[Fingerprint, ...]] = {}
        self.parts: dict[Fingerprint, tuple[Fingerprint, ...]] = {}
        self._kept = kept
        self._moves = moves

    @cached_property
    def weights(self) -> Weights:
        """Return how much each token tells, by the tests of the old source."""
        return Weights((*self._kept.values(), *self._moves.found, *self._moves.gone))

    def settle(self) -> None:
        """Take over what was found since."""
        for old, new in self._moves.found.items():
            if new not in self.origins:
                self.origins[new] = old
                self.how[new] = "moved" if old.function == new.function else "renamed"

    def merge(self) -> None:
        """Find the tests that are gone in those that hold more than before."""
        from ralph_tracker.integrity.merging import merges  # noqa: PLC0415  where tests are gone

        targets = [*self.origins, *self._moves.new]
        for new, olds in merges(self._moves.gone, targets, self.origins, self.weights).items():
            if new not in self.origins:
                self.origins[new] = olds[0]
                self.how[new] = "merged" if len(olds) > 1 or new.rows else "renamed"
            self.others[new] = tuple(old for old in olds if old is not self.origins[new])
            self._moves.drop((*olds, new))

    def repeat(self) -> None:
        """Find what tests asserted in others that ask more closely."""
        from ralph_tracker.integrity.merging import repeated  # noqa: PLC0415  where tests are gone

        for new, olds in repeated(self._moves.gone, self.origins, self.weights).items():
            self.others[new] = (*self.others.get(new, ()), *olds)
            self._moves.drop(olds)

    def split(self) -> None:
        """Find what tests asserted, and do no more, in new ones."""
        heirs = {old: new for new, old in self.origins.items()}
        for old, news in splits((*heirs, *self._moves.gone), self._moves.new, heirs, self.weights).items():
            heir = heirs.get(old)
            self._moves.drop((old, *news))
            for new in news:
                self.origins[new] = old
                self.how[new] = "split" if heir is not None or len(news) > 1 else "renamed"
            group = news if heir is None else (heir, *news)
            self.parts |= {new: tuple(other for other in group if other is not new) for new in group}


def regrouped(
    kept: Mapping[Fingerprint, Fingerprint], gone: Iterable[Fingerprint], new: Iterable[Fingerprint]
) -> Regrouping:
    """Return what became of the tests that are gone; `kept` maps tests now to those of the same name before."""
    moves = Moves(_ordered(gone), _ordered(new))
    kept = {test: kept[test] for test in _ordered(kept)}
    found = Regrouping(kept, moves)
    if moves.gone and moves.new:
        _by_name(moves, found.weights)
        _in_moved_files(moves, kept)
        moves.in_order(lambda test: test.content)
        found.settle()
    if moves.gone:
        found.merge()
    if moves.new:
        found.split()
    if moves.gone and moves.new:
        from ralph_tracker.integrity.places import in_place  # noqa: PLC0415  where names did not tell

        moves.match(extended(moves, found.weights))
        moves.match(renamed(moves.gone, moves.new, kept.values(), found.weights))
        moves.match(in_place(moves, {old: new for new, old in found.origins.items()}, found.weights))
        found.settle()
    if moves.gone:
        found.repeat()
    return found


def _by_name(moves: Moves[Fingerprint], weights: Weights) -> None:
    """Match tests whose function bears the same name, those of the same content first."""

    def alike(old: Fingerprint, new: Fingerprint) -> bool:
        return weights.likeness(old, new) >= MOVED or weights.covered(old.bag, new.bag) >= HELD

    def faintly(old: Fingerprint, new: Fingerprint) -> bool:
        return weights.likeness(old, new) >= SAME

    moves.by_unique(lambda test: (test.content, test.classes, test.file, test.function))
    moves.by_unique(lambda test: (test.content, test.classes, test.function))
    moves.by_unique(lambda test: (test.content, test.path, test.function))
    moves.by_unique(lambda test: (test.content, test.function))
    moves.by_owner(_owner, lambda test: (test.content, test.function))
    moves.by_unique(
        lambda test: test.content if len(test.body) >= _TOLD else None, lambda old, new: old.file == new.file
    )
    moves.by_unique(lambda test: (test.path, test.function), lambda old, new: not (old.classes and new.classes))
    moves.by_unique(lambda test: (test.classes, test.file, test.function), alike)
    moves.by_unique(lambda test: (test.classes, test.function), alike)
    moves.by_unique(lambda test: test.function, alike)
    moves.by_owner(_owner, lambda test: test.function, alike)
    moves.match(_namesakes(moves, weights))
    moves.by_unique(lambda test: (test.path, test.function) if len(test.words) >= _TELLING else None, faintly)
    moves.by_unique(lambda test: (test.classes, test.function) if test.classes else None, faintly)


def _in_moved_files(moves: Moves[Fingerprint], kept: Mapping[Fingerprint, Fingerprint]) -> None:
    """Match by the name alone what stands in a file that went elsewhere as a whole, as in one that stays.

    Under another name, a file is where a good share of its tests were found, or most of their names.
    """
    lost = {old.path for old in moves.gone}.difference(old.path for old in kept.values())
    came = {new.path for new in moves.new}.difference(new.path for new in kept)
    if not lost or not came:
        return
    olds, news = _names((*moves.found, *moves.gone)), _names((*moves.found.values(), *moves.new))
    went = Counter((old.path, new.path) for old, new in moves.found.items())
    owners = Counter((_owner(old), _owner(new)) for old, new in moves.found.items())

    def moved(old: Fingerprint, new: Fingerprint) -> bool:
        names = olds[old.path]
        return (
            (old.file == new.file and owners[_owner(old), _owner(new)] > 0)
            or went[old.path, new.path] >= max(_FEW, WENT * len(names))
            or len(names & news[new.path]) >= max(_FEW, NAMED * len(names))
        )

    found = [
        (owners[_owner(old), _owner(new)], old, new)
        for gone, fresh in moves.groups(lambda test: test.function)
        for old in gone
        for new in fresh
        if old.path in lost and new.path in came and moved(old, new)
    ]
    found.sort(key=lambda each: -each[0])
    moves.match((old, new) for _, old, new in found)


def _names(tests: Iterable[Fingerprint]) -> Mapping[str, set[str]]:
    """Return the names of the tests by file."""
    found: dict[str, set[str]] = {}
    for test in tests:
        found.setdefault(test.path, set()).add(test.function)
    return found


def _namesakes(moves: Moves[Fingerprint], weights: Weights) -> list[tuple[Fingerprint, Fingerprint]]:
    scored = []
    for gone, new in moves.groups(lambda test: test.function):
        if len(gone) * len(new) <= _COMPARED:
            scored += [(weights.likeness(old, other), old, other) for old in gone for other in new]
    scored.sort(key=lambda each: -each[0])
    return [(old, new) for likeness, old, new in scored if likeness >= MOVED]


def _owner(test: Fingerprint) -> tuple[str, str]:
    return test.path, test.classes


def _ordered(tests: Iterable[Fingerprint]) -> list[Fingerprint]:
    return sorted(tests, key=lambda each: (each.path, each.test.line, each.test.name))
