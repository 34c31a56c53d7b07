"""Contents by their sha256, compressed: a few in files of their own below two letters of it, many in one pack.

Each file is written whole before it has its name.
"""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.contents.packs import SUFFIX, Draft, Pack, Place, new_file, too_small
from ralph_tracker.store.files import cleared, sync_all, sync_file, sync_folder
from ralph_tracker.store.tree.reader import CHUNK

OBJECTS: Final = "objects"
STAGING: Final = "tmp"
_PACKS: Final = "pack"
# A third of the bytes at a tenth of a millisecond a file; higher levels cost more than they save.
_LEVEL: Final = 1
_LETTERS: Final = 2
_DIGITS: Final = 64
# More contents than that, or more bytes than CHUNK, become a pack: one file to sync in the place of each.
_FEW: Final = 16
_DRAFT: Final = "draft"
_TRIES: Final = 5


class Objects:
    """Keep contents in a store's folder; those of `lenders`, other stores, are read where they lie.

    What is added is staged, and there for every reader once it is published. Raises OSError where the system refuses.
    """

    def __init__(self, folder: Path, lenders: Sequence[Path] = ()) -> None:
        self.places = (folder / OBJECTS, *(lender / OBJECTS for lender in lenders))
        self.staging = folder / STAGING
        self._staged: Draft | None = None
        self._packs: dict[str, Pack] | None = None

    def add(self, data: bytes) -> str:
        """Stage a content and return its id."""
        object_id = hashlib.sha256(data).hexdigest()
        if not self._is_known(object_id):
            self._draft().add(object_id, zlib.compress(data, _LEVEL))
        return object_id

    def add_chunks(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        """Stage a content that need not fit into memory, and return its id and its size."""
        packer, digest, size, length = zlib.compressobj(_LEVEL), hashlib.sha256(), 0, 0
        draft = self._draft()
        for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
            length += draft.write(packer.compress(chunk))
        length += draft.write(packer.flush())
        object_id = digest.hexdigest()
        if self._is_known(object_id):
            draft.take_back()
        else:
            draft.name(object_id, length)
        return object_id, size

    def publish(self) -> None:
        """Give what is staged its names, durably: every file is synced before it has its name, its folder after."""
        draft, self._staged = self._staged, None
        if draft is None:
            return
        if len(draft.places) > _FEW or draft.size > CHUNK:
            self._publish_pack(draft)
        else:
            self._publish_each(draft)

    def clear(self) -> None:
        """Drop what is staged, also what a killed writer has left; the store's lock must be held."""
        if self._staged is not None:
            with suppress(OSError):  # it goes, whatever of it could be written
                self._staged.close()
        self._staged = self._packs = None
        cleared(self.staging)

    def has(self, object_id: str) -> bool:
        """Tell whether a content is there, or staged."""
        return self._is_known(object_id) or self._find_anew(object_id) is not None

    def chunks(self, object_id: str) -> Iterator[bytes]:
        """Yield a content in parts; raise StoreError for one that is missing or damaged, as far as that is seen."""
        file, left = self._opened(object_id)
        unpacker = zlib.decompressobj()
        try:
            with file:
                while data := file.read(min(CHUNK, left)):
                    left -= len(data)
                    while data:
                        yield unpacker.decompress(data, CHUNK)
                        data = unpacker.unconsumed_tail
            yield unpacker.flush()
        except zlib.error:
            raise _damaged(object_id) from None
        except OSError as error:
            raise _unreadable(file.name, error) from None
        if not unpacker.eof or unpacker.unused_data:
            raise _damaged(object_id)

    def read(self, object_id: str) -> bytes:
        """Return a content; raise StoreError for one that is not what its id says."""
        data = b"".join(self.chunks(object_id))
        if hashlib.sha256(data).hexdigest() != object_id:
            raise _damaged(object_id)
        return data

    def is_intact(self, object_id: str) -> bool:
        """Tell whether a content is there and is what its id says."""
        digest = hashlib.sha256()
        try:
            for chunk in self.chunks(object_id):
                digest.update(chunk)
        except (StoreError, OSError):
            return False
        return digest.hexdigest() == object_id

    def pack(self) -> None:
        """Put the contents that are files of their own, and packs that are small beside them, into one pack."""
        loose = dict(self._loose())
        small = too_small(self._own_packs(), sum(Path(place.path).stat().st_size for place in loose.values()))
        if loose or len(small) > 1:
            packed = {name: place for pack in small for name, place in pack.rows()}
            self._replace({**packed, **loose}, [place.path for place in loose.values()], small)

    def remove_others(self, wanted: set[str]) -> None:
        """Throw away every content of this store that is not wanted."""
        for object_id, place in self._loose():
            if object_id not in wanted:
                Path(place.path).unlink()
        rows = {pack: dict(pack.rows()) for pack in self._own_packs()}
        stale = [pack for pack, places in rows.items() if not wanted.issuperset(places)]
        stay = {name: place for pack in stale for name, place in rows[pack].items() if name in wanted}
        self._replace(stay, [], stale)

    def _draft(self) -> Draft:
        if self._staged is None:
            self._staged = Draft(self.staging / _DRAFT)
        return self._staged

    def _publish_pack(self, draft: Draft) -> str:
        folder = self.places[0] / _PACKS
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
        draft.close()
        targets = {self.staging / name: self._own(name) for name in draft.places}
        for (object_id, place), path in zip(draft.places.items(), targets, strict=True):
            with new_file(path) as file:
                file.write(_bytes_at(object_id, place))
        sync_all(sync_file, targets)
        folders = {target.parent for target in targets.values()}
        new = [folder for folder in folders if not folder.is_dir()]
        for folder in new:
            folder.mkdir()
        for path, target in targets.items():
            path.rename(target)
        for folder in folders:
            sync_folder(folder)
        if new:
            sync_folder(self.places[0])
        draft.path.unlink()

    def _replace(self, places: Mapping[str, Place], loose: Iterable[str], packs: Iterable[Pack]) -> None:
        """Copy contents into one pack; once that is durable, the files and the packs they were in go."""
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
            with suppress(OSError):  # it holds something still
                folder.rmdir()
        self._packs = None

    def _is_known(self, object_id: str) -> bool:
        """Tell whether a content is there, as far as this process knows the packs: under the lock it knows all."""
        return (self._staged is not None and object_id in self._staged.places) or self._find(object_id) is not None

    def _opened(self, object_id: str) -> tuple[BinaryIO, int]:
        """Open the file that holds a content at its place, and return the bytes that it has there at the most."""
        for _ in range(_TRIES):
            place = self._place(object_id)
            if place is None:
                raise _damaged(object_id)
            try:
                file = open(place.path, "rb")  # noqa: PTH123, SIM115  # a path as text; the caller closes it
                file.seek(place.offset)
            except FileNotFoundError:  # packed meanwhile
                self._packs = None
                continue
            except OSError as error:
                raise _unreadable(place.path, error) from None
            return file, os.fstat(file.fileno()).st_size if place.length is None else place.length
        raise _damaged(object_id)

    def _place(self, object_id: str) -> Place | None:
        draft = self._staged
        if draft is not None and object_id in draft.places:
            draft.flush()
            return draft.places[object_id]
        return self._find(object_id) or self._find_anew(object_id)

    def _own(self, object_id: str) -> Path:
        return self.places[0] / object_id[:_LETTERS] / object_id[_LETTERS:]

    def _find(self, object_id: str) -> Place | None:
        below = f"{object_id[:_LETTERS]}/{object_id[_LETTERS:]}"
        loose = next((path for place in self.places if os.path.lexists(path := f"{place}/{below}")), None)
        if loose is not None:
            return Place(loose)
        if self._packs is None:
            self._packs = self._listed({})
        return next((place for pack in self._packs.values() if (place := pack.find(object_id))), None)

    def _find_anew(self, object_id: str) -> Place | None:
        """Look at packs that have come since: another process has put there what was a file of its own."""
        known = self._packs or {}
        self._packs = self._listed(known)
        return None if self._packs.keys() == known.keys() else self._find(object_id)

    def _listed(self, known: Mapping[str, Pack]) -> dict[str, Pack]:
        """Return the packs that there are; those that another process replaces meanwhile are listed again."""
        for _ in range(_TRIES):
            try:
                return {path: known.get(path) or Pack(path) for path in self._pack_paths()}
            except FileNotFoundError:
                continue
        return {}

    def _pack_paths(self) -> Iterator[str]:
        for place in self.places:
            with suppress(FileNotFoundError):
                yield from (os.fspath(path) for path in (place / _PACKS).iterdir() if path.suffix == SUFFIX)

    def _own_packs(self) -> list[Pack]:
        """List the packs to work on; one whose table is damaged stays as it is, since somebody may mend it."""
        found = self._listed({}).values()
        return [pack for pack in found if pack.path.startswith(f"{self.places[0]}/") and pack.is_intact]

    def _letters(self) -> list[Path]:
        return [folder for folder in self.places[0].iterdir() if len(folder.name) == _LETTERS]

    def _loose(self) -> Iterator[tuple[str, Place]]:
        for folder in self._letters():
            for path in folder.iterdir():
                object_id = folder.name + path.name
                if len(object_id) == _DIGITS:
                    yield object_id, Place(os.fspath(path))


def _bytes_at(object_id: str, place: Place) -> bytes:
    """Return what lies at a place, as it lies there."""
    with open(place.path, "rb") as file:  # noqa: PTH123  # a path as text
        file.seek(place.offset)
        data = file.read(-1 if place.length is None else place.length)
    if place.length is not None and len(data) != place.length:
        raise _damaged(object_id)
    return data


def _unreadable(path: str, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be read ({error.strerror}); mend that and try again")


def _damaged(object_id: str) -> StoreError:
    return StoreError(f"the kept object {object_id} is missing or damaged; run `ralph-tracker verify`")
