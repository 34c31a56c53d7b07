"""Open, read and write files without following a link or waiting for a pipe, within a size, and atomically.

Files of ours, which only this program writes, are never links. Files that a person or a repository names may be, but
are regular ones as well. The hook at every tool call imports this: not even pathlib, which takes as long as all else
that it imports.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar

from ralph_tracker.errors import InputError, StoreError

if TYPE_CHECKING:
    from pathlib import Path

# The largest file of a loop is that of all tests ever seen: 100 MB would be a million of them.
MAX_OWN: Final = 256 << 20
MAX_INPUT: Final = 64 << 20
# Settings of tools and build files: the largest that is known, a lock file of npm, has less.
_MAX_TEXT: Final = 16 << 20
TEMPORARY: Final = ".tmp-"
AGAIN: Final = "check free space and permissions, then run it again"
_LINK: Final = "a symbolic link, which no part of a loop is; remove it"
# Most tools go by git's file; Biome 2 does only where it is told to, and takes a configuration in a folder instead.
# prettier takes one that formats only what asks for it; it finds no such request in YAML, as which it is to read JSON.
# ESLint 10 goes by the configuration that is nearest to a file.
_IGNORED_BY: Final = {
    ".gitignore": b"*\n",
    "biome.json": b'{"root": false, "files": {"includes": ["!**"]}}\n',
    "eslint.config.mjs": b'export default [{ ignores: ["**"] }];\n',
    ".prettierrc": b'{"requirePragma": true, "overrides": [{"files": ["*.json", ".prettierrc"], "options": '
    b'{"parser": "yaml"}}]}\n',
}
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_T = TypeVar("_T")


def own_file(path: str, flags: int) -> int:
    """Open a file that only this program writes, as the `opener` of `open`.

    Raises OSError as `os.open` does, and for what is not a regular file itself: a clone can bring a link to a file of
    its user, and opening a pipe would never return.
    """
    try:
        # before the umask, as with open()
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        error.strerror = _LINK if error.errno == errno.ELOOP else error.strerror
        raise
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, "a pipe or a device in place of a file", path)


def read_own_file(path: "Path | str") -> bytes | None:
    """Return the content of a file of ours, None if it is missing.

    Raises StoreError for an OSError, and for a link, a pipe, a device or more than 256 MiB in its place.
    """
    try:
        data = _read(os.fspath(path))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.EFBIG:
            why = f"larger than {MAX_OWN >> 20} MiB, which no file of a loop is; move it away"
        else:
            why = f"cannot be read ({error.strerror}); fix that and try again"
        raise StoreError(f"{path}: {why}") from None
    return data


def _read(path: str) -> bytes:
    """Return a content; a file object would cost more than most files of ours take to read.

    Of one that is too large nothing is read: a sparse file of any size costs nothing to bring.
    """
    descriptor = own_file(path, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size + 1
        if size > MAX_OWN + 1:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        data = os.read(descriptor, size)
        while len(data) < size and (more := os.read(descriptor, size - len(data))):
            data += more
        return data
    finally:
        os.close(descriptor)


def refuse_link(*folders: os.PathLike[str]) -> None:
    """Raise OSError for a folder that is a link: what is written or deleted there would be somebody else's."""
    for folder in folders:
        if os.path.islink(folder):  # noqa: PTH114  # called for each file that is kept, and pathlib is slow
            raise OSError(errno.ELOOP, _LINK, os.fspath(folder))


def open_regular(path: "Path", *, name: str | None = None) -> BinaryIO:
    """Open a regular file for reading; `name` is how an error calls it, None its path.

    Raises InputError, in one line, for a pipe or a device, and OSError as `open` does.
    """
    # Without waiting: opening a named pipe that nobody writes to would never return.
    file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")  # noqa: PTH123, SIM115  # for the caller
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise InputError(f"{path if name is None else name}: a pipe or a device, not a file; write it to a file first")


def read_regular(
    path: "Path", *, inside: "Path | None" = None, name: str | None = None, limit: int = MAX_INPUT
) -> bytes:
    """Return the content of a regular file of at most `limit` bytes; `name` is how an error calls it, None its path.

    With `inside`, a link that leads out of that folder is refused: what a repository links to is not its own. Raises
    InputError, in one line, for what is refused, and OSError as `open` does.
    """
    name = str(path) if name is None else name
    if inside is not None and not path.resolve().is_relative_to(inside.resolve()):
        raise InputError(f"{name}: a link out of the project; put the file itself there")
    with open_regular(path, name=name) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"{name}: larger than {limit >> 20} MiB; hand in less")
    return data


def refuse_link_out(root: "Path", *files: "Path | None") -> None:
    """Raise InputError where a link in a project leads to write out of it: a clone can bring one to any file."""
    within = os.path.join(os.path.abspath(root), "")  # noqa: PTH100, PTH118  # pathlib's leaves the dots in
    for file in filter(None, files):
        real = file.resolve()
        if os.path.abspath(file).startswith(within) and not real.is_relative_to(root.resolve()):  # noqa: PTH100
            raise InputError(f"{file}: a link leads to {real}, out of the project; name that file; nothing was written")


def text_of(path: "Path") -> str | None:
    """Return the text of a project's own file; None if it cannot be read, is no regular file or has over 16 MiB."""
    try:
        return read_regular(path, limit=_MAX_TEXT).decode("utf-8-sig", "replace")
    except (InputError, OSError):
        return None


