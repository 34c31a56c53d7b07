"""Encode folders, trees and snapshots as documents, and read kept trees."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.safe_files import AGAIN, as_store_error, read_own_file, sync_folder, write_whole
from ralph_tracker.store.snapshots.objects import Objects
from ralph_tracker.store.snapshots.snapshot_types import (
    EXEC_MODE,
    FILE_MODE,
    ITERATIONS,
    LINK_MODE,
    OBJECTS,
    RULES,
    SAFETY,
    Change,
    Content,
    Note,
    Status,
    check_content_id,
    decode_note,
    is_name,
    not_kept,
    shown,
)
from ralph_tracker.store.snapshots.working_tree_io import TreeWriter

_FOLDER: Final = b"ralph-tracker folder 1\n"
_SNAPSHOT: Final = b"ralph-tracker snapshot 1\n"
_FOLDER_MODE: Final = "040000"
MODES: Final = (FILE_MODE, EXEC_MODE, LINK_MODE)
# Yields the content with an id in parts.
Chunks = Callable[[str], Iterator[bytes]]
NAME_FOLDERS: Final = (ITERATIONS.rstrip("/"), SAFETY.rstrip("/"))
_FOLDERS_REMEMBERED: Final = 1000
_ID: Final = re.compile(r"[0-9a-f]{64}")


class File(NamedTuple):
    """A file of a tree, with the size of its content (for a link, its target) in bytes."""

    path: str
    mode: str
    object_id: str
    size: int


class Folder(NamedTuple):
    """The direct content of a folder by name: files, whose path is the name, and the ids of folders."""

    files: dict[str, File]
    folders: dict[str, str]


NO_FILES: Final = Folder({}, {})


def encode_folder(files: Iterable[File], folders: Mapping[str, str]) -> bytes:
    """Return the document of a folder, with names only."""
    lines = [(os.fsencode(name), f"{mode} {size} {object_id}".encode()) for name, mode, object_id, size in files]
    lines += [(os.fsencode(f"{name}/"), f"{_FOLDER_MODE} - {tree}".encode()) for name, tree in folders.items()]
    return _FOLDER + b"".join(b"%b\t%b\0" % (about, name) for name, about in sorted(lines))


def decode_folder(document: bytes) -> Folder | None:
    """Read a folder; None if it is not one, or has a name that no folder of a working tree has."""
    return _decode_lines(_lines_of(document)) if document.startswith(_FOLDER) else None


def _lines_of(document: bytes) -> list[bytes]:
    return document[len(_FOLDER) :].split(b"\0")[:-1]


def _decode_lines(lines: Iterable[bytes]) -> Folder | None:
    files: dict[str, File] = {}
    folders: dict[str, str] = {}
    for line in map(os.fsdecode, lines):
        about, _, name = line.partition("\t")
        match about.split(" "):
            case [mode, "-", object_id] if mode == _FOLDER_MODE:
                folders[name[:-1]] = object_id
            case [mode, size, object_id] if mode in MODES and size.isdecimal():
                files[name] = File(name, mode, object_id, int(size))
            case _:
                return None
        if not is_name(name.removesuffix("/")):
            return None
    return Folder(files, folders)


def encode_snapshot(tree: str, note: Note) -> bytes:
    return _SNAPSHOT + tree.encode() + b"\n" + note.encode()


@contextmanager
def into_empty_folder(destination: Path) -> Iterator[TreeWriter]:
    """Yield a writer for an empty or new folder; raise StoreError if the folder is not empty.

    After a failure, some files may remain.
    """
    with as_store_error(destination, AGAIN):
        destination.mkdir(parents=True, exist_ok=True)
        if any(destination.iterdir()):
            raise StoreError(f"{destination} is not empty: name an empty folder")
        with TreeWriter(destination) as writer:
            yield writer


class NamedIds:
    """The names in a store's folder."""

    def __init__(self, folder: Path, staging: Path) -> None:
        self._folder = folder
        self._staging = staging

    def read(self, name: str) -> str | None:
        """Return the id of a name, None if there is none or it is damaged."""
        text = (read_own_file(self._folder / name) or b"").decode("ascii", "replace").strip()
        return text if _ID.fullmatch(text) else None

    def write(self, name: str, object_id: str) -> None:
        """Name an id, whose content must already be durable."""
        write_whole(self._folder / name, f"{object_id}\n".encode(), self._staging)

    def all(self) -> Iterator[str]:
        for folder in NAME_FOLDERS:
            yield from sorted(f"{folder}/{path.name}" for path in (self._folder / folder).glob("*"))

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)
        for folder in NAME_FOLDERS:
            if (self._folder / folder).is_dir():  # git, for one, leaves out empty folders
                sync_folder(self._folder / folder)


