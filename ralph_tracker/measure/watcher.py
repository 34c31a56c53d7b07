"""End a command's process group where we are killed and can do it no longer."""

import os
import subprocess
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

SHELL: Final = "/bin/sh"
# The first line is the group. Nobody writes after that: the pipe ends with us, whatever ends us. Another line says that
# there is nothing to do any more.
_SCRIPT: Final = 'read -r group || exit 0; read -r _ && exit; kill -TERM "-$group"; sleep 2; kill -KILL "-$group"'


class Watcher:
    """Watch over one process group for as long as the body runs; without a shell nobody watches.

    It is there before the group is, so that there is next to no time in which nobody watches. Only this process holds
    the other end of the watcher's standard input, so that it is closed by our end, SIGKILL included. The watcher has
    a session of its own: what ends our group does not end it.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._watching = False

    def __enter__(self) -> Self:
        with suppress(OSError):
            self.process = subprocess.Popen(  # noqa: S603  # a script of our own
                [SHELL, "-c", _SCRIPT],
                cwd="/",
                env={"PATH": os.defpath},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return self

    def watch(self, group: int) -> None:
        """Watch over that group from now on."""
        if self.process is not None and self.process.stdin is not None:
            self._watching = True
            with suppress(BrokenPipeError):
                self.process.stdin.write(f"{group}\n".encode())
                self.process.stdin.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is None:
            return
        with suppress(BrokenPipeError):
            self.process.communicate(b"\n" if self._watching else b"")
