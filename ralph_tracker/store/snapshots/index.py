"""Remember the tree as last seen, and find what has changed in it since, so that unchanged files are not read again.

The index file is rewritten after each snapshot, one section per folder; sections of unchanged folders are copied. A
scan is repeated until the tree is stable. Its scope (ignore rules, and the ignored files that git tracks) was frozen
when the store was created.
"""

import os
import struct
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import starmap
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.errors import StoreError
from ralph_tracker.safe_files import read_own_file, write_whole
from ralph_tracker.store.snapshots.exclusions import (
    NESTED,
    PASSED_OVER,
    REPOSITORY,
    SECRET_REASON,
    UNREADABLE,
    file_reason,
    folder_reason,
    kind_reason,
    untracked_reason,
)
from ralph_tracker.store.snapshots.gitignore_rules import Scope, folders_above, tracked_files
from ralph_tracker.store.snapshots.snapshot_types import WHOLE_TREE, SkippedPath, SnapshotLimits
from ralph_tracker.store.snapshots.trees import MODES, File, encode_folder
from ralph_tracker.store.snapshots.user_repository import checked_out_commit, is_foreign_repository
from ralph_tracker.store.snapshots.working_tree_io import LeftOutError, Prints, TreeReader, TreeView, print_of

NAME: Final = "index"
_MAGIC: Final = b"ralph-tracker index 2\n"
_HEAD: Final = struct.Struct("<II")  # crc32 of all behind it, bytes of it
_SECTION: Final = struct.Struct("<III32s")  # bytes of the path, bytes of the names, files, id of the folder
_PRINT: Final = struct.Struct("<QqQq")
_FACTS: Final = struct.Struct("<BQ32s")  # mode, size, sha256
_NO_TREE: Final = bytes(32)

Print = tuple[int, int, int, int]
_GIT: Final = ".git"
_RULES: Final = ".gitignore"
# Takes the folders that have ignore rules now, and returns the scope with them, None if they ignore nothing more.
RulesChanged = Callable[[Iterable[str]], Scope | None]
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_PRINTS: Final[Mapping[str, Print | None]] = {}
_TRIES: Final = 3
_OTHERS: Final = 0o077


class SeenFile(NamedTuple):
    """A file as it was kept; without `print` it is always read again."""

    mode: str
    object_id: str
    size: int
    print: Print | None


class FolderFiles:
    """The files directly in a folder, by name; `tree` is its id, None if not known.

    `section` is its encoded form in the index file, None if that has changed.
    """

    __slots__ = ("_facts", "prints", "section", "tree")

    def __init__(
        self,
        prints: dict[str, Print | None] | None = None,
        tree: str | None = None,
        section: bytes | None = None,
        facts: dict[str, tuple[int, int, bytes]] | None = None,
    ) -> None:
        self.prints = {} if prints is None else prints
        self.tree = tree
        self.section = section
        self._facts = facts

    @property
    def facts(self) -> dict[str, tuple[int, int, bytes]]:
        """Return mode, size and sha256 by name; decoded on demand, since most folders never need it."""
        if self._facts is None:
            rows = self.section[len(self.section) - len(self.prints) * _FACTS.size :] if self.section else b""
            self._facts = dict(zip(self.prints, _FACTS.iter_unpack(rows), strict=True))
        return self._facts

    def get(self, name: str) -> SeenFile | None:
        if name not in self.prints:
            return None
        mode, size, digest = self.facts[name]
        return SeenFile(MODES[mode], digest.hex(), size, self.prints[name])

    def put(self, name: str, seen: SeenFile) -> None:
        facts = MODES.index(seen.mode), seen.size, bytes.fromhex(seen.object_id)
        if self.facts.get(name) != facts:
            self.tree = None
        self.facts[name] = facts
        self.prints[name], self.section = seen.print, None

    def drop(self, name: str) -> None:
        del self.facts[name], self.prints[name]
        self.tree = self.section = None

    def files(self) -> Iterator[File]:
        for name, (mode, size, digest) in self.facts.items():
            yield File(name, MODES[mode], digest.hex(), size)

    def copy(self) -> "FolderFiles":
        return FolderFiles(dict(self.prints), self.tree, self.section, self._facts and dict(self._facts))

    def encode(self, path: str) -> bytes:
        """Return the section of the folder at `path`."""
        if self.section is None:
            where, names = os.fsencode(path), os.fsencode("\0".join(self.prints))
            tree = bytes.fromhex(self.tree) if self.tree else _NO_TREE
            prints = b"".join(_PRINT.pack(*(each or (0, 0, 0, 0))) for each in self.prints.values())
            facts = b"".join(_FACTS.pack(*self.facts[name]) for name in self.prints)
            head = _SECTION.pack(len(where), len(names), len(self.prints), tree)
            self.section = b"".join((head, where, names, prints, facts))
        return self.section


