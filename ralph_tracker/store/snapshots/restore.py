"""Restore a working tree to a kept state, after saving whatever that would destroy.

Only what a snapshot covers is touched, and nothing that is not the loop's any more: a file that is ignored since it was
kept stays as it is. An ignored file in the way of a written one is added to the safety snapshot; anything that cannot
be kept (a socket, the git folder of a nested repository) aborts the restore before it begins.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.exclusions import LEFTOVER, REPOSITORY, UNREADABLE, kind_reason
from ralph_tracker.store.snapshots.index import CapturedTree, Index, Scanner, SeenFile
from ralph_tracker.store.snapshots.objects import hash_only
from ralph_tracker.store.snapshots.snapshot_types import (
    EXEC_MODE,
    SAFETY,
    WHOLE_TREE,
    Begun,
    Content,
    Entry,
    Note,
    is_of_loops,
    shown,
    undo_id_of,
)
from ralph_tracker.store.snapshots.trees import KeptTrees, encode_snapshot
from ralph_tracker.store.snapshots.working_tree_io import LeftOutError, TreeReader, TreeView, TreeWriter

# What is not looked into, so that nothing can be written there: how an error calls it, and what to do.
_CLOSED: Final = {
    UNREADABLE: ("cannot be read", "make it readable"),
    REPOSITORY: ("is a repository of its own now", "move it away"),
}


class Steps(NamedTuple):
    """The steps of a restore.

    `folders` are empty ones to create, `emptied` those to remove if empty, `in_the_way` paths outside of all snapshots
    where a file will be written: files first, then folders from the innermost. `modes` are those of written files,
    `private` those of folders before anything is written into them, `others` those of what is not written.
    """

    writes: tuple[Entry, ...]
    deletes: tuple[str, ...]
    folders: tuple[str, ...]
    emptied: tuple[str, ...]
    in_the_way: tuple[str, ...]
    ways: tuple[str, ...]
    modes: Mapping[str, int]
    private: Mapping[str, int]
    others: Mapping[str, int]


class Restore:
    """A restore of the tree at `root`.

    `index` is the store's, `scanner_for` compares the tree with an index, `save` stores a new index.
    """

    def __init__(
        self,
        root: Path,
        kept: KeptTrees,
        index: Index,
        scanner_for: Callable[[Index], Scanner],
        save: Callable[[Index], None],
    ) -> None:
        self._root = root
        self._kept = kept
        self._index = index
        self._scanner_for = scanner_for
        self._leaves_alone = scanner_for(index).leaves_alone
        self._left_alone: set[str] = set()
        self._save = save

    def run(self, now: CapturedTree, goal: Content, begun: Begun | None) -> str:
        """Turn the tree, now `now`, into `goal`, and return the id that undoes it."""
        if not now.quiescent:
            raise StoreError(f"{self._root} is being written to: stop what writes there, then restore again")
        steps = self.steps_to(now, goal)
        view = TreeView(self._root)
        modes = {}
        for path in (*(entry.path for entry in steps.writes), *steps.deletes, *steps.in_the_way, *steps.others):
            status = view.status(path.rstrip("/"))
            if status and (stat.S_ISREG(status.st_mode) or path.endswith("/")):
                modes[path] = status.st_mode & 0o777
        for folder in (*steps.emptied, *steps.ways):
            status = view.status(folder)
            if status and not status.st_mode & 0o077:
                modes[f"{folder}/"] = status.st_mode & 0o777
        empty = {path for way in steps.ways for path in view.empty_folders(way) or ()}
        note = Note(
            message="before a restore",
            skipped=now.skipped,
            empty_directories=tuple(sorted({*now.empty_directories, *empty})),
            modes=modes,
            scope=now.tree,
        )
        # The tree as it is now is kept durably before anything changes.
        commit = self._kept.objects.add(encode_snapshot(self._tree_with(now.tree, steps.in_the_way), note))
        self._kept.objects.publish()
        self._save(self._index)
        undo_id = undo_id_of(commit)
        self._kept.names.write(f"{SAFETY}{undo_id}", commit)
        if begun is not None:
            begun(undo_id, now.tree)
        self._carry_out(steps, undo_id)
        wrong = self._adopt(goal.tree)
        if wrong:
            raise StoreError(
                f"{shown(wrong[0])} is not what was kept after the restore, {len(wrong)} in all: stop what writes to "
                f"the tree, then undo {undo_id} or restore again"
            )
        if goal.note and goal.note.scope:
            # What the restored snapshot did not cover goes back out of the index.
            for change in self._kept.changes(self._index.write(self._kept.objects.add), goal.note.scope):
                if change.new_id is None:
                    self._index.drop(change.path)
            self._index.write(self._kept.objects.add)
            self._save(self._index)
        return undo_id

    def steps_to(self, now: CapturedTree, goal: Content) -> Steps:
        """Compare the current tree with the goal.

        Raises StoreError before anything is touched, for files in the way that cannot be kept and for damaged objects.
        """
        note = goal.note or Note()
        found = self._kept.changes(now.tree, goal.tree)
        spared = {skip.path.rstrip("/") for skip in note.skipped}
        view = TreeView(self._root)
        self._left_alone = {item.path for item in found if view.status(item.path) and self._leaves_alone(item.path)}
        found = tuple(item for item in found if item.path not in self._left_alone)
        deletes = [item.path for item in found if item.status == "D" and spared.isdisjoint(_way_to(item.path))]
        deletes += [skip.path for skip in now.skipped if skip.reason == LEFTOVER]
        writes = tuple(Entry(item.path, item.new_mode, item.new_id) for item in found if item.new_mode and item.new_id)
        own = next((item.path for item in writes if is_of_loops(item.path)), None)
        if own is not None:
            raise StoreError(
                f"{shown(own)}: no snapshot of ralph-tracker contains that; nothing was changed, do not use this store"
            )
        closed = {skip.path.rstrip("/"): skip.reason for skip in now.skipped if skip.reason in _CLOSED}
        below = next((way for item in writes for way in _way_to(item.path) if way in closed), None)
        if below is not None:
            why, remedy = _CLOSED[closed[below]]
            raise StoreError(f"{shown(below)} {why}, nothing was changed: {remedy}, then restore again")
        damaged = sum(not self._kept.objects.is_intact(object_id) for object_id in {item.object_id for item in writes})
        if damaged:
            raise StoreError(
                f"{damaged} kept files are missing or damaged, nothing was changed: run `ralph-tracker verify`"
            )
        gone = set(now.empty_directories) - set(note.empty_directories) if goal.note else set()
        known = {*deletes, *(item.path for item in found if item.status in {"M", "T"})}
        folders, files = _in_the_way(view, [item.path for item in writes], note.empty_directories, known)
        return Steps(
            writes=writes,
            deletes=tuple(deletes),
            folders=note.empty_directories,
            emptied=_deepest_first([*_parents(deletes), *_parents(gone), *gone]),
            in_the_way=files,
            ways=folders,
            **self._modes_of(note, writes, view),
        )

    def _modes_of(self, note: Note, writes: Sequence[Entry], view: TreeView) -> dict[str, Mapping[str, int]]:
        """Return the modes that a note asks for, as the steps have them."""
        modes, whole = dict(note.modes), WHOLE_TREE in note.modes
        files = {entry.path: 0o700 if entry.mode == EXEC_MODE else 0o600 for entry in writes} if whole else {}
        made = {f"{folder}/" for folder in (*_parents(entry.path for entry in writes), *note.empty_directories)}
        private = {path: modes.get(path, 0o700) for path in made if whole or path in modes}
        others = {}
        for path, bits in modes.items():
            status = view.status(path.rstrip("/")) if path not in private and path != WHOLE_TREE else None
            is_there = status and (stat.S_ISDIR if path.endswith("/") else stat.S_ISREG)(status.st_mode)
            if status and is_there and status.st_mode & 0o777 != bits and not self._leaves_alone(path.rstrip("/")):
                others[path] = bits
        written = {entry.path for entry in writes}
        return {
            "modes": {**files, **modes},
            "private": dict(sorted(private.items())),
            "others": {path: bits for path, bits in others.items() if path not in written},
        }

    def _tree_with(self, tree: str, more: Sequence[str]) -> str:
        """Keep more files than the index has, without changing it, and return the tree with them."""
        if not more:
            return tree
        index = self._index.copy()
        with TreeReader(self._root, self._kept.objects.take) as reader:
            for path in more:
                index.put(path, SeenFile(*reader.read(path), None))
        return index.write(self._kept.objects.add)

    def _carry_out(self, steps: Steps, undo_id: str) -> None:
        """Change the working tree durably; raise StoreError naming the undo id if the system refuses."""
        try:
            with TreeWriter(self._root, durable=True) as writer:
                for path in (*steps.deletes, *steps.in_the_way):
                    writer.remove(path)
                for path in (*steps.ways, *steps.emptied):
                    writer.remove_folder(path)
                for path, bits in steps.private.items():
                    writer.make_folder(path.rstrip("/"))
                    writer.set_mode(path.rstrip("/"), bits)
                for entry in steps.writes:
                    chunks = self._kept.objects.chunks(entry.object_id)
                    writer.write(entry.path, entry.mode, chunks, steps.modes.get(entry.path))
                for path in steps.folders:
                    writer.make_folder(path)
                for path, bits in steps.others.items():
                    writer.set_mode(path.rstrip("/"), bits)
        except OSError as error:
            where = shown(error.filename) if isinstance(error.filename, str) else self._root
            raise StoreError(
                f"the restore stopped at {where} ({error.strerror}): fix that, then undo {undo_id} or restore again"
            ) from error

    def _adopt(self, tree: str) -> Sequence[str]:
        """Set the index to a restored tree; return the paths whose content differs from it."""
        goal = self._index.copy()
        for change in self._kept.changes(goal.write(self._kept.objects.add), tree):
            if change.new_mode is None or change.new_id is None or change.size is None:
                goal.drop(change.path)
            else:
                goal.put(change.path, SeenFile(change.new_mode, change.new_id, change.size, None))
        scanner = self._scanner_for(goal)
        scan = scanner.scan()
        found = ((path, goal.get(path)) for path in scan.paths if path not in self._left_alone)
        touched = {path: seen for path, seen in found if seen}  # ignored: as removed
        with TreeReader(self._root, hash_only) as reader:
            wrong = [path for path, seen in touched.items() if _read(reader, path) != seen[:-1]]
        if not wrong:
            for path, seen in touched.items():
                goal.put(path, seen._replace(print=scanner.settled_print(path)))
            goal.write(self._kept.objects.add)
            self._index.folders, self._index.is_saved = goal.folders, False
            self._save(self._index)
        return sorted(wrong)


def _read(reader: TreeReader, path: str) -> tuple[str, str, int] | None:
    try:
        return reader.read(path)
    except (StoreError, LeftOutError):
        return None


def _in_the_way(
    view: TreeView, writes: Sequence[str], wanted: Sequence[str], known: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folders and files outside of all snapshots that are in the way of files or empty folders to write."""
    files: dict[str, None] = {}
    folders: dict[str, None] = {}
    blockers = [
        *(path if view.is_folder(path) else _not_folder(view, path) for path in writes),
        *(_not_folder(view, path) for path in wanted),
    ]
    for blocker in blockers:
        if blocker is None or blocker in known:
            continue
        for path, status in view.walk(blocker):
            if stat.S_ISDIR(status.st_mode):
                folders[path] = None
            elif path not in known:
                reason = kind_reason(status)
                if reason is None and ".git" in path.lower().split("/"):
                    reason = "part of a nested repository"
                if reason is None and not (stat.S_ISLNK(status.st_mode) or os.access(f"{view.root}/{path}", os.R_OK)):
                    reason = "not readable"
                if reason is not None:
                    raise StoreError(
                        f"{shown(path)} is in the way and cannot be kept ({reason}): move it away, then restore again"
                    )
                files[path] = None
    return _deepest_first(folders), tuple(files)


def _not_folder(view: TreeView, path: str) -> str | None:
    """Return the path of a folder, or that of its parents, which is not a folder, None if there is none."""
    parts = path.split("/")
    steps = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    step = next((step for step in steps if not view.is_folder(step)), None)
    return step if step is not None and view.status(step) else None


def _way_to(path: str) -> tuple[str, ...]:
    """Return a path after its parents."""
    return (*_parents([path]), path)


def _parents(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        parts = path.split("/")
        yield from ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _deepest_first(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(paths), key=lambda path: (-path.count("/"), path)))
