"""Many contents in one file: compressed ones in a row, then a sorted table that tells where each of them lies."""

import hashlib
import os
import struct
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

SUFFIX: Final = ".pack"
_MAGIC: Final = b"ralph-tracker pack 1\n"
_ROW: Final = struct.Struct(">32sQQ")  # sha256, offset, length
_END: Final = struct.Struct(">Q32s")  # rows, sha256 of the table
_KEY: Final = 32
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BUFFER: Final = 1 << 18
_SMALL: Final = 1 << 20  # bytes that are copied in no time


def new_file(path: Path) -> BinaryIO:
    """Open a file that must not be there yet and that nobody writes to later."""
    return open(os.open(path, _NEW, 0o444), "wb", _BUFFER)  # noqa: PTH123  # a descriptor, and the caller closes it


class Place(NamedTuple):
    """Tell where a compressed content lies; `length` in bytes is None where it is a whole file."""

    path: str
    offset: int = 0
    length: int | None = None


class Draft:
    """Write a pack that nobody reads yet. Raises OSError where the system refuses."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[str, Place] = {}
        self._file = new_file(path)
        self._file.write(_MAGIC)
        self._end = len(_MAGIC)

    @property
    def size(self) -> int:
        """Return the bytes that were written."""
        return self._end

    def add(self, object_id: str, data: bytes) -> None:
        """Append a compressed content."""
        self._file.write(data)
        self.name(object_id, len(data))

    def write(self, data: bytes) -> int:
        """Append a part of a content that has its name later, and return its length."""
        return self._file.write(data)

    def name(self, object_id: str, length: int) -> None:
        """Name what was written last."""
        self.places[object_id] = Place(os.fspath(self.path), self._end, length)
        self._end += length

    def take_back(self) -> None:
        """Drop what was written and has no name."""
        self._file.seek(self._end)
        self._file.truncate()

    def flush(self) -> None:
        """Let what was written be read."""
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def finish(self) -> str:
        """Append the table, make all of it durable, and return the name that the pack gets."""
        rows = sorted((bytes.fromhex(name), place.offset, place.length) for name, place in self.places.items())
        table = b"".join(_ROW.pack(*row) for row in rows)
        digest = hashlib.sha256(table)
        with self._file as file:
            file.write(table)
            file.write(_END.pack(len(rows), digest.digest()))
            file.flush()
            os.fsync(file.fileno())
        return digest.hexdigest() + SUFFIX


class Pack:
    """Find contents in a pack; one whose table is damaged holds nothing. Raises OSError where the system refuses."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._table, self.size = _read_table(path)

    @property
    def is_intact(self) -> bool:
        """Tell whether it has a table that can be trusted."""
        return bool(self._table)

    def find(self, object_id: str) -> Place | None:
        """Return where a content lies, None where it is not in this pack."""
        key, table = bytes.fromhex(object_id), self._table
        count = len(table) // _ROW.size
        row = bisect_left(range(count), key, key=lambda row: table[row * _ROW.size : row * _ROW.size + _KEY])
        if row == count:
            return None
        found, offset, length = _ROW.unpack_from(table, row * _ROW.size)
        return Place(self.path, offset, length) if found == key else None

    def rows(self) -> Iterator[tuple[str, Place]]:
        """Yield all that it holds, in the order in which it was written."""
        for key, offset, length in sorted(_ROW.iter_unpack(self._table), key=lambda row: row[1]):
            yield key.hex(), Place(self.path, offset, length)


def too_small(packs: Iterable[Pack], loose: int) -> list[Pack]:
    """Return the packs to put into one with so many bytes of loose contents.

    What stays is at least twice as large as that, so that a content is copied no more often than the packs double.
    """
    found: list[Pack] = []
    total = loose
    for pack in sorted(packs, key=lambda pack: pack.size):
        if pack.size > max(_SMALL, 2 * total):
            break
        found.append(pack)
        total += pack.size
    return found


def _read_table(path: str) -> tuple[bytes, int]:
    """Return the table of a pack, nothing where it is damaged, and the bytes of the whole file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        end = os.pread(descriptor, _END.size, max(0, size - _END.size))
        if len(end) < _END.size:
            return b"", size
        count, digest = _END.unpack(end)
        start = size - _END.size - count * _ROW.size
        table = os.pread(descriptor, count * _ROW.size, start) if start > 0 else b""
    finally:
        os.close(descriptor)
    return (table if hashlib.sha256(table).digest() == digest else b""), size
