"""Show a session on a terminal: a live log and an input line, both replaced by the answer at the end.

async with TerminalSession() as session:
    outcome = await follow(events, Interaction(session.callbacks))
    await session.finish(outcome)
"""

import asyncio
import os
import re
import select
import signal
import termios
import threading
from codecs import getincrementaldecoder
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.control import Control
from rich.live import Live
from rich.text import Text

from ralph_tracker.report.escaping import for_log
from ralph_tracker.session_ui.session_dialog import STOPPING, Conversation
from ralph_tracker.steering.human_oversight import SILENCE_S, Outcome


class TypedLine:
    """Splits input from a keyboard or a pipe into lines.

    `typed` is the current line. Backspace, Ctrl-U, and Ctrl-D on an empty line work as in a terminal; other control
    characters are ignored.
    """

    def __init__(self) -> None:
        self.typed = ""
        self.ended = False
        self._decoder = getincrementaldecoder("utf-8")("replace")  # a character may be split

    def feed(self, piece: bytes) -> list[str]:
        """Return the finished lines; b"" is the end of input, which finishes one too."""
        if not piece:
            self.ended = True
            last, self.typed = self.typed, ""
            return [last] if last else []
        lines = []
        # arrows and the like
        for char in re.sub(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.?)", "", self._decoder.decode(piece)):
            if char in "\r\n":
                lines.append(self.typed)
                self.typed = ""
            elif char in "\x7f\b":
                self.typed = self.typed[:-1]
            elif char == "\x15":
                self.typed = ""
            elif char == "\x04":
                self.ended = self.ended or not self.typed
            elif char.isprintable() and len(self.typed) < 4096:
                self.typed += char
        return lines


class Keyboard:
    """Passes input from a descriptor to the thread of the event loop, b"" at its end.

    `quiet` turns off the terminal's echo, because the listener shows the input; `close` restores it.
    """

    def __init__(self, descriptor: int, hear: Callable[[bytes], None], *, quiet: bool) -> None:
        self._descriptor = descriptor
        self._hear = hear
        self._loop = asyncio.get_running_loop()
        self._before: list[Any] | None = None
        if quiet and os.isatty(descriptor):
            self._before = termios.tcgetattr(descriptor)
            silent = termios.tcgetattr(descriptor)
            silent[3] &= ~(termios.ICANON | termios.ECHO)
            silent[6][termios.VMIN], silent[6][termios.VTIME] = 1, 0
            termios.tcsetattr(descriptor, termios.TCSADRAIN, silent)
        self._waking, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._read, name="keyboard", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading, and restore the terminal."""
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
                piece = os.read(self._descriptor, 4096)
            except OSError:  # the terminal has gone
                piece = b""
            self._loop.call_soon_threadsafe(self._hear, piece)


def can_read_from(descriptor: int) -> bool:
    """Return whether a person can type there: not if it is closed, or the terminal belongs to another job."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    try:
        return not os.isatty(descriptor) or os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:  # a terminal without job control
        return True


