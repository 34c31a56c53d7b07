"""Pack the records of older iterations, and read a record wherever it is: as a plain file, else in its pack.

A pack is a zip file with the documents of 25 iterations in place of about 7 files for each, named by their paths in the
loop's folder: unzipped there, it gives the plain files again. Plain files come first, so a restored or rewritten one
counts. The baseline and the last 100 iterations are never packed. A pack is written and synced before a plain file
goes, so a killed call leaves records plain, or plain and packed.
"""

import os
import zlib
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ralph_tracker.safe_files import (
    MAX_OWN,
    TEMPORARY,
    as_store_error,
    digest,
    file_digest,
    read_own_file,
    sync_folder,
    write_whole,
)
from ralph_tracker.store.json_documents import parsed_json, refuse_newer
from ralph_tracker.store.layout import PACKED_TOGETHER, LoopPaths, document_name, pack_name

if TYPE_CHECKING:
    from zipfile import ZipFile

RECENT: Final = 100
# What a call that was killed or refused left unpacked is packed little by little, so that no hook takes long.
_AT_ONCE: Final = 2
_SEAL: Final = "seal.json"


class Pack:
    """A pack in memory; a damaged one has no members."""

    def __init__(self, data: bytes) -> None:
        import zipfile  # noqa: PLC0415  # 20 ms, which only a loop with packs pays

        # What it raises for a damaged file: of its parts, its methods and its text.
        self._damaged = (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError, OSError)
        try:
            self._zip: ZipFile | None = zipfile.ZipFile(BytesIO(data))
        except self._damaged:
            self._zip = None
        self.members = frozenset(() if self._zip is None else self._zip.namelist())

    def read(self, name: str) -> bytes | None:
        """Return a document, None if it is not in the pack or damaged."""
        if self._zip is None or name not in self.members:
            return None
        size = self._zip.getinfo(name).file_size
        try:
            with self._zip.open(name) as file:  # its own `read` unpacks more than the size that is said
                return file.read(size) if size <= MAX_OWN else None
        except self._damaged:
            return None


@lru_cache(maxsize=2)
def _open_pack(path: str, _inode: int, _time: int, _size: int) -> Pack:
    data = read_own_file(path) or b""
    return Pack(data)


def pack_of(paths: LoopPaths, number: int) -> Pack | None:
    """Return the pack of an iteration, None if there is none. Raises StoreError for a link or a pipe in its place."""
    path = f"{paths.folder}/{pack_name(number)}"
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return _open_pack(path, found.st_ino, found.st_mtime_ns, found.st_size)


class Documents:
    """The documents of one iteration; it is looked up once whether they are packed.

    `name` is a document's path as a plain file in the loop's folder. Everything raises StoreError as `read_bytes` does.
    """

    def __init__(self, paths: LoopPaths, number: int) -> None:
        self._paths = paths
        self._number = number
        self._folder = os.fspath(paths.folder)
        self._pack = pack_of(paths, number) if number else None
        # Looking for what is mostly not there, for each of thousands of documents, costs more than reading it.
        self._below = document_name(number)
        self._is_plain = self._pack is None or os.path.lexists(f"{self._folder}/{self._below}")  # of many

    def read(self, name: str) -> bytes | None:
        """Return a document, None if it is missing or its pack is damaged."""
        if self._pack is not None and not self._is_file(name):
            return self._pack.read(name)
        data = read_own_file(f"{self._folder}/{name}")
        return packed_bytes(self._paths, self._number, name) if data is None else data  # packed since

    def digest(self, name: str) -> str | None:
        """Return the sha256 of a document or another file of the iteration, None if it is missing or unreadable."""
        if self._pack is not None and not self._is_file(name):
            data = self._pack.read(name)
        else:
            try:
                return file_digest(f"{self._folder}/{name}", at_most=MAX_OWN)
            except (FileNotFoundError, NotADirectoryError):
                data = packed_bytes(self._paths, self._number, name)  # packed since, or missing
            except OSError:
                return None
        return None if data is None else digest(data)

    def has(self, name: str) -> bool:
        """Return whether a document is there, damaged or not."""
        return self._is_file(name) or (self._pack is not None and name in self._pack.members)

    def _is_file(self, name: str) -> bool:
        is_looked_for = self._is_plain or not name.startswith(self._below)
        # A link of an iteration's files is there wherever it leads, also to nowhere.
        return is_looked_for and os.path.lexists(f"{self._folder}/{name}")  # as above


def packed_bytes(paths: LoopPaths, number: int, name: str) -> bytes | None:
    """Return a document as its pack has it, None if there is none. Raises StoreError as `read_bytes` does."""
    pack = pack_of(paths, number) if number else None
    return None if pack is None else pack.read(name)


def kept_bytes(paths: LoopPaths, number: int, name: str) -> bytes | None:
    """Return one document of an iteration as `Documents` does."""
    return Documents(paths, number).read(name)


def kept_json(paths: LoopPaths, number: int, name: str) -> Any:  # noqa: ANN401  # any document
    """Return a document of an iteration's folder, None if it is missing or damaged. Raises as `read_json` does."""
    data = kept_bytes(paths, number, document_name(number, name))
    return None if data is None else refuse_newer(parsed_json(data), f"{paths.folder}/{document_name(number, name)}")


def pack_records(paths: LoopPaths, latest: int, at_once: int = _AT_ONCE) -> None:
    """Pack the records that are old enough, at most `at_once` packs; finish what a killed call left.

    A plain file is removed only if the pack on disk gives back the same bytes. The caller holds the loop's lock. Raises
    StoreError if the disk refuses: then records are plain, or both plain and packed.
    """
    with as_store_error(paths.packs, "the records stay as plain files"):
        ends = range(PACKED_TOGETHER, latest - RECENT + 1, PACKED_TOGETHER)
        # A pack is done once its plain files are removed: the last seal goes last.
        unpacked = [
            last
            for last in ends
            if not os.path.lexists(paths.pack(last)) or os.path.lexists(paths.iteration(last) / _SEAL)
        ]
        for last in unpacked[:at_once]:
            numbers = range(last - PACKED_TOGETHER + 1, last + 1)
            if not os.path.lexists(paths.pack(last)):
                _write_pack(paths, numbers)
            _remove_packed(paths, numbers)


def _plain_files(paths: LoopPaths, number: int) -> list[Path]:
    """Return what is packed of an iteration: its documents, the readable record and the report; the seal comes last."""
    folder, found = paths.iteration(number), [paths.record(number), paths.report(number)]
    if folder.is_dir() and not folder.is_symlink():
        documents = (path for path in folder.glob("*.json") if path.name.isascii())
        found += sorted(documents, key=lambda path: (path.name == _SEAL, path.name))
    return [path for path in found if path.is_file() and not path.is_symlink()]


def _write_pack(paths: LoopPaths, numbers: range) -> None:
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo  # noqa: PLC0415  # as above

    mode, size, file = 0o644, 0, BytesIO()
    with ZipFile(file, "w") as pack:
        for path in (path for number in numbers for path in _plain_files(paths, number)):
            data, rights = read_own_file(path) or b"", path.stat().st_mode
            # Without its time: the same records give the same pack.
            member = ZipInfo(path.relative_to(paths.folder).as_posix())
            member.compress_type, member.external_attr = ZIP_DEFLATED, rights << 16
            pack.writestr(member, data)
            mode, size = mode & rights, size + len(data)
            if size > MAX_OWN >> 1:
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
            if pack.read(path.relative_to(paths.folder).as_posix()) == read_own_file(path):
                path.unlink()
        folder = paths.iteration(number)
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()
