"""One writer at a time in a store, and nothing left over from one that was killed."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError

_NAME: Final = "ralph-tracker.lock"
_PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.05
# Git leaves these when it is killed; whoever holds the lock knows that no git works here any more.
_LEFTOVERS: Final = ("index.lock", "safety.index", "safety.index.lock", "packed-refs.lock")

_BEGUN_PACKS: Final = ("tmp_*", ".tmp-*")


@contextlib.contextmanager
def hold(folder: Path, patience_s: float = _PATIENCE_S) -> Iterator[int]:
    """Hold the lock of a store and yield its descriptor; raise StoreError where another process keeps it too long.

    The file is never deleted. A child that inherits the descriptor keeps the lock, also when its parent is killed.
    """
    descriptor = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait(descriptor, folder, patience_s)
        for name in _LEFTOVERS:
            (folder / name).unlink(missing_ok=True)
        yield descriptor
    finally:
        os.close(descriptor)


def clear_unfinished_packs(folder: Path) -> None:
    """Remove the packs that a killed git has begun; the lock must be held."""
    packs = folder / "objects" / "pack"
    for pattern in _BEGUN_PACKS:
        for path in packs.glob(pattern):
            path.unlink(missing_ok=True)


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
