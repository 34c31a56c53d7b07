"""What changed in a tree since the index was written, within the scope that was frozen when the store was made."""

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from ralph_tracker.store.contents.ignoring import IgnoreRules
from ralph_tracker.store.contents.index import Index, Print, Seen, settled_print
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
from ralph_tracker.store.tree.reader import TreeReader
from ralph_tracker.store.tree.view import Prints, TreeView

_GIT: Final = ".git"
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOTHING: Final[Mapping[str, Print | None]] = {}


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
        removed = tuple(walk.removed)
        refuse_too_many(self._root, walk.count, self._limits)
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
        self._known = index.folders
        self._waiting: list[str] = []
        self.count = 0
        self.added: dict[str, os.stat_result] = {}
        self.removed: list[str] = []
        self.skipped: dict[str, str] = {}
        self.empty: list[str] = []

    def run(self) -> None:
        self._waiting = [""]
        seen = set()
        while self._waiting:
            folder = self._waiting.pop()
            seen.add(folder)
            self._look_into(folder)
        for folder in self._known.keys() - seen:
            self._remove(f"{folder}/", self._known[folder].prints)

    def _look_into(self, folder: str) -> None:
        start = f"{folder}/" if folder else ""
        listed = self._known.get(folder)
        known = listed.prints if listed else _NOTHING
        try:
            descriptor = os.open(f"{self._root}/{folder}", _FOLDER)
        except (FileNotFoundError, NotADirectoryError):  # gone meanwhile: what it held is
            self._remove(start, known)
            return
        except OSError:
            self._remove(start, known)
            self.skipped[start] = UNREADABLE
            return
        try:
            with os.scandir(descriptor) as entries:
                same = self._compare(start, entries, known)
        finally:
            os.close(descriptor)
        self.count += len(same)
        if len(same) != len(known):
            self._remove(start, known.keys() - same)

    def _compare(self, start: str, entries: Iterable[os.DirEntry[str]], known: Mapping[str, Print | None]) -> list[str]:
        """Return the names of the files that stay in the tree as they are.

        Here all files pass by: what costs a microsecond costs a hundredth of a second in a tree of ten thousand.
        """
        same = []
        is_empty = True
        for entry in entries:
            is_empty = False
            name = entry.name
            wanted = known.get(name)
            if wanted is not None:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:  # gone meanwhile
                    continue
                if wanted == (status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns):
                    same.append(name)
                    continue
            self._other(start + name, entry, is_known=name in known)
        if is_empty and start:
            self.empty.append(start[:-1])
        return same

    def _other(self, path: str, entry: os.DirEntry[str], *, is_known: bool) -> None:
        """Look at what is not as the index has it."""
        if entry.name == _GIT:
            self._git_folder(path)
        elif entry.is_dir(follow_symlinks=False):
            self._folder(path, entry.name)
        else:
            self._file(path, entry, is_known=is_known)

    def _remove(self, start: str, names: Iterable[str]) -> None:
        """Name files of the index that are not in the tree any more; those with another content still are."""
        self.removed += [path for path in (start + name for name in names) if path not in self.added]

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

    def _file(self, path: str, entry: os.DirEntry[str], *, is_known: bool) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile
            return
        reason = self._reason(path, status, is_known=is_known)
        if reason is None:
            self.count += 1
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
