"""Read and write a working tree without ever following a symbolic link."""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from ralph_tracker.errors import StoreError
from ralph_tracker.safe_files import sync_all
from ralph_tracker.store.snapshots.exclusions import (
    PRIVATE_KEY_REASON,
    PRIVATE_KEY_START,
    TEMPORARY_PREFIX,
    TEMPORARY_SUFFIX,
    UNREADABLE,
)
from ralph_tracker.store.snapshots.snapshot_types import EXEC_MODE, FILE_MODE, LINK_MODE, shown

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
CHUNK: Final = 1 << 20
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Takes a content: its first part, which is the whole unless it has CHUNK bytes, and the others.
Take = Callable[[bytes, Iterable[bytes]], tuple[str, int]]
Prints = Mapping[str, tuple[int, ...] | None]
_NO_PRINTS: Final[Prints] = {}
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# The number of files synced together: each holds a descriptor, and disk space beside the file it replaces.
_TOGETHER: Final = 100
_IS_LINK: Final = errno.ELOOP  # of an open that follows no link


class TreeSteps:
    """The open root of a tree, and the folder opened last.

    `changed` are the folders in which a folder was created, and those that the caller adds.
    """

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._last: tuple[str, int] | None = None
        self.changed: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.forget()
        os.close(self._root)

    def open(self, folder: str, *, make: bool = False) -> int:
        """Return a descriptor of a folder below the root ("" is the root); raise OSError if a step is not a folder."""
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
        """Close the folder opened last, because its path may soon lead elsewhere."""
        if self._last:
            os.close(self._last[1])
        self._last = None


def _step(here: int, name: str, *, make: bool) -> tuple[int, bool]:
    """Open a folder, and return whether it had to be created."""
    try:
        return os.open(name, _FOLDER, dir_fd=here), False
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=here)
    return os.open(name, _FOLDER, dir_fd=here), True


class ReadFile(NamedTuple):
    """The facts of a file when it was read."""

    mode: str
    object_id: str
    size: int


class LeftOutError(Exception):
    """Raised for a file that is not kept, before anything of it is taken; the message is the reason."""


class TreeReader(TreeSteps):
    """A reader of files and links below a root; `take` gets each content and returns its id and size.

    Raises StoreError if a path is neither or is gone, and LeftOutError for a file that the user may not read, and for a
    private key of which `is_left_out` says so.
    """

    def __init__(self, root: Path, take: Take, is_left_out: Callable[[str], bool] | None = None) -> None:
        super().__init__(root)
        self._take = take
        self._is_left_out = is_left_out

    def read(self, path: str) -> ReadFile:
        folder, _, name = path.rpartition("/")
        try:
            parent = self.open(folder)
            try:
                descriptor = os.open(name, _FILE, dir_fd=parent)
            except PermissionError:
                raise LeftOutError(UNREADABLE) from None
            except OSError as error:
                if error.errno != _IS_LINK:
                    raise
                return ReadFile(LINK_MODE, *self._take(os.fsencode(os.readlink(name, dir_fd=parent)), ()))
        except OSError as error:
            raise StoreError(f"{shown(path)} cannot be read ({error.strerror}): run it again") from None
        try:
            return self._file(path, descriptor)
        finally:
            os.close(descriptor)

    def _file(self, path: str, descriptor: int) -> ReadFile:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"{shown(path)} is no file any more: run it again")
        mode = EXEC_MODE if status.st_mode & stat.S_IXUSR else FILE_MODE
        first = _part(descriptor, status.st_size)
        if self._is_left_out and PRIVATE_KEY_START.match(first) and self._is_left_out(path):
            raise LeftOutError(PRIVATE_KEY_REASON)
        return ReadFile(mode, *self._take(first, iter(lambda: _part(descriptor, CHUNK), b"")))


def _part(descriptor: int, size: int) -> bytes:
    """Return the next part of a file, of full length unless it is the last; `size` is about what is left."""
    data = os.read(descriptor, min(size + 1, CHUNK))
    if len(data) == size:
        return data  # as long as expected: another read would only say that this is the end
    while len(data) < CHUNK and (more := os.read(descriptor, CHUNK - len(data))):
        data += more
    return data


