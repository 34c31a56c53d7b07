"""Find what changed in a tree since the index was written, retrying until the tree is stable.

The scope (ignore rules, and the ignored files that git tracks) was frozen when the store was created.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import starmap
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.exclusions import (
    NESTED,
    PASSED_OVER,
    SECRET,
    UNREADABLE,
    file_reason,
    folder_reason,
    kind_reason,
    untracked_reason,
)
from ralph_tracker.store.snapshots.index import Index, Print, Seen, stable_print
from ralph_tracker.store.snapshots.scope import Scope, tracked_files
from ralph_tracker.store.snapshots.values import Skipped, SnapshotLimits
from ralph_tracker.store.snapshots.working_tree import LeftOutError, Prints, TreeReader, TreeView, print_of

_GIT: Final = ".git"
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOTHING: Final[Mapping[str, Print | None]] = {}
_TRIES: Final = 3
_WHILE_MOVING: Final = 30


class Scan(NamedTuple):
    """What to change in an index so that it matches the tree; `prints` detect later changes."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    empty_folders: tuple[str, ...]
    prints: Prints

    @property
    def paths(self) -> tuple[str, ...]:
        return self.added + self.removed


class Captured(NamedTuple):
    """The tree that the index now matches, and what of the working tree is not in it."""

    tree: str
    skipped: tuple[Skipped, ...]
    empty_directories: tuple[str, ...]
    quiescent: bool


def capture(scanner: "Scanner", take_in: Callable[[Scan], None], write: Callable[[], str]) -> Captured:
    """Update an index to match the tree; retry, up to three times, if files change meanwhile.

    A file that is truncated while being read is retried more often, so that a busy agent does not cost an iteration.
    `take_in` applies a scan to the index, `write` returns the resulting tree. That is the tree as the scan saw it: a
    later change to a file that the scan found unchanged belongs to the next snapshot.
    """
    restless: tuple[str, ...] = ()
    tries = failures = 0
    quiescent = moving = False
    while not quiescent and tries < _TRIES:
        before = scanner.prints(restless)
        scan = scanner.scan()
        try:
            take_in(scan)
        except StoreError:  # a file changed type, was truncated or vanished, or there is a real error
            failures += 1
            moving = moving or scanner.prints(scan.paths) != scan.prints
            if failures >= (_WHILE_MOVING if moving else _TRIES):
                raise
            continue
        tries += 1
        quiescent = scanner.prints(scan.paths) == scan.prints and scanner.prints(restless) == before
        restless += () if quiescent else scan.paths
    skipped = sorted((*scan.skipped, *starmap(Skipped, scanner.left_out.items())))
    return Captured(write(), tuple(skipped), scan.empty_folders, quiescent)


class Scanner:
    """A comparison of the tree at `root` with an index, and the index's update.

    `began` is the file system's time (ns) before the first look.
    """

    def __init__(self, root: Path, scope: Scope, limits: SnapshotLimits, index: Index, began: int) -> None:
        self._root = root
        self._scope = scope
        self._limits = limits
        self._index = index
        self._began = began
        self._tracked: frozenset[str] | None = None
        self.left_out: dict[str, str] = {}
        self._walk = _Walk(root, scope, limits, index)

    def scan(self) -> Scan:
        """List the changes; raise StoreError if there are more files than the limit."""
        self._walk = walk = _Walk(self._root, self._scope, self._limits, self._index)
        walk.run()
        removed = tuple(walk.removed)
        if walk.count > self._limits.max_files:
            raise StoreError(
                f"{self._root} holds {walk.count} files to keep, over the limit of {self._limits.max_files}: "
                "ignore what need not be kept, or raise the limit"
            )
        skipped = tuple(Skipped(path, reason) for path, reason in sorted(walk.skipped.items()))
        seen = {path: print_of(status) for path, status in walk.added.items()}
        prints = TreeView(self._root).prints((*walk.added, *removed), seen)
        return Scan(tuple(walk.added), removed, skipped, tuple(sorted(walk.empty)), prints)

    def prints(self, paths: Collection[str]) -> Prints:
        """Return the current fingerprints of paths, to detect changes."""
        return TreeView(self._root).prints(paths)

    def take_in(self, scan: Scan, reader: TreeReader) -> None:
        """Read the new and changed files of a scan into the index, but for those that the reader leaves out.

        These go into `left_out`, with the reason. Raises StoreError as the reader does.
        """
        self.left_out = {}
        for path in scan.removed:
            self._index.drop(path)
        for path in scan.added:
            try:
                self._index.put(path, Seen(*reader.read(path), self.settled(path)))
            except LeftOutError as error:
                self.left_out[path] = str(error)
                if self._index.get(path) is not None:
                    self._index.drop(path)

    def leaves_out_key(self, path: str) -> bool:
        """Return whether a private key is left out: one that was not kept before, not included, and git does not track.

        git is asked only for such a file, since most trees have none.
        """
        if self._index.get(path) is not None or self._scope.includes(path):
            return False
        if self._tracked is None:
            self._tracked = tracked_files(self._root)
        return path not in self._tracked

    def settled(self, path: str) -> Print | None:
        """Return the print of a new or changed file of the last scan, None if it must be read again next time."""
        status = self._walk.added.get(path)
        return None if status is None else stable_print(status, self._began)


