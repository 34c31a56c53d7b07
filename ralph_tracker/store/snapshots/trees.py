"""Encode folders, trees and snapshots as documents, and read kept trees."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.safe_read import read_bytes
from ralph_tracker.store.safe_write import sync_folder, write_whole
from ralph_tracker.store.snapshots.objects import Objects
from ralph_tracker.store.snapshots.snapshot_types import (
    EXEC_MODE,
    FILE_MODE,
    GIT_DIGITS,
    ITERATIONS,
    LINK_MODE,
    SAFETY,
    Change,
    Content,
    Difference,
    Entry,
    Note,
    Status,
    checked,
    decode_note,
    is_name,
    not_kept,
    shown,
)
from ralph_tracker.store.snapshots.working_tree import TreeWriter

_FOLDER: Final = b"ralph-tracker folder 1\n"
_SNAPSHOT: Final = b"ralph-tracker snapshot 1\n"
_FOLDER_MODE: Final = "040000"
MODES: Final = (FILE_MODE, EXEC_MODE, LINK_MODE)
# Yields the content of each object in chunks.
Read = Callable[[Sequence[str]], Iterator[Iterator[bytes]]]
# Names of the ids that git gave to what an earlier version kept.
OF_GIT: Final = "refs/git/"
NAME_FOLDERS: Final = (ITERATIONS.rstrip("/"), SAFETY.rstrip("/"), OF_GIT.rstrip("/"))
_FOLDERS_REMEMBERED: Final = 1000
_ID: Final = re.compile(r"[0-9a-f]{64}")


class File(NamedTuple):
    """A file of a tree, with the size of its content (for a link, its target) in bytes."""

    path: str
    mode: str
    object_id: str
    size: int


class Folder(NamedTuple):
    """The direct content of a folder by name: files, whose path is the name, and the ids of folders.

    `names` are all of them, sorted by the bytes of the paths, with a slash at the end of folders.
    """

    names: list[str]
    files: dict[str, File]
    folders: dict[str, str]


ReadFolder = Callable[[str], Folder]


NO_FILES: Final = Folder([], {}, {})


def encode_folder(files: Iterable[File], folders: Mapping[str, str]) -> bytes:
    """Return the document of a folder, with names only."""
    lines = [(os.fsencode(name), f"{mode} {size} {object_id}".encode()) for name, mode, object_id, size in files]
    lines += [(os.fsencode(f"{name}/"), f"{_FOLDER_MODE} - {tree}".encode()) for name, tree in folders.items()]
    return _FOLDER + b"".join(b"%b\t%b\0" % (about, name) for name, about in sorted(lines))


def decode_folder(document: bytes) -> Folder | None:
    """Read a folder; None if it is not one, or has a name that no folder of a working tree has."""
    if not document.startswith(_FOLDER):
        return None
    files: dict[str, File] = {}
    folders: dict[str, str] = {}
    names = []
    for line in os.fsdecode(document[len(_FOLDER) :]).split("\0")[:-1]:
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
        names.append(name)
    return Folder(names, files, folders)


def encode_snapshot(tree: str, note: Note) -> bytes:
    return _SNAPSHOT + tree.encode() + b"\n" + note.encode()


def decode_snapshot(document: bytes, object_id: str) -> Content | None:
    """Read a snapshot; None if it is not one. Raises StoreError as `decode_note` does."""
    if not document.startswith(_SNAPSHOT):
        return None
    tree, _, message = document[len(_SNAPSHOT) :].partition(b"\n")
    return Content(tree.decode(), object_id, decode_note(message))


class Differing(NamedTuple):
    """One path that differs between two trees, and the bytes of its new content (None if it is absent)."""

    item: Difference
    size: int | None


def files_of(read: ReadFolder, tree: str, start: str = "") -> Iterator[File]:
    """Yield the files of a tree, sorted by the bytes of their paths."""
    folder = read(tree)
    for name in folder.names:
        if name in folder.files:
            yield folder.files[name]._replace(path=start + name)
        else:
            yield from files_of(read, folder.folders[name[:-1]], start + name)


def differing(read: ReadFolder, before: str | None, after: str | None) -> list[Differing]:
    """Compare two trees (None is empty), sorted by the bytes of the paths. Equal folders are not read."""
    found: list[Differing] = []
    waiting = [("", before, after)]
    while waiting:
        start, *trees = waiting.pop()
        old, new = (NO_FILES if tree is None else read(tree) for tree in trees)
        changed = {name for name, _ in old.files.items() ^ new.files.items()}
        for name in changed:
            was, now = old.files.get(name), new.files.get(name)
            old_mode, old_id = (was.mode, was.object_id) if was else ("", "")
            new_mode, new_id = (now.mode, now.object_id) if now else ("", "")
            status: Status = "M"
            if not was or not now:
                status = "A" if now else "D"
            elif LINK_MODE in {old_mode, new_mode} and old_mode != new_mode:
                status = "T"
            item = Difference(start + name, status, old_mode, new_mode, old_id, new_id)
            found.append(Differing(item, now.size if now else None))
        moved = {name for name, _ in old.folders.items() ^ new.folders.items()}
        waiting += [(f"{start}{name}/", old.folders.get(name), new.folders.get(name)) for name in moved]
    return sorted(found, key=lambda each: os.fsencode(each.item.path))


@contextmanager
def into_empty_folder(destination: Path) -> Iterator[TreeWriter]:
    """Yield a writer for an empty or new folder; raise StoreError if the folder is not empty.

    After a failure, some files may remain.
    """
    destination.mkdir(parents=True, exist_ok=True)
    if any(destination.iterdir()):
        raise StoreError(f"{destination} is not empty: name an empty folder")
    with TreeWriter(destination) as writer:
        yield writer


def write_files(each: Read, entries: Sequence[Entry], writer: TreeWriter) -> None:
    """Write kept files below the root of the writer."""
    for entry, chunks in zip(entries, each([entry.object_id for entry in entries]), strict=True):
        writer.write(entry.path, entry.mode, chunks)


def write_changed(each: Read, changes: Iterable[Change], destination: Path) -> None:
    """Write the new contents of changed files into an empty folder; deleted ones are ignored."""
    now = [Entry(each.path, each.new_mode, each.new_id) for each in changes if each.new_mode and each.new_id]
    with into_empty_folder(destination) as writer:
        write_files(each, now, writer)


class NamedIds:
    """The names in a store's folder."""

    def __init__(self, folder: Path, staging: Path) -> None:
        self._folder = folder
        self._staging = staging

    def read(self, name: str) -> str | None:
        """Return the id of a name, None if there is none or it is damaged."""
        text = (read_bytes(self._folder / name) or b"").decode("ascii", "replace").strip()
        return text if _ID.fullmatch(text) else None

    def write(self, name: str, object_id: str) -> None:
        """Name an id, whose content must already be durable."""
        write_whole(self._folder / name, f"{object_id}\n".encode(), self._staging)

    def all(self) -> Iterator[str]:
        for folder in NAME_FOLDERS[:-1]:
            yield from sorted(f"{folder}/{path.name}" for path in (self._folder / folder).glob("*"))

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)
        for folder in NAME_FOLDERS:
            if (self._folder / folder).is_dir():  # git, for one, leaves out empty folders
                sync_folder(self._folder / folder)


