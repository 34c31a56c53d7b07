"""Find tests that are gone by where they stood: what stands between the same neighbours now, and asks the same."""

from collections.abc import Iterable, Mapping
from typing import Final

from ralph_tracker.integrity.fingerprints import Fingerprint
from ralph_tracker.integrity.likeness import Weights
from ralph_tracker.integrity.moves import Moves

LIKE: Final = 0.6  # likeness of tests in one place of which each is alone there
NAMED: Final = 0.4  # the same where the names share most words, or the new one says more; what is done of kept cases
_TOGETHER: Final = 100  # pairs in one place that are compared
_ROWS: Final = 2
_TOLD: Final = 6  # tokens that are enough to know a test by
_ALL: Final = 0.95  # share of a test that stands in one that does more
_MOST_WORDS: Final = 0.6
Gap = tuple[str, Fingerprint | None, Fingerprint | None]


def in_place(
    moves: Moves[Fingerprint], heirs: Mapping[Fingerprint, Fingerprint], weights: Weights
) -> list[tuple[Fingerprint, Fingerprint]]:
    """Return what is gone with the new test that took its place, the most alike first.

    `heirs` are the tests that stand for those of before.
    """
    gaps = _gaps((*heirs, *moves.gone), heirs) | _gaps(
        (*heirs.values(), *moves.new), {new: new for new in heirs.values()}
    )
    scored = []
    for gone, new in moves.groups(gaps.__getitem__):
        if len(gone) * len(new) <= _TOGETHER:
            alone = len(gone) == len(new) == 1
            scored += [
                (weights.likeness(old, other), old, other)
                for old in gone
                for other in new
                if _asks_the_same(old, other)
                or _has_its_cases(old, other, weights)
                or _does_more(old, other, weights)
                or (alone and _is_like(old, other, heirs, weights))
            ]
    scored.sort(key=lambda each: -each[0])
    return [(old, new) for _, old, new in scored]


def _gaps(tests: Iterable[Fingerprint], heirs: Mapping[Fingerprint, Fingerprint]) -> dict[Fingerprint, Gap]:
    """Return, for the tests without an heir, the heirs of those that stand right before and after them."""
    by_path: dict[str, list[Fingerprint]] = {}
    for test in tests:
        by_path.setdefault(test.path, []).append(test)
    found: dict[Fingerprint, Gap] = {}
    for path, group in by_path.items():
        group.sort(key=lambda each: each.test.line)
        before = _last_heirs(group, heirs)
        after = _last_heirs(group[::-1], heirs)
        for test in group:
            if test not in heirs:
                neighbours = before[test], after[test]
                found[test] = (path if neighbours == (None, None) else "", *neighbours)  # a file may go elsewhere
    return found


def _last_heirs(
    tests: Iterable[Fingerprint], heirs: Mapping[Fingerprint, Fingerprint]
) -> dict[Fingerprint, Fingerprint | None]:
    found: dict[Fingerprint, Fingerprint | None] = {}
    last: Fingerprint | None = None
    for test in tests:
        found[test] = last
        last = heirs.get(test, last)
    return found


def _asks_the_same(old: Fingerprint, new: Fingerprint) -> bool:
    """Tell whether it asserts all that the old one did, or asks the same of every case that the old one had."""
    if not old.test.assertions:
        return False
    if all(new.asserted.get(each, 0) >= number for each, number in old.asserted.items()):
        return old.literals <= new.literals
    rows = len(old.rows) >= _ROWS and all(row in new.rows for row in old.rows)
    return rows and all(new.asks(demand) for demand in old.demands)


def _has_its_cases(old: Fingerprint, new: Fingerprint, weights: Weights) -> bool:
    """Tell whether it is run with every case that the old one had, does something like it and asserts as well."""
    kept = len(old.rows) >= _ROWS and all(row in new.rows for row in old.rows)
    if not (kept and old.test.assertions and new.test.assertions):
        return False
    body = dict.fromkeys(old.body, 1)  # a table that grew is unlike what it was
    return weights.covered({token: 1 for token in old.bag if token in body}, new.bag) >= NAMED


def _does_more(old: Fingerprint, new: Fingerprint, weights: Weights) -> bool:
    """Tell whether it does all that the old one did, waits for the same exceptions and asserts no less often."""
    if len(old.bag) < _TOLD or old.rows != new.rows:
        return False
    if not old.literals <= new.literals or old.expected != new.expected:
        return False
    if not old.test.assertions:
        return all(new.bag.get(token, 0) >= number for token, number in old.bag.items())
    return len(new.test.assertions) >= len(old.test.assertions) and weights.covered(old.bag, new.bag) >= _ALL


def _is_like(old: Fingerprint, new: Fingerprint, heirs: Mapping[Fingerprint, Fingerprint], weights: Weights) -> bool:
    """Tell whether it does much the same, asserts no less often, and is no copy of another test that stays."""
    if not len(new.test.assertions) >= len(old.test.assertions) > 0:
        return False
    likeness = weights.likeness(old, new)
    others = (each for each in heirs if each.path == old.path)
    named = bool(old.words) and (
        old.words <= new.words or len(old.words & new.words) >= _MOST_WORDS * len(old.words | new.words)
    )
    return likeness >= (NAMED if named else LIKE) and all(weights.likeness(each, new) < likeness for each in others)
