"""End a command's process group where we are killed and can do it no longer."""

import os
import subprocess
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

SHELL: Final = "/bin/sh"
# Nobody writes into the pipe: it ends with us, whatever ends us. A line says that there is nothing to do any more.
_SCRIPT: Final = 'read -r _ && exit; kill -TERM "-$1"; sleep 2; kill -KILL "-$1"'


class Watcher:
    """Watch over one process group for as long as the body runs; without a shell nobody watches.

    Only this process holds the other end of the watcher's standard input, so that it is closed by our end, SIGKILL
    included. The watcher has a session of its own: what ends our group does not end it.
    """

    def __init__(self, group: int) -> None:
        self._group = group
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin to watch."""
        with suppress(OSError):
            self.process = subprocess.Popen(  # noqa: S603  # a script of our own
                [SHELL, "-c", _SCRIPT, "watcher", str(self._group)],
                cwd="/",
                env={"PATH": os.defpath},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is None:
            return
        with suppress(BrokenPipeError):
            self.process.communicate(b"\n")
