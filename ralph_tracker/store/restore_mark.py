"""The mark of a restore that has begun, so that one whose call was killed is ended by the next call."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from ralph_tracker.errors import StoreError
from ralph_tracker.store.files import to_json, told_plainly, write_whole
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.reading import read_json
from ralph_tracker.store.snapshots.exclusions import LEFTOVER
from ralph_tracker.store.snapshots.store import SnapshotStore
from ralph_tracker.store.snapshots.values import Begun, Skipped
from ralph_tracker.store.snapshots.working_tree import TreeWriter
from ralph_tracker.store.summary import SCHEMA_VERSION


class Restoring(NamedTuple):
    """A restore that has begun: what it brings back, from which tree on, the id that undoes it, and when it began.

    `number` is the iteration that the lineage goes on from then, None where the lineage stays.
    """

    goal: str
    before: str
    undo: str
    number: int | None
    at: str


class RestoreMark:
    """Keep the mark of a loop's restore in a file; at most one is under way."""

    def __init__(self, paths: LoopPaths) -> None:
        self._paths = paths
        self._file = paths.restoring

    @contextmanager
    def marked(self, goal: str, number: int | None) -> Iterator[Begun]:
        """Yield what marks the restore as begun; one that is refused is over, and the line stays."""

        def begun(undo: str, before: str) -> None:
            plain = {"schema_version": SCHEMA_VERSION, "goal": goal, "before": before, "undo": undo, "number": number}
            write_whole(self._file, to_json(plain), self._paths.staging)

        try:
            yield begun
        except StoreError:
            self.clear()
            raise

    def clear(self) -> None:
        """Take the mark away. Raises StoreError where the disk refuses."""
        with told_plainly(self._file):
            self._file.unlink(missing_ok=True)

    def resumed(self, store: SnapshotStore) -> Restoring | None:
        """Bring a killed restore to its end, and return it; None where none was begun or nothing was written yet.

        A tree that has been worked on since, which is neither what stood there nor what was coming, is left as it is,
        but for the temporary files that had no name yet.
        """
        found = self._read()
        if found is None:
            return None
        now = store.snapshot()
        self._clear_leftovers(now.skipped)
        done = set(store.changes(found.before, now.tree))
        whole = set(store.changes(found.before, found.goal))
        if whole and not done:
            return None
        if done <= whole:
            with self.marked(found.goal, found.number):
                store.restore(found.goal)
        return found

    def _clear_leftovers(self, skipped: Iterable[Skipped]) -> None:
        with told_plainly(self._paths.root), TreeWriter(self._paths.root) as writer:
            for skip in skipped:
                if skip.reason == LEFTOVER:
                    writer.remove(skip.path)

    def _read(self) -> Restoring | None:
        plain = read_json(self._file)
        try:
            began = datetime.fromtimestamp(self._file.stat().st_mtime, UTC)
            at = began.isoformat(timespec="seconds").replace("+00:00", "Z")
            return Restoring(plain["goal"], plain["before"], plain["undo"], plain["number"], at)
        except (FileNotFoundError, KeyError, TypeError):
            return None
