"""Write into a working tree so that a power cut takes back nothing of it."""

import errno
import os
from pathlib import Path
from types import TracebackType
from typing import Final

from ralph_tracker.store.files import sync_all
from ralph_tracker.store.tree.writer import TreeWriter, Unnamed

# On their way to the disk together: each holds a descriptor, and room beside what it replaces.
_TOGETHER: Final = 100
_NO_FOLDER: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class DurableTreeWriter(TreeWriter):
    """Sync every file before it gets its name, and every folder after.

    Files get their names many at a time, the last ones where the writer is left. Left without an error all is on the
    disk.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._waiting: list[Unnamed] = []

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self._name_waiting()
                self._sync_folders()
        finally:
            self._drop_waiting()
            super().__exit__(kind, error, at)

    def _go_on(self, unnamed: Unnamed) -> None:
        self._waiting.append(unnamed)
        if len(self._waiting) >= _TOGETHER:
            self._name_waiting()

    def _name_waiting(self) -> None:
        sync_all(os.fsync, [each.descriptor for each in self._waiting if each.descriptor is not None])
        while self._waiting:
            unnamed = self._waiting[0]
            self._name(unnamed)
            self._waiting.pop(0)
            _close(unnamed)

    def _drop_waiting(self) -> None:
        for unnamed in self._waiting:
            self._drop(unnamed)
            _close(unnamed)

    def _sync_folders(self) -> None:
        """Sync those that are still there; what has gone since was a change of its parent."""
        for folder in sorted(self._steps.changed):
            try:
                os.fsync(self._steps.open(folder))
            except OSError as error:
                if error.errno not in _NO_FOLDER:
                    raise


def _close(unnamed: Unnamed) -> None:
    if unnamed.descriptor is not None:
        os.close(unnamed.descriptor)
