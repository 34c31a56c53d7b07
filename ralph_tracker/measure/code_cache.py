"""What is known of source files from the last count, so that only changed ones are analysed again."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.measure.analyser import FileCount, suffix_of

SCHEMA_VERSION: Final = 1
_SETTLED_NS: Final = 2_000_000_000

Stamp = tuple[int, int, int, int]
_NO_STAMP: Final = (0, 0, 0, 0)


class Known(NamedTuple):
    """Hold what was found in one file.

    `sha256` is of its content. `stamp` tells by itself that the file has not changed since, None where only the
    content can tell.
    """

    sha256: str
    stamp: Stamp | None
    counted: FileCount


class CodeCache(NamedTuple):
    """Hold the last count: path → what is known. `note` says why nothing is, where there should be something."""

    files: Mapping[str, Known] = {}
    note: str | None = None

    def unchanged(self, path: str, status: os.stat_result) -> Known | None:
        """Return what is known of a file that was certainly not touched since, None where that is not certain."""
        known = self.files.get(path)
        return known if known is not None and known.stamp == _stamp(status) else None

    def by_content(self) -> dict[tuple[str, str], FileCount]:
        """Return the counts by `content_key`, for files that were moved, copied or only touched."""
        return {content_key(path, known.sha256): known.counted for path, known in self.files.items()}


def content_key(path: str, sha256: str) -> tuple[str, str]:
    """Return what a count depends on: the content, and the suffix that tells the language."""
    return sha256, suffix_of(path)


def settled_stamp(status: os.stat_result, now_ns: int) -> Stamp | None:
    """Return what will change with the next write, None for a file changed so lately that it might not.

    Times of a file can be as coarse as two seconds: a second write within them leaves no trace. The time of the last
    status change is in it because, unlike the modification time, a program cannot set it back.
    """
    last = max(status.st_mtime_ns, status.st_ctime_ns)
    return _stamp(status) if now_ns - last > _SETTLED_NS else None


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def load_cache(path: Path, made_by: Mapping[str, Any]) -> CodeCache:
    """Read the cache; one made by another version, or with other settings, is empty, a damaged one says so."""
    try:
        raw = json.loads(path.read_bytes())
    except FileNotFoundError:
        return CodeCache()
    except (OSError, ValueError, RecursionError):
        return CodeCache(note=_damaged(path))
    if not isinstance(raw, dict) or raw.get("schema_version") != SCHEMA_VERSION or raw.get("made_by") != made_by:
        return CodeCache(note=None if isinstance(raw, dict) and "schema_version" in raw else _damaged(path))
    try:
        return CodeCache(_known(raw["files"]))
    except (KeyError, ValueError, TypeError, AttributeError):
        return CodeCache(note=_damaged(path))


def save_cache(path: Path, made_by: Mapping[str, Any], files: Mapping[str, Known]) -> str | None:
    """Replace the cache atomically; return why it could not be, None where it was. Nothing depends on it."""
    entries = {name: _entry(known) for name, known in files.items()}
    document = {"schema_version": SCHEMA_VERSION, "made_by": made_by, "files": entries}
    try:
        _replace(path, json.dumps(document, separators=(",", ":")).encode())
    except OSError as error:
        return f"the cache of code counts could not be written ({error.strerror}): every file is read again next time"
    return None


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".tmp-{os.urandom(8).hex()}")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123  # above
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _entry(known: Known) -> tuple[object, ...]:
    """Return what `_known` takes of each file."""
    return known.sha256, known.stamp, *known.counted


def _known(entries: Any) -> dict[str, Known]:  # noqa: ANN401  # as parsed
    """Return what is known of each file. Raises TypeError, ValueError or AttributeError where one is misshapen."""
    if entries == {}:
        return {}
    digests, stamps, lines, functions, complexities, notes = zip(*entries.values(), strict=True)
    sizes, written, changed, nodes = zip(*(stamp or _NO_STAMP for stamp in stamps), strict=True)
    for column in (lines, functions, complexities, sizes, written, changed, nodes):
        _refuse_others(column, int)
    _refuse_others(digests, str)
    _refuse_others(notes, str, type(None))
    if min(*lines, *functions) < 0:
        raise TypeError
    times = zip(sizes, written, changed, nodes, strict=True)
    settled = (time if stamp else None for time, stamp in zip(times, stamps, strict=True))
    found = map(FileCount, lines, functions, complexities, notes)
    return dict(zip(entries, map(Known, digests, settled, found), strict=True))


def _refuse_others(column: tuple[object, ...], *kinds: type) -> None:
    if not {*kinds}.issuperset(map(type, column)):
        raise TypeError


def _damaged(path: Path) -> str:
    return f"the cache of code counts was damaged and is made anew: {path.name}"
