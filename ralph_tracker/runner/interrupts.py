"""Ctrl-C: once finishes the iteration, twice stops now."""

import signal
from collections.abc import Callable
from threading import Event
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Take Ctrl-C while the body runs: the first sets `asked`, and `told` is called; the second raises.

    Raises KeyboardInterrupt at the second one, wherever the body is.
    """

    def __init__(self, told: Callable[[], None]) -> None:
        self._event, self._told = Event(), told
        self._before: Any = None

    @property
    def asked(self) -> bool:
        """Tell whether the run is to end after this iteration."""
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until Ctrl-C; tell whether the whole time has passed."""
        return not self._event.wait(seconds)

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self._event.is_set():
            raise KeyboardInterrupt
        self._event.set()
        self._told()
