"""Store contents by sha256, compressed: a few as loose files below two letters of the hash, many in one pack.

Each file is complete before it gets its name.
"""

import hashlib
import os
import shutil
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from ralph_tracker.errors import StoreError
from ralph_tracker.safe_files import clear_staging, own_file, refuse_link, sync_all, sync_file, sync_folder
from ralph_tracker.store.snapshots.snapshot_types import DIGITS, OBJECTS
from ralph_tracker.store.snapshots.working_tree_io import CHUNK

SUFFIX: Final = ".pack"
_MAGIC: Final = b"ralph-tracker pack 1\n"
_ROW: Final = struct.Struct(">32sQQ")  # sha256, offset, length
_END: Final = struct.Struct(">Q32s")  # rows, sha256 of the table
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BUFFER: Final = 1 << 18
# Folders, notes and files of at most 50 MB are read whole. What is larger, somebody else has packed to fill the memory.
_MOST_READ: Final = 256 << 20
STAGING: Final = "tmp"
PACKS: Final = "pack"
# Compresses to a third; higher levels cost more than they save.
_LEVEL: Final = 1
# A content that fits into this window is compressed with small tables: those of zlib's defaults cost more to set up
# than most source files take to compress.
_WINDOW_BITS: Final = 14
_LETTERS: Final = 2
# More contents than that, or more bytes than CHUNK, become a pack: a single file to sync.
_FEW: Final = 16
_TRIES: Final = 5
# A table of so many bytes, as of an iteration's contents, is searched for an id before its rows are taken apart.
_SEARCHED: Final = 1 << 11


def new_file(path: Path) -> BinaryIO:
    """Open a new, read-only file for writing. Raises if it exists."""
    return open(os.open(path, _NEW, 0o444), "wb", _BUFFER)  # noqa: PTH123  # a descriptor, and the caller closes it


class Place(NamedTuple):
    """The location of a compressed content; `length` in bytes is None if it is a whole file."""

    path: str
    offset: int = 0
    length: int | None = None


class Draft:
    """A pack being written, not yet visible to readers. Raises OSError.

    `size` is the number of bytes up to the end of the last named content; what `file` has beyond it is not named yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[str, Place] = {}
        self.file = new_file(path)
        self.file.write(_MAGIC)
        self.size = len(_MAGIC)

    def add(self, object_id: str, data: bytes) -> None:
        """Append a compressed content."""
        self.file.write(data)
        self.name(object_id, len(data))

    def name(self, object_id: str, length: int) -> None:
        """Name the content written last."""
        self.places[object_id] = Place(os.fspath(self.path), self.size, length)
        self.size += length

    def finish(self) -> str:
        """Append the table, sync the pack, and return the name it gets."""
        rows = sorted((bytes.fromhex(name), place.offset, place.length) for name, place in self.places.items())
        table = b"".join(_ROW.pack(*row) for row in rows)
        digest = hashlib.sha256(table)
        with self.file as file:
            file.write(table)
            file.write(_END.pack(len(rows), digest.digest()))
            file.flush()
            os.fsync(file.fileno())
        return digest.hexdigest() + SUFFIX


class Pack:
    """The index of a pack, to find contents in it; with a damaged table it is empty. Raises OSError."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._table, self.size = _read_table(path)
        self.is_intact = bool(self._table)

    def find(self, object_id: str) -> Place | None:
        """Return the location of a content, None if it is not in this pack."""
        try:
            key, table = bytes.fromhex(object_id), self._table
        except ValueError:
            return None  # no id, but what an edited record says
        if len(table) < _SEARCHED and key not in table:
            return None
        count = len(table) // _ROW.size
        row = bisect_left(range(count), key, key=lambda row: table[row * _ROW.size : row * _ROW.size + 32])
        if row == count:
            return None
        found, offset, length = _ROW.unpack_from(table, row * _ROW.size)
        return Place(self.path, offset, length) if found == key else None

    def rows(self) -> Iterator[tuple[str, Place]]:
        """Yield all entries in the order they were written."""
        for key, offset, length in sorted(_ROW.iter_unpack(self._table), key=lambda row: row[1]):
            yield key.hex(), Place(self.path, offset, length)


