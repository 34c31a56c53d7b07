"""What a kept tree is: its values, its limits, the note of a snapshot, and the names under which one is found.

Paths are relative to the root with forward slashes, as `os.fsdecode` gives them: bytes that are no UTF-8 stand as
surrogates, and `os.fsencode` brings them back. A path that ends with a slash names a folder as a whole.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.errors import NoSnapshotError, StoreError

# Modes as git writes them, and everything here.
FILE_MODE: Final = "100644"
EXEC_MODE: Final = "100755"
LINK_MODE: Final = "120000"
# Where what stood in the tree before a restore is kept, by its undo id.
SAFETY: Final = "refs/safety/"
# Where the snapshot of an iteration is kept, by its number.
ITERATIONS: Final = "refs/iterations/"
# Of an id, and of one by which git knew what an earlier version kept.
DIGITS: Final = 64
GIT_DIGITS: Final = 40
_SCHEMA: Final = 1
_REFERENCE: Final = re.compile(r"refs/(iterations/[0-9]+|safety/undo-[0-9a-f]+)")
_UNDO_ID: Final = re.compile(r"undo-[0-9a-f]{12}")
_HEX: Final = re.compile(r"[0-9a-f]+")
_TAKEN: Final = "iteration {} is kept already as {}: give the next number"
Status = Literal["A", "M", "D", "T"]
# Called with the undo id and the tree that stands there, before a restore touches anything.
Begun = Callable[[str, str], None]


class Entry(NamedTuple):
    """One file of a tree or an index."""

    path: str
    mode: str
    object_id: str


class Skipped(NamedTuple):
    """Name a path that stands in the tree and is not kept, with the reason that a person reads."""

    path: str
    reason: str


class Limits(NamedTuple):
    """What a snapshot refuses: more files than `max_files`, and skips: files over `max_file_bytes`."""

    max_files: int = 200_000
    max_file_bytes: int = 50_000_000


class Snapshot(NamedTuple):
    """One kept state of the tree.

    `tree` names the content alone: two equal trees have the same id. `commit` also carries what a git tree cannot:
    the skipped paths and the empty folders. `changed` are the paths that differ from the previous snapshot, () where
    none was given. `quiescent` is False where the tree was still being written to in every try at reading it.
    """

    tree: str
    commit: str
    changed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    empty_directories: tuple[str, ...] = ()
    quiescent: bool = True


class Change(NamedTuple):
    """How one path differs between two trees.

    The status is A added, M modified (content or exec bit), D deleted, T another type (file or link). Modes are git's:
    100644, 100755, 120000 for a symbolic link; None if the path is absent. `size` in bytes and `sha256` are those of
    the new content (the link's text for a link), None for a deletion. The ids name both contents in the store, None
    where the path is absent.
    """

    path: str
    status: Status
    old_mode: str | None
    new_mode: str | None
    size: int | None
    sha256: str | None
    old_id: str | None = None
    new_id: str | None = None


def shown(path: str) -> str:
    """Return a path as one printable line: control characters and bytes that are no UTF-8 are escaped."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def as_utf8(path: str) -> str:
    """Write a path as UTF-8; bytes that are none stay readable by their numbers."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class Note(NamedTuple):
    """What a tree cannot.

    The last three are those of a safety snapshot: `modes` are permission bits of the files it was made for, `created`
    are paths that did not exist before the restore, and `scope` is the tree that the index held, where the safety
    snapshot keeps more than that.
    """

    message: str = ""
    skipped: tuple[Skipped, ...] = ()
    empty_directories: tuple[str, ...] = ()
    quiescent: bool = True
    modes: Mapping[str, int] = {}
    scope: str | None = None

    def encode(self) -> bytes:
        """Write the message of a commit; JSON in ASCII, as paths may hold bytes that are no UTF-8."""
        document: dict[str, object] = {"schema_version": _SCHEMA, "quiescent": self.quiescent}
        document["skipped"] = [list(skip) for skip in self.skipped]
        document["empty_directories"] = list(self.empty_directories)
        document["modes"] = dict(self.modes)
        document["scope"] = self.scope
        title = (self.message or "snapshot").encode("utf-8", "backslashreplace")
        return title + b"\n\n" + json.dumps(document).encode() + b"\n"


class Content(NamedTuple):
    """What an id names: a tree, and the commit with its note where the id was that of a commit."""

    tree: str
    commit: str | None
    note: Note | None


class Difference(NamedTuple):
    """One path that differs between two trees; modes and ids of an absent path are ""."""

    path: str
    status: Status
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str

    def change(self, size: int | None, sha256: str | None) -> Change:
        """Return it as callers see it, with size and hash of the new content."""
        old_mode, new_mode, old_id, new_id = (each or None for each in self[2:])
        return Change(self.path, self.status, old_mode, new_mode, size, sha256, old_id, new_id)


def decode_note(message: bytes) -> Note:
    """Read the message of a commit; raise StoreError where it is none of ours."""
    title, _, line = message.rstrip(b"\n").rpartition(b"\n\n")
    try:
        return _note(title.decode("utf-8", "replace"), json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError("a kept commit does not carry the note of a snapshot; run `ralph-tracker verify`") from error


def _note(title: str, document: Mapping[str, Any]) -> Note:
    if document["schema_version"] != _SCHEMA:
        raise StoreError(f"a kept commit has schema {document['schema_version']}; update ralph-tracker")
    return Note(
        message=title,
        skipped=tuple(Skipped(path, reason) for path, reason in document["skipped"]),
        empty_directories=tuple(document["empty_directories"]),
        quiescent=bool(document["quiescent"]),
        modes=document["modes"],
        scope=document["scope"],
    )


def snapshot_of(tree: str, commit: str, note: Note, changed: tuple[str, ...] = ()) -> Snapshot:
    """Put together what callers see of a kept commit."""
    return Snapshot(
        tree=tree,
        commit=commit,
        changed=changed,
        skipped=note.skipped,
        empty_directories=note.empty_directories,
        quiescent=note.quiescent,
    )


def snapshot_named(number: int, content: Content) -> Snapshot:
    """Return the snapshot that an iteration's name leads to; raise StoreError where that is a tree alone."""
    if content.commit is None or content.note is None:
        raise StoreError(f"the snapshot of iteration {number} is no commit; run `ralph-tracker verify`")
    return snapshot_of(content.tree, content.commit, content.note)


def checked(content: str) -> str:
    """Return an id, or the full name of a reference; raise NoSnapshotError for what is neither."""
    is_id = len(content) in {DIGITS, GIT_DIGITS} and _HEX.fullmatch(content)
    if not is_id and not _REFERENCE.fullmatch(content):
        raise NoSnapshotError(f"{shown(content)} is not the id of a tree or a commit")
    return content


def checked_undo_id(undo_id: str) -> str:
    """Return what can be an undo id; raise NoSnapshotError for what cannot."""
    if not _UNDO_ID.fullmatch(undo_id):
        raise NoSnapshotError(f"{shown(undo_id)} is no undo id: they look like undo-0123456789ab")
    return undo_id


def undo_id_of(commit: str) -> str:
    """Return the id that undoes a restore, from its safety snapshot."""
    return f"undo-{commit[:12]}"


def not_kept(content: str) -> NoSnapshotError:
    """Say that nothing is kept under a name."""
    number = content.removeprefix(ITERATIONS)
    if number != content:
        return NoSnapshotError(f"iteration {number} has no snapshot; `ralph-tracker history` names those")
    return NoSnapshotError(f"nothing is kept as {content}; name an iteration, or an id that a restore has printed")


def refuse_taken(number: int, known: str, commit: str) -> None:
    """Raise StoreError if an iteration is kept already, as another commit."""
    if known != commit:
        raise StoreError(_TAKEN.format(number, known))
