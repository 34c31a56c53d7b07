"""The names under which snapshots are kept: a file each, which holds an id."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from ralph_tracker.store.files import sync_folder, write_whole
from ralph_tracker.store.reading import read_bytes
from ralph_tracker.store.snapshots import ITERATIONS, SAFETY

FOLDERS: Final = (ITERATIONS.rstrip("/"), SAFETY.rstrip("/"))


class Names:
    """Read and write the names in a store's folder."""

    def __init__(self, folder: Path, staging: Path) -> None:
        self._folder = folder
        self._staging = staging

    def read(self, name: str) -> str | None:
        """Return the id that a name leads to, None where there is none."""
        data = read_bytes(self._folder / name)
        return None if data is None else data.decode("ascii", "replace").strip()

    def write(self, name: str, object_id: str) -> None:
        """Name what is durable by now."""
        write_whole(self._folder / name, f"{object_id}\n".encode(), self._staging)

    def all(self) -> Iterator[str]:
        for folder in FOLDERS:
            yield from sorted(f"{folder}/{path.name}" for path in (self._folder / folder).iterdir())

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)
        for folder in FOLDERS:
            sync_folder(self._folder / folder)
