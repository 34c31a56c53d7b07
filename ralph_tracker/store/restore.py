"""Make a working tree exactly one that was kept, after keeping what that would destroy.

Only what a snapshot covers is touched. An ignored file in the way of one that is written goes into the safety snapshot
first; what cannot be kept (a socket, the git folder of a nested repository) ends the restore before it began.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ralph_tracker.errors import StoreError
from ralph_tracker.store.notes import Content, Difference, Note
from ralph_tracker.store.snapshots import Begun, shown
from ralph_tracker.store.tree.capture import Captured
from ralph_tracker.store.tree.durable import DurableTreeWriter
from ralph_tracker.store.tree.filter import LEFTOVER, kind_reason
from ralph_tracker.store.tree.view import TreeView


class Kept(Protocol):
    """Answer what a restore asks of a store."""

    def differences(self, before: str, after: str) -> Sequence[Difference]:
        """Compare two trees."""
        ...

    def refuse_damaged(self, object_ids: Sequence[str]) -> None:
        """Raise StoreError where one of the objects cannot be brought back as it was."""
        ...

    def each(self, object_ids: Sequence[str]) -> Iterator[Iterator[bytes]]:
        """Yield the content of each object in chunks; what of it is not read is passed over."""
        ...

    def tree_with(self, tree: str, more: Sequence[str]) -> str:
        """Keep more files than the index has, which stays as it is, and return the tree with them."""
        ...

    def name_safety(self, tree: str, note: Note) -> str:
        """Keep what stands there under the undo id that is returned, durable before anything is touched."""
        ...

    def adopt(self, tree: str) -> Sequence[str]:
        """Make the index a tree that was restored; return the paths that are not what was kept, by their hashes."""
        ...

    def narrow(self, tree: str) -> None:
        """Make the index hold no more than a tree."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """Hold what a restore does.

    `folders` are empty ones to make, `emptied` those to remove where nothing is left in them, `in_the_way` what stands
    where a file will be written without being part of any snapshot: files first, then folders from the innermost.
    """

    writes: tuple[Difference, ...]
    deletes: tuple[str, ...]
    folders: tuple[str, ...]
    emptied: tuple[str, ...]
    in_the_way: tuple[str, ...]
    ways: tuple[str, ...]
    modes: dict[str, int]

    @property
    def touched(self) -> Iterator[str]:
        """Yield the files whose permission bits the safety snapshot has to hold."""
        yield from (item.path for item in self.writes)
        yield from self.deletes
        yield from self.in_the_way


def restore_tree(kept: Kept, root: Path, now: Captured, goal: Content, begun: Begun | None) -> str:
    """Make the tree at `root`, which stands as `now`, the kept one, and return the id that undoes it."""
    if not now.quiescent:
        raise StoreError(f"{root} is being written to: stop what writes there, then restore again")
    plan = plan_restore(kept, root, now, goal)
    undo_id = kept.name_safety(kept.tree_with(now.tree, plan.in_the_way), safety_note(root, now, plan))
    if begun is not None:
        begun(undo_id, now.tree)
    carry_out(kept, root, plan, undo_id)
    adopt(kept, goal, undo_id)
    return undo_id


def plan_restore(kept: Kept, root: Path, now: Captured, goal: Content) -> Plan:
    """Compare the tree as it stands with what it shall be.

    Raises StoreError, with nothing touched, for what is in the way and cannot be kept, and for damaged objects.
    """
    note = goal.note or Note()
    found = kept.differences(now.tree, goal.tree)
    spared = {skip.path for skip in note.skipped}
    deletes = [item.path for item in found if item.status == "D" and item.path not in spared]
    deletes += [skip.path for skip in now.skipped if skip.reason == LEFTOVER]
    writes = tuple(item for item in found if item.status != "D")
    kept.refuse_damaged([item.new_id for item in writes])
    gone = set(now.empty_directories) - set(note.empty_directories) if goal.note else set()
    known = {*deletes, *(item.path for item in writes if item.status != "A")}
    folders, files = _in_the_way(TreeView(root), [item.path for item in writes], note.empty_directories, known)
    return Plan(
        writes=writes,
        deletes=tuple(deletes),
        folders=note.empty_directories,
        emptied=_deepest_first([*_parents(deletes), *_parents(gone), *gone]),
        in_the_way=files,
        ways=folders,
        modes=dict(note.modes),
    )


def safety_note(root: Path, now: Captured, plan: Plan) -> Note:
    """Return the note of the safety snapshot, which brings back all that the plan destroys."""
    view = TreeView(root)
    modes = {}
    for path in plan.touched:
        status = view.status(path)
        if status and stat.S_ISREG(status.st_mode):
            modes[path] = stat.S_IMODE(status.st_mode) & 0o777
    empty = {path for way in plan.ways for path in view.empty_folders(way) or ()}
    return Note(
        message="before a restore",
        skipped=now.skipped,
        empty_directories=tuple(sorted({*now.empty_directories, *empty})),
        modes=modes,
        scope=now.tree,
    )


def carry_out(kept: Kept, root: Path, plan: Plan, undo_id: str) -> None:
    """Change the working tree durably; raise StoreError naming the undo id where the system refuses."""
    try:
        with DurableTreeWriter(root) as writer:
            for path in (*plan.deletes, *plan.in_the_way):
                writer.remove(path)
            for path in (*plan.ways, *plan.emptied):
                writer.remove_folder(path)
            blobs = kept.each([item.new_id for item in plan.writes])
            for item, chunks in zip(plan.writes, blobs, strict=True):
                writer.write(item.path, item.new_mode, chunks, plan.modes.get(item.path))
            for path in plan.folders:
                writer.make_folder(path)
    except OSError as error:
        where = shown(error.filename) if isinstance(error.filename, str) else root
        raise StoreError(
            f"the restore stopped at {where} ({error.strerror}): mend that, then undo {undo_id} or restore again"
        ) from error


def adopt(kept: Kept, goal: Content, undo_id: str) -> None:
    """Make the index the restored tree and compare every hash; raise StoreError where a file is not what was kept."""
    wrong = kept.adopt(goal.tree)
    if wrong:
        raise StoreError(
            f"{shown(wrong[0])} is not what was kept after the restore, {len(wrong)} in all: stop what writes to the "
            f"tree, then undo {undo_id} or restore again"
        )
    if goal.note and goal.note.scope:
        kept.narrow(goal.note.scope)


def _in_the_way(
    view: TreeView, writes: Sequence[str], wanted: Sequence[str], known: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folders and the files that no snapshot has, where a file is written or an empty folder is wanted."""
    files: dict[str, None] = {}
    folders: dict[str, None] = {}
    blockers = [*(_blocker(view, path) for path in writes), *(_not_folder(view, path) for path in wanted)]
    for blocker in blockers:
        if blocker is None or blocker in known:
            continue
        for path, status in view.walk(blocker):
            if stat.S_ISDIR(status.st_mode):
                folders[path] = None
            elif path not in known:
                _refuse_unkept(view, path, status)
                files[path] = None
    return _deepest_first(folders), tuple(files)


def _blocker(view: TreeView, path: str) -> str | None:
    """Return what stands at a path or in the place of one of its parent folders, None where nothing does."""
    return path if view.is_folder(path) else _not_folder(view, path)


def _not_folder(view: TreeView, path: str) -> str | None:
    """Return what stands in the place of a folder or of one of its parents, None where nothing does."""
    parts = path.split("/")
    steps = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    step = next((step for step in steps if not view.is_folder(step)), None)
    return step if step is not None and view.status(step) else None


def _refuse_unkept(view: TreeView, path: str, status: os.stat_result) -> None:
    reason = kind_reason(status)
    if reason is None and ".git" in path.lower().split("/"):
        reason = "part of a nested repository"
    if reason is None and not view.is_readable(path, status):
        reason = "not readable"
    if reason:
        raise StoreError(f"{shown(path)} is in the way and cannot be kept ({reason}): move it away, then restore again")


def _parents(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        parts = path.split("/")
        yield from ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _deepest_first(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(paths), key=lambda path: (-path.count("/"), path)))
