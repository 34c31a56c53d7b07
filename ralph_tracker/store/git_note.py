"""What a commit of the store says beside its tree: one line of JSON at the end of its message."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git_verbs import Runner
from ralph_tracker.store.snapshots import Skipped, Snapshot

_SCHEMA: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Hold what a git tree cannot.

    The last three are those of a safety snapshot: `modes` are permission bits of the files it was made for, `created`
    are paths that did not exist before the restore, and `scope` is the tree that the index held, where the safety
    snapshot keeps more than that.
    """

    message: str = ""
    skipped: tuple[Skipped, ...] = ()
    empty_directories: tuple[str, ...] = ()
    quiescent: bool = True
    modes: Mapping[str, int] = field(default_factory=dict)
    scope: str | None = None

    def encode(self) -> bytes:
        """Write the message of the commit; JSON in ASCII, as paths may hold bytes that are no UTF-8."""
        document: dict[str, object] = {"schema_version": _SCHEMA, "quiescent": self.quiescent}
        document["skipped"] = [list(skip) for skip in self.skipped]
        document["empty_directories"] = list(self.empty_directories)
        document["modes"] = dict(self.modes)
        document["scope"] = self.scope
        title = (self.message or "snapshot").encode("utf-8", "backslashreplace")
        return title + b"\n\n" + json.dumps(document).encode() + b"\n"


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


def write_commit(git: Runner, tree: str, note: Note) -> str:
    """Write a commit without parents, so that none keeps another one alive, and return its id."""
    return git.run("commit-tree", tree, stdin=note.encode()).decode().strip()


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
