"""Write into a working tree: each file whole or not at all, and never through a symbolic link."""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from ralph_tracker.store.snapshots import EXEC_MODE, LINK_MODE
from ralph_tracker.store.tree.filter import TEMPORARY_PREFIX, TEMPORARY_SUFFIX
from ralph_tracker.store.tree.steps import TreeSteps

_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Unnamed(NamedTuple):
    """Hold a file that is written and has a temporary name so far; `descriptor` is None for a link."""

    path: str
    temporary: str
    descriptor: int | None


class TreeWriter:
    """Change the tree at `root`, with every parent opened step by step.

    All methods raise OSError, whose `filename` is the path from the root.
    """

    def __init__(self, root: Path) -> None:
        self._steps = TreeSteps(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._steps.close()

    def write(self, path: str, mode: str, chunks: Iterable[bytes], permissions: int | None = None) -> None:
        """Put a file or a link in the place of what file or link stands there; parents are made.

        `mode` is git's. A file that stood there hands on its permission bits as far as the exec bit allows;
        `permissions` overrides both.
        """
        folder, name = _split(path)
        temporary = f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"
        with _about(path):
            parent = self._steps.open(folder, make=True)
            with _gone_on_failure(parent, temporary):
                if mode == LINK_MODE:
                    os.symlink(b"".join(chunks), os.fsencode(temporary), dir_fd=parent)
                    descriptor = None
                else:
                    is_executable = mode == EXEC_MODE
                    bits = _inherited(parent, name, is_executable=is_executable) if permissions is None else permissions
                    default = 0o777 if is_executable else 0o666  # what the umask leaves of it
                    descriptor = _filled(os.open(temporary, _NEW_FILE, default, dir_fd=parent), chunks, bits)
        self._go_on(Unnamed(path, temporary, descriptor))

    def remove(self, path: str) -> None:
        """Remove a file or link; nothing happens where none stands."""
        folder, name = _split(path)
        with _about(path), contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._steps.open(folder))
            self._steps.changed.add(folder)

    def remove_folder(self, path: str) -> bool:
        """Remove a folder if it is empty, and say whether it is gone."""
        folder, name = _split(path)
        self._steps.forget()
        try:
            os.rmdir(name, dir_fd=self._steps.open(folder))
        except FileNotFoundError:
            return True
        except OSError:
            return False
        self._steps.changed.add(folder)
        return True

    def make_folder(self, path: str) -> None:
        """Make a folder and its parents; one that is there already will do."""
        with _about(path):
            self._steps.open(path, make=True)

    def _go_on(self, unnamed: Unnamed) -> None:
        """Do what comes after the writing of a file."""
        if unnamed.descriptor is not None:
            os.close(unnamed.descriptor)
        self._name(unnamed)

    def _name(self, unnamed: Unnamed) -> None:
        """Put a file in its place; where that fails the file goes."""
        folder, name = _split(unnamed.path)
        with _about(unnamed.path):
            parent = self._steps.open(folder)
            with _gone_on_failure(parent, unnamed.temporary):
                os.rename(unnamed.temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        self._steps.changed.add(folder)

    def _drop(self, unnamed: Unnamed) -> None:
        """Take a file away that got no name."""
        with contextlib.suppress(OSError):
            os.unlink(unnamed.temporary, dir_fd=self._steps.open(_split(unnamed.path)[0]))


@contextlib.contextmanager
def _gone_on_failure(parent: int, temporary: str) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=parent)
        raise


@contextlib.contextmanager
def _about(path: str) -> Iterator[None]:
    """Name the whole path in what the system refuses, which knows its last part only."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise


def _inherited(parent: int, name: str, *, is_executable: bool) -> int | None:
    """Return the permission bits of the file that stands there with the exec bit set right, None where none stands."""
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    bits = status.st_mode & 0o777
    if bool(bits & stat.S_IXUSR) == is_executable:
        return bits
    return bits | stat.S_IXUSR | (bits & 0o044) >> 2 if is_executable else bits & ~0o111


def _filled(descriptor: int, chunks: Iterable[bytes], permissions: int | None) -> int:
    """Write a new file, and return its descriptor, which stays open unless that fails."""
    try:
        for chunk in chunks:
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        if permissions is not None:
            os.fchmod(descriptor, permissions)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name
