"""What a kept tree is: its values, its limits, its commit note, and the seam behind which git keeps it.

Paths are relative to the root with forward slashes, as `os.fsdecode` gives them: bytes that are no UTF-8 stand as
surrogates, and `os.fsencode` brings them back. A path that ends with a slash names a folder as a whole.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

# The tree without entries; every git knows it without having it stored.
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

# Where what stood in the tree before a restore is kept, by its undo id.
SAFETY: Final = "refs/safety/"

# Where the snapshot of an iteration is kept, by its number.
ITERATIONS: Final = "refs/iterations/"

Status = Literal["A", "M", "D", "T"]
# Called with the undo id and the tree that stands there, before a restore touches anything.
Begun = Callable[[str, str], None]


class Skipped(NamedTuple):
    """Name a path that stands in the tree and is not kept, with the reason that a person reads."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hold what a snapshot refuses: more files than `max_files`, and skips: files over `max_file_bytes`."""

    max_files: int = 200_000
    max_file_bytes: int = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Hold one kept state of the tree.

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


@dataclass(frozen=True, slots=True)
class Change:
    """Hold how one path differs between two trees.

    The status is A added, M modified (content or exec bit), D deleted, T another type (file or link). Modes are git's:
    100644, 100755, 120000 for a symbolic link; None where the path is absent. `size` in bytes and `sha256` are those of
    the new content (the link's text for a link), None for a deletion.
    """

    path: str
    status: Status
    old_mode: str | None
    new_mode: str | None
    size: int | None
    sha256: str | None


class SnapshotStore(Protocol):
    """Keep and bring back states of one tree; `content` is always the id of a tree or of a commit."""

    @property
    def exists(self) -> bool: ...

    def create(self) -> None: ...

    def snapshot(self, previous: str | None = None, message: str = "", number: int | None = None) -> Snapshot: ...

    def keep(self, number: int, commit: str) -> None: ...

    def find(self, number: int) -> Snapshot: ...

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]: ...

    def read(self, content: str, path: str) -> bytes: ...

    def paths(self, content: str) -> tuple[str, ...]: ...

    def export(self, content: str, destination: Path, paths: Iterable[str] | None = None) -> None: ...

    def restore(self, content: str, begun: Begun | None = None) -> str: ...

    def undo(self, undo_id: str, begun: Begun | None = None) -> str: ...

    def branch(self, content: str, name: str) -> str: ...

    def verify(self, content: str) -> tuple[str, ...]: ...

    def pack(self) -> None: ...


def shown(path: str) -> str:
    """Return a path as one printable line: control characters and bytes that are no UTF-8 are escaped."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def as_utf8(path: str) -> str:
    """Write a path as UTF-8; bytes that are none stay readable by their numbers."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
