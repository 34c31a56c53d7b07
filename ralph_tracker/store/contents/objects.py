"""Contents by their sha256: files below two letters of it, compressed, each written whole before it has its name."""

import hashlib
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.files import cleared, sync_file, sync_folder

CHUNK: Final = 1 << 20
OBJECTS: Final = "objects"
STAGING: Final = "tmp"
# A third of the bytes at a tenth of a millisecond a file; higher levels cost more than they save.
_LEVEL: Final = 1
_LETTERS: Final = 2
_MANY: Final = 32
_AT_A_TIME: Final = 8
_UNNAMED: Final = "unnamed"


class Objects:
    """Keep contents in a store's folder; those of `lenders`, other stores, are read where they lie.

    What is added is staged, and there for every reader once it is published. Raises OSError where the system refuses.
    """

    def __init__(self, folder: Path, lenders: Sequence[Path] = ()) -> None:
        self.places = (folder / OBJECTS, *(lender / OBJECTS for lender in lenders))
        self.staging = folder / STAGING
        self._staged: dict[str, Path] = {}

    def add(self, data: bytes) -> str:
        """Stage a content and return its id."""
        object_id = hashlib.sha256(data).hexdigest()
        if not self.has(object_id):
            self._staged[object_id] = self.staging / object_id
            with _new_file(self._staged[object_id]) as file:
                file.write(zlib.compress(data, _LEVEL))
        return object_id

    def add_chunks(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        """Stage a content that need not fit into memory, and return its id and its size."""
        packer, digest, size = zlib.compressobj(_LEVEL), hashlib.sha256(), 0
        unnamed = self.staging / _UNNAMED
        with _new_file(unnamed) as file:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                file.write(packer.compress(chunk))
            file.write(packer.flush())
        object_id = digest.hexdigest()
        if self.has(object_id):
            unnamed.unlink()
        else:
            self._staged[object_id] = unnamed.rename(self.staging / object_id)
        return object_id, size

    def publish(self) -> None:
        """Give what is staged its names, durably: every file is synced before it has its name, its folder after."""
        _sync_all(self._staged.values())
        folders = {self._own(object_id).parent for object_id in self._staged}
        new = [folder for folder in folders if not folder.is_dir()]
        for folder in new:
            folder.mkdir()
        for object_id, path in self._staged.items():
            path.rename(self._own(object_id))
        for folder in folders:
            sync_folder(folder)
        if new:
            sync_folder(self.places[0])
        self._staged.clear()

    def clear(self) -> None:
        """Drop what is staged, also what a killed writer has left; the store's lock must be held."""
        self._staged.clear()
        cleared(self.staging)

    def has(self, object_id: str) -> bool:
        """Tell whether a content is there, or staged."""
        return object_id in self._staged or self._find(object_id) is not None

    def chunks(self, object_id: str) -> Iterator[bytes]:
        """Yield a content in parts; raise StoreError for one that is missing or damaged, as far as that is seen."""
        path = self._staged.get(object_id) or self._find(object_id)
        if path is None:
            raise _damaged(object_id)
        unpacker = zlib.decompressobj()
        try:
            with path.open("rb") as file:
                while data := file.read(CHUNK):
                    while data:
                        yield unpacker.decompress(data, CHUNK)
                        data = unpacker.unconsumed_tail
            yield unpacker.flush()
        except zlib.error:
            raise _damaged(object_id) from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror}); mend that and try again") from None
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

    def remove_others(self, wanted: set[str]) -> None:
        """Throw away every content of this store that is not wanted."""
        for folder in self.places[0].iterdir():
            for path in folder.iterdir():
                if folder.name + path.name not in wanted:
                    path.unlink()
            if not any(folder.iterdir()):
                folder.rmdir()

    def _own(self, object_id: str) -> Path:
        return self.places[0] / object_id[:_LETTERS] / object_id[_LETTERS:]

    def _find(self, object_id: str) -> Path | None:
        below = f"{object_id[:_LETTERS]}/{object_id[_LETTERS:]}"
        return next((place / below for place in self.places if os.path.lexists(f"{place}/{below}")), None)


def _sync_all(paths: Collection[Path]) -> None:
    """Sync files; many at a time, as the disk then writes them together: a tenth of the wait."""
    if len(paths) <= _MANY:
        for path in paths:
            sync_file(path)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # a first snapshot has many, later ones few

    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        for _ in pool.map(sync_file, paths):
            pass


def _new_file(path: Path) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return open(os.open(path, flags, 0o444), "wb")  # noqa: PTH123  # a descriptor, and the caller closes it


def _damaged(object_id: str) -> StoreError:
    return StoreError(f"the kept object {object_id} is missing or damaged; run `ralph-tracker verify`")
