"""What is new in a file: what it had before, or what left another file of the same change, is not."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Protocol, TypeVar

from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.source_tests import Unparsable


class Keyed(Protocol):
    """Be something seen in a source; equal keys are the same thing, wherever it stands."""

    @property
    def key(self) -> Hashable:
        """Return what it is known by."""


Seen = TypeVar("Seen", bound=Keyed)


def fresh(file: ChangedFile, evidence: Evidence, seen_in: Callable[[Side], Iterable[Seen]]) -> Iterator[Seen]:
    """Yield what stands in the new text, and neither in the old nor in what other files lost. Raises Unparsable."""
    if file.new is None:
        return
    left = list(_without(list(seen_in(file.new)), _keys(file.old, seen_in)))
    if left:
        moved: Counter[Hashable] = Counter()
        for other in evidence.files:
            if other.path != file.path:
                moved += _keys(other.old, seen_in) - _keys(other.new, seen_in)
        yield from _without(left, moved)


def _keys(side: Side | None, seen_in: Callable[[Side], Iterable[Seen]]) -> Counter[Hashable]:
    try:
        return Counter(each.key for each in seen_in(side)) if side is not None else Counter()
    except Unparsable:
        return Counter()


def _without(found: Iterable[Seen], known: Counter[Hashable]) -> Iterator[Seen]:
    left = known.copy()
    for each in found:
        if left[each.key] > 0:
            left[each.key] -= 1
        else:
            yield each


def added_lines(file: ChangedFile) -> Iterator[tuple[int, str]]:
    """Yield the lines that the old text does not have, with their numbers; moved and indented ones are not new."""
    if file.new is None:
        return
    known = Counter(line.strip() for line in file.old.lines) if file.old is not None else Counter()
    for number, line in enumerate(file.new.lines, 1):
        bare = line.strip()
        if known[bare] > 0:
            known[bare] -= 1
        else:
            yield number, line
