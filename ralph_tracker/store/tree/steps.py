"""Open the folders of a tree step by step, so that no symbolic link is ever followed."""

import contextlib
import os
from pathlib import Path
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TreeSteps:
    """Hold the root of a tree open, and the folder that was asked for last.

    `changed` are the folders in which one was made, and those that the caller names.
    """

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._last: tuple[str, int] | None = None
        self.changed: set[str] = set()

    def close(self) -> None:
        self.forget()
        os.close(self._root)

    def open(self, folder: str, *, make: bool = False) -> int:
        """Return a descriptor of a folder below the root, "" is the root; raise OSError where a step is none."""
        if not folder:
            return self._root
        if self._last and self._last[0] == folder:
            return self._last[1]
        self.forget()
        here, way = os.dup(self._root), ""
        for name in folder.split("/"):
            try:
                step, is_new = _step(here, name, make=make)
            finally:
                os.close(here)
            if is_new:
                self.changed.add(way)
            here, way = step, f"{way}/{name}".lstrip("/")
        self._last = (folder, here)
        return here

    def forget(self) -> None:
        """Close what was asked for last: it may be another folder soon."""
        if self._last:
            os.close(self._last[1])
        self._last = None


def _step(here: int, name: str, *, make: bool) -> tuple[int, bool]:
    """Open a folder, and tell whether it had to be made."""
    try:
        return os.open(name, _FOLDER, dir_fd=here), False
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=here)
    return os.open(name, _FOLDER, dir_fd=here), True
