"""Compare two kept trees file by file, with renames and a readable patch."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

from ralph_tracker.store.snapshots.snapshot_types import LINK_MODE, Change, as_utf8
from ralph_tracker.store.snapshots.trees import KeptTrees

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
# Comparing renames costs the product of old and new files; beyond this only equal contents are matched.
_RENAMES: Final = 200
_SHORT: Final = 7
_AROUND: Final = 3  # lines
_STARTS: Final = re.compile(r"([-+])(\d+)")
_ESCAPES: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


class FileChange(NamedTuple):
    """How one file differs between two kept trees.

    Modes are git's (100755 is executable, 120000 a symbolic link), None if the file is absent; `old_path` is set for a
    rename only. Lines `added` and `deleted` and the `patch` are None if the content is not text or too large to read
    (`large`).
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

    @property
    def name(self) -> str:
        """Return its path for people, after the old one if it was renamed."""
        path = as_utf8(self.path)
        return path if self.old_path is None else f"{as_utf8(self.old_path)} → {path}"


def content_kind(chunks: Iterable[bytes]) -> Kind:
    """Return whether a content is text, binary, or too large for a person to read."""
    first, size = b"", 0
    for chunk in chunks:
        first, size = first or chunk[:_BINARY_LOOK], size + len(chunk)
    if b"\0" in first[:_BINARY_LOOK]:  # git's rule
        return "binary"
    return "large" if size > PATCH_BYTES else "text"


def count_patch_lines(patch: str) -> tuple[int, int]:
    """Count the lines that a patch adds and removes; before its first hunk `+++` and `---` name the files."""
    added = deleted = 0
    in_hunk = False
    for line in patch.split("\n"):
        in_hunk = line.startswith("@@") or (in_hunk and not line.startswith(SECTION))
        added += in_hunk and line.startswith("+")
        deleted += in_hunk and line.startswith("-")
    return added, deleted


class _Pair(NamedTuple):
    """A file before and after; modes and ids are None where it is absent.

    `alike` is the share of a renamed file that is unchanged.
    """

    old_path: str
    path: str
    status: str
    old_mode: str | None
    new_mode: str | None
    old_id: str | None
    new_id: str | None
    alike: float = 1.0


class _Contents:
    """The kinds and texts of kept contents, each read once."""

    def __init__(self, kept: KeptTrees) -> None:
        self._kept = kept
        self._kinds: dict[str, Kind] = {}
        self._lines: dict[str, Counter[bytes]] = {}

    def kind(self, object_id: str) -> Kind:
        if object_id not in self._kinds:
            self._kinds[object_id] = content_kind(self._kept.objects.chunks(object_id))
        return self._kinds[object_id]

    def data(self, object_id: str | None) -> bytes:
        return self._kept.objects.read(object_id) if object_id else b""

    def alike(self, one: str, other: str) -> float:
        """Return the share of the larger content that both have, by whole lines; 0 if one is not text."""
        if self.kind(one) != "text" or self.kind(other) != "text":
            return 0.0
        before, after = self._line_counts(one), self._line_counts(other)
        common = sum(len(line) * count for line, count in (before & after).items())
        return common / max(_size(before), _size(after), 1)

    def _line_counts(self, object_id: str) -> Counter[bytes]:
        if object_id not in self._lines:
            self._lines[object_id] = Counter(self.data(object_id).splitlines(keepends=True))
        return self._lines[object_id]


def file_changes(kept: KeptTrees, before: str, after: str) -> tuple[FileChange, ...]:
    """Compare two trees or snapshots file by file, in the order of paths.

    Raises NoSnapshotError for what is not kept, StoreError for what is damaged.
    """
    contents = _Contents(kept)
    found = kept.changes(before, after)
    gone = [item for item in found if item.status == "D"]
    come = [item for item in found if item.status == "A"]
    moved = [*_pair_unchanged(gone, come)]
    moved += _pair_edited(*_without(moved, gone, come), contents)
    staying = [item for item in found if item.status in {"M", "T"}]
    for others in _without(moved, gone, come):
        staying += others
    pairs = [*moved, *(_pair(item.status, item, item) for item in staying)]
    return tuple(_change(pair, contents) for pair in sorted(pairs, key=lambda pair: os.fsencode(pair.path)))


def _pair_unchanged(gone: Sequence[Change], come: Sequence[Change]) -> Iterator[_Pair]:
    """Match files that moved unchanged, first those that kept their name."""
    # Not an empty file, which is like any other one.
    # An empty file is like any other one: its sha256 says nothing.
    rest = [item for item in gone if item.old_id != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]
    for new in come:
        alike = [
            old
            for old in rest
            if old.old_id == new.new_id and (old.old_mode == LINK_MODE) == (new.new_mode == LINK_MODE)
        ]
        if alike:
            name = new.path.rpartition("/")[2]
            old = max(alike, key=lambda each: each.path.rpartition("/")[2] == name)
            rest.remove(old)
            yield _pair("R", old, new)


