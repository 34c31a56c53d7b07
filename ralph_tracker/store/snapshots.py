"""What a kept tree is: its values, its limits, and the seam behind which git or our own store keeps it.

Paths are relative to the root with forward slashes, as `os.fsdecode` gives them: bytes that are no UTF-8 stand as
surrogates, and `os.fsencode` brings them back. A path that ends with a slash names a folder as a whole.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from ralph_tracker.store.patches import FileChange

# Modes as git writes them, and everything here.
FILE_MODE: Final = "100644"
EXEC_MODE: Final = "100755"
LINK_MODE: Final = "120000"

# Where what stood in the tree before a restore is kept, by its undo id.
SAFETY: Final = "refs/safety/"

# Where the snapshot of an iteration is kept, by its number.
ITERATIONS: Final = "refs/iterations/"

Status = Literal["A", "M", "D", "T"]
# Called with the undo id and the tree that stands there, before a restore touches anything.
Begun = Callable[[str, str], None]


class Entry(NamedTuple):
    """Hold one file of a tree or an index."""

    path: str
    mode: str
    object_id: str


class Skipped(NamedTuple):
    """Name a path that stands in the tree and is not kept, with the reason that a person reads."""

    path: str
    reason: str


class Limits(NamedTuple):
    """Hold what a snapshot refuses: more files than `max_files`, and skips: files over `max_file_bytes`."""

    max_files: int = 200_000
    max_file_bytes: int = 50_000_000


class Snapshot(NamedTuple):
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


class Change(NamedTuple):
    """Hold how one path differs between two trees.

    The status is A added, M modified (content or exec bit), D deleted, T another type (file or link). Modes are git's:
    100644, 100755, 120000 for a symbolic link; None where the path is absent. `size` in bytes and `sha256` are those of
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


class SnapshotStore(Protocol):
    """Keep and bring back states of one tree; `content` is always the id of a tree or of a commit.

    `note` is what a person has to know of the way it keeps them, None for nothing.
    """

    @property
    def exists(self) -> bool: ...

    @property
    def is_in_repository(self) -> bool: ...

    @property
    def note(self) -> str | None: ...

    def create(self) -> None: ...

    def lend(self, folder: Path) -> Self: ...

    def snapshot(self, previous: str | None = None, message: str = "", number: int | None = None) -> Snapshot: ...

    def look(self, known: str) -> tuple[str, tuple[str, ...]]: ...

    def keep(self, number: int, commit: str) -> None: ...

    def find(self, number: int) -> Snapshot: ...

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]: ...

    def changes_since(self, befores: Sequence[str | None], after: str | None) -> list[tuple[Change, ...]]: ...

    def contents(self, object_ids: Iterable[str], at_most: int) -> dict[str, bytes]: ...

    def file_changes(self, before: str, after: str) -> "tuple[FileChange, ...]": ...

    def read(self, content: str, path: str) -> bytes: ...

    def paths(self, content: str) -> tuple[str, ...]: ...

    def export(self, content: str, destination: Path) -> None: ...

    def write_changed(self, changes: Iterable[Change], destination: Path) -> None: ...

    def restore(self, content: str, begun: Begun | None = None) -> str: ...

    def undo(self, undo_id: str, begun: Begun | None = None) -> str: ...

    def branch(self, content: str, name: str) -> str: ...

    def verify(self, content: str) -> tuple[str, ...]: ...

    def pack(self) -> None: ...

    def references(self) -> tuple[str, ...]: ...

    def forget(self, names: Sequence[str]) -> None: ...

    def sweep(self) -> None: ...


def shown(path: str) -> str:
    """Return a path as one printable line: control characters and bytes that are no UTF-8 are escaped."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def as_utf8(path: str) -> str:
    """Write a path as UTF-8; bytes that are none stay readable by their numbers."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