class _Walk:
    """A walk over every folder of a tree; links are not followed."""

    def __init__(self, root: Path, scope: Scope, limits: SnapshotLimits, index: Index) -> None:
        self._view = TreeView(root)
        self._root = os.fspath(root)
        self._scope = scope
        self._limits = limits
        self._known = index.folders
        self._tracked_folders = scope.folders
        self._closed: set[str] = set()  # ignored folders, in which only tracked files are kept
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
        except (FileNotFoundError, NotADirectoryError):  # deleted meanwhile, with its content
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
        """Return the names of the unchanged files.

        Every file passes here: a microsecond each is a hundredth of a second for ten thousand files.
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
                except OSError as error:
                    self._refused(start + name, error)
                    continue
                if wanted == (status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns):
                    same.append(name)
                    continue
            path = start + name
            if name == _GIT:
                if path != _GIT:  # a nested repository's is skipped and reported; the tree's own is not reported
                    self.skipped[path] = NESTED
            elif entry.is_dir(follow_symlinks=False):
                self._folder(path, name)
            else:
                self._file(path, entry, is_known=name in known)
        if is_empty and start and start[:-1] not in self._closed:
            self.empty.append(start[:-1])
        return same

    def _remove(self, start: str, names: Iterable[str]) -> None:
        """Record files of the index that are no longer in the tree."""
        self.removed += [path for path in (start + name for name in names) if path not in self.added]

    def _folder(self, path: str, name: str) -> None:
        """Queue a folder for the walk, or report it as left out."""
        reason = folder_reason(name)
        is_ignored = self._is_ignored(path, is_folder=True)
        if path in self._tracked_folders:
            self._waiting.append(path)
            if is_ignored:
                self._closed.add(path)
        elif is_ignored:
            # Special files cannot be kept, which is reported even where they are ignored.
            for special, status in self._view.special_files(PASSED_OVER, path) if name not in PASSED_OVER else ():
                self.skipped[special] = kind_reason(status) or UNREADABLE
        elif reason is None:
            self._waiting.append(path)
        elif self._view.empty_folders(path) is None:  # an empty folder is not reported
            self.skipped[f"{path}/"] = reason

    def _is_ignored(self, path: str, *, is_folder: bool) -> bool:
        return path.rpartition("/")[0] in self._closed or self._scope.rules.leave_out(path, is_folder=is_folder)

    def _refused(self, path: str, error: OSError) -> None:
        """Report a path that the system does not show, unless it was deleted meanwhile."""
        if not isinstance(error, FileNotFoundError):
            self.skipped[path] = UNREADABLE

    def _file(self, path: str, entry: os.DirEntry[str], *, is_known: bool) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._refused(path, error)
            return
        reason = self._reason(path, status, is_known=is_known)
        if reason is None:
            self.count += 1
            self.added[path] = status
        elif reason:
            self.skipped[path] = reason

    def _reason(self, path: str, status: os.stat_result, *, is_known: bool) -> str | None:
        """Return why a file or link is left out, "" if it is ignored, None if it is kept."""
        kind = kind_reason(status)
        if kind:
            return kind
        if not is_known and path not in self._scope.tracked:
            if self._is_ignored(path, is_folder=False):
                return ""
            reason = untracked_reason(path)
            if reason and not (reason == SECRET and self._scope.includes(path)):
                return reason
        return file_reason(path, status, self._limits)