def _pair_edited(gone: Sequence[Change], come: Sequence[Change], contents: _Contents) -> Iterator[_Pair]:
    """Match files that moved and changed, the most similar first."""
    if not gone or not come or len(gone) * len(come) > _RENAMES**2:
        return
    ways = (
        (contents.alike(old.old_id, new.new_id), old, new)
        for old in gone
        for new in come
        if old.old_id and new.new_id and LINK_MODE not in {old.old_mode, new.new_mode}
    )
    taken: set[str] = set()
    for alike, old, new in sorted(ways, key=lambda way: (-way[0], way[1].path, way[2].path)):
        if alike >= 0.5 and taken.isdisjoint({f"-{old.path}", f"+{new.path}"}):
            taken |= {f"-{old.path}", f"+{new.path}"}
            yield _pair("R", old, new, alike)


def _pair(status: str, old: Change, new: Change, alike: float = 1.0) -> _Pair:
    return _Pair(old.path, new.path, status, old.old_mode, new.new_mode, old.old_id, new.new_id, alike)


def _without(
    moved: Sequence[_Pair], gone: Sequence[Change], come: Sequence[Change]
) -> tuple[list[Change], list[Change]]:
    old, new = {pair.old_path for pair in moved}, {pair.path for pair in moved}
    return [item for item in gone if item.path not in old], [item for item in come if item.path not in new]


def _size(lines: Counter[bytes]) -> int:
    return sum(len(line) * count for line, count in lines.items())


def _change(pair: _Pair, contents: _Contents) -> FileChange:
    kind = max((contents.kind(object_id) for object_id in (pair.old_id, pair.new_id) if object_id), key=_KINDS.index)
    patch = "".join(_sections(pair, contents)) if kind == "text" else None
    added, deleted = (None, None) if patch is None else count_patch_lines(patch)
    return FileChange(
        path=pair.path,
        status=STATUS[pair.status],
        old_path=pair.old_path if pair.status == "R" else None,
        old_mode=pair.old_mode,
        new_mode=pair.new_mode,
        content=kind,
        added=added,
        deleted=deleted,
        patch=patch,
    )


def _sections(pair: _Pair, contents: _Contents) -> Iterator[str]:
    """Yield the patch; a change of type is shown as a deletion and an addition."""
    if pair.status == "T":
        yield from _sections(pair._replace(status="D", new_mode=None, new_id=None), contents)
        yield from _sections(pair._replace(status="A", old_mode=None, old_id=None), contents)
        return
    hunks = "".join(_hunks(contents.data(pair.old_id), contents.data(pair.new_id)))
    text = "".join(_head(pair))
    if hunks:
        sides = (("---", "a/" + pair.old_path, pair.old_id), ("+++", "b/" + pair.path, pair.new_id))
        for mark, path, object_id in sides:
            name = _quote_path(path) if object_id else "/dev/null"
            text += f"{mark} {name}{chr(9) if ' ' in name else ''}\n"
    yield (text + hunks).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _head(pair: _Pair) -> Iterator[str]:
    yield f"{SECTION}{_quote_path('a/' + pair.old_path)} {_quote_path('b/' + pair.path)}\n"
    if pair.status == "A":
        yield f"new file mode {pair.new_mode}\n"
    elif pair.status == "D":
        yield f"deleted file mode {pair.old_mode}\n"
    elif pair.old_mode != pair.new_mode:
        yield f"old mode {pair.old_mode}\nnew mode {pair.new_mode}\n"
    if pair.status == "R":
        yield f"similarity index {int(pair.alike * 100)}%\n"
        yield f"rename from {_quote_path(pair.old_path)}\nrename to {_quote_path(pair.path)}\n"
    if pair.old_id != pair.new_id:
        mode = f" {pair.new_mode}" if pair.old_mode == pair.new_mode else ""
        yield f"index {_short_id(pair.old_id)}..{_short_id(pair.new_id)}{mode}\n"


def _hunks(before: bytes, after: bytes) -> Iterator[str]:
    """Yield the lines of the hunks; bytes that are not UTF-8 are kept."""
    old, new, left_out = _without_ends(_lines(before), _lines(after))
    from difflib import unified_diff  # noqa: PLC0415  # only where somebody looks at a patch

    lines = unified_diff(old, new, n=_AROUND)
    for number, line in enumerate(lines):
        if line.startswith("@@"):
            yield _STARTS.sub(lambda start: f"{start[1]}{int(start[2]) + left_out}", line)
        elif number > 1:  # the first two are the file headers
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _without_ends(old: list[str], new: list[str]) -> tuple[list[str], list[str], int]:
    """Cut the common beginning and end of two files, except the context lines, as comparing is quadratic.

    Also returns the number of lines cut at the beginning.
    """
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    end = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    first, behind = max(0, start - _AROUND), max(0, end - _AROUND)
    return old[first : len(old) - behind], new[first : len(new) - behind], first


def _lines(data: bytes) -> list[str]:
    parts: Iterable[str] = data.decode("utf-8", "surrogateescape").split("\n")
    *whole, last = parts
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def _quote_path(name: str) -> str:
    """Return a path quoted as git does if it contains special characters."""
    escaped = "".join(
        _ESCAPES.get(letter) or (letter if letter >= " " and letter != "\x7f" else f"\\{ord(letter):03o}")
        for letter in name
    )
    return name if escaped == name else f'"{escaped}"'


def _short_id(object_id: str | None) -> str:
    return (object_id or "0" * _SHORT)[:_SHORT]
