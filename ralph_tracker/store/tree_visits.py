"""Which iterations had which content: an index file by tree, so that finding them does not grow with the loop."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ralph_tracker.store.files import to_json, told_plainly, write_whole
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.reading import read_json


class Visits(NamedTuple):
    """Say how often the line came to a content before, from another one, and when last (None: never)."""

    times: int
    last: int | None


class TreeVisits:
    """Remember the iterations of each content, and count how often a line came to one."""

    def __init__(self, paths: LoopPaths) -> None:
        self.paths = paths

    def remember(self, tree: str, number: int) -> None:
        """Add an iteration to those of a content."""
        known = self.iterations(tree)
        if number not in known:
            path = self._index(tree)
            with told_plainly(path):
                write_whole(path, to_json([*known, number]), self.paths.staging)

    def _index(self, tree: str) -> Path:
        return self.paths.folder / "trees" / tree[:2] / f"{tree}.json"

    def iterations(self, tree: str) -> list[int]:
        """Return the iterations that had a content, in their order."""
        plain = read_json(self._index(tree))
        return [number for number in plain if isinstance(number, int)] if isinstance(plain, list) else []

    def visits(self, tree: str, segments: Sequence[tuple[int, int]]) -> Visits:
        """Count the visits on the line: iterations in a row with one content are a single visit."""
        on_line = [n for n in self.iterations(tree) if any(first <= n <= last for first, last in segments)]
        follows = {last: following[0] for (_, last), following in pairwise(segments)}
        going_on = {follows.get(n, n + 1) for n in on_line}
        starts = [n for n in on_line if n not in going_on]
        return Visits(len(starts), on_line[-1] if on_line else None)
