"""Trees and snapshots as documents: lines by which equal trees are equal bytes, and so have one id."""

import os
from collections.abc import Iterable
from typing import Final, NamedTuple

from ralph_tracker.store.notes import Content, Difference, Note, decode_note
from ralph_tracker.store.snapshots import LINK_MODE, Status

_TREE: Final = b"ralph-tracker tree 1\n"
_SNAPSHOT: Final = b"ralph-tracker snapshot 1\n"


class File(NamedTuple):
    """Hold one file of a tree, with the bytes of its content (of a link its text)."""

    path: str
    mode: str
    object_id: str
    size: int


def encode_tree(files: Iterable[File]) -> bytes:
    """Write a tree: its files in the order of the bytes of their paths."""
    lines = sorted((os.fsencode(path), f"{mode} {size} {object_id}".encode()) for path, mode, object_id, size in files)
    return _TREE + b"".join(b"%b\t%b\0" % (about, path) for path, about in lines)


def tree_lines(document: bytes) -> list[bytes] | None:
    """Return the lines of a tree, None for what is no tree."""
    return document[len(_TREE) :].split(b"\0")[:-1] if document.startswith(_TREE) else None


def read_line(line: bytes) -> File:
    about, _, path = line.partition(b"\t")
    mode, size, object_id = about.decode().split(" ")
    return File(os.fsdecode(path), mode, object_id, int(size))


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


def differing(before: list[bytes], after: list[bytes]) -> list[Differing]:
    """Compare the lines of two trees; sorted by the bytes of the paths."""
    gone, come = set(before).difference(after), set(after).difference(before)
    old, new = ({file.path: file for file in map(read_line, lines)} for lines in (gone, come))
    return [_differing(path, old.get(path), new.get(path)) for path in sorted({**old, **new}, key=os.fsencode)]


def _differing(path: str, old: File | None, new: File | None) -> Differing:
    old_mode, old_id = (old.mode, old.object_id) if old else ("", "")
    new_mode, new_id = (new.mode, new.object_id) if new else ("", "")
    status: Status = "M"
    if not old or not new:
        status = "A" if new else "D"
    elif LINK_MODE in {old_mode, new_mode} and old_mode != new_mode:
        status = "T"
    return Differing(Difference(path, status, old_mode, new_mode, old_id, new_id), new.size if new else None)
