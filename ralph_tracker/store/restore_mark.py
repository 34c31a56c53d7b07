"""Restores of a working tree that were interrupted: the mark that one leaves, and what can be done about it.

The mark is written once the files from before are kept, before any file is touched, and removed once the restore is in
the event log.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict

from ralph_tracker.errors import LoopError, NoSnapshotError, StoreError
from ralph_tracker.safe_files import AGAIN, as_store_error, write_whole
from ralph_tracker.store.json_documents import read_json, read_lines, to_json
from ralph_tracker.store.layout import SCHEMA_VERSION, LoopPaths
from ralph_tracker.store.lock import holder_of
from ralph_tracker.store.snapshots.exclusions import LEFTOVER
from ralph_tracker.store.snapshots.snapshot_types import SAFETY
from ralph_tracker.store.snapshots.working_tree_io import TreeWriter

if TYPE_CHECKING:
    from ralph_tracker.store.snapshots.store import SnapshotStore

_RESTORE: Final = "`ralph-tracker restore {}`"


class BegunRestore(NamedTuple):
    """A restore that has begun: the tree it brings back, the tree before it, its undo id, and when it began.

    `number` is the iteration that the lineage continues from, None if the lineage is unchanged. `first` is the undo id
    of an interrupted restore that this one took the place of, after files were edited; None if there was none. `logged`
    is the number of events before it.
    """

    goal: str
    before: str
    undo: str
    number: int | None
    at: str
    first: str | None = None
    logged: int = 0

    @property
    def undo_ids(self) -> "UndoIds":
        """Return the ids that lead back from this restore."""
        return UndoIds(self.undo) if self.first is None else UndoIds(self.first, self.undo)

    @property
    def what(self) -> str:
        """Return what was interrupted, in words."""
        undone = self.goal.removeprefix(SAFETY)
        return f"a restore of iteration {self.number}" if undone == self.goal else f"the undo of {undone}"

    @property
    def ways_out(self) -> str:
        """Return the commands that finish it and that go back."""
        undone = self.goal.removeprefix(SAFETY)
        finish = _RESTORE.format(self.number if undone == self.goal else f"--undo {undone}")
        return f"finish it with {finish}, or go back with {_RESTORE.format(f'--undo {self.undo_ids.undo}')}"


class UndoIds(NamedTuple):
    """The id that brings back the files from before a restore.

    If that took the place of an interrupted one after files were edited, `undo` is from before the interrupted one, and
    `edits` brings back the edited files.
    """

    undo: str
    edits: str | None = None


class InterruptedRestoreDocument(TypedDict):
    """`iteration` is null where an undo was interrupted; `undo` brings back the files from before."""

    iteration: int | None
    at: str
    undo: str


def interrupted_document(found: BegunRestore | None) -> InterruptedRestoreDocument | None:
    """Return an interrupted restore as a document."""
    if found is None:
        return None
    number = None if found.goal.startswith(SAFETY) else found.number
    return {"iteration": number, "at": found.at, "undo": found.undo_ids.undo}


def interrupted_restore(paths: LoopPaths) -> BegunRestore | None:
    """Return the restore that was interrupted, None if there is none or a writer is at work. Nothing is written."""
    found = RestoreMark(paths).read()
    if found is None or holder_of(paths.lock) is not None or is_recorded(found, paths):
        return None
    return found


def is_recorded(restoring: BegunRestore, paths: LoopPaths) -> bool:
    """Return whether a restore is in the event log; then only its mark was left.

    Only later events count: a tree that was restored before has the same undo id again.
    """
    later = read_lines(paths.events)[restoring.logged :]
    return any(isinstance(event, dict) and event.get("undo") == restoring.undo_ids.undo for event in later)


class RestoreMark:
    """The mark on disk of a loop's restore in progress; there is at most one."""

    def __init__(self, paths: LoopPaths) -> None:
        self._paths = paths
        self._file = paths.restoring

    def clear(self) -> None:
        """Remove the mark. Raises StoreError if the disk refuses."""
        with as_store_error(self._file, AGAIN):
            self._file.unlink(missing_ok=True)

    def read(self) -> BegunRestore | None:
        """Return the marked restore, None if there is none or its mark is damaged."""
        plain = read_json(self._file)
        try:
            at = datetime.fromtimestamp(self._file.stat().st_mtime, UTC).isoformat(timespec="seconds")
            goal, before, undo, number = (plain[key] for key in ("goal", "before", "undo", "number"))
        except (FileNotFoundError, KeyError, TypeError):
            return None
        at = at.replace("+00:00", "Z")
        return BegunRestore(goal, before, undo, number, at, plain.get("first"), plain.get("logged", 0))

    def restore(self, store: "SnapshotStore", goal: str, number: int | None) -> UndoIds:
        """Restore the tree under a mark, and return the ids that undo it.

        An interrupted restore is finished if it had the same goal. Else, unless files were edited since, the files from
        before it come back first, so that the id returned leads to them.
        """
        found = self.read()
        first = None
        if found is not None:
            first = found.first
            if self._is_edited(store, found):
                first = found.undo_ids.undo if goal != f"{SAFETY}{found.undo_ids.undo}" else None
            elif found.goal == goal:
                store.restore(goal)
                return found.undo_ids
            else:
                store.restore(f"{SAFETY}{found.undo}")

        logged = len(read_lines(self._paths.events))

        def begun(undo: str, before: str) -> None:
            plain = {"goal": goal, "before": before, "undo": undo, "number": number, "first": first, "logged": logged}
            write_whole(self._file, to_json({"schema_version": SCHEMA_VERSION, **plain}), self._paths.staging)

        undo = store.restore(goal, begun)
        return UndoIds(undo) if first is None else UndoIds(first, undo)

    def resume(self, store: "SnapshotStore") -> BegunRestore | None:
        """Finish an interrupted restore and return it; None if it had not touched a file.

        Also None if the store has lost both ways out, as `verify` tells. Raises LoopError if files were edited since: a
        person decides then.
        """
        found = self.read()
        if found is None or not any(_is_whole(store, way) for way in (found.goal, f"{SAFETY}{found.undo_ids.undo}")):
            return None
        if self._is_edited(store, found):
            raise LoopError(f"{found.what} was interrupted, and files were edited since: {found.ways_out}")
        if store.changes(found.before, found.goal) and not store.look(found.before)[1]:
            return None
        store.restore(found.goal)
        return found

    def _is_edited(self, store: "SnapshotStore", found: BegunRestore) -> bool:
        """Return whether a file is neither as before the restore nor as it makes it; remove its temporary files.

        Where that cannot be told, every file may be edited.
        """
        now = store.snapshot()
        with as_store_error(self._paths.root), TreeWriter(self._paths.root) as writer:
            for skip in now.skipped:
                if skip.reason == LEFTOVER:
                    writer.remove(skip.path)
        try:
            before, goal = (
                {change.path for change in store.changes(tree, now.tree)} for tree in (found.before, found.goal)
            )
        except (NoSnapshotError, StoreError):
            return True  # damaged: what stands there may be all that is left
        return not before.isdisjoint(goal)


def _is_whole(store: "SnapshotStore", content: str) -> bool:
    try:
        return not store.verify(content)
    except (NoSnapshotError, StoreError):
        return False
