"""Remember the tree as last seen, so that unchanged files need not be read again.

The file is rewritten after each snapshot, one section per folder; sections of unchanged folders are copied.
"""

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.store.safe_read import read_bytes
from ralph_tracker.store.safe_write import write_whole
from ralph_tracker.store.snapshots.trees import MODES, File, encode_folder

NAME: Final = "index"
_MAGIC: Final = b"ralph-tracker index 2\n"
_HEAD: Final = struct.Struct("<II")  # crc32 of all behind it, bytes of it
_SECTION: Final = struct.Struct("<III32s")  # bytes of the path, bytes of the names, files, id of the folder
_PRINT: Final = struct.Struct("<QqQq")
_FACTS: Final = struct.Struct("<BQ32s")  # mode, size, sha256
_NO_TREE: Final = bytes(32)
_NO_PRINT: Final = (0, 0, 0, 0)

Print = tuple[int, int, int, int]


class Seen(NamedTuple):
    """A file as it was kept; without `print` it is always read again."""

    mode: str
    object_id: str
    size: int
    print: Print | None


@dataclass(slots=True)
class Listed:
    """The files directly in a folder, by name; `tree` is its id, None if not known.

    `section` is its encoded form in the index file, None if that has changed.
    """

    prints: dict[str, Print | None] = field(default_factory=dict)
    tree: str | None = None
    section: bytes | None = None
    _facts: dict[str, tuple[int, int, bytes]] | None = None

    @property
    def facts(self) -> dict[str, tuple[int, int, bytes]]:
        """Return mode, size and sha256 by name; decoded on demand, since most folders never need it."""
        if self._facts is None:
            rows = self.section[len(self.section) - len(self.prints) * _FACTS.size :] if self.section else b""
            self._facts = dict(zip(self.prints, _FACTS.iter_unpack(rows), strict=True))
        return self._facts

    def get(self, name: str) -> Seen | None:
        if name not in self.prints:
            return None
        mode, size, digest = self.facts[name]
        return Seen(MODES[mode], digest.hex(), size, self.prints[name])

    def put(self, name: str, seen: Seen) -> None:
        facts = MODES.index(seen.mode), seen.size, bytes.fromhex(seen.object_id)
        if self.facts.get(name) != facts:
            self.tree = None
        self.facts[name] = facts
        self.prints[name], self.section = seen.print, None

    def drop(self, name: str) -> None:
        del self.facts[name], self.prints[name]
        self.tree = self.section = None

    def files(self, start: str = "") -> Iterator[File]:
        for name, (mode, size, digest) in self.facts.items():
            yield File(start + name, MODES[mode], digest.hex(), size)

    def copy(self) -> "Listed":
        return Listed(dict(self.prints), self.tree, self.section, self._facts and dict(self._facts))

    def forget_tree(self) -> None:
        """Drop the folder's known id, because something in it or below it has changed."""
        _ = self.facts  # decode them before the section is dropped
        self.tree = self.section = None

    def encoded(self, path: str) -> bytes:
        """Return the section of the folder at `path`."""
        if self.section is None:
            where, names = os.fsencode(path), os.fsencode("\0".join(self.prints))
            tree = bytes.fromhex(self.tree) if self.tree else _NO_TREE
            prints = b"".join(_PRINT.pack(*(each or _NO_PRINT)) for each in self.prints.values())
            facts = b"".join(_FACTS.pack(*self.facts[name]) for name in self.prints)
            head = _SECTION.pack(len(where), len(names), len(self.prints), tree)
            self.section = b"".join((head, where, names, prints, facts))
        return self.section


