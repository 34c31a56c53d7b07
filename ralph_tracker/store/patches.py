"""What changed in one file between two kept trees, as a person reads it, and which contents a person can read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

PATCH_BYTES: Final = 1_000_000
SECTION: Final = "diff --git "
_BINARY_LOOK: Final = 8000  # as far as git itself looks for a NUL
FileStatus = Literal["added", "modified", "deleted", "renamed", "type_changed"]
Kind = Literal["text", "large", "binary"]
_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
STATUS: Final[dict[str, FileStatus]] = {
    "A": "added",
    "M": "modified",
    "D": "deleted",
    "R": "renamed",
    "T": "type_changed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """Hold how one file differs between two kept trees.

    Modes are git's (100755 is executable, 120000 a symbolic link), None where the file is absent; `old_path` is set
    for a rename only. Lines `added` and `deleted` and the `patch` are None where the content is no text, or larger
    than a person reads (`large`).
    """

    path: str
    status: FileStatus
    old_path: str | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    content: Kind = "text"
    added: int | None = None
    deleted: int | None = None
    patch: str | None = None


def kind_of(chunks: Iterable[bytes]) -> Kind:
    """Tell what a content is to a person who wants to read it."""
    first, size = b"", 0
    for chunk in chunks:
        first, size = first or chunk[:_BINARY_LOOK], size + len(chunk)
    if not is_text(first):
        return "binary"
    return "large" if size > PATCH_BYTES else "text"


def is_text(first: bytes) -> bool:
    """Tell whether a content that begins so is text, as git does."""
    return b"\0" not in first[:_BINARY_LOOK]


def kind_of_both(kinds: Iterable[Kind]) -> Kind:
    """Return what a change is by its two contents: one that is no text, or large, makes both so."""
    return max(kinds, key=_KINDS.index)


def counted(patch: str) -> tuple[int, int]:
    """Count the lines that a patch adds and takes away; before its first hunk `+++` and `---` name the files."""
    added = deleted = 0
    for line in _in_hunks(patch):
        added += line.startswith("+")
        deleted += line.startswith("-")
    return added, deleted


def _in_hunks(patch: str) -> Iterator[str]:
    in_hunk = False
    for line in patch.split("\n"):
        in_hunk = line.startswith("@@") or (in_hunk and not line.startswith(SECTION))
        if in_hunk:
            yield line
