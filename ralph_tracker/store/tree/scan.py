"""What changed in a tree since the store's index was written, within the scope that was frozen when it was made."""

import stat
import struct
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.store.git.unsettled import Unsettled
from ralph_tracker.store.git.verbs import (
    EMPTY_BLOB,
    Runner,
    in_batches,
    index_lines,
    path_list,
    paths_of,
    removals,
)
from ralph_tracker.store.snapshots import Entry, Limits, Skipped
from ralph_tracker.store.tree.capture import Scan, refuse_too_many
from ralph_tracker.store.tree.filter import (
    NESTED,
    PASSED_OVER,
    UNREADABLE,
    file_reason,
    folder_reason,
    kind_reason,
    skipped_folder,
    untracked_reason,
)
from ralph_tracker.store.tree.view import Prints, TreeView, print_of

_PROBE: Final = ".ralph-tracker-probe"
_INDEX_HEADER: Final = struct.Struct(">4sII")


class Scope(NamedTuple):
    """Name the files in a store that hold the scope, fixed when the store was made."""

    folder: Path

    @property
    def exclude(self) -> Path:
        """The ignore rules, as one file of patterns relative to the root."""
        return self.folder / "info" / "exclude"

    @property
    def tracked_ignored(self) -> Path:
        """Paths that the repository tracked although a rule ignores them: they stay in scope."""
        return self.folder / "info" / "tracked-ignored"

    @property
    def nested(self) -> Path:
        """Folders that are repositories of their own, as far as they were met."""
        return self.folder / "info" / "nested"


class _Found:
    def __init__(self, view: TreeView, limits: Limits) -> None:
        self.view = view
        self.limits = limits
        self.added: dict[str, tuple[int, ...] | None] = {}
        self.removed: dict[str, None] = {}
        self.skipped: dict[str, str] = {}
        self.folders: list[str] = []

    def tracked(self, path: str) -> None:
        """Take in a path of the index that differs from what stands on disk."""
        status = self.view.status(path)
        if status is None:
            self.removed[path] = None
        elif self.view.is_folder(path):
            self.removed[path] = None
            self.folder(path)
        elif not self.keep(path):
            self.removed[path] = None

    def untracked(self, path: str) -> None:
        """Take in a path that the index does not have."""
        reason = untracked_reason(path)
        if reason:
            self.skipped[path] = reason
        else:
            self.keep(path)

    def keep(self, path: str) -> bool:
        """Add a path, or skip it with its reason; say whether it is to be kept."""
        status = self.view.status(path)
        if status is None:
            return False
        reason = file_reason(path, status, self.limits)
        if reason is None and not self.view.is_readable(path, status):
            reason = UNREADABLE
        if reason:
            self.skipped[path] = reason
        else:
            self.added[path] = print_of(status)
        return reason is None

    def is_over_limit(self, path: str) -> bool:
        status = self.view.status(path)
        return status is not None and stat.S_ISREG(status.st_mode) and status.st_size > self.limits.max_file_bytes

    def folder(self, path: str) -> None:
        """Take in a folder of which the index has nothing."""
        reason = folder_reason(path.rpartition("/")[2])
        if reason is None:
            self.folders.append(path)
        elif self.view.empty_folders(path) is None:  # without a file nothing is skipped
            self.skipped[path + "/"] = reason

    def below(self, path: str) -> None:
        """Take in a file somewhere below such a folder."""
        skip = skipped_folder(path)
        if skip:
            self.skipped[skip[0]] = skip[1]
        else:
            self.untracked(path)