@dataclass(slots=True)
class Index:
    """The folders of the tree by path, including all parents."""

    folders: dict[str, Listed] = field(default_factory=lambda: {"": Listed()})
    is_saved: bool = False

    @property
    def tree(self) -> str | None:
        """Return the id of the tree, None if not known."""
        return self.folders[""].tree

    def get(self, path: str) -> Seen | None:
        """Return a file as it was kept, None for what is not in the tree."""
        folder, _, name = path.rpartition("/")
        return self.folders[folder].get(name) if folder in self.folders else None

    def put(self, path: str, seen: Seen) -> None:
        """Add or replace a file; the tree's id is kept if only the file's time has changed."""
        folder, _, name = path.rpartition("/")
        if folder not in self.folders:
            self.folders[folder] = Listed()
        self.folders[folder].put(name, seen)
        self._changed(folder)

    def drop(self, path: str) -> None:
        """Remove a file."""
        folder, _, name = path.rpartition("/")
        self.folders[folder].drop(name)
        self._changed(folder)

    def write(self, add: Callable[[bytes], str]) -> str:
        """Write the changed folders with `add`, which returns the id of each, and return the tree's id."""
        if self.tree is not None:
            return self.tree
        changed = [path for path, listed in self.folders.items() if listed.tree is None]
        below: dict[str, dict[str, str]] = {path: {} for path in changed}
        for path, listed in self.folders.items():
            if listed.tree is not None and (known := below.get(path.rpartition("/")[0])) is not None and path:
                known[path.rpartition("/")[2]] = listed.tree
        for path in sorted(changed, key=_depth, reverse=True):
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
        return Index({path: listed.copy() for path, listed in self.folders.items()}, self.is_saved)

    def _changed(self, folder: str) -> None:
        """Drop the ids of all parents of a folder whose own id was dropped."""
        self.is_saved = False
        if self.folders[folder].tree is not None:
            return
        while folder:
            folder = folder.rpartition("/")[0]
            parent = self.folders.get(folder)
            if parent is None:
                self.folders[folder] = Listed()
            elif parent.tree is None:
                return  # so are those above it
            else:
                parent.forget_tree()


def print_of(status: os.stat_result) -> Print:
    """Return a fingerprint of a file; it includes ctime, which reveals edits that restore size and time."""
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns


def stable_print(status: os.stat_result, began: int) -> Print | None:
    """Return the print of a file, None if a further change might go unnoticed.

    `began` is the time (ns) of the file system before the tree was looked at: a later change has a later time, unless
    the file's own time is not earlier.
    """
    return print_of(status) if max(status.st_mtime_ns, status.st_ctime_ns) < began else None


def load(folder: Path) -> Index:
    """Read the index of a store; a missing, damaged or outdated one is empty, so that every file is read."""
    data = read_bytes(folder / NAME) or b""
    start = len(_MAGIC) + _HEAD.size
    if not data.startswith(_MAGIC) or len(data) < start:
        return Index()
    checksum, size = _HEAD.unpack_from(data, len(_MAGIC))
    body = memoryview(data)[start:]
    if len(body) != size or zlib.crc32(body) != checksum:
        return Index()
    return Index({"": Listed(), **dict(_sections(data, start))}, is_saved=True)


def is_whole(folder: Path) -> bool:
    """Return whether the index of a store is there and undamaged."""
    return load(folder).is_saved


def save(index: Index, folder: Path, staging: Path) -> None:
    """Write the index if it has changed; every object it refers to must already be durable."""
    if index.is_saved:
        return
    body = b"".join(listed.encoded(path) for path, listed in index.folders.items())
    head = _HEAD.pack(zlib.crc32(body), len(body))
    write_whole(folder / NAME, _MAGIC + head + body, staging)
    index.is_saved = True


def _sections(data: bytes, at: int) -> Iterator[tuple[str, Listed]]:
    while at < len(data):
        path_size, names_size, count, tree = _SECTION.unpack_from(data, at)
        names_at = at + _SECTION.size + path_size
        prints_at = names_at + names_size
        facts_at = prints_at + count * _PRINT.size
        end = facts_at + count * _FACTS.size
        names = os.fsdecode(data[names_at:prints_at]).split("\0") if count else ()
        prints: dict[str, Any] = dict(zip(names, _PRINT.iter_unpack(data[prints_at:facts_at]), strict=True))
        path = os.fsdecode(data[at + _SECTION.size : names_at])
        yield path, Listed(prints, tree.hex() if tree != _NO_TREE else None, data[at:end])
        at = end


def _depth(path: str) -> int:
    return path.count("/") + 1 if path else 0