class TreeView:
    """A short-lived view of a tree, which caches which folders are real ones."""

    def __init__(self, root: Path) -> None:
        self.root = os.fspath(root)
        self._folders: dict[str, bool] = {"": True}

    def status(self, path: str) -> os.stat_result | None:
        """Return the status of a path, None if it does not exist or a parent is not a real folder."""
        return self._look(path) if self.is_folder(path.rpartition("/")[0]) else None

    def is_folder(self, path: str) -> bool:
        """Return whether a path and each of its parents is a real folder."""
        known = self._folders.get(path)
        end = 0
        while known is None:
            end = path.find("/", end + 1)
            step = path if end < 0 else path[:end]
            is_real = self._folders.get(step)
            if is_real is None:
                status = self._look(step)
                is_real = self._folders[step] = status is not None and stat.S_ISDIR(status.st_mode)
            known = is_real if end < 0 or not is_real else None
        return known

    def prints(self, paths: Collection[str], known: Prints = _NO_PRINTS) -> Prints:
        """Return fingerprints of paths and their folders, without reading contents, to detect changes.

        Paths in `known` are not looked at again.
        """
        folders = {path.rpartition("/")[0] for path in paths} - {""}
        return {path: known[path] if path in known else print_of(self.status(path)) for path in (*paths, *folders)}

    def empty_folders(self, folder: str) -> list[str] | None:
        """Return the innermost folders at or below `folder` if it holds nothing else; None if it holds any file.

        Also None if it is not a folder or cannot be listed, and for the root.
        """
        if not folder:
            return None
        found: list[str] = []
        waiting = [folder]
        while waiting:
            path = waiting.pop()
            names = self._subfolders(path)
            if names is None:
                return None
            if not names:
                found.append(path)
            waiting += [f"{path}/{name}" for name in names]
        return sorted(found)

    def special_files(self, leave_out: Collection[str], start: str = "") -> Iterator[tuple[str, os.stat_result]]:
        """Yield special files below a folder; the folders in `leave_out` are skipped."""
        waiting = [start]
        while waiting:
            folder = waiting.pop()
            with contextlib.suppress(OSError), os.scandir(f"{self.root}/{folder}") as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False) or entry.is_symlink():
                        continue
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if not entry.is_dir(follow_symlinks=False):
                        yield path, entry.stat(follow_symlinks=False)
                    elif entry.name not in leave_out:
                        waiting.append(path)

    def walk(self, folder: str) -> Iterator[tuple[str, os.stat_result]]:
        """Yield everything at or below `folder`, folders before their content; links are not followed."""
        waiting = [folder]
        while waiting:
            path = waiting.pop()
            status = self.status(path)
            if status is None:
                continue
            yield path, status
            if stat.S_ISDIR(status.st_mode):
                with os.scandir(f"{self.root}/{path}") as entries:
                    waiting += [f"{path}/{entry.name}" for entry in entries]

    def _look(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(f"{self.root}/{path}")
        except OSError:
            return None

    def _subfolders(self, folder: str) -> list[str] | None:
        """List the subfolders of a folder, None if it holds anything else or cannot be listed."""
        if not self.is_folder(folder):
            return None
        try:
            with os.scandir(f"{self.root}/{folder}") as entries:
                names: list[str] = []
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        return None
                    names.append(entry.name)
        except OSError:
            return None
        return names


def print_of(status: os.stat_result | None) -> tuple[int, ...] | None:
    """Return a fingerprint that changes with every change of a file, None if it does not exist."""
    if status is None:
        return None
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class PendingFile(NamedTuple):
    """A written file that still has a temporary name; `descriptor` is None for a link."""

    path: str
    temporary: str
    descriptor: int | None


class TreeWriter(TreeSteps):
    """A writer for the tree at `root`, which opens every parent step by step.

    A `durable` one syncs every file before it gets its name, and every folder after: files are renamed in batches, the
    last one when the context is left; after that without an error, all is durable. All methods raise OSError, whose
    `filename` is the path from the root.
    """

    def __init__(self, root: Path, *, durable: bool = False) -> None:
        super().__init__(root)
        self._durable = durable
        self._waiting: list[PendingFile] = []

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self._name_waiting()
                # A changed folder that was deleted is synced as a change of its parent.
                for folder in sorted(self.changed) if self._durable else ():
                    try:
                        os.fsync(self.open(folder))
                    except OSError as refused:
                        if refused.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
                            raise
        finally:
            for unnamed in self._waiting:  # files that were not renamed
                with contextlib.suppress(OSError):
                    os.unlink(unnamed.temporary, dir_fd=self.open(unnamed.path.rpartition("/")[0]))
                if unnamed.descriptor is not None:
                    os.close(unnamed.descriptor)
            super().__exit__(kind, error, at)

    def write(self, path: str, mode: str, chunks: Iterable[bytes], permissions: int | None = None) -> None:
        """Create or replace a file or a link, creating its parents.

        `mode` is git's. A replaced file passes on its permission bits, except the exec bits; `permissions` overrides
        both.
        """
        folder, _, name = path.rpartition("/")
        temporary = f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"
        with _about(path):
            parent = self.open(folder, make=True)
            with _gone_on_failure(parent, temporary):
                if mode == LINK_MODE:
                    os.symlink(b"".join(chunks), os.fsencode(temporary), dir_fd=parent)
                    descriptor = None
                else:
                    is_executable = mode == EXEC_MODE
                    bits = (
                        _inherited_permissions(parent, name, is_executable=is_executable)
                        if permissions is None
                        else permissions
                    )
                    default = 0o777 if is_executable else 0o666  # before the umask
                    descriptor = _write_file(os.open(temporary, _NEW_FILE, default, dir_fd=parent), chunks, bits)
        self._waiting.append(PendingFile(path, temporary, descriptor))
        if not self._durable or len(self._waiting) >= _TOGETHER:
            self._name_waiting()

    def remove(self, path: str) -> None:
        """Remove a file or link if it exists."""
        folder, _, name = path.rpartition("/")
        with _about(path), contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.open(folder))
            self.changed.add(folder)

    def remove_folder(self, path: str) -> bool:
        """Remove a folder if it is empty, and return whether it is gone."""
        folder, _, name = path.rpartition("/")
        self.forget()
        try:
            os.rmdir(name, dir_fd=self.open(folder))
        except FileNotFoundError:
            return True
        except OSError:
            return False
        self.changed.add(folder)
        return True

    def make_folder(self, path: str) -> None:
        """Create a folder and its parents unless they exist."""
        with _about(path):
            self.open(path, make=True)

    def set_mode(self, path: str, permissions: int) -> None:
        """Give a file or folder other permission bits; what may not be read, or is a link now, stays as it is."""
        folder, _, name = path.rpartition("/")
        with _about(path), contextlib.suppress(PermissionError):
            try:
                descriptor = os.open(name, _FILE, dir_fd=self.open(folder))
            except OSError as error:
                if error.errno == _IS_LINK:
                    return
                raise
            try:
                os.fchmod(descriptor, permissions)
            finally:
                os.close(descriptor)

    def _name_waiting(self) -> None:
        if self._durable:
            sync_all(os.fsync, [each.descriptor for each in self._waiting if each.descriptor is not None])
        while self._waiting:
            unnamed = self._waiting[0]
            self._name(unnamed)
            self._waiting.pop(0)
            if unnamed.descriptor is not None:
                os.close(unnamed.descriptor)

    def _name(self, unnamed: PendingFile) -> None:
        """Rename a file into place; if that fails, delete it."""
        folder, _, name = unnamed.path.rpartition("/")
        with _about(unnamed.path):
            parent = self.open(folder)
            with _gone_on_failure(parent, unnamed.temporary):
                os.rename(unnamed.temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        self.changed.add(folder)


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
    """Put the whole path into an OSError, which has only its last part."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise


def _inherited_permissions(parent: int, name: str, *, is_executable: bool) -> int | None:
    """Return the permission bits of the existing file with the exec bits adjusted, None if there is none."""
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


def _write_file(descriptor: int, chunks: Iterable[bytes], permissions: int | None) -> int:
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
