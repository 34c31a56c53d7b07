"""Read a file that a person or a repository names: a regular one, of a bounded size."""

import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from ralph_tracker.errors import InputError

MAX_BYTES: Final = 64 << 20
# Settings of tools and build files: the largest that is known, a lock file of npm, has less.
_MAX_TEXT: Final = 16 << 20


def read_regular(path: Path, *, inside: Path | None = None, name: str | None = None, limit: int = MAX_BYTES) -> bytes:
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


def text_of(path: Path) -> str | None:
    """Return the text of a project's own file; None if it cannot be read, is no regular file or has over 16 MiB."""
    try:
        return read_regular(path, limit=_MAX_TEXT).decode("utf-8-sig", "replace")
    except (InputError, OSError):
        return None


def open_regular(path: Path, *, name: str | None = None) -> BinaryIO:
    """Open a regular file for reading; `name` is how an error calls it, None its path.

    Raises InputError, in one line, for a pipe or a device, and OSError as `open` does.
    """
    # Without waiting: opening a named pipe that nobody writes to would never return.
    file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")  # noqa: PTH123, SIM115  # for the caller
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise InputError(f"{path if name is None else name}: a pipe or a device, not a file; write it to a file first")
