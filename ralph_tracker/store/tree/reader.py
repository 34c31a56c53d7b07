"""Read files of a working tree, never through a symbolic link."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots import EXEC_MODE, FILE_MODE, LINK_MODE, shown
from ralph_tracker.store.tree.steps import TreeSteps

CHUNK: Final = 1 << 20
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
Take = Callable[[Iterator[bytes]], tuple[str, int]]


class Content(NamedTuple):
    """Hold what a file was when it was read."""

    mode: str
    object_id: str
    size: int


class TreeReader:
    """Read files and links below a root; `take` gets each content and returns its id and size.

    Raises StoreError for what is neither, or gone.
    """

    def __init__(self, root: Path, take: Take) -> None:
        self._steps = TreeSteps(root)
        self._take = take

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._steps.close()

    def read(self, path: str) -> Content:
        folder, _, name = path.rpartition("/")
        try:
            parent = self._steps.open(folder)
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                text = os.fsencode(os.readlink(name, dir_fd=parent))
                return Content(LINK_MODE, *self._take(iter([text])))
            descriptor = os.open(name, _FILE, dir_fd=parent)
        except OSError as error:
            raise StoreError(f"{shown(path)} cannot be read ({error.strerror}): run it again") from None
        try:
            return self._file(path, descriptor)
        finally:
            os.close(descriptor)

    def _file(self, path: str, descriptor: int) -> Content:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"{shown(path)} is no file any more: run it again")
        mode = EXEC_MODE if status.st_mode & stat.S_IXUSR else FILE_MODE
        return Content(mode, *self._take(_parts(descriptor, status.st_size)))


def _parts(descriptor: int, size: int) -> Iterator[bytes]:
    """Yield parts of a file, each but the last of full length; room is made for about `size` bytes."""
    room = min(size + 1, CHUNK)
    while data := _part(descriptor, room):
        yield data
        if len(data) < CHUNK:
            return


def _part(descriptor: int, room: int) -> bytes:
    data = b""
    while len(data) < CHUNK and (more := os.read(descriptor, min(room, CHUNK - len(data)))):
        data += more
    return data
