"""Files that are there whole or not at all: temporary, synced, renamed, the folder synced."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from ralph_tracker.errors import StoreError

TEMPORARY: Final = ".tmp-"


@contextmanager
def told_plainly(what: Path, consequence: str = "nothing was changed") -> Iterator[None]:
    """Turn an operating system's refusal into one line: the file, the reason, what it means."""
    try:
        yield
    except OSError as error:
        name = error.filename or what
        raise StoreError(f"{name}: {error.strerror or error}; {consequence}") from None


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_new(path: Path, data: bytes) -> None:
    """Write a file that must not be there yet, and sync it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o644), "wb") as file:  # noqa: PTH123  # a descriptor, not a path
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file atomically: readers see the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123  # a descriptor, not a path
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def append_line(path: Path, document: Mapping[str, Any]) -> None:
    """Append one line of JSON and sync it; a torn line left by a crash is cut off first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        _cut_torn_line(file)
        file.write(to_json(document) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _cut_torn_line(file: Any) -> None:  # noqa: ANN401  # a binary file open for appending
    end = file.seek(0, os.SEEK_END)
    if not end:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    file.truncate(file.read().rfind(b"\n") + 1)


def to_json(document: Any) -> bytes:  # noqa: ANN401  # any plain document
    """Write a document as one line of UTF-8 JSON; a lone surrogate stays readable."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def digest(data: bytes) -> str:
    """Return the sha256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def remove_temporaries(folder: Path) -> None:
    """Remove what a call that was killed has left behind."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name.startswith(TEMPORARY):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
