"""Pack the records of older iterations: one file for 25 iterations in place of about 7 for each.

The pack is written and synced before a plain file goes, so a killed call leaves records plain, or plain and packed.
"""

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from ralph_tracker.store.files import TEMPORARY, as_store_error, sync_folder, write_whole
from ralph_tracker.store.layout import PACKED_TOGETHER, LoopPaths
from ralph_tracker.store.packed import pack_of
from ralph_tracker.store.reading import MAX_BYTES, read_bytes

RECENT: Final = 100
# A loop of an earlier version is packed little by little, so that no hook takes long.
_AT_ONCE: Final = 2
_PACKED_BYTES: Final = MAX_BYTES >> 1
_CONSEQUENCE: Final = "the records stay as plain files"
_SEAL: Final = "seal.json"


def pack_records(paths: LoopPaths, latest: int, at_once: int = _AT_ONCE) -> None:
    """Pack the records that are old enough, at most `at_once` packs; finish what a killed call left.

    A plain file is removed only if the pack on disk gives back the same bytes. The caller holds the loop's lock. Raises
    StoreError if the disk refuses: then records are plain, or both plain and packed.
    """
    with as_store_error(paths.packs, _CONSEQUENCE):
        ends = range(PACKED_TOGETHER, latest - RECENT + 1, PACKED_TOGETHER)
        unpacked = [last for last in ends if not _is_done(paths, last)]
        for last in unpacked[:at_once]:
            numbers = range(last - PACKED_TOGETHER + 1, last + 1)
            if not os.path.lexists(paths.pack(last)):
                _write_pack(paths, numbers)
            _remove_packed(paths, numbers)


def _is_done(paths: LoopPaths, last: int) -> bool:
    """Return whether a pack is written and its plain files are removed: the last seal goes last."""
    return os.path.lexists(paths.pack(last)) and not os.path.lexists(paths.iteration(last) / _SEAL)


def _plain_files(paths: LoopPaths, number: int) -> Iterator[Path]:
    """Yield what is packed of an iteration: its documents, the readable record and the report; the seal comes last."""
    yield from (path for path in (paths.record(number), paths.report(number)) if _is_regular(path))
    folder = paths.iteration(number)
    if folder.is_dir() and not folder.is_symlink():
        found = sorted(folder.glob("*.json"), key=lambda path: (path.name == _SEAL, path.name))
        yield from (path for path in found if path.name.isascii() and _is_regular(path))


def _is_regular(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _write_pack(paths: LoopPaths, numbers: range) -> None:
    mode, size, file = 0o644, 0, BytesIO()
    with ZipFile(file, "w") as pack:
        for path in (path for number in numbers for path in _plain_files(paths, number)):
            data, rights = read_bytes(path) or b"", path.stat().st_mode
            # Without its time: the same records give the same pack.
            member = ZipInfo(path.relative_to(paths.folder).as_posix())
            member.compress_type, member.external_attr = ZIP_DEFLATED, rights << 16
            pack.writestr(member, data)
            mode, size = mode & rights, size + len(data)
            if size > _PACKED_BYTES:
                return  # iterations of more than 5 MB each stay plain
    if not paths.packs.is_dir():
        paths.packs.mkdir()
        sync_folder(paths.folder)
    for left in paths.packs.glob(f"{TEMPORARY}*"):  # by killed calls
        left.unlink()
    write_whole(paths.pack(numbers[0]), file.getvalue(), mode=mode)


def _remove_packed(paths: LoopPaths, numbers: range) -> None:
    pack = pack_of(paths, numbers[0])
    if pack is None:
        return
    for number in numbers:
        for path in _plain_files(paths, number):
            if pack.read(path.relative_to(paths.folder).as_posix()) == read_bytes(path):
                path.unlink()
        folder = paths.iteration(number)
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()