class Index:
    """The folders of the tree by path, including all parents."""

    __slots__ = ("folders", "is_saved")

    def __init__(self, folders: dict[str, FolderFiles] | None = None, *, is_saved: bool = False) -> None:
        self.folders = {"": FolderFiles()} if folders is None else folders
        self.is_saved = is_saved

    @property
    def tree(self) -> str | None:
        """Return the id of the tree, None if not known."""
        return self.folders[""].tree

    def get(self, path: str) -> SeenFile | None:
        """Return a file as it was kept, None for what is not in the tree."""
        folder, _, name = path.rpartition("/")
        return self.folders[folder].get(name) if folder in self.folders else None

    def put(self, path: str, seen: SeenFile) -> None:
        """Add or replace a file; the tree's id is kept if only the file's time has changed."""
        folder, _, name = path.rpartition("/")
        if folder not in self.folders:
            self.folders[folder] = FolderFiles()
        self.folders[folder].put(name, seen)
        self._drop_parent_ids(folder)

    def drop(self, path: str) -> None:
        """Remove a file."""
        folder, _, name = path.rpartition("/")
        self.folders[folder].drop(name)
        self._drop_parent_ids(folder)

    def write(self, add: Callable[[bytes], str]) -> str:
        """Write the changed folders with `add`, which returns the id of each, and return the tree's id."""
        if self.tree is not None:
            return self.tree
        changed = [path for path, listed in self.folders.items() if listed.tree is None]
        below: dict[str, dict[str, str]] = {path: {} for path in changed}
        for path, listed in self.folders.items():
            if listed.tree is not None and (known := below.get(path.rpartition("/")[0])) is not None and path:
                known[path.rpartition("/")[2]] = listed.tree
        for path in sorted(changed, key=lambda path: (path != "", path.count("/")), reverse=True):
            listed = self.folders[path]
            if path and not listed.prints and not below[path]:
                del self.folders[path]
                continue
            listed.tree, listed.section = add(encode_folder(listed.files(), below[path])), None
            if path:
                parent, _, name = path.rpartition("/")
                below[parent][name] = listed.tree
            self.is_saved = False
        return self.folders[""].tree or ""

    def object_ids(self) -> Iterator[str]:
        """Yield all ids that the index refers to."""
        for listed in self.folders.values():
            yield from (file.object_id for file in listed.files())
            if listed.tree:
                yield listed.tree

    def copy(self) -> "Index":
        return Index({path: listed.copy() for path, listed in self.folders.items()}, is_saved=self.is_saved)

    def _drop_parent_ids(self, folder: str) -> None:
        """Drop the ids of all parents of a folder whose own id was dropped."""
        self.is_saved = False
        if self.folders[folder].tree is not None:
            return
        while folder:
            folder = folder.rpartition("/")[0]
            parent = self.folders.get(folder)
            if parent is None:
                self.folders[folder] = FolderFiles()
            elif parent.tree is None:
                return  # so are those above it
            else:
                _ = parent.facts  # decode them before the section is dropped
                parent.tree = parent.section = None


def stable_print(status: os.stat_result, began: int) -> Print | None:
    """Return the print of a file, None if a further change might go unnoticed.

    `began` is the time (ns) of the file system before the tree was looked at: a later change has a later time, unless
    the file's own time is not earlier.
    """
    if max(status.st_mtime_ns, status.st_ctime_ns) >= began:
        return None
    # The last, ctime, reveals edits that restore size and time.
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns


def load(folder: Path) -> Index:
    """Read the index of a store; a missing, damaged or outdated one is empty, so that every file is read."""
    data = read_own_file(folder / NAME) or b""
    start = len(_MAGIC) + _HEAD.size
    if not data.startswith(_MAGIC) or len(data) < start:
        return Index()
    checksum, size = _HEAD.unpack_from(data, len(_MAGIC))
    body = memoryview(data)[start:]
    if len(body) != size or zlib.crc32(body) != checksum:
        return Index()
    return Index({"": FolderFiles(), **dict(_sections(data, start))}, is_saved=True)


def save(index: Index, folder: Path, staging: Path) -> None:
    """Write the index if it has changed; every object it refers to must already be durable.

    It is a cache with a checksum: after a power cut it may be missing, and every file is read again.
    """
    if index.is_saved:
        return
    body = b"".join(listed.encode(path) for path, listed in index.folders.items())
    head = _HEAD.pack(zlib.crc32(body), len(body))
    write_whole(folder / NAME, _MAGIC + head + body, staging, durable=False)
    index.is_saved = True