class KeptTrees:
    """The kept trees of the store in `folder`; `content` is a name, or the id of a tree or snapshot.

    Contents of the stores `lenders` are read in place. Raises NoSnapshotError for what is not kept, StoreError for what
    is damaged.
    """

    def __init__(self, folder: Path, lenders: Sequence[Path] = ()) -> None:
        self._place = folder
        self.objects = Objects(folder, lenders)
        self.names = NamedIds(folder, self.objects.staging)
        self._documents: dict[str, bytes] = {}
        self._decoded = lru_cache(_FOLDERS_REMEMBERED)(decode_folder)

    @property
    def exists(self) -> bool:
        """Return whether the store is there: without its rules or its contents nothing can be read."""
        return (self._place / RULES).is_file() and (self._place / OBJECTS).is_dir()

    def require(self) -> None:
        """Raise NoSnapshotError if the store is not there."""
        if not self.exists:
            raise NoSnapshotError(f"nothing is kept in {self._place}: run `ralph-tracker hook pre-loop` first")

    def describe(self, content: str) -> Content:
        """Return the tree, and for a snapshot the note, of an id or name."""
        self.require()
        name = check_content_id(content)
        object_id = self.names.read(name) if name.startswith("refs/") else name
        if object_id is not None and object_id in self._documents:
            return Content(object_id, None, None)
        if object_id is None or not self.objects.has(object_id):
            raise not_kept(content)
        document = self.objects.read(object_id)
        if document.startswith(_FOLDER):
            first, end, _ = document[len(_FOLDER) :].partition(b"\0")
            if end and _decode_lines([first]) is None:  # a user's file that begins as a folder does
                raise not_kept(content)
            self._remember(object_id, document)
            return Content(object_id, None, None)
        if not document.startswith(_SNAPSHOT):
            raise not_kept(content)
        tree, _, message = document[len(_SNAPSHOT) :].partition(b"\n")
        return Content(tree.decode(), object_id, decode_note(message))

    def has(self, content: str) -> bool:
        """Return whether a tree or snapshot is kept; its content may be damaged."""
        try:
            self.describe(content)
        except (NoSnapshotError, StoreError):
            return False
        return True

    def files(self, content: str) -> list[File]:
        """Return the files of a content, sorted by the bytes of their paths."""
        found: list[File] = []
        waiting = [("", self.describe(content).tree)]
        while waiting:
            start, tree = waiting.pop()
            folder = self.folder(tree)
            found += [file._replace(path=start + name) if start else file for name, file in folder.files.items()]
            waiting += [(f"{start}{name}/", below) for name, below in folder.folders.items()]
        return sorted(found, key=lambda file: os.fsencode(file.path))

    def paths(self, content: str) -> tuple[str, ...]:
        """Return the file paths of a content."""
        return tuple(file.path for file in self.files(content))

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]:
        """Compare two contents (None is empty), sorted by the bytes of the paths. Equal folders are not read."""
        self.require()
        found: list[Change] = []
        old_tree, new_tree = (None if content is None else self.describe(content).tree for content in (before, after))
        waiting = [("", old_tree, new_tree)]
        while waiting:
            start, *trees = waiting.pop()
            old, new = self._differing(*trees)
            changed = {name for name, _ in old.files.items() ^ new.files.items()}
            for name in changed:
                was, now = old.files.get(name), new.files.get(name)
                old_mode, old_id = (was.mode, was.object_id) if was else (None, None)
                new_mode, new_id, size = (now.mode, now.object_id, now.size) if now else (None, None, None)
                status: Status = "M"
                if not was or not now:
                    status = "A" if now else "D"
                elif LINK_MODE in {old_mode, new_mode} and old_mode != new_mode:
                    status = "T"
                found.append(Change(start + name, status, old_mode, new_mode, size, new_id, old_id))
            moved = {name for name, _ in old.folders.items() ^ new.folders.items()}
            waiting += [(f"{start}{name}/", old.folders.get(name), new.folders.get(name)) for name in moved]
        return tuple(sorted(found, key=lambda each: os.fsencode(each.path)))

    def read(self, content: str, path: str) -> bytes:
        """Return a file; for a link its target."""
        folder = self.folder(self.describe(content).tree)
        *way, name = path.split("/")
        for step in way:
            folder = self.folder(folder.folders[step]) if step in folder.folders else NO_FILES
        found = folder.files.get(name)
        if found is None:
            raise NoSnapshotError(f"{shown(path)} is not kept in {content}: there is no such file")
        return self.objects.read(found.object_id)

    def contents(self, object_ids: Iterable[str], at_most: int | None = None) -> dict[str, bytes]:
        """Return contents by the ids in a change, each cut after `at_most` bytes."""
        self.require()
        found: dict[str, bytes] = {}
        with self.objects.packs_held_open():
            for object_id in dict.fromkeys(object_ids):
                data = b""
                for chunk in self.objects.chunks(object_id):
                    data += chunk
                    if at_most is not None and len(data) >= at_most:
                        break
                found[object_id] = data[:at_most]
        return found

    def export(self, content: str, destination: Path) -> None:
        """Write the files into an empty or new folder, with the empty folders of a snapshot."""
        note = self.describe(content).note
        with into_empty_folder(destination) as writer:
            for file in self.files(content):
                writer.write(file.path, file.mode, self.objects.chunks(file.object_id))
            for path in note.empty_directories if note else ():
                writer.make_folder(path)

    def write_changed(self, changes: Iterable[Change], destination: Path) -> None:
        """Write the new contents of changed files into an empty or new folder; deleted ones are ignored."""
        self.require()
        with into_empty_folder(destination) as writer, self.objects.packs_held_open():
            for each in changes:
                if each.new_mode and each.new_id:
                    writer.write(each.path, each.new_mode, self.objects.chunks(each.new_id))

    def collect(self, tree: str | None, found: set[str]) -> None:
        """Add the ids of all parts of a tree to `found`; folders already in it are not read again."""
        waiting = [tree] if tree else []
        while waiting:
            here = waiting.pop()
            if here not in found:
                folder = self.folder(here)
                found.update((here, *(file.object_id for file in folder.files.values())))
                waiting += folder.folders.values()

    def verify(self, content: str, whole: set[str] | None = None) -> tuple[str, ...]:
        """Return the paths whose content is missing or does not match its id, () if all is intact, "/" for the tree.

        Every content is read as a restore reads it, but for those in `whole`, to which intact ones are added.
        """
        tree = self.describe(content).tree
        whole = set() if whole is None else whole
        self._documents.clear()  # those read so far may be damaged by now
        try:
            files = self.files(tree)
        except (StoreError, NoSnapshotError):
            return ("/",)
        wanted = {file.object_id for file in files} - whole
        bad = {object_id for object_id in wanted if not self.objects.is_intact(object_id)}
        whole |= wanted - bad
        return tuple(file.path for file in files if file.object_id in bad)

    def folder(self, tree: str) -> Folder:
        """Return a kept folder by its id."""
        folder = self._decoded(self._document(tree))
        if folder is None:
            raise _damaged_tree(tree)
        return folder

    def _differing(self, old_tree: str | None, new_tree: str | None) -> tuple[Folder, Folder]:
        """Return the entries of two folders that are not the same in both; only these are decoded."""
        old, new = (set() if tree is None else set(_lines_of(self._document(tree))) for tree in (old_tree, new_tree))
        one, other = _decode_lines(old - new), _decode_lines(new - old)
        if one is None or other is None:
            raise _damaged_tree(old_tree if one is None else new_tree)
        return one, other

    def _document(self, tree: str) -> bytes:
        """Return the document of a kept folder; recent ones are cached, as one tree is compared with several."""
        known = self._documents.get(tree)
        if known is not None:
            return known
        document = self.objects.read(tree)
        if not document.startswith(_FOLDER):
            raise _damaged_tree(tree)
        return self._remember(tree, document)

    def _remember(self, tree: str, document: bytes) -> bytes:
        if len(self._documents) >= _FOLDERS_REMEMBERED:
            self._documents.clear()
        self._documents[tree] = document
        return document


def _damaged_tree(tree: str | None) -> StoreError:
    return StoreError(f"the kept tree {tree} is damaged; run `ralph-tracker verify`")
