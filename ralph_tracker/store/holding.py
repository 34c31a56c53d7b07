"""One writer at a time in a store, and nothing left over from one that was killed."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError

_NAME: Final = "ralph-tracker.lock"
_PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.05


@contextlib.contextmanager
def hold(folder: Path, leftovers: Iterable[str] = (), patience_s: float = _PATIENCE_S) -> Iterator[int]:
    """Hold the lock of a store and yield its descriptor; raise StoreError where another process keeps it too long.

    `leftovers` are files that a killed writer may have left, which go. The lock's file is never deleted. A child that
    inherits the descriptor keeps the lock, also when its parent is killed.
    """
    descriptor = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait(descriptor, folder, patience_s)
        for name in leftovers:
            (folder / name).unlink(missing_ok=True)
        yield descriptor
    finally:
        os.close(descriptor)


def touched(descriptor: int) -> int:
    """Return the time (ns) of now by the clock that stamps the files of that file system."""
    os.utime(descriptor)
    return os.fstat(descriptor).st_mtime_ns


def _wait(descriptor: int, folder: Path, patience_s: float) -> None:
    end = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise StoreError(f"another process works in {folder}: wait until it ends, then try again") from None
            time.sleep(_PAUSE_S)
        else:
            return