def _sections(data: bytes, at: int) -> Iterator[tuple[str, FolderFiles]]:
    while at < len(data):
        path_size, names_size, count, tree = _SECTION.unpack_from(data, at)
        names_at = at + _SECTION.size + path_size
        prints_at = names_at + names_size
        facts_at = prints_at + count * _PRINT.size
        end = facts_at + count * _FACTS.size
        names = os.fsdecode(data[names_at:prints_at]).split("\0") if count else ()
        prints: dict[str, Any] = dict(zip(names, _PRINT.iter_unpack(data[prints_at:facts_at]), strict=True))
        path = os.fsdecode(data[at + _SECTION.size : names_at])
        yield path, FolderFiles(prints, tree.hex() if tree != _NO_TREE else None, data[at:end])
        at = end


class Scan(NamedTuple):
    """What to change in an index so that it matches the tree; `prints` detect later changes."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    skipped: tuple[SkippedPath, ...]
    empty_folders: tuple[str, ...]
    prints: Prints

    @property
    def paths(self) -> tuple[str, ...]:
        return self.added + self.removed


class CapturedTree(NamedTuple):
    """The tree that the index now matches, and what of the working tree is not in it.

    `left_alone` are the files of the tree that new ignore rules name: a restore does not touch them. `private` are the
    permission bits of what only its owner may use, as `Note.modes` has them, `commits` those of `Note`.
    """

    tree: str
    skipped: tuple[SkippedPath, ...]
    empty_directories: tuple[str, ...]
    quiescent: bool
    left_alone: tuple[str, ...] = ()
    private: Mapping[str, int] = {}
    commits: Mapping[str, str] = {}


def capture(scanner: "Scanner", take_in: Callable[[Scan], None], write: Callable[[], str]) -> CapturedTree:
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
            if failures >= (30 if moving else _TRIES):
                raise
            continue
        tries += 1
        quiescent = scanner.prints(scan.paths) == scan.prints and scanner.prints(restless) == before
        restless += () if quiescent else scan.paths
    skipped = sorted((*scan.skipped, *starmap(SkippedPath, scanner.left_out.items())))
    about = tuple(skipped), scan.empty_folders, quiescent, scanner.left_alone(), scanner.private(), scanner.commits()
    return CapturedTree(write(), *about)


class Scanner:
    """A comparison of the tree at `root` with an index, and the index's update.

    `began` is the file system's time (ns) before the first look. `rules_changed` is called when a `.gitignore` differs
    from the index, unless that is empty: the scope was frozen just now.
    """

    def __init__(
        self,
        root: Path,
        scope: Scope,
        limits: SnapshotLimits,
        index: Index,
        began: int,
        rules_changed: RulesChanged | None = None,
    ) -> None:
        self._root = root
        self._rules_changed = rules_changed if index.folders.keys() - {""} or index.folders[""].prints else None
        self._is_scope_new = False
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
        if any(path.rpartition("/")[2] == _RULES for path in walk.added) and self.renew_rules():
            self._walk = walk = _Walk(self._root, self._scope, self._limits, self._index)
            walk.run()
        removed = tuple(walk.removed)
        if walk.count > self._limits.max_files:
            raise StoreError(
                f"{self._root} holds {walk.count} files to keep, over the limit of {self._limits.max_files}: "
                "ignore what need not be kept, or raise the limit"
            )
        skipped = tuple(SkippedPath(path, reason) for path, reason in sorted(walk.skipped.items()))
        seen = {path: print_of(status) for path, status in walk.added.items()}
        prints = TreeView(self._root).prints((*walk.added, *removed), seen)
        return Scan(tuple(walk.added), removed, skipped, tuple(sorted(walk.empty)), prints)

    def renew_rules(self) -> bool:
        """Take in the ignore rules of today, and return whether they ignore more than those known."""
        if self._rules_changed is None:
            return False
        folders = {folder for folder, listed in self._index.folders.items() if _RULES in listed.prints}
        folders |= {path.rpartition("/")[0] for path in self._walk.added if path.rpartition("/")[2] == _RULES}
        scope = self._rules_changed(folders)
        if scope is None:
            return False
        self._scope, self._is_scope_new = scope, True
        return True

    def left_alone(self) -> tuple[str, ...]:
        """Return the files of the index that rules new to this scanner ignore: no restore touches them from now on."""
        if not self._is_scope_new:
            return ()
        listed = self._index.folders.items()
        found = (f"{folder}/{name}" if folder else name for folder, files in listed for name in files.prints)
        return tuple(sorted(filter(self.leaves_alone, found)))

    def private(self) -> Mapping[str, int]:
        """Return the modes of the last scan without bits for others; one stands for a whole tree that is private."""
        found = self._walk.private
        # Each is named in the note of each snapshot.
        if len(found) > max(1000, self._walk.count // 2):
            return {WHOLE_TREE: 0o700}
        return {path: bits for path, bits in found.items() if path not in self.left_out}

    def commits(self) -> Mapping[str, str]:
        """Return what the other repositories that the last scan found have checked out, by their paths."""
        others = sorted(path[:-1] for path, reason in self._walk.skipped.items() if reason == REPOSITORY)
        found = {path: checked_out_commit(self._root / path) for path in others}
        return {path: commit for path, commit in found.items() if commit}

    def leaves_alone(self, path: str) -> bool:
        """Return whether a file is not the loop's now, though it may have been kept: no restore touches it."""
        if self._scope.foreign_reason(path) is not None:
            return True
        return self._scope.is_ignored_since(path) and not self._is_tracked(path)

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
                self._index.put(path, SeenFile(*reader.read(path), self.settled_print(path)))
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
        return not self._is_tracked(path)

    def _is_tracked(self, path: str) -> bool:
        if self._tracked is None:
            self._tracked = tracked_files(self._root)
        return path in self._tracked

    def settled_print(self, path: str) -> Print | None:
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
        self._tracked_folders = {folder for path in scope.tracked for folder in folders_above(path)}
        self._closed: set[str] = set()  # ignored folders, in which only tracked files are kept
        self._waiting: list[str] = []
        self.count = 0
        self.added: dict[str, os.stat_result] = {}
        self.removed: list[str] = []
        self.skipped: dict[str, str] = {}
        self.empty: list[str] = []
        self.private: dict[str, int] = {}

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
        known = listed.prints if listed else _NO_PRINTS
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
            if start:
                self._note_private(start, os.fstat(descriptor))
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
                    self._report_refused(start + name, error)
                    continue
                if wanted == (status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns):
                    same.append(name)
                    if not status.st_mode & _OTHERS:
                        self._note_private(start + name, status)
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

    def _note_private(self, path: str, status: os.stat_result) -> None:
        if not status.st_mode & _OTHERS:
            self.private[path] = status.st_mode & 0o777

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
        elif reason is None and path in self._known:
            self._waiting.append(path)  # also where a repository was made around files of the loop
        elif reason is None and self._scope.is_ignored_since(path, is_folder=True):
            return
        elif reason is None and (reason := self._foreign_reason(path)) is None:
            self._waiting.append(path)
        elif self._view.empty_folders(path) is None:  # an empty folder is not reported
            self.skipped[f"{path}/"] = reason

    def _foreign_reason(self, folder: str) -> str | None:
        """Return why a folder of which nothing was kept is not the loop's; None if it is."""
        reason = self._scope.foreign_reason(folder)
        if reason is None and is_foreign_repository(Path(self._root, folder), Path(self._root)):
            return REPOSITORY
        return reason

    def _is_ignored(self, path: str, *, is_folder: bool) -> bool:
        return path.rpartition("/")[0] in self._closed or self._scope.rules.ignores(path, is_folder=is_folder)

    def _report_refused(self, path: str, error: OSError) -> None:
        """Report a path that the system does not show, unless it was deleted meanwhile."""
        if not isinstance(error, FileNotFoundError):
            self.skipped[path] = UNREADABLE

    def _file(self, path: str, entry: os.DirEntry[str], *, is_known: bool) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._report_refused(path, error)
            return
        reason = self._reason(path, status, is_known=is_known)
        if reason is None:
            self.count += 1
            self.added[path] = status
            self._note_private(path, status)
        elif reason:
            self.skipped[path] = reason

    def _reason(self, path: str, status: os.stat_result, *, is_known: bool) -> str | None:
        """Return why a file or link is left out, "" if it is ignored, None if it is kept."""
        kind = kind_reason(status)
        if kind:
            return kind
        if is_known:
            return file_reason(path, status, self._limits)
        is_tracked = path in self._scope.tracked
        if not is_tracked and (self._is_ignored(path, is_folder=False) or self._scope.is_ignored_since(path)):
            return ""
        foreign = self._scope.foreign_reason(path)
        if foreign is not None:
            return foreign
        if not is_tracked:
            reason = untracked_reason(path)
            if reason and not (reason == SECRET_REASON and self._scope.includes(path)):
                return reason
        return file_reason(path, status, self._limits)
