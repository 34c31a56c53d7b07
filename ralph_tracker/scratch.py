"""Temporary folders that are removed even if the process dies: at the latest when the next one is made."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError

PREFIX: Final = "ralph-tracker-scratch-"


@contextmanager
def scratch_folder(root: Path) -> Iterator[Path]:
    """Make a temporary folder outside a project. Raises StoreError if it would be inside."""
    beside = Path(tempfile.gettempdir()).resolve()
    if beside.is_relative_to(root):
        raise StoreError(f"{beside}: the temporary folder lies in the project; name another with TMPDIR")
    with temporary_folder() as folder:
        yield folder


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a temporary folder and remove it again, and those of processes that died.

    It is locked as long as its process lives.
    """
    sweep_temporary_folders()
    folder, descriptor = _locked_folder(Path(tempfile.gettempdir()).resolve())
    try:
        yield folder
    finally:
        remove_folder(folder)
        os.close(descriptor)


def _locked_folder(beside: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside))
        with contextlib.suppress(FileNotFoundError):  # another process removed it before it was locked
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if folder.is_dir():
                return folder, descriptor
            os.close(descriptor)


def sweep_temporary_folders() -> None:
    """Remove this user's folders whose process is gone; locked ones are still in use."""
    for folder in Path(tempfile.gettempdir()).resolve().glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(descriptor).st_uid == os.getuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_folder(folder)
            finally:
                os.close(descriptor)


def remove_folder(folder: Path) -> None:
    """Remove a folder as far as possible, read-only folders in it (Go's modules) as well.

    What one full disk or busy file kept there is tried once more: the next sweep may be a long way off.
    """
    for path, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            Path(path).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
