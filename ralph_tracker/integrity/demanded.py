"""What a changed test demands no longer, and what it demands instead."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.pairing import TestPair
from ralph_tracker.integrity.source_tests import REPEATED, UNREACHED, Assertion, SourceTest, Unparsable


class Replaced(NamedTuple):
    """Hold what stood between two assertions that were kept, and what stands there now."""

    gone: tuple[Assertion, ...]
    fresh: tuple[Assertion, ...]


def changed_tests(file: ChangedFile, evidence: Evidence) -> Iterator[tuple[TestPair, SourceTest]]:
    """Yield the pairs of a file whose test is new or reads otherwise than before, with the test as it is.

    What bears the name of a test outside the tests counts where the report knows it; so do functions beside the tests
    that asserted something.
    """
    for pair in evidence.pairs_in(file):
        new = pair.new
        if new is None or (pair.old is not None and pair.old.text == new.text):
            continue
        if file.is_test or evidence.ids_of(new):
            yield pair, new
    if file.is_test and file.old is not None and file.new is not None:
        yield from _changed_helpers(file.old, file.new)


def _changed_helpers(old: Side, new: Side) -> Iterator[tuple[TestPair, SourceTest]]:
    """Yield the functions beside the tests that asserted something and read otherwise now: tests assert by them."""
    try:
        before, now = {each.name: each for each in old.helpers}, new.helpers
    except Unparsable:
        return
    for each in now:
        was = before.get(each.name)
        if was is not None and was.text != each.text and any(map(is_real, was.assertions)):
            yield TestPair(was, each), each


def is_real(assertion: Assertion) -> bool:
    """Tell whether something can fail an assertion."""
    return assertion.vacuous is None


def is_hollow(assertion: Assertion) -> bool:
    """Tell whether an assertion is reached and can never fail."""
    return assertion.vacuous not in {None, UNREACHED}


def is_repeated(assertion: Assertion) -> bool:
    """Tell whether an assertion asks the same twice, which only what is not the same twice can fail."""
    return assertion.vacuous is None and assertion.strength == REPEATED


def without(assertions: Iterable[Assertion], others: Iterable[Assertion]) -> tuple[Assertion, ...]:
    """Return the assertions that do not stand among the others, each as often as it is missing there."""
    left: dict[str, int] = {}  # a `Counter` takes several times as long, and every changed test is asked often
    for each in others:
        left[each.text] = left.get(each.text, 0) + 1
    missing = []
    for each in assertions:
        if left.get(each.text, 0) > 0:
            left[each.text] -= 1
        else:
            missing.append(each)
    return tuple(missing)


def replaced(old: Sequence[Assertion], new: Sequence[Assertion]) -> Iterator[Replaced]:
    """Yield what was put in the place of what, from one kept assertion to the next, in order."""
    gone, fresh = (Counter(each.text for each in without(one, other)) for one, other in ((old, new), (new, old)))
    before, after = _runs(old, gone), _runs(new, fresh)
    if _keeps_some(old, gone) or _keeps_some(new, fresh):
        one, other = _in_both(old, new)
        told_apart = _runs(old, gone, one), _runs(new, fresh, other)
        if len(told_apart[0]) == len(told_apart[1]):
            before, after = told_apart
    for run, now in zip(before, after, strict=False):
        if run or now:
            yield Replaced(run, now)


def _keeps_some(assertions: Sequence[Assertion], missing: Counter[str]) -> bool:
    """Tell whether of assertions with one text some are kept and some are not."""
    said = Counter(each.text for each in assertions)
    return any(said[text] > count for text, count in missing.items())


def _runs(
    assertions: Sequence[Assertion], missing: Counter[str], kept: frozenset[int] = frozenset()
) -> list[tuple[Assertion, ...]]:
    runs: list[list[Assertion]] = [[]]
    for at, each in enumerate(assertions):
        if missing[each.text] > 0 and at not in kept:
            runs[-1].append(each)
        else:
            runs.append([])
    return [tuple(run) for run in runs]


def _in_both(old: Sequence[Assertion], new: Sequence[Assertion]) -> tuple[frozenset[int], frozenset[int]]:
    """Return which assertions stand in both: of two with one text, the one that stands between the same ones."""
    from difflib import SequenceMatcher  # noqa: PLC0415  where a test says something twice

    before, now = ([each.text for each in side] for side in (old, new))
    same = [one == other for one, other in zip(before, now, strict=False)]
    first = same.index(False) if False in same else len(same)
    ends = [one == other for one, other in zip(reversed(before[first:]), reversed(now[first:]), strict=False)]
    last = ends.index(False) if False in ends else len(ends)
    kept = [(at, at) for at in range(first)]
    kept += [(len(before) - at, len(now) - at) for at in range(1, last + 1)]
    inner = before[first : len(before) - last], now[first : len(now) - last]
    for block in SequenceMatcher(None, *inner, autojunk=False).get_matching_blocks():
        kept += [(first + block.a + at, first + block.b + at) for at in range(block.size)]
    return frozenset(one for one, _ in kept), frozenset(other for _, other in kept)
