"""What changed in a tree since the index was written, within the scope that was frozen when the store was made."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

from ralph_tracker.store.contents.ignoring import IgnoreRules
from ralph_tracker.store.contents.index import Index, Print, Seen, print_of, settled_print
from ralph_tracker.store.contents.reading import TreeReader
from ralph_tracker.store.snapshots import Limits, Skipped
from ralph_tracker.store.tree.capture import Scan, refuse_too_many
from ralph_tracker.store.tree.filter import (
    NESTED,
    PASSED_OVER,
    UNREADABLE,
    file_reason,
    folder_reason,
    kind_reason,
    untracked_reason,
)
from ralph_tracker.store.tree.view import Prints, TreeView

_GIT: Final = ".git"


class ContentScanner:
    """Compare the tree at `root` with an index, and bring that up to it.

    `began` is the time (ns) of the file system before the first look.
    """

    def __init__(self, root: Path, rules: IgnoreRules, limits: Limits, index: Index, began: int) -> None:
        self._root = root
        self._rules = rules
        self._limits = limits
        self._index = index
        self._began = began
        self._walk = _Walk(root, rules, limits, index)

    def scan(self) -> Scan:
        """List what changed; raise StoreError for more files than the limit allows."""
        self._walk = walk = _Walk(self._root, self._rules, self._limits, self._index)
        walk.run()
        removed = tuple(path for path in self._index.files if path not in walk.there)
        refuse_too_many(self._root, len(walk.there), self._limits)
        skipped = tuple(Skipped(path, reason) for path, reason in sorted(walk.skipped.items()))
        prints = self.prints((*walk.added, *removed))
        return Scan(tuple(walk.added), removed, skipped, (), prints)

    def prints(self, paths: Collection[str]) -> Prints:
        """Return what tells whether paths have changed since, as they are now."""
        return TreeView(self._root).prints(paths)

    def empty_folders(self, scan: Scan) -> tuple[str, ...]:  # noqa: ARG002  # the walk that made it has seen them
        """Return the folders that hold nothing at all, sorted."""
        return tuple(sorted(self._walk.empty))

    def take_in(self, scan: Scan, reader: TreeReader) -> None:
        """Read what a scan found new or changed, and make the index the tree. Raises StoreError as the reader does."""
        for path in scan.removed:
            self._index.drop(path)
        for path in scan.added:
            self._index.put(path, Seen(*reader.read(path), self.settled(path)))

    def settled(self, path: str) -> Print | None:
        """Return the print of a file that the last scan found new or changed, None for one to look at again."""
        status = self._walk.added.get(path)
        return None if status is None else settled_print(status, self._began)


class _Walk:
    """Look at every folder of a tree once; links are not followed."""

    def __init__(self, root: Path, rules: IgnoreRules, limits: Limits, index: Index) -> None:
        self._view = TreeView(root)
        self._root = os.fspath(root)
        self._rules = rules
        self._limits = limits
        self._known = index.files
        self._waiting: list[str] = []
        self.there: set[str] = set()
        self.added: dict[str, os.stat_result] = {}
        self.skipped: dict[str, str] = {}
        self.empty: list[str] = []

    def run(self) -> None:
        self._waiting = [""]
        while self._waiting:
            self._look_into(self._waiting.pop())

    def _look_into(self, folder: str) -> None:
        start = f"{folder}/" if folder else ""
        try:
            with os.scandir(f"{self._root}/{folder}") as entries:
                found = list(entries)
        except (FileNotFoundError, NotADirectoryError):  # gone meanwhile: what it held is
            return
        except OSError:
            self.skipped[start] = UNREADABLE
            return
        if not found and folder:
            self.empty.append(folder)
        for entry in found:
            path = start + entry.name
            if entry.name == _GIT:
                self._git_folder(path)
            elif entry.is_dir(follow_symlinks=False):
                self._folder(path, entry.name)
            else:
                self._file(path, entry)

    def _git_folder(self, path: str) -> None:
        """Leave out what git keeps of a repository; that of the tree itself goes without saying."""
        if path != _GIT:
            self.skipped[path] = NESTED

    def _folder(self, path: str, name: str) -> None:
        reason = folder_reason(name)
        if self._rules.leave_out(path, is_folder=True):
            if name not in PASSED_OVER:
                self._name_special(path)
        elif reason is None:
            self._waiting.append(path)
        elif self._view.empty_folders(path) is None:  # without a file nothing is skipped
            self.skipped[f"{path}/"] = reason

    def _name_special(self, folder: str) -> None:
        """Name what nobody could keep also where it is ignored."""
        for path, status in self._view.special_files(PASSED_OVER, folder):
            self.skipped[path] = kind_reason(status) or UNREADABLE

    def _file(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile
            return
        known = self._known.get(path)
        if known is not None and known.print == print_of(status):
            self.there.add(path)
            return
        reason = self._reason(path, status, is_known=known is not None)
        if reason is None:
            self.there.add(path)
            self.added[path] = status
        elif reason:
            self.skipped[path] = reason

    def _reason(self, path: str, status: os.stat_result, *, is_known: bool) -> str | None:
        """Return why a file or link is left out, "" where it is ignored, None where it is kept."""
        kind = kind_reason(status)
        if kind:
            return kind
        if not is_known:
            if self._rules.leave_out(path, is_folder=False):
                return ""
            reason = untracked_reason(path)
            if reason:
                return reason
        return file_reason(path, status, self._limits) or self._unreadable(path, status)

    def _unreadable(self, path: str, status: os.stat_result) -> str | None:
        return None if self._view.is_readable(path, status) else UNREADABLE
