"""What a kept state says beside its tree, and how a name that somebody gives is told from one that nothing has."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.snapshots import ITERATIONS, Change, Skipped, Snapshot, Status, shown
from ralph_tracker.store.tree.capture import Captured

_SCHEMA: Final = 1
_REFERENCE: Final = re.compile(r"refs/(iterations/[0-9]+|safety/undo-[0-9a-f]+)")
_UNDO_ID: Final = re.compile(r"undo-[0-9a-f]{12}")
_HEX: Final = re.compile(r"[0-9a-f]+")
_TAKEN: Final = "iteration {} is kept already as {}: give the next number"


class Note(NamedTuple):
    """Hold what a tree cannot.

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
    """Hold what an id names: a tree, and the commit with its note where the id was that of a commit."""

    tree: str
    commit: str | None
    note: Note | None


class Difference(NamedTuple):
    """Hold one path that differs between two trees; modes and ids of an absent path are ""."""

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


def note_of(seen: Captured, message: str = "") -> Note:
    """Return the note of a snapshot of what was seen."""
    return Note(
        message=message,
        skipped=seen.skipped,
        empty_directories=seen.empty_directories,
        quiescent=seen.quiescent,
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


def checked(content: str, digits: int) -> str:
    """Return an id of so many digits, or the full name of a reference; raise NoSnapshotError for what is neither."""
    if not (len(content) == digits and _HEX.fullmatch(content)) and not _REFERENCE.fullmatch(content):
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
    """Raise StoreError where an iteration is kept already, as another commit."""
    if known != commit:
        raise StoreError(_TAKEN.format(number, known))


def refuse_missing(count: int) -> None:
    """Raise StoreError where so many of the files to restore cannot be brought back as they were."""
    if count:
        raise StoreError(f"{count} kept files are missing or damaged, nothing was changed: run `ralph-tracker verify`")
