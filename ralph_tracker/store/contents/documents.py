"""Folders and snapshots as documents: lines by which equal folders are equal bytes, and so have one id.

A tree is the document of its root; those of its folders are named in it, so that one that stays is kept once.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ralph_tracker.store.notes import Content, Difference, Note, decode_note
from ralph_tracker.store.snapshots import EXEC_MODE, FILE_MODE, LINK_MODE, Status

_FOLDER: Final = b"ralph-tracker folder 1\n"
_SNAPSHOT: Final = b"ralph-tracker snapshot 1\n"
_FOLDER_MODE: Final = "040000"
MODES: Final = (FILE_MODE, EXEC_MODE, LINK_MODE)


class File(NamedTuple):
    """Hold one file of a tree, with the bytes of its content (of a link its text)."""

    path: str
    mode: str
    object_id: str
    size: int


class Folder(NamedTuple):
    """Hold what lies directly in a folder, by the names: files whose path is the name, and the ids of folders.

    `names` are all of them in the order of the bytes of the paths below, a folder with a slash at its end.
    """

    names: list[str]
    files: dict[str, File]
    folders: dict[str, str]


Read = Callable[[str], Folder]
NO_FILES: Final = Folder([], {}, {})


def encode_folder(files: Iterable[File], folders: Mapping[str, str]) -> bytes:
    """Write a folder; of the files and the folders in it the names."""
    lines = [(os.fsencode(name), f"{mode} {size} {object_id}".encode()) for name, mode, object_id, size in files]
    lines += [(os.fsencode(f"{name}/"), f"{_FOLDER_MODE} - {tree}".encode()) for name, tree in folders.items()]
    return _FOLDER + b"".join(b"%b\t%b\0" % (about, name) for name, about in sorted(lines))


def decode_folder(document: bytes) -> Folder | None:
    """Read a folder; None for what is none."""
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
        names.append(name)
    return Folder(names, files, folders)


def encode_snapshot(tree: str, note: Note) -> bytes:
    return _SNAPSHOT + tree.encode() + b"\n" + note.encode()


def decode_snapshot(document: bytes, object_id: str) -> Content | None:
    """Read a snapshot; None for what is none. Raises StoreError as `decode_note` does."""
    if not document.startswith(_SNAPSHOT):
        return None
    tree, _, message = document[len(_SNAPSHOT) :].partition(b"\n")
    return Content(tree.decode(), object_id, decode_note(message))


class Differing(NamedTuple):
    """Hold one path that differs between two trees, and the bytes of its new content (None where it is absent)."""

    item: Difference
    size: int | None


def files_of(read: Read, tree: str, start: str = "") -> Iterator[File]:
    """Yield the files of a tree, in the order of the bytes of their paths."""
    folder = read(tree)
    for name in folder.names:
        if name in folder.files:
            yield folder.files[name]._replace(path=start + name)
        else:
            yield from files_of(read, folder.folders[name[:-1]], start + name)


def differing(read: Read, before: str | None, after: str | None) -> list[Differing]:
    """Compare two trees, None for one without files; sorted by the bytes of the paths. Equal folders are not read."""
    found: list[Differing] = []
    waiting = [("", before, after)]
    while waiting:
        start, *trees = waiting.pop()
        old, new = (NO_FILES if tree is None else read(tree) for tree in trees)
        changed = {name for name, _ in old.files.items() ^ new.files.items()}
        found += [_differing(start + name, old.files.get(name), new.files.get(name)) for name in changed]
        moved = {name for name, _ in old.folders.items() ^ new.folders.items()}
        waiting += [(f"{start}{name}/", old.folders.get(name), new.folders.get(name)) for name in moved]
    return sorted(found, key=lambda each: os.fsencode(each.item.path))


def _differing(path: str, old: File | None, new: File | None) -> Differing:
    old_mode, old_id = (old.mode, old.object_id) if old else ("", "")
    new_mode, new_id = (new.mode, new.object_id) if new else ("", "")
    status: Status = "M"
    if not old or not new:
        status = "A" if new else "D"
    elif LINK_MODE in {old_mode, new_mode} and old_mode != new_mode:
        status = "T"
    return Differing(Difference(path, status, old_mode, new_mode, old_id, new_id), new.size if new else None)
