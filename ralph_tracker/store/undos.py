"""List what restores have kept before they began, so that a lost undo id can be found again."""

from datetime import UTC, datetime
from typing import TypedDict

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.iteration_files import IterationFiles
from ralph_tracker.store.restoring import interrupted_restore
from ralph_tracker.store.snapshots.values import ITERATIONS, SAFETY


class UndoDocument(TypedDict):
    """`iteration` is the one that differs least, in `changed` files; they and `files` are null where that is lost."""

    undo: str
    at: str
    iteration: int | None
    changed: int | None
    files: int | None
    interrupted: bool


class UndoIndex(IterationFiles):
    """The files of a loop, only read, to list its undo ids."""

    def listed(self) -> tuple[UndoDocument, ...]:
        """Return the undo ids, the newest first. Raises StoreError if the store cannot be read.

        `files` counts all files that the id brings back, `at` is when they were kept. `interrupted` is whether the
        restore that kept them was interrupted.
        """
        self._refuse_none(0)
        names = self._store.references()
        marked = interrupted_restore(self.paths)
        ids = () if marked is None else marked.undo_ids
        trees = {
            int(name.removeprefix(ITERATIONS)): tree
            for name in names
            if name.startswith(ITERATIONS) and (tree := self._tree_of(name)) is not None
        }
        safeties = {name: self._store.named_at(name) for name in names if name.startswith(SAFETY)}
        newest_first = sorted(safeties, key=lambda name: (-safeties[name], name))
        found: list[UndoDocument] = []
        for name in newest_first:
            undo_id, scope = name.removeprefix(SAFETY), self._tree_of(name)
            time = datetime.fromtimestamp(safeties[name], UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            files = changed = number = None
            if scope is not None:
                files = len(self._store.paths(name))
                differing = {each: len(self._store.changes(tree, scope)) for each, tree in trees.items()}
                number = min(differing, key=lambda each: (differing[each], -each), default=None)
                changed = None if number is None else differing[number]
            found.append(
                {
                    "undo": undo_id,
                    "at": time,
                    "iteration": number,
                    "changed": changed,
                    "files": files,
                    "interrupted": undo_id in ids,
                }
            )
        return tuple(found)

    def _tree_of(self, name: str) -> str | None:
        try:
            return self._store.scope_of(name)
        except (NoSnapshotError, StoreError):
            return None
