"""Take away what is kept of iterations and restores: their names, then their plain files, then what nothing names."""

import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from ralph_tracker.store.choosing import CONTENTS, GIT
from ralph_tracker.store.contents.objects import STAGING
from ralph_tracker.store.files import told_plainly
from ralph_tracker.store.keeping import COLLECTABLE, Keeper
from ralph_tracker.store.snapshots import ITERATIONS, SAFETY

_IN_STORE: Final = (f"{GIT}/", f"{CONTENTS}/")
# Nobody but a writer that was killed leaves these; the ones in the store go when that is swept.
_LEFTOVERS: Final = (
    *("tmp/*", ".tmp-*", "*/.tmp-*", f"{CONTENTS}/{STAGING}/*"),
    *(f"{GIT}.new", f"{CONTENTS}.new", f"{GIT}/objects/*/tmp_*"),
)
_AGAIN: Final = "run `ralph-tracker gc --yes` again"


class Collector(Keeper):
    """Look at what one loop keeps and take parts of it away; the caller holds the loop's lock."""

    def held(self) -> Mapping[int, int]:
        """Return the iterations of which files are kept, each with the bytes of its plain files."""
        names = (name for name in self._store.references() if name.startswith(ITERATIONS))
        named = {int(name.removeprefix(ITERATIONS)) for name in names}
        plain = {number for number in range(self._committed.latest() + 1) if any(map(_is_there, self._plain(number)))}
        return {number: sum(map(occupied, self._plain(number))) for number in sorted(named | plain)}

    def undos(self) -> tuple[str, ...]:
        """Return the undo ids of the safety snapshots, oldest first; those that no event names come before others."""
        kept = {name.removeprefix(SAFETY) for name in self._store.references() if name.startswith(SAFETY)}
        events = self._committed.events()
        latest_first = (event.get("undo") for event in reversed(events) if event["event"] == "rollback")
        known = tuple(dict.fromkeys(undo for undo in latest_first if undo in kept))
        return (*sorted(kept.difference(known)), *reversed(known))

    def leftovers(self) -> tuple[str, ...]:
        """Return what writers that were killed have left, relative to the loop's folder."""
        folder = self.paths.folder
        found = (path for pattern in _LEFTOVERS for path in folder.glob(pattern))
        return tuple(sorted({path.relative_to(folder).as_posix() for path in found}))

    def take_away(self, numbers: Iterable[int], undos: Iterable[str], leftovers: Iterable[str]) -> None:
        """Delete the names and the plain files of iterations, safety snapshots and leftovers.

        What is gone already is no error, so that a call that was killed is ended by the next one.
        """
        numbers = tuple(numbers)
        named = set(self._store.references())
        gone = [*(f"{ITERATIONS}{number}" for number in numbers), *(f"{SAFETY}{undo}" for undo in undos)]
        self._store.forget([name for name in gone if name in named])
        with told_plainly(self.paths.folder, _AGAIN):
            for number in numbers:
                for path in self._plain(number):
                    _remove(path)
            for name in leftovers:
                if not name.startswith(_IN_STORE):
                    _remove(self.paths.folder / name)

    def sweep(self) -> None:
        """Throw away what nothing names any more, and pack the rest. Raises StoreError where git refuses."""
        self._store.sweep()

    def _plain(self, number: int) -> tuple[Path, ...]:
        return tuple(self.paths.iteration(number) / name for name in COLLECTABLE)


def occupied(path: Path) -> int:
    """Return the bytes of the files below a folder; one that is somebody else's too, by a hard link, costs nothing."""
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            status = os.lstat(f"{place}/{name}")
            total += status.st_size if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else 0
    return total


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
