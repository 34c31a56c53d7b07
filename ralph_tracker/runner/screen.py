"""What a person sees of a run: the agent's output as it comes, lines of ours, and a status line on a terminal."""

import os
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final, Protocol

_ERASE: Final = b"\r\x1b[K"
_QUIET_S: Final = 1.0


class Screen(Protocol):
    """Show a run."""

    def output(self, piece: bytes) -> None:
        """Show what the agent printed on its standard output."""
        ...

    def errors(self, piece: bytes) -> None:
        """Show what the agent printed on its standard error."""
        ...

    def line(self, text: str) -> None:
        """Show a line of ours."""
        ...

    def status(self, text: Callable[[], str]) -> None:
        """Show how it stands now, until the next thing is shown; `text` is asked only where it is shown."""
        ...


class Terminal:
    """Show a run on our own streams: the agent's as they are, our lines and the status on standard error.

    The status line is shown on a terminal only, and only while nothing else comes. A stream that nobody reads any
    more is let go: the run goes on without it.
    """

    def __init__(self) -> None:
        self._live = os.isatty(2)
        self._together = self._live and os.isatty(1)
        self._shown = False
        self._at_start = True
        self._last = 0.0
        self._gone: set[int] = set()

    def output(self, piece: bytes) -> None:
        """Pass a piece on to our standard output."""
        self._pass_on(1, piece)

    def errors(self, piece: bytes) -> None:
        """Pass a piece on to our standard error."""
        self._pass_on(2, piece)

    def line(self, text: str) -> None:
        """Print a line of ours on standard error, harmless for a terminal, on a line of its own."""
        from ralph_tracker.report.text import for_terminal  # noqa: PLC0415  # as in cli/output.py

        start = b"" if self._at_start else b"\n"
        self._pass_on(2, start + for_terminal(text).encode("utf-8", "backslashreplace") + b"\n")

    def status(self, text: Callable[[], str]) -> None:
        """Show the status where nothing was shown for a second, and where the agent has ended its line."""
        if self._live and self._at_start and monotonic() - self._last >= _QUIET_S:
            self._write(2, _ERASE + text().encode())
            self._shown, self._last = True, monotonic()

    def _pass_on(self, descriptor: int, piece: bytes) -> None:
        if self._shown:
            self._write(2, _ERASE)
            self._shown = False
        self._write(descriptor, piece)
        if descriptor == 2 or self._together:  # noqa: PLR2004  # standard error
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
