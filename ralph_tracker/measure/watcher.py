"""End a command's process group where we are killed and can do it no longer."""

import os
import subprocess
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

SHELL: Final = "/bin/sh"
# The first line is the group, or empty: there is none. Nobody writes after that: the pipe ends with us, whatever ends
# us. Another line says that there is nothing to do any more.
_SCRIPT: Final = """
read -r group && [ "$group" ] || exit 0
read -r _ && exit
kill -TERM "-$group" || exit
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do kill -0 "-$group" || exit; sleep 0.1; done
kill -KILL "-$group"
"""


class Watcher:
    """Watch over one process group for as long as the body runs; without a shell nobody watches.

    Where the body ends with an exception, the group ends too.

    It is there before the group is, so that there is next to no time in which nobody watches. Only this process holds
    the other end of the watcher's standard input, so that it is closed by our end, SIGKILL included. The watcher has
    a session of its own: what ends our group does not end it.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

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
            with suppress(BrokenPipeError):
                os.write(self.process.stdin.fileno(), b"%d\n" % group)

    def watch_me(self) -> None:
        """Have the group of the calling process watched: for a child of ours, the first of its group, to say itself.

        It holds the watcher's standard input, too, until its program begins: there is no instant in which we could be
        killed and nobody would know of it.
        """
        self.watch(os.getpid())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is None:
            return
        # Two lines: where no group was named, the first says so. After an exception nobody knows how far the start of
        # the group had come, so that the watcher ends what there is of it.
        with suppress(BrokenPipeError):
            self.process.communicate(b"\n\n" if error is None else None)
