"""Allow one writer at a time, with an advisory lock on a file that is never deleted and names its holder."""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError
from ralph_tracker.safe_files import as_store_error

PATIENCE_S: Final = 30.0


@contextmanager
def hold_lock(path: Path, purpose: str, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the lock while the body runs, waiting for another writer up to `patience_s` seconds.

    Raises StoreError naming the holder after that.
    """
    with as_store_error(path):
        descriptor = _opened(path)
    try:
        with as_store_error(path):
            busy = "{}: in use by {}; wait for it to end and try again"
            _acquire(descriptor, patience_s, lambda: busy.format(path.parent.name, _holder(descriptor)))
            holder = json.dumps({"pid": os.getpid(), "purpose": purpose}).encode()
            # Blanks over the rest of what the last holder wrote: cutting the file off waits for the disk.
            os.pwrite(descriptor, holder.ljust(os.fstat(descriptor).st_size), 0)
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """Return the descriptor of the file, made with its folder; a folder made for one that cannot be is not left."""
    is_new = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError:
        if is_new:
            with suppress(OSError):  # another has put something there
                path.parent.rmdir()
        raise


def holder_of(path: Path) -> str | None:
    """Return a few words on who holds the lock, None if nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None  # never held yet
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(descriptor)
    else:
        return None
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, patience_s: float, refusal: Callable[[], str]) -> None:
    """Take the lock of an open file, or raise StoreError with what `refusal` returns then."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise StoreError(refusal()) from None
            time.sleep(0.02)
        else:
            return


def _holder(descriptor: int) -> str:
    try:
        holder = json.loads(os.pread(descriptor, 4096, 0))
        return f"process {holder['pid']} ({holder['purpose']})"
    except (ValueError, KeyError, TypeError):
        return "another process"


@contextmanager
def hold(folder: Path, patience_s: float = PATIENCE_S) -> Iterator[int]:
    """Hold the lock of a store and yield its descriptor; raise StoreError if another process keeps it too long.

    A child that inherits the descriptor keeps the lock, even if its parent is killed.
    """
    descriptor = os.open(folder / "ralph-tracker.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        busy = f"another process works in {folder}: wait until it ends, then try again"
        _acquire(descriptor, patience_s, lambda: busy)
        yield descriptor
    finally:
        os.close(descriptor)


def file_system_time(descriptor: int) -> int:
    """Return the current time (ns) by the clock of that file system."""
    os.utime(descriptor)
    return os.fstat(descriptor).st_mtime_ns
