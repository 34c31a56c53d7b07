"""Send a loop to a server until all of it is there, however often the server or this process goes away."""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol

from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.export.loop_rows import ExportedLoop, Row
from ralph_tracker.safe_files import as_store_error, temporary_name, write_new
from ralph_tracker.store.export_queue import PendingExport
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.summary import Summary

_FIRST_PAUSE_S: Final = 0.5


class UnreachableError(RalphTrackerError):
    """A server that does not answer, or not now; trying again may help."""


class RefusedError(RalphTrackerError):
    """A server that refuses what was sent; trying again does not help."""


class Destination(Protocol):
    """A server that keeps the iterations of loops. Each call raises UnreachableError or RefusedError."""

    batch: int
    """How many iterations one call of `send` takes at most."""

    def open(self, loop: ExportedLoop, key: str) -> int:
        """Find or make the place of a loop there, and return the last iteration that it has, -1 for none."""
        ...

    def send(self, rows: Sequence[Row], summary: Summary) -> None:
        """Send iterations that follow those that are there."""
        ...

    def close(self, summary: Summary) -> None:
        """Send what is known of the loop as a whole, after its last iteration."""
        ...


class SendResult(NamedTuple):
    """What a call sent: so many iterations, up to `last`, at that place of the server."""

    iterations: int
    last: int
    place: str


def key_of(loop: ExportedLoop) -> str:
    """Return the name by which servers tell this loop from all others, of other projects and machines too."""
    file = loop.paths.folder / "export" / "id"
    with as_store_error(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        made = file.with_name(temporary_name())
        write_new(made, f"{uuid.uuid4().hex}\n".encode())
        with suppress(FileExistsError):  # the first one stays, and nobody reads half of it
            file.hardlink_to(made)
        made.unlink()
        return file.read_text(encoding="ascii").strip()


def send(loop: ExportedLoop, destination: Any, name: str, patience_s: float) -> SendResult:  # noqa: ANN401  # a Destination with a `place`
    """Send what a server does not have yet, one process at a time, and return what was sent.

    A server that does not answer is tried again until nothing has got through for `patience_s`. Raises
    UnreachableError after that, RefusedError at once; the next call goes on where this one ended.
    """
    queue = PendingExport(loop.paths, name)
    with hold_lock(queue.lock, f"export to {name}", 600.0):
        queue.take()
        key, sent = key_of(loop), 0
        try:
            for count in _tries(lambda: _rest(loop, destination, key), patience_s):
                sent += count
        except RalphTrackerError as error:
            queue.wait()
            queue.note(problem=loop.mask(str(error)))
            raise
        last = loop.summary().iteration
        queue.note(sent=last, problem=None)
        return SendResult(sent, last, destination.place)


def _rest(loop: ExportedLoop, destination: Destination, key: str) -> Iterator[int]:
    """Send what is missing, and yield how many iterations each call got through."""
    there = destination.open(loop, key)
    summary = loop.summary()
    while there < summary.iteration:
        rows = list(loop.rows(there + 1, min(there + destination.batch, summary.iteration)))
        destination.send(rows, summary)
        there = rows[-1].number
        yield len(rows)
        if there == summary.iteration:
            summary = loop.summary()
    destination.close(summary)


def _tries(work: Callable[[], Iterator[int]], patience_s: float) -> Iterator[int]:
    pause, deadline = _FIRST_PAUSE_S, time.monotonic() + patience_s
    while True:
        try:
            for count in work():
                pause, deadline = _FIRST_PAUSE_S, time.monotonic() + patience_s
                yield count
        except UnreachableError:
            if time.monotonic() + pause > deadline:
                raise
            time.sleep(pause)
            pause = min(2 * pause, 15.0)
        else:
            return
