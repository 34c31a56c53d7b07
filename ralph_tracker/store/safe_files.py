"""Read the files of a loop, small JSON mostly, and write them atomically and durably.

A file is written to a temporary name, synced, renamed, then its folder synced. `loop-decision` imports this: what is
slow to import is imported where it is used.
"""

import errno
import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from ralph_tracker.errors import NewerSchemaError, StoreError
from ralph_tracker.store.layout import SCHEMA_VERSION
from ralph_tracker.store.safe_open import own_file

# The largest file of a loop is that of all tests ever seen: 100 MB would be a million of them.
MAX_BYTES: Final = 256 << 20
TEMPORARY: Final = ".tmp-"
_MANY: Final = 32
_CHUNK: Final = 1 << 16
_AT_A_TIME: Final = 8
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
AGAIN: Final = "check free space and permissions, then run it again"
_T = TypeVar("_T")


def read_json(path: Path) -> Any:  # noqa: ANN401  # any document
    """Return the document in a file, None if it is missing or damaged.

    Raises StoreError for an OSError, after which the file may still be intact; NewerSchemaError as `refuse_newer`.
    """
    data = read_bytes(path)
    return None if data is None else refuse_newer(parsed_json(data), str(path))


def read_lines(path: Path) -> list[Any]:
    """Return the documents in a file of JSON lines, None for a damaged one; a torn last line is dropped.

    Raises StoreError and NewerSchemaError as `read_json` does.
    """
    data = read_bytes(path) or b""
    return [refuse_newer(parsed_json(line), str(path)) for line in data.split(b"\n")[:-1] if line]


def read_bytes(path: Path | str) -> bytes | None:
    """Return the content of a file of a loop, None if it is missing.

    Raises StoreError for an OSError, and for a link, a pipe, a device or more than 256 MiB in its place.
    """
    try:
        data = _read(os.fspath(path))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}); fix that and try again") from None
    if len(data) > MAX_BYTES:
        raise StoreError(f"{path}: larger than {MAX_BYTES >> 20} MiB, which no file of a loop is; move it away")
    return data


def _read(path: str) -> bytes:
    """Return at most one byte too many; a file object would cost more than most files of ours take to read."""
    descriptor = own_file(path, os.O_RDONLY)
    try:
        size = min(os.fstat(descriptor).st_size, MAX_BYTES) + 1
        data = os.read(descriptor, size)
        while len(data) < size and (more := os.read(descriptor, size - len(data))):
            data += more
        return data
    finally:
        os.close(descriptor)