class KeptTrees:
    """The kept trees of a store; `content` is a name, or the id of a tree or snapshot.

    Raises NoSnapshotError for what is not kept, StoreError for what is damaged.
    """

    def __init__(self, objects: Objects, names: NamedIds) -> None:
        self.objects = objects
        self.names = names
        self._folders: dict[str, Folder] = {}

    def describe(self, content: str) -> Content:
        """Return the tree, and for a snapshot the note, of an id or name."""
        name = f"{OF_GIT}{checked(content)}" if len(content) == GIT_DIGITS else checked(content)
        object_id = self.names.read(name) if name.startswith("refs/") else name
        if object_id is None or not self.objects.has(object_id):
            raise not_kept(content)
        document = self.objects.read(object_id)
        if decode_folder(document) is not None:
            return Content(object_id, None, None)
        found = decode_snapshot(document, object_id)
        if found is None:
            raise not_kept(content)
        return found

    def files(self, content: str) -> list[File]:
        """Return the files of a content, sorted by the bytes of their paths."""
        return list(files_of(self.folder, self.describe(content).tree))

    def differing(self, before: str | None, after: str | None) -> list[Differing]:
        """Compare two contents; None is the empty tree."""
        trees = (content and self.describe(content).tree for content in (before, after))
        return differing(self.folder, *trees)

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]:
        """Compare two contents; the id of a content is its sha256."""
        return tuple(item.change(size, item.new_id or None) for item, size in self.differing(before, after))

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

    def beginnings(self, object_ids: Iterable[str], at_most: int) -> dict[str, bytes]:
        """Return contents by their ids, each cut after `at_most` bytes."""
        found: dict[str, bytes] = {}
        for object_id in dict.fromkeys(object_ids):
            data = b""
            for chunk in self.objects.chunks(object_id):
                data += chunk
                if len(data) >= at_most:
                    break
            found[object_id] = data[:at_most]
        return found

    def each(self, object_ids: Iterable[str]) -> Iterator[Iterator[bytes]]:
        """Yield each content in parts."""
        return map(self.objects.chunks, object_ids)

    def export(self, content: str, destination: Path) -> None:
        """Write the files into an empty folder, with the empty folders of a snapshot."""
        note = self.describe(content).note
        with into_empty_folder(destination) as writer:
            entries = [Entry(file.path, file.mode, file.object_id) for file in self.files(content)]
            write_files(self.each, entries, writer)
            for path in note.empty_directories if note else ():
                writer.make_folder(path)

    def collect(self, tree: str | None, found: set[str]) -> None:
        """Add the ids of all parts of a tree to `found`; folders already in it are not read again."""
        waiting = [tree] if tree else []
        while waiting:
            here = waiting.pop()
            if here not in found:
                folder = self.folder(here)
                found.update((here, *(file.object_id for file in folder.files.values())))
                waiting += folder.folders.values()

    def forget(self) -> None:
        """Forget the folders read so far: they may be damaged by now."""
        self._folders.clear()

    def damaged(self, content: Content, whole: set[str]) -> tuple[str, ...]:
        """Return the paths whose content is missing or does not match its id, "/" for the tree itself.

        Contents in `whole` are not read again; those that are found to be whole are added.
        """
        self.forget()
        try:
            files = self.files(content.tree)
        except (StoreError, NoSnapshotError):
            return ("/",)
        wanted = {file.object_id for file in files} - whole
        bad = self.damaged_objects(wanted)
        whole |= wanted - bad
        return tuple(file.path for file in files if file.object_id in bad)

    def damaged_objects(self, object_ids: Iterable[str]) -> set[str]:
        return {object_id for object_id in object_ids if not self.objects.is_intact(object_id)}

    def folder(self, tree: str) -> Folder:
        """Return a kept folder by its id; recent ones are cached, as one tree is compared with several."""
        known = self._folders.get(tree)
        if known is not None:
            return known
        folder = decode_folder(self.objects.read(tree))
        if folder is None:
            raise StoreError(f"the kept tree {tree} is damaged; run `ralph-tracker verify`")
        if len(self._folders) >= _FOLDERS_REMEMBERED:
            self._folders.clear()
        self._folders[tree] = folder
        return folder
