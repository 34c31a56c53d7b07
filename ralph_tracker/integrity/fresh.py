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
    seen = list(seen_in(file.new))
    left = list(_without(seen, _keys(file.old, seen_in))) if seen else []
    if left:
        lost = evidence.once(seen_in, lambda: _lost(evidence.files, seen_in))
        yield from _without(left, lost - _lost([file], seen_in))


def _lost(files: Iterable[ChangedFile], seen_in: Callable[[Side], Iterable[Seen]]) -> Counter[Hashable]:
    """Return how often each thing left the files that have less of it now."""
    lost: Counter[Hashable] = Counter()
    for file in files:
        lost += _keys(file.old, seen_in) - _keys(file.new, seen_in)
    return lost


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