def refuse_newer(plain: Any, name: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return the document unchanged. Raises NewerSchemaError if a newer version wrote it."""
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerSchemaError(
            f"{name}: written by a newer ralph-tracker (schema {version}, this one reads up to {SCHEMA_VERSION}); "
            "upgrade ralph-tracker"
        )
    return plain


def parsed_quickly(data: bytes | None) -> Any:  # noqa: ANN401  # any document
    """Return what `parsed_json` does, three times as fast where msgspec is loaded; None for None.

    Its import takes as long as reading a thousand documents: only modules that read as many import it.
    """
    if data is None:
        return None
    msgspec: Any = sys.modules.get("msgspec")
    if msgspec is None:
        return parsed_json(data)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return parsed_json(data)  # lone surrogates are valid for us


def parsed_json(data: bytes) -> Any:  # noqa: ANN401  # any document
    """Return the document, None if it is damaged."""
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None


@contextmanager
def as_store_error(what: Path, consequence: str = "nothing was changed") -> Iterator[None]:
    """Turn an OSError into a StoreError of one line: the file, the reason and the consequence."""
    try:
        yield
    except OSError as error:
        name = error.filename2 or error.filename or what  # of a rename, what was to be replaced
        first = ", free some first" if error.errno in _FULL and consequence != AGAIN else ""
        raise StoreError(f"{name}: {error.strerror or error}{first}; {consequence}") from None


def sync_folder(folder: Path | str) -> None:
    """Sync the names in a folder to disk."""
    sync_file(folder, os.O_DIRECTORY)


def sync_file(path: Path | str, flags: int = os.O_NOFOLLOW) -> None:
    """Sync the content of a file to disk."""
    descriptor = os.open(path, os.O_RDONLY | flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(sync: Callable[[_T], None], items: Collection[_T]) -> None:
    """Sync files with `sync`, many at a time, so that the disk writes them together."""
    if len(items) <= _MANY:
        for item in items:
            sync(item)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # a first snapshot has many, later ones few

    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        for _ in pool.map(sync, items):
            pass


def sync_below(folder: Path) -> None:
    """Sync all files below a folder, and their names.

    Called once all are written: the first sync waits for the disk, and the others find most of it done.
    """
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = f"{place}/{name}"
            if not os.path.islink(path):  # noqa: PTH114  # called for each file, and pathlib is slow
                sync_file(path)
        sync_folder(place)


def temporary_name() -> str:
    """Return a unique name; a file with such a name counts as half written and is cleared."""
    return f"{TEMPORARY}{os.urandom(8).hex()}"


def write_new(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a new file and sync it; the umask applies to `mode`. Raises if it exists."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(path, flags, mode), "wb") as file:  # noqa: PTH123  # a descriptor, not a path
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_whole(path: Path, data: bytes, staging: Path | None = None, mode: int = 0o644) -> None:
    """Replace a file atomically: readers see the old one or the new one.

    It is written in `staging` (on the same file system), by default beside the target.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    (staging or path.parent).mkdir(exist_ok=True)
    temporary = (staging or path.parent) / temporary_name()
    try:
        write_new(temporary, data, 0o600)
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def hide_from_git(folder: Path) -> None:
    """Make git and linters ignore a folder of ours, unless it has a `.gitignore` already."""
    ignore = folder / ".gitignore"
    if not ignore.exists():
        write_whole(ignore, b"*\n")


def append_line(path: Path, document: Mapping[str, Any]) -> None:
    """Append one line of JSON and sync it; a torn last line left by a crash is cut off first.

    If the disk refuses, the file stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o666), "a+b", buffering=0) as file:  # noqa: PTH123  # a descriptor, not a path
        end = _cut_torn_line(file)
        try:
            rest = memoryview(to_json(document) + b"\n")
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                file.truncate(end)
            raise
    if not end:
        sync_folder(path.parent)  # the file may be new


def _cut_torn_line(file: io.FileIO) -> int:
    """Cut off what follows the last whole line, and return the length of the file."""
    end = file.seek(0, os.SEEK_END)
    if not end:
        return 0
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return end
    file.seek(0)
    return file.truncate(file.readall().rfind(b"\n") + 1)


def to_json(document: Any) -> bytes:  # noqa: ANN401  # any plain document
    """Return a document as one line of UTF-8 JSON; lone surrogates are escaped."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def digest(data: bytes) -> str:
    """Return the sha256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def clear_staging(staging: Path) -> bool:
    """Empty the staging folder, and return whether there was one: a call that ends well removes its own."""
    was_there = staging.is_dir()
    if was_there and any(staging.iterdir()):
        import shutil  # noqa: PLC0415  # only after a killed call

        shutil.rmtree(staging)
    staging.mkdir(parents=True, exist_ok=True)
    return was_there


def file_digest(path: Path | str) -> str:
    """Return the sha256 of a file, or of a symbolic link's target."""
    name = os.fspath(path)
    if os.path.islink(name):  # noqa: PTH114  # as above
        return digest(os.fsencode(os.readlink(name)))  # noqa: PTH115  # as above
    known = hashlib.sha256()
    # A file object, or the buffer of hashlib.file_digest, costs more than most of ours take to hash.
    descriptor = own_file(name, os.O_RDONLY)
    try:
        while chunk := os.read(descriptor, _CHUNK):
            known.update(chunk)
    finally:
        os.close(descriptor)
    return known.hexdigest()


def files_below(folder: Path) -> list[str]:
    """Return the files below a folder, relative to it; symbolic links count as files."""
    found = []
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(f"{place}/{name}")]  # noqa: PTH114  # as above
        found += [f"{place}/{name}" for name in (*names, *links)]
    return sorted(path.removeprefix(f"{folder}/") for path in found)