def too_small(packs: Iterable[Pack], loose: int) -> list[Pack]:
    """Return the packs to merge with `loose` bytes of loose contents.

    The others are at least twice that size, so that a content is copied only as often as the total doubles.
    """
    found: list[Pack] = []
    total = loose
    for pack in sorted(packs, key=lambda pack: pack.size):
        # A megabyte is cheap to copy.
        if pack.size > max(1 << 20, 2 * total):
            break
        found.append(pack)
        total += pack.size
    return found


def _read_table(path: str) -> tuple[bytes, int]:
    """Return the table of a pack, empty if it is damaged, and the size of the file in bytes."""
    descriptor = own_file(path, os.O_RDONLY)
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


_NO_PACKS: Final[Mapping[str, Pack]] = {}


class Objects:
    """The contents in a store's folder; those of `lenders`, other stores, are read in place.

    An added content is staged, and visible to readers once published; `grown` are the names of the folders that loose
    ones were added to. Raises OSError.
    """

    def __init__(self, folder: Path, lenders: Sequence[Path] = ()) -> None:
        self.places = (folder / OBJECTS, *(lender / OBJECTS for lender in lenders))
        self.staging = folder / STAGING
        self.grown: set[str] = set()
        self._staged: Draft | None = None
        self._packs: dict[str, Pack] | None = None
        self._folders: frozenset[str] | None = None  # of loose contents
        self._held: dict[str, BinaryIO] | None = None  # packs by their paths, while they are held open

    def add(self, data: bytes) -> str:
        """Stage a content and return its id."""
        object_id = hashlib.sha256(data).hexdigest()
        if not self._is_known(object_id):
            if len(data) > 1 << _WINDOW_BITS:
                packed = zlib.compress(data, _LEVEL)
            else:
                packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW_BITS, 6)
                packed = packer.compress(data) + packer.flush()
            self._draft().add(object_id, packed)
        return object_id

    def take(self, first: bytes, rest: Iterable[bytes]) -> tuple[str, int]:
        """Stage a content read from a tree, a small one in one piece, and return its id and its size."""
        if len(first) < CHUNK:
            return self.add(first), len(first)
        return self.add_chunks(chain((first,), rest))

    def add_chunks(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        """Stage a content that may not fit into memory, and return its id and its size."""
        packer, digest, size, length = zlib.compressobj(_LEVEL), hashlib.sha256(), 0, 0
        draft = self._draft()
        for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
            length += draft.file.write(packer.compress(chunk))
        length += draft.file.write(packer.flush())
        object_id = digest.hexdigest()
        if self._is_known(object_id):
            draft.file.seek(draft.size)
            draft.file.truncate()
        else:
            draft.name(object_id, length)
        return object_id, size

    def publish(self) -> None:
        """Publish what is staged: every file is synced before it gets its name, and its folder after."""
        draft, self._staged = self._staged, None
        if draft is None:
            return
        if len(draft.places) > _FEW or draft.size > CHUNK:
            self._publish_pack(draft)
        else:
            self._publish_each(draft)

    def clear(self) -> None:
        """Drop what is staged, also by a killed writer; the store's lock must be held."""
        if self._staged is not None:
            with suppress(OSError):  # delete it, however incomplete
                self._staged.file.close()
        self._staged = self._packs = self._folders = None
        clear_staging(self.staging)

    @contextmanager
    def packs_held_open(self) -> Iterator[None]:
        """Open each pack once for all contents that are read within: opening costs more than a small content."""
        held: dict[str, BinaryIO] = {}
        self._held = held
        try:
            yield
        finally:
            self._held = None
            for file in held.values():
                file.close()

    def has(self, object_id: str) -> bool:
        """Return whether a content is there or staged."""
        return self._is_known(object_id) or self._find_anew(object_id) is not None

    def chunks(self, object_id: str) -> Iterator[bytes]:
        """Yield a content in parts; raise StoreError if it is missing, or at its end if it does not match its id.

        What is used is what was compared: files get their name only after the last part.
        """
        file, left = self._open_object(object_id)
        unpacker, known = zlib.decompressobj(), hashlib.sha256()
        try:
            with file:
                while data := file.read(min(CHUNK, left)):
                    left -= len(data)
                    while data:
                        part = unpacker.decompress(data, CHUNK)
                        known.update(part)
                        yield part
                        data = unpacker.unconsumed_tail
            part = unpacker.flush()
            known.update(part)
            yield part
        except zlib.error:
            raise _damage_error(object_id) from None
        except OSError as error:
            raise _unreadable_error(file.name, error) from None
        if not unpacker.eof or unpacker.unused_data or known.hexdigest() != object_id:
            raise _damage_error(object_id)

    def read(self, object_id: str) -> bytes:
        """Return a content; raise StoreError if it does not match its id, or unpacks to more than 256 MiB."""
        parts, room = [], _MOST_READ
        for part in self.chunks(object_id):
            parts.append(part)
            room -= len(part)
            if room < 0:
                raise _damage_error(object_id)
        return b"".join(parts)

    def is_intact(self, object_id: str) -> bool:
        """Return whether a content is there and matches its id."""
        try:
            for _ in self.chunks(object_id):
                pass
        except (StoreError, OSError):
            return False
        return True

    def pack(self) -> None:
        """Merge loose contents, and packs that are small beside them, into one pack."""
        loose = dict(self._loose())
        small = too_small(self._own_packs(), sum(Path(place.path).stat().st_size for place in loose.values()))
        if loose or len(small) > 1:
            packed = {name: place for pack in small for name, place in pack.rows()}
            self._replace({**packed, **loose}, [place.path for place in loose.values()], small)

    def remove_others(self, wanted: set[str]) -> None:
        """Delete every content of this store that is not in `wanted`."""
        for object_id, place in self._loose():
            if object_id not in wanted:
                Path(place.path).unlink()
        rows = {pack: dict(pack.rows()) for pack in self._own_packs()}
        stale = [pack for pack, places in rows.items() if not wanted.issuperset(places)]
        stay = {name: place for pack in stale for name, place in rows[pack].items() if name in wanted}
        self._replace(stay, [], stale)

    def ids(self) -> Iterator[str]:
        """Yield the ids of all contents of this store."""
        yield from (object_id for object_id, _ in self._loose())
        for pack in self._own_packs():
            yield from (object_id for object_id, _ in pack.rows())

    def damaged_packs(self) -> list[str]:
        """Return the names of packs whose table is damaged, so that nothing in them is found."""
        packs = self._list_packs({}).values()
        return [Path(pack.path).name for pack in packs if not pack.is_intact]

    def set_aside(self, folder: Path) -> None:
        """Move what does not match its id to `folder`, so that it can be added again.

        What can be read of a pack whose table is damaged is staged; the lock must be held.
        """
        folder.mkdir(exist_ok=True)
        for object_id, place in self._loose():
            if not _is_whole(object_id, place):
                Path(place.path).rename(folder / object_id)
        for name in self.damaged_packs():
            path = self.places[0] / PACKS / name
            path.rename(folder / name)
            for data in _rescue_contents(folder / name):
                self.add(data)
        self._packs = None
        for pack in self._own_packs():
            rows = dict(pack.rows())
            bad = [object_id for object_id, place in rows.items() if not _is_whole(object_id, place)]
            if bad:
                shutil.copyfile(pack.path, folder / Path(pack.path).name)
                self.publish()  # the draft has to be free
                self._replace({name: place for name, place in rows.items() if name not in bad}, [], [pack])
        with suppress(OSError):  # not empty
            folder.rmdir()

    def _draft(self) -> Draft:
        if self._staged is None:
            self._staged = Draft(self.staging / "draft")
        return self._staged

    def _publish_pack(self, draft: Draft) -> str:
        folder = self.places[0] / PACKS
        is_new = not folder.is_dir()
        if is_new:
            folder.mkdir()
        path = folder / draft.finish()
        draft.path.rename(path)
        sync_folder(folder)
        if is_new:
            sync_folder(self.places[0])
        if self._packs is not None:
            self._packs[os.fspath(path)] = Pack(os.fspath(path))
        return os.fspath(path)

    def _publish_each(self, draft: Draft) -> None:
        draft.file.close()
        targets = {self.staging / name: self.places[0] / name[:_LETTERS] / name[_LETTERS:] for name in draft.places}
        for (object_id, place), path in zip(draft.places.items(), targets, strict=True):
            with new_file(path) as file:
                file.write(_bytes_at(object_id, place))
        sync_all(sync_file, targets)
        folders = {target.parent for target in targets.values()}
        refuse_link(*folders)
        self.grown.update(folder.name for folder in folders)
        new = [folder for folder in folders if not folder.is_dir()]
        for folder in new:
            folder.mkdir()
        self._folders = None
        for path, target in targets.items():
            path.rename(target)
        for folder in folders:
            sync_folder(folder)
        if new:
            sync_folder(self.places[0])
        draft.path.unlink()

    def _replace(self, places: Mapping[str, Place], loose: Iterable[str], packs: Iterable[Pack]) -> None:
        """Copy contents into one pack; once it is durable, delete the files and packs they were in."""
        path = None
        if places:
            draft = self._draft()
            for object_id, place in places.items():
                draft.add(object_id, _bytes_at(object_id, place))
            path = self._publish_pack(draft)
            self._staged = None
        for gone in (*loose, *(pack.path for pack in packs)):
            if gone != path:
                Path(gone).unlink()
        for folder in self._letters():
            with suppress(OSError):  # not empty
                folder.rmdir()
        self._packs = None

    def _is_known(self, object_id: str) -> bool:
        """Return whether a content is in the packs that this process knows; under the lock, those are all."""
        return (self._staged is not None and object_id in self._staged.places) or self._find(object_id) is not None

    def _open_object(self, object_id: str) -> tuple[BinaryIO, int]:
        """Open the file that holds a content at its offset, and return the maximal number of bytes to read."""
        for _ in range(_TRIES):
            draft = self._staged
            if draft is not None and object_id in draft.places:
                draft.file.flush()
                place: Place | None = draft.places[object_id]
            else:
                place = self._find(object_id) or self._find_anew(object_id)
            if place is None:
                raise _damage_error(object_id)
            try:
                if self._held is not None and place.length is not None and place.length <= CHUNK:
                    return BytesIO(self._bytes_in_held(place)), place.length
                file = open(place.path, "rb", opener=own_file)  # noqa: SIM115  # the caller closes it
                file.seek(place.offset)
            except FileNotFoundError:  # packed by another process
                self._packs = None
                continue
            except OSError as error:
                raise _unreadable_error(place.path, error) from None
            return file, os.fstat(file.fileno()).st_size if place.length is None else place.length
        raise _damage_error(object_id)

    def _bytes_in_held(self, place: Place) -> bytes:
        held = {} if self._held is None else self._held
        file = held.get(place.path)
        if file is None:
            file = held[place.path] = open(place.path, "rb", 0, opener=own_file)  # noqa: SIM115  # closed with all
        return os.pread(file.fileno(), place.length or 0, place.offset)

    def _find(self, object_id: str, known: Mapping[str, Pack] = _NO_PACKS) -> Place | None:
        """Return the location of a content, None if it is not known; packs that are `known` are not opened again."""
        letters, rest = object_id[:_LETTERS], object_id[_LETTERS:]
        if self._folders is None:  # a first snapshot looks for each of its contents, and there are none
            self._folders = frozenset(self._folder_paths())
        for place in self.places:
            folder = f"{place}/{letters}"
            if folder in self._folders and os.path.lexists(f"{folder}/{rest}"):
                return Place(f"{folder}/{rest}")
        if self._packs is None:  # listed after the loose files, which are only removed once a pack holds them
            self._packs = self._list_packs(known)
        return next((found for pack in self._packs.values() if (found := pack.find(object_id))), None)

    def _find_anew(self, object_id: str) -> Place | None:
        """Look again at what is there: another process may have added a loose file, or packed it."""
        known, self._packs, self._folders = self._packs or {}, None, None
        return self._find(object_id, known)

    def _list_packs(self, known: Mapping[str, Pack]) -> dict[str, Pack]:
        """Return the existing packs; if another process replaces one meanwhile, they are listed again."""
        for _ in range(_TRIES):
            try:
                return {path: known.get(path) or Pack(path) for path in self._pack_paths()}
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _unreadable_error(error.filename or self.places[0], error) from None
        return {}

    def _folder_paths(self) -> Iterator[str]:
        for place in self.places:
            try:
                yield from (f"{place}/{name}" for name in os.listdir(place) if len(name) == _LETTERS)  # noqa: PTH208
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _unreadable_error(place, error) from None

    def _pack_paths(self) -> Iterator[str]:
        for place in self.places:
            with suppress(FileNotFoundError):
                yield from (os.fspath(path) for path in (place / PACKS).iterdir() if path.suffix == SUFFIX)

    def _own_packs(self) -> list[Pack]:
        """List the packs to work on, without those whose table is damaged, as somebody may repair them."""
        found = self._list_packs({}).values()
        return [pack for pack in found if pack.path.startswith(f"{self.places[0]}/") and pack.is_intact]

    def _letters(self) -> list[Path]:
        folders = (folder for folder in self.places[0].iterdir() if len(folder.name) == _LETTERS)
        return [folder for folder in folders if not folder.is_symlink()]  # it would lead to files of others

    def _loose(self) -> Iterator[tuple[str, Place]]:
        for folder in self._letters():
            for path in folder.iterdir():
                object_id = folder.name + path.name
                if len(object_id) == DIGITS:
                    yield object_id, Place(os.fspath(path))


def _is_whole(object_id: str, place: Place) -> bool:
    """Return whether the content at one place matches its id."""
    known, unpacker = hashlib.sha256(), zlib.decompressobj()
    try:
        data = _bytes_at(object_id, place)
        while data:  # in parts: a small file can unpack to more than there is memory
            known.update(unpacker.decompress(data, CHUNK))
            data = unpacker.unconsumed_tail
        known.update(unpacker.flush())
    except (zlib.error, StoreError, OSError):
        return False
    return unpacker.eof and not unpacker.unused_data and known.hexdigest() == object_id


def _rescue_contents(pack: Path) -> Iterator[bytes]:
    """Yield the contents of a pack without its table, up to the first that is damaged."""
    with open(pack, "rb", opener=own_file) as file:  # pathlib's takes no opener
        at = file.seek(len(_MAGIC))
        while True:
            file.seek(at)
            unpacker, data, read = zlib.decompressobj(), b"", 0
            try:
                while not unpacker.eof and (part := file.read(_BUFFER)):
                    read += len(part)
                    data += unpacker.decompress(part)
            except zlib.error:
                return
            if not unpacker.eof:
                return
            at += read - len(unpacker.unused_data)
            yield data


def hash_only(first: bytes, rest: Iterable[bytes]) -> tuple[str, int]:
    """Return the id and size of a content without storing it."""
    known, size = hashlib.sha256(), 0
    for chunk in chain((first,), rest):
        known.update(chunk)
        size += len(chunk)
    return known.hexdigest(), size


def _bytes_at(object_id: str, place: Place) -> bytes:
    """Return the raw bytes at a location."""
    with open(place.path, "rb", opener=own_file) as file:  # a path as text
        file.seek(place.offset)
        data = file.read(-1 if place.length is None else place.length)
    if place.length is not None and len(data) != place.length:
        raise _damage_error(object_id)
    return data


def _unreadable_error(path: str | Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be read ({error.strerror}); fix that and try again")


def _damage_error(object_id: str) -> StoreError:
    return StoreError(f"the kept object {object_id} is missing or damaged; run `ralph-tracker verify`")
