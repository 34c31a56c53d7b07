"""Follow what the agent prints while it prints: its output goes to files, and from there to whoever listens."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Final, NamedTuple

_AT_ONCE: Final = 1 << 16


class Stream(NamedTuple):
    """Name a file that grows, and who hears of every piece of it, in order."""

    path: Path
    hear: Sequence[Callable[[bytes], None]]


class Follower:
    """Hand on what is added to files, at every look.

    Where nothing was added for `silence_s` seconds (None: no limit), `ended` is set and `silent_s` says how long it
    was. `printed` tells whether anything ever came.
    """

    def __init__(
        self,
        streams: Sequence[Stream],
        ended: Event,
        silence_s: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.printed = False
        self.silent_s: float | None = None
        self._streams, self._places = tuple(streams), [0] * len(streams)
        self._ended, self._silence_s, self._clock = ended, silence_s, clock
        self._heard = clock()

    def look(self) -> None:
        """Hand on what is there by now, and judge the silence."""
        if self._read_all():
            self._heard = self._clock()
        silent_s = self._clock() - self._heard
        if self._silence_s is not None and silent_s >= self._silence_s and not self._ended.is_set():
            self.silent_s = silent_s
            self._ended.set()

    def last_look(self) -> None:
        """Hand on the rest, to the last byte."""
        while self._read_all():
            pass

    def _read_all(self) -> bool:
        grown = [self._read(index, stream) for index, stream in enumerate(self._streams)]
        return any(grown)

    def _read(self, index: int, stream: Stream) -> bool:
        with stream.path.open("rb", buffering=0) as file:
            place = min(self._places[index], os.fstat(file.fileno()).st_size)  # it may have been cut to its cap
            file.seek(place)
            piece = file.read(_AT_ONCE)
        self._places[index] = place + len(piece)
        if piece:
            self.printed = True
            for hear in stream.hear:
                hear(piece)
        return bool(piece)
