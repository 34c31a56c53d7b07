"""Look at the packs that git writes while it takes many files in.

Git cuts a content that it has already out of such a pack again, and passes over it where the system refuses to cut:
everything behind that place is then found where it is not. Nobody would know before it is read.
"""

import mmap
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.files import AGAIN, told_plainly

_FANOUT: Final = 8 + 256 * 4
_NAME, _CRC, _OFFSET = 20, 4, 4
_CHECKSUM: Final = 20
_FAR: Final = 1 << 31
_AT_ONCE: Final = 1 << 20


@contextmanager
def new_packs_checked(folder: Path, index: Path) -> Iterator[None]:
    """Look at each pack that comes to `folder` while the body runs.

    Raises StoreError for one whose contents are not where it says: it is taken away, with the index that names them.
    """
    with told_plainly(folder, AGAIN):
        before = set(_listed(folder))
    yield
    with told_plainly(folder, AGAIN):
        bad = [path for path in _listed(folder) if path not in before and not _is_sound(path)]
        if not bad:
            return
        index.unlink(missing_ok=True)
        for path in bad:
            for ending in (".idx", ".rev", ".pack"):
                path.with_suffix(ending).unlink(missing_ok=True)
    raise StoreError(f"{bad[0].with_suffix('.pack')}: the system refused a part of it; {AGAIN}")


def _listed(folder: Path) -> list[Path]:
    return sorted(folder.glob("pack-*.idx")) if folder.is_dir() else []


def _is_sound(listing: Path) -> bool:
    """Tell whether every content of a pack is what its listing says: from its place to the next, by checksum."""
    names = listing.read_bytes()
    (count,) = struct.unpack_from(">I", names, _FANOUT - 4)
    at = _FANOUT + count * _NAME
    sums = struct.unpack_from(f">{count}I", names, at)
    places = _places(names, at + count * _CRC, count)
    with listing.with_suffix(".pack").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pack:
        ordered = sorted(zip(places, sums, strict=True))
        ends = [*(place for place, _ in ordered[1:]), len(pack) - _CHECKSUM]
        return all(_sum(pack, place, end) == known for (place, known), end in zip(ordered, ends, strict=True))


def _places(names: bytes, at: int, count: int) -> list[int]:
    """Return where the contents begin, in the order of the listing; those beyond 2 GB stand in a table of their own."""
    near = struct.unpack_from(f">{count}I", names, at)
    far = struct.unpack_from(f">{sum(each >= _FAR for each in near)}Q", names, at + count * _OFFSET)
    return [each if each < _FAR else far[each - _FAR] for each in near]


def _sum(pack: mmap.mmap, start: int, end: int) -> int:
    known = 0
    for at in range(start, end, _AT_ONCE):
        known = zlib.crc32(pack[at : min(at + _AT_ONCE, end)], known)
    return known
