"""The values of the snapshot store: entries, limits, snapshots, changes, notes and names.

Paths are relative to the root with forward slashes, as from `os.fsdecode`: bytes that are not UTF-8 are surrogates. A
path that ends with a slash names a whole folder.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from ralph_tracker.errors import NoSnapshotError, StoreError

# Modes as git writes them; used everywhere here.
FILE_MODE: Final = "100644"
EXEC_MODE: Final = "100755"
LINK_MODE: Final = "120000"
# The prefix of safety snapshots, followed by the undo id.
SAFETY: Final = "refs/safety/"
# The folder of our own; nothing of it is ever kept or restored.
LOOP_FOLDER: Final = ".aiwg"
# The prefix of iterations' snapshots, followed by the number.
ITERATIONS: Final = "refs/iterations/"
# The frozen ignore rules, and the contents, in a store's folder.
RULES: Final = "ignore"
OBJECTS: Final = "objects"
# The length of an id.
DIGITS: Final = 64
# Among the modes of a snapshot: that of every file and folder that is not named.
WHOLE_TREE: Final = "/"
_SCHEMA: Final = 1
# What HFS+ leaves out when it compares names.
_UNSEEN: Final = "[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]"
UNDO_ID: Final = re.compile(r"undo-[0-9a-f]{12}")
Status = Literal["A", "M", "D", "T"]
# Called with the undo id and the current tree, before a restore touches anything.
Begun = Callable[[str, str], None]


class Entry(NamedTuple):
    """A file of a tree or an index."""

    path: str
    mode: str
    object_id: str


class SkippedPath(NamedTuple):
    """A path of the working tree that is not kept, with the reason for the user."""

    path: str
    reason: str


class SnapshotLimits(NamedTuple):
    """Limits of a snapshot: more than `max_files` files are refused, files over `max_file_bytes` are skipped."""

    max_files: int = 200_000
    max_file_bytes: int = 50_000_000


class Snapshot(NamedTuple):
    """A kept state of the tree.

    `tree` identifies the content only: equal trees have the same id. `commit` also has the skipped paths and the empty
    folders. `quiescent` is False if the tree was still being written to at every attempt to read it. `left_alone` are
    files of it that ignore rules have named since the snapshot before: no restore touches them. `modes` and `commits`
    are those of `Note`.
    """

    tree: str
    commit: str
    skipped: tuple[SkippedPath, ...] = ()
    empty_directories: tuple[str, ...] = ()
    quiescent: bool = True
    left_alone: tuple[str, ...] = ()
    modes: Mapping[str, int] = {}
    commits: Mapping[str, str] = {}


class Change(NamedTuple):
    """How one path differs between two trees.

    The status is A added, M modified (content or exec bit), D deleted, T another type (file or link). Modes are git's:
    100644, 100755, 120000 for a symbolic link; None if the path is absent. `size` (bytes) is that of the new content (a
    link's target), None for a deletion. The ids name both contents in the store, and are their sha256; None if the path
    is absent.
    """

    path: str
    status: Status
    old_mode: str | None
    new_mode: str | None
    size: int | None
    new_id: str | None
    old_id: str | None = None


def shown(path: str) -> str:
    """Return a path in printable form: control characters and bytes that are not UTF-8 are escaped."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def as_utf8(path: str) -> str:
    """Return a path as valid UTF-8; other bytes are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class Note(NamedTuple):
    """The part of a snapshot that a tree cannot hold.

    `modes` are the permission bits of files, and of folders with a slash at the end: of an iteration those that nobody
    but their owner may use, of a safety snapshot those of what the restore changes. `scope` is only for safety
    snapshots: the tree that the index held, if they have more files. `commits` are what other repositories in the tree,
    such as submodules, have checked out, by their paths.
    """

    message: str = ""
    skipped: tuple[SkippedPath, ...] = ()
    empty_directories: tuple[str, ...] = ()
    quiescent: bool = True
    modes: Mapping[str, int] = {}
    scope: str | None = None
    commits: Mapping[str, str] = {}

    def encode(self) -> bytes:
        """Return the note as ASCII JSON, because paths may hold bytes that are not UTF-8."""
        document: dict[str, object] = {"schema_version": _SCHEMA, "quiescent": self.quiescent}
        document["skipped"] = [list(skip) for skip in self.skipped]
        document["empty_directories"] = list(self.empty_directories)
        document["modes"] = dict(self.modes)
        document["scope"] = self.scope
        document |= {"commits": dict(self.commits)} if self.commits else {}
        title = (self.message or "snapshot").encode("utf-8", "backslashreplace")
        return title + b"\n\n" + json.dumps(document).encode() + b"\n"


class Content(NamedTuple):
    """A tree, and the commit with its note if the id was that of a commit."""

    tree: str
    commit: str | None
    note: Note | None


def is_name(name: str) -> bool:
    """Return whether a snapshot can have a file or folder of that name.

    A store that came with a clone can name more: paths out of the tree, and files of git, which runs some of them. Git
    itself is as strict, also about letters that a file system of macOS does not see.
    """
    seen = name if name.isascii() else re.sub(_UNSEEN, "", name)
    return name not in {"", ".", ".."} and "/" not in name and seen.lower() != ".git"


def is_of_loops(path: str) -> bool:
    """Return whether a path of the tree lies in our own folder, which no snapshot holds."""
    return path.partition("/")[0].lower() == LOOP_FOLDER


def decode_note(message: bytes) -> Note:
    """Read a note; raise StoreError if it is not one of ours."""
    title, _, line = message.rstrip(b"\n").rpartition(b"\n\n")
    try:
        document = json.loads(line)
        if document["schema_version"] != _SCHEMA:
            raise StoreError(f"a kept commit has schema {document['schema_version']}; update ralph-tracker")
        empty = tuple(document["empty_directories"])
        if any(is_of_loops(path) or not all(map(is_name, path.split("/"))) for path in empty):
            raise StoreError("a kept snapshot names folders out of the tree; do not use this store")
        return Note(
            message=title.decode("utf-8", "replace"),
            skipped=tuple(SkippedPath(path, reason) for path, reason in document["skipped"]),
            empty_directories=empty,
            quiescent=bool(document["quiescent"]),
            modes={path: mode & 0o777 for path, mode in document["modes"].items()},
            scope=document["scope"],
            commits=dict(document.get("commits", {})),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError("a kept commit does not carry the note of a snapshot; run `ralph-tracker verify`") from error


def snapshot_of(tree: str, commit: str, note: Note) -> Snapshot:
    """Return the public Snapshot of a kept commit."""
    about = note.skipped, note.empty_directories, note.quiescent
    return Snapshot(tree, commit, *about, modes=note.modes, commits=note.commits)


def check_content_id(content: str) -> str:
    """Return a valid id or full name of a reference; raise NoSnapshotError for anything else."""
    is_id = len(content) == DIGITS and re.fullmatch(r"[0-9a-f]+", content)
    if not is_id and not re.fullmatch(r"refs/(iterations/[0-9]+|safety/undo-[0-9a-f]+)", content):
        raise NoSnapshotError(f"{shown(content)} is not the id of a tree or a commit")
    return content


def undo_id_of(commit: str) -> str:
    """Return the id that undoes a restore, derived from its safety snapshot."""
    return f"undo-{commit[:12]}"


def not_kept(content: str) -> NoSnapshotError:
    """Return the error that nothing is kept under a name."""
    number = content.removeprefix(ITERATIONS)
    if number != content:
        return NoSnapshotError(f"iteration {number} has no snapshot; `ralph-tracker history` names those")
    undo = content.removeprefix(SAFETY)
    if undo != content:
        return NoSnapshotError(f"no restore has the undo id {undo}; `ralph-tracker restore --list` lists them")
    return NoSnapshotError(f"nothing is kept as {content}; name an iteration, or an id that a restore has printed")
