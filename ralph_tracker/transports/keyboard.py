"""What a person types while something else is shown: read in a thread of its own, a line at a time."""

import asyncio
import os
import re
import select
import termios
import threading
from codecs import getincrementaldecoder
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

_PIECE: Final = 4096
_LINE_CHARACTERS: Final = 4096
_SEQUENCES: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.?)")  # arrows and the like
_ERASES: Final = "\x7f\b"
_ERASES_LINE: Final = "\x15"
_ENDS_INPUT: Final = "\x04"


class TypedLine:
    """Make lines of what comes from a keyboard, or from a pipe.

    `typed` is the line as it stands. Backspace, Ctrl-U, and Ctrl-D on an empty line do what they do in a terminal;
    other control characters do nothing.
    """

    def __init__(self) -> None:
        self.typed = ""
        self.ended = False
        self._decoder = getincrementaldecoder("utf-8")("replace")  # a character may come in two pieces

    def feed(self, piece: bytes) -> list[str]:
        """Return the lines that are finished; b"" is the end of input, which finishes one too."""
        if not piece:
            self.ended = True
            last, self.typed = self.typed, ""
            return [last] if last else []
        lines = []
        for char in _SEQUENCES.sub("", self._decoder.decode(piece)):
            if char in "\r\n":
                lines.append(self.typed)
                self.typed = ""
            else:
                self._take(char)
        return lines

    def _take(self, char: str) -> None:
        if char in _ERASES:
            self.typed = self.typed[:-1]
        elif char == _ERASES_LINE:
            self.typed = ""
        elif char == _ENDS_INPUT:
            self.ended = self.ended or not self.typed
        elif char.isprintable() and len(self.typed) < _LINE_CHARACTERS:
            self.typed += char


class Keyboard:
    """Hand on what comes from a descriptor, in the thread of the event loop, b"" at its end.

    `quiet` keeps a terminal from showing what is typed: whoever listens shows it. It is as before once closed.
    """

    def __init__(self, descriptor: int, hear: Callable[[bytes], None], *, quiet: bool) -> None:
        self._descriptor = descriptor
        self._hear = hear
        self._loop = asyncio.get_running_loop()
        self._before = _silence(descriptor) if quiet and os.isatty(descriptor) else None
        self._waking, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._read, name="keyboard", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading, and leave the terminal as it was."""
        os.write(self._wake, b".")
        self._thread.join()
        os.close(self._wake)
        os.close(self._waking)
        if self._before is not None:
            with suppress(termios.error):  # the terminal has gone
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def _read(self) -> None:
        piece = b"."
        while piece:
            ready, _, _ = select.select([self._descriptor, self._waking], [], [])
            if self._waking in ready:
                return
            try:
                piece = os.read(self._descriptor, _PIECE)
            except OSError:  # the terminal has gone
                piece = b""
            self._loop.call_soon_threadsafe(self._hear, piece)


def can_be_heard(descriptor: int) -> bool:
    """Tell whether a person can be heard there: not where it is closed, or the terminal belongs to another job."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    try:
        return not os.isatty(descriptor) or os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:  # a terminal of nobody's jobs
        return True


def _silence(descriptor: int) -> list[Any]:
    before = termios.tcgetattr(descriptor)
    quiet = termios.tcgetattr(descriptor)
    quiet[3] &= ~(termios.ICANON | termios.ECHO)
    quiet[6][termios.VMIN], quiet[6][termios.VTIME] = 1, 0
    termios.tcsetattr(descriptor, termios.TCSADRAIN, quiet)
    return before