class JobControl:
    """Calls back in the thread of the event loop until closed; does nothing outside the main thread.

    `put_aside` is called before the program stops, `taken_up` once it goes on, even if it could not be stopped;
    `resized` after the terminal's size changed.
    """

    def __init__(
        self, put_aside: Callable[[], None], taken_up: Callable[[], None], resized: Callable[[], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._put_aside = put_aside
        self._taken_up = taken_up
        self._hears = {signal.SIGTSTP: self._stop, signal.SIGCONT: taken_up, signal.SIGWINCH: resized}
        with suppress(ValueError, RuntimeError):  # not the main thread
            for number, act in self._hears.items():
                self._loop.add_signal_handler(number, act)

    def close(self) -> None:
        """Remove the signal handlers."""
        for number in self._hears:
            self._loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self._put_aside()
        self._loop.remove_signal_handler(signal.SIGTSTP)
        # Sent to this thread, it is delivered before the next line, while our handler is removed.
        signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
        self._loop.add_signal_handler(signal.SIGTSTP, self._stop)
        self._taken_up()


class TerminalSession(Conversation):
    """Shows one session on a terminal and receives the person's input.

    If the output is not a terminal, each start and end of a tool is a line. `descriptor` is the input; if nobody can
    type there, the first checkpoint ends the session. `silence_s`: as in Conversation. After Ctrl-Z the shell has the
    terminal; the log returns once the session is in the foreground again.
    """

    def __init__(self, console: Console | None = None, descriptor: int = 0, silence_s: float = SILENCE_S) -> None:
        self._console = console or Console()
        self._descriptor = descriptor
        super().__init__(silence_s)
        self._typing = TypedLine()
        self._question: list[str] = []
        self._said = ""
        self._keyboard: Keyboard | None = None
        self._is_live = self._console.is_terminal and not self._console.is_dumb_terminal
        self._live = self._new_live()
        self._is_aside = False
        self._width = self._console.width
        self._jobs: JobControl | None = None

    def _new_live(self) -> Live:
        return Live(get_renderable=self._view, console=self._console, auto_refresh=False, transient=True)

    async def __aenter__(self) -> Self:
        if can_read_from(self._descriptor):
            self._keyboard = Keyboard(self._descriptor, self._handle_input, quiet=self._is_live)
        else:
            self.inbox.close()
        if self._is_live:
            self._live.start()
            self._jobs = JobControl(self._put_aside, self._taken_up, self._handle_resize)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._jobs:
            self._jobs.close()
        try:
            self._live.stop()
        finally:
            if self._keyboard:
                self._keyboard.close()

    def _put_aside(self) -> None:
        """Restore the terminal for the shell."""
        self._live.stop()
        self._is_aside = True
        if self._keyboard:
            self._keyboard.close()
            self._keyboard = None

    def _taken_up(self) -> None:
        """Take the terminal back if it is ours; the shell's output stays above the log."""
        if not self._is_aside:
            self._put_aside()  # stopped without notice, as by SIGSTOP
        if not can_read_from(self._descriptor):
            return
        self._is_aside = False
        self._width = self._console.width
        if not self.inbox.closed:
            self._keyboard = Keyboard(self._descriptor, self._handle_input, quiet=True)
        self._live = self._new_live()
        self._live.start(refresh=True)

    def _handle_resize(self) -> None:
        before, self._width = self._width, self._console.width
        if self._live.is_started:
            if self._width < before:  # lines may be wrapped now, and their number is unknown
                self._console.control(Control.clear(), Control.home())
            self._live.refresh()

    async def finish(self, outcome: Outcome) -> None:
        """Replace the log by the answer, or by the summary of a cancelled session."""
        self._live.stop()
        for line in outcome.text.splitlines():
            self._console.print(self._text(line), soft_wrap=True)

    async def _show(self, line: str | None = None) -> None:
        self._question = []
        self._redraw(line)

    async def _ask(self, question: str, times: int) -> None:
        self._question = [f"> {self._said}", question] if times else [question]
        self._redraw(question)

    def _handle_input(self, piece: bytes) -> None:
        inbox = self.inbox
        for line in self._typing.feed(piece):
            self._said = line
            inbox.add(line)
        if self._typing.ended:
            inbox.close()
        self._redraw(STOPPING if inbox.cancelled else None)

    def _redraw(self, line: str | None) -> None:
        """Show everything again if possible, else only the new line."""
        if self._is_aside:  # it may be in the foreground again without a signal
            self._taken_up()
        elif self._live.is_started:
            self._live.refresh()
        elif line is not None and not self._is_live:
            self._console.print(self._text(line), soft_wrap=True)

    def _view(self) -> Group:
        stopping = [STOPPING] if self.inbox.cancelled else []
        below = [self._text(line) for line in (*self._question, *stopping, f"> {self._typing.typed}")]
        width = max(1, self._console.width - 1)
        room = self._console.height - sum(1 + text.cell_len // width for text in below) - 1
        log = [self._text(line, cut=True) for line in self.log.lines()[-max(1, room) :]]
        return Group(*log, *below)

    def _text(self, line: str, *, cut: bool = False) -> Text:
        harmless = for_log(line.expandtabs())
        known = harmless.encode(self._console.encoding, "backslashreplace").decode(self._console.encoding)
        return Text(known, no_wrap=cut, overflow="ellipsis" if cut else "fold")
