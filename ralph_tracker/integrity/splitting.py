"""Find what a test asserted before, and does no more, in tests that are new."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from ralph_tracker.integrity.fingerprints import Fingerprint
from ralph_tracker.integrity.likeness import Index, Weights

COVERED: Final = 0.6  # share of a new test that stood in the one it is a part of
CASES: Final = 0.9  # share of the cases of a parametrized test that are tests of their own now
_OWN: Final = 0.5  # share of its assertions, and of its literals, that did
_LIKELY: Final = 20  # new tests that may be parts of one
_ALONE: Final = 2  # parts that it takes where the test itself is gone

Asserted = tuple[str, ...]


def splits(
    olds: Iterable[Fingerprint],
    fresh: Iterable[Fingerprint],
    heirs: Mapping[Fingerprint, Fingerprint],
    weights: Weights,
) -> dict[Fingerprint, tuple[Fingerprint, ...]]:
    """Return the new tests that assert what an old one did, each of them once, by the old one.

    `heirs` are the tests that stand for an old one already; without one, several have to hold all that it asserted.
    """
    found: dict[Fingerprint, tuple[Fingerprint, ...]] = {}
    index = Index(fresh)
    taken: set[Fingerprint] = set()
    for old in olds:
        heir = heirs.get(old)
        if heir is not None and not _lost(old, heir):
            continue
        likely = [new for new in index.likely(old.bag, _LIKELY) if new not in taken]
        inside = [new for new in likely if _is_inside(new, old, weights)]
        parts = _parts(old, heir, inside, weights) or (_cases(old, index, taken) if heir is None else ())
        if parts:
            found[old] = parts
            taken.update(parts)
    return found


def _is_inside(new: Fingerprint, old: Fingerprint, weights: Weights) -> bool:
    if len(new.literals & old.literals) < _OWN * len(new.literals):
        return False
    return weights.covered(new.bag, old.bag) >= COVERED


def _lost(old: Fingerprint, heir: Fingerprint) -> bool:
    return heir.test.text != old.test.text and len(heir.test.assertions) < len(old.test.assertions)


def _parts(
    old: Fingerprint, heir: Fingerprint | None, inside: list[Fingerprint], weights: Weights
) -> tuple[Fingerprint, ...]:
    """Return the tests that assert what is missing; where there is no heir, several that do all that it did."""
    if len(inside) < (_ALONE if heir is None else 1):
        return ()
    missing = Counter(old.asserted) - Counter(heir.asserted if heir is not None else {})
    parts = tuple(new for new in inside if _is_part(new, old) and any(each in missing for each in new.asserted))
    return parts if heir is not None or _is_whole(parts, old, missing, weights) else ()


def _is_part(new: Fingerprint, old: Fingerprint) -> bool:
    return sum(each in old.asserted for each in new.asserted) >= _OWN * len(new.asserted)


def _is_whole(parts: tuple[Fingerprint, ...], old: Fingerprint, missing: Counter[Asserted], weights: Weights) -> bool:
    """Tell whether several tests assert together all that an old one did, about the same."""
    asserted = sum((Counter(test.asserted) for test in parts), Counter[Asserted]())
    together = {token: 1 for test in parts for token in test.bag}
    return len(parts) >= _ALONE and not missing - asserted and weights.covered(old.bag, together) >= COVERED


def _cases(old: Fingerprint, index: Index, taken: set[Fingerprint]) -> tuple[Fingerprint, ...]:
    """Return the new tests that are the cases of a parametrized one, nearly all of them."""
    if len(old.rows) < _ALONE:
        return ()
    from ralph_tracker.integrity.merging import Cases  # noqa: PLC0415  where a parametrized test is gone

    cases = Cases(old)
    likely = dict.fromkeys(new for row in old.rows for new in index.likely(row))
    parts = tuple(
        new for new in likely if new not in taken and new.path == old.path and new.test.assertions and cases.take(new)
    )
    return parts if len(parts) >= CASES * len(old.rows) else ()
