"""What a terminal does to a program besides typing: Ctrl-Z puts it aside, `fg` takes it up, its size changes."""

import asyncio
import signal
import threading
from collections.abc import Callable
from contextlib import suppress


class JobControl:
    """Call back, in the thread of the event loop, until closed; outside of the main thread nothing is heard.

    `put_aside` is called before the program stops, `taken_up` once it goes on, even where it could not be stopped;
    `resized` after the terminal has another size.
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
        """Hear nothing any more."""
        for number in self._hears:
            self._loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self._put_aside()
        self._loop.remove_signal_handler(signal.SIGTSTP)
        # To this very thread: it is delivered before the next line, so that it does not meet our handler again.
        signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
        self._loop.add_signal_handler(signal.SIGTSTP, self._stop)
        self._taken_up()
