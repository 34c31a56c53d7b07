"""Read a file that a person or a repository names: a regular one, of a bounded size."""

import os
import stat
from pathlib import Path
from typing import Final

from ralph_tracker.errors import InputError

MAX_BYTES: Final = 64 << 20


def read_regular(path: Path, *, inside: Path | None = None, name: str | None = None) -> bytes:
    """Return the content of a regular file of at most 64 MiB; `name` is how an error calls it, None its path.

    With `inside`, a link that leads out of that folder is refused: what a repository links to is not its own. Raises
    InputError, in one line, for what is refused, and OSError as `open` does.
    """
    name = str(path) if name is None else name
    if inside is not None and path.is_symlink() and not path.resolve().is_relative_to(inside.resolve()):
        raise InputError(f"{name}: a link out of the project; put the file itself there")
    # Without waiting: opening a named pipe that nobody writes to would never return.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123  # a descriptor, not a path
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError(f"{name}: a pipe or a device, not a file; write it to a file first")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"{name}: larger than {MAX_BYTES >> 20} MiB; hand in less")
    return data
