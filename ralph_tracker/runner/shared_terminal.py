"""Show a run to the user: the agent's output, our own lines, and a status line on a terminal."""

import os
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final

_ERASE: Final = b"\r\x1b[K"


class Screen:
    """The display on our own streams: the agent's output unchanged, our lines and the status on standard error.

    The status line is only shown on a terminal, while nothing else is printed. If a stream is closed, the run continues
    without it, as it does where it is to be `quiet`.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._live = os.isatty(2)
        self._together = self._live and os.isatty(1)
        self._shown = False
        self._at_start = True
        self._begun = {1: False, 2: False}
        self._last = 0.0
        self._gone = {1, 2} if quiet else set[int]()

    def output(self, piece: bytes) -> None:
        """Pass a piece on to our standard output."""
        self._pass_on(1, piece)

    def errors(self, piece: bytes) -> None:
        """Pass a piece on to our standard error."""
        self._pass_on(2, piece)

    def line(self, text: str) -> None:
        """Print a line of ours on standard error, escaped for the terminal, on a line of its own."""
        from ralph_tracker.report.escaping import for_log  # noqa: PLC0415  # as in cli/terminal.py

        start = b"" if self._at_start else b"\n"
        self._pass_on(2, start + for_log(text).encode("utf-8", "backslashreplace") + b"\n")

    def status(self, text: Callable[[], str]) -> None:
        """Show the status if nothing was shown for a second and the agent's last line has ended.

        `text` is called only if it is shown.
        """
        if self._live and self._at_start and monotonic() - self._last >= 1.0:
            self._write(2, _ERASE + text().encode())
            self._shown, self._last = True, monotonic()

    def end(self) -> None:
        """End the lines that the agent has begun, on either stream, so that what follows has a line of its own."""
        for descriptor, is_begun in self._begun.items():
            if is_begun and not (self._together and self._at_start):
                self._pass_on(descriptor, b"\n")

    def _pass_on(self, descriptor: int, piece: bytes) -> None:
        if self._shown:
            self._write(2, _ERASE)
            self._shown = False
        self._write(descriptor, piece)
        self._begun[descriptor] = not piece.endswith(b"\n")
        if descriptor == 2 or self._together:  # standard error
            self._at_start = piece.endswith(b"\n")
        self._last = monotonic()

    def _write(self, descriptor: int, piece: bytes) -> None:
        if descriptor in self._gone:
            return
        rest = memoryview(piece)
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            self._gone.add(descriptor)
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
