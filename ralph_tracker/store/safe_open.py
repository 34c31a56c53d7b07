"""Open the files of a loop's folder: nothing that a link, a pipe or a device in their place leads to.

The hook at every tool call imports this: not even pathlib, which takes as long as all else that it imports.
"""

import errno
import os
import stat
from typing import Final

_SAFE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LINK: Final = "a symbolic link, which no part of a loop is; remove it"
_MODE: Final = 0o666  # before the umask, as with open()


def refuse_link(*folders: os.PathLike[str]) -> None:
    """Raise OSError for a folder that is a link: what is written or deleted there would be somebody else's."""
    for folder in folders:
        if os.path.islink(folder):  # noqa: PTH114  # called for each file that is kept, and pathlib is slow
            raise OSError(errno.ELOOP, _LINK, os.fspath(folder))


def own_file(path: str, flags: int) -> int:
    """Open a file that only this program writes, as the `opener` of `open`.

    Raises OSError as `os.open` does, and for what is not a regular file itself: a clone can bring a link to a file of
    its user, and opening a pipe would never return.
    """
    try:
        descriptor = os.open(path, flags | _SAFE, _MODE)
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