@contextmanager
def as_store_error(what: "Path", consequence: str = "nothing was changed") -> Iterator[None]:
    """Turn an OSError into a StoreError of one line: the file, the reason and the consequence."""
    try:
        yield
    except OSError as error:
        name = error.filename2 or error.filename or what  # of a rename, what was to be replaced
        first = ", free some first" if error.errno in _FULL and consequence != AGAIN else ""
        raise StoreError(f"{name}: {error.strerror or error}{first}; {consequence}") from None


def write_new(path: "Path", data: bytes, mode: int = 0o644, *, durable: bool = True) -> None:
    """Write a new file and sync it, unless the caller does, or it need not be `durable`; the umask applies to `mode`.

    Raises if it exists.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(path, flags, mode)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(
    path: "Path", data: bytes, staging: "Path | None" = None, mode: int = 0o644, *, durable: bool = True
) -> None:
    """Replace a file atomically: readers see the old one or the new one.

    It is written in `staging` (on the same file system), by default beside the target. What is made again from other
    files need not be `durable`: after a power cut it may be missing or empty.
    """
    temporary = (staging or path.parent) / temporary_name()
    try:
        try:
            write_new(temporary, data, 0o600, durable=durable)
        except FileNotFoundError:
            temporary.parent.mkdir(parents=True, exist_ok=True)
            write_new(temporary, data, 0o600, durable=durable)
        temporary.chmod(mode)
        try:
            temporary.replace(path)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def temporary_name() -> str:
    """Return a unique name; a file with such a name counts as half written and is cleared."""
    return f"{TEMPORARY}{os.urandom(8).hex()}"


def clear_staging(staging: "Path") -> bool:
    """Empty the staging folder, and return whether there was one: a call that ends well removes its own."""
    was_there = staging.is_dir()
    if was_there and any(staging.iterdir()):
        import shutil  # noqa: PLC0415  # only after a killed call

        shutil.rmtree(staging)
    staging.mkdir(parents=True, exist_ok=True)
    return was_there


def hide_from_tools(folder: "Path") -> None:
    """Make git, linters and formatters ignore a folder of ours, unless it has their files already."""
    for name, content in _IGNORED_BY.items():
        if not (folder / name).exists():
            write_whole(folder / name, content)


def sync_folder(folder: "Path | str") -> None:
    """Sync the names in a folder to disk."""
    sync_file(folder, os.O_DIRECTORY)


def sync_file(path: "Path | str", flags: int = os.O_NOFOLLOW) -> None:
    """Sync the content of a file to disk."""
    descriptor = os.open(path, os.O_RDONLY | flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(sync: Callable[[_T], None], items: Iterable[_T]) -> None:
    """Sync files with `sync`, several at a time: the disk writes them together, in a fourth of the time."""
    waiting = list(items)
    problems: list[BaseException] = []

    def work() -> None:
        try:
            while True:
                sync(waiting.pop())
        except IndexError:
            return
        except BaseException as error:  # noqa: BLE001  # raised below, by the thread that asked
            problems.append(error)

    helpers = []
    if len(waiting) > 1:
        from threading import Thread  # noqa: PLC0415  # a hook outside a loop syncs nothing

        helpers = [Thread(target=work) for _ in range(min(8, len(waiting)) - 1)]
    with suppress(RuntimeError):  # no more threads may be had: then this one syncs the rest
        for helper in helpers:
            helper.start()
    work()
    for helper in helpers:
        if helper.ident is not None:
            helper.join()
    if problems:
        raise problems[0]


def sync_below(folder: "Path", without: str | None = None) -> None:
    """Sync all files below a folder, and their names, but for those in its folder `without`."""
    left_out = f"{os.fspath(folder)}/{without}/" if without else None
    found = []
    for place, _, names in os.walk(folder, topdown=False):
        if left_out and f"{place}/".startswith(left_out):
            continue
        # Called for each file, and pathlib is slow.
        found += [path for name in names if not os.path.islink(path := f"{place}/{name}")]  # noqa: PTH114
        found.append(place)
    sync_all(sync_file, found)


def digest(data: bytes) -> str:
    """Return the sha256 of `data`."""
    from hashlib import sha256  # noqa: PLC0415  # a hook of no loop needs none

    return sha256(data).hexdigest()


def file_digest(path: "Path | str", *, at_most: int | None = None) -> str:
    """Return the sha256 of a file, or of a link's target. Raises OSError, also for one of more than `at_most` bytes."""
    name = os.fspath(path)
    if os.path.islink(name):  # noqa: PTH114  # as above
        return digest(os.fsencode(os.readlink(name)))  # noqa: PTH115  # as above
    from hashlib import sha256  # noqa: PLC0415  # as above

    known = sha256()
    # A file object, or the buffer of hashlib.file_digest, costs more than most of ours take to hash.
    descriptor = own_file(name, os.O_RDONLY)
    try:
        if at_most is not None and os.fstat(descriptor).st_size > at_most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), name)
        while chunk := os.read(descriptor, 1 << 16):
            known.update(chunk)
    finally:
        os.close(descriptor)
    return known.hexdigest()


def files_below(folder: "Path") -> list[str]:
    """Return the files below a folder, relative to it; symbolic links count as files."""
    found = []
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(f"{place}/{name}")]  # noqa: PTH114  # as above
        found += [f"{place}/{name}" for name in (*names, *links)]
    return sorted(path.removeprefix(f"{folder}/") for path in found)