class TreeScanner:
    """Compare the tree at `root` with the index of the store in `folder`."""

    def __init__(self, git: Runner, root: Path, folder: Path, limits: Limits, unsettled: Unsettled) -> None:
        self._git = git
        self._root = root
        self._index = folder / "index"
        self._unsettled = unsettled
        self._scope = Scope(folder)
        self._limits = limits

    def scan(self) -> Scan:
        """List what changed; raise StoreError for more files than the limit allows."""
        found, count = _Found(TreeView(self._root), self._limits), self.count()
        self._find_tracked(found)
        self._find_others(found)
        self._expand(found)
        self._find_tracked_ignored(found)
        self._name_nested(found)
        self._name_special(found)
        refuse_too_many(self._root, count + len(found.added) - len(found.removed), self._limits)
        skipped = tuple(Skipped(path, reason) for path, reason in sorted(found.skipped.items()))
        prints = found.view.prints((*found.added, *found.removed), found.added)
        return Scan(tuple(found.added), tuple(found.removed), skipped, tuple(found.folders), prints)

    def count(self) -> int:
        """Return how many files the index holds, which stands in its first bytes."""
        header = _bytes_of(self._index, _INDEX_HEADER.size)
        if len(header) < _INDEX_HEADER.size:
            return 0
        count: int = _INDEX_HEADER.unpack(header)[2]
        return count

    def prints(self, paths: Collection[str]) -> Prints:
        """Return what tells whether paths have changed since, as they are now."""
        return TreeView(self._root).prints(paths)

    def empty_folders(self, scan: Scan) -> tuple[str, ...]:
        """Return the folders that hold nothing at all, innermost ones, sorted; the scan must be in the index by now."""
        view = TreeView(self._root)
        found = {folder: view.empty_folders(folder) for folder in scan.folders}
        others = [folder for folder, empty in found.items() if empty is None]
        found |= {folder: view.empty_folders(folder) for folder in {view.nearest_folder(path) for path in scan.removed}}
        while others:
            listed = (path for part in in_batches(others) for path in self._list_others("--directory", "--", *part))
            inner = [path[:-1] for path in listed if path.endswith("/") and not skipped_folder(path)]
            found |= {folder: view.empty_folders(folder) for folder in inner}
            # A folder that is listed as one has nothing in the index; what it holds was left out, or is a folder.
            others = [path for folder in inner if found[folder] is None for path in view.folders_in(folder)]
        empty = {path for paths in found.values() for path in paths or () if not skipped_folder(path + "/")}
        return tuple(sorted(empty - self._ignored(empty.difference(found))))

    def _ignored(self, folders: Collection[str]) -> set[str]:
        """Return those of some empty folders that a rule leaves out; git has not named them by themselves."""
        listed = {
            path for part in in_batches(sorted(folders)) for path in self._list_others("--directory", "--", *part)
        }
        return {folder for folder in folders if f"{folder}/" not in listed}

    def _find_tracked(self, found: _Found) -> None:
        """Ask `diff-files`, as `ls-files -d` takes a file behind a symbolic link for present.

        It also names files whose time alone has changed: one over the limit is read before it is left out.
        """
        self._expose_altered()
        paths = self._differing()
        if any(found.is_over_limit(path) for path in paths):
            began = self._unsettled.moment()
            self._git.run("update-index", "-q", "--refresh")
            self._unsettled.note(paths, began)
            paths = self._differing()
        for path in paths:
            found.tracked(path)
        turned = found.removed.keys() & set(found.folders)
        if turned:  # git does not list a nested repository where its index has a file
            self._git.run("update-index", "-z", "--index-info", stdin=removals(turned))

    def _expose_altered(self) -> None:
        """Take from the index what it knows of the times of files that may have changed without a sign."""
        parts = in_batches(self._unsettled.altered())
        lines = b"".join(self._git.run("ls-files", "-s", "-z", "--", *part) for part in parts)
        if lines:
            self._git.run("update-index", "-z", "--index-info", stdin=lines)

    def _differing(self) -> list[str]:
        fields = self._git.run("diff-files", "-z", "--raw").split(b"\0")
        return paths_of(b"\0".join(fields[1::2]))

    def _find_others(self, found: _Found) -> None:
        """Ask for untracked paths with whole folders as one, so that caches need not be listed."""
        for path in self._list_others("--directory"):
            if path.endswith("/"):
                found.folder(path[:-1])
            else:
                found.untracked(path)

    def _expand(self, found: _Found) -> None:
        """List the files below untracked folders, also those of nested repositories, where git does not look."""
        waiting = [folder for folder in found.folders if found.view.empty_folders(folder) is None]
        probes: list[str] = []
        try:
            while waiting:
                listed = [path for part in in_batches(waiting) for path in self._list_others("--", *part)]
                waiting = [path[:-1] for path in listed if path.endswith("/") and skipped_folder(path) is None]
                probes += self._open_nested(waiting)
                for path in listed:
                    if not path.endswith("/") or skipped_folder(path):
                        found.below(path)
        finally:
            if probes:
                self._git.run("update-index", "-z", "--index-info", stdin=removals(probes))

    def _open_nested(self, folders: Sequence[str]) -> list[str]:
        """Make git list the files of nested repositories: it does where its index has something below them."""
        if not folders:
            return []
        known = paths_of(_bytes_of(self._scope.nested))
        new = [folder for folder in folders if folder not in known]
        if new:
            self._scope.nested.write_bytes(path_list(known + new))
        probes = [f"{folder}/{_PROBE}" for folder in folders]
        lines = index_lines(Entry(path, "100644", EMPTY_BLOB) for path in probes)
        self._git.run("update-index", "-z", "--index-info", stdin=lines)
        return probes

    def _find_tracked_ignored(self, found: _Found) -> None:
        paths = [path for path in paths_of(_bytes_of(self._scope.tracked_ignored)) if found.view.status(path)]
        known = {path for part in in_batches(paths) for path in paths_of(self._git.run("ls-files", "-z", "--", *part))}
        for path in paths:
            if path not in known and not found.view.is_folder(path):
                found.keep(path)

    def _name_nested(self, found: _Found) -> None:
        for folder in paths_of(_bytes_of(self._scope.nested)):
            if found.view.status(f"{folder}/.git"):
                found.skipped[f"{folder}/.git"] = NESTED

    def _name_special(self, found: _Found) -> None:
        """Look for what git passes over without a word."""
        for path, status in found.view.special_files(PASSED_OVER):
            found.skipped[path] = kind_reason(status) or UNREADABLE

    def _list_others(self, *arguments: str) -> list[str]:
        return paths_of(self._git.run("ls-files", "-o", "-z", "-X", str(self._scope.exclude), *arguments))


def _bytes_of(file: Path, most: int = -1) -> bytes:
    """Read a file of the store; nothing where it is missing."""
    try:
        with file.open("rb") as stream:
            return stream.read(most)
    except FileNotFoundError:
        return b""
