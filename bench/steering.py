"""Measure what steering takes of a session: CPU for an event, and memory that does not grow with the session.

A session of 100,000 events works all the time: every turn has a call, a file that was never read, and every fifth a
change, so that nothing that is kept of it could be kept once. Beside it the same without anything new: a stuck loop.

    python bench/steering.py [--events N]
"""

import argparse
import sys
import time
import tracemalloc
from collections.abc import Iterator

from table import Table

from ralph_tracker.steering import Continuation, FileChanged, FileRead, ToolEnded, ToolStarted, TurnEnded
from ralph_tracker.steering.events import Event

LIMIT_US, GROWTH_KB = 50, 16
SETTLED = 20_000


def working(count: int) -> Iterator[Event]:
    """Yield events of a session that finds something new in every turn."""
    for number in range(count // 5):
        call = f"toolu_{number}"
        yield ToolStarted(call, "Read", f"{number:016x}")
        yield ToolEnded(call, "Read", success=True, arguments=f"{number:016x}", result=f"{number + 1:016x}")
        yield FileRead(f"src/part{number}.py") if number % 5 else FileChanged(f"src/part{number}.py")
        yield FileRead(f"src/part{number // 2}.py")
        yield TurnEnded(f"I look at part {number}.", 40, 20_000 + number % 1000)


def stuck(count: int) -> Iterator[Event]:
    """Yield events of a session that reads one file again and again."""
    for _ in range(count // 4):
        yield ToolStarted("toolu", "Read", "a")
        yield ToolEnded("toolu", "Read", success=True, arguments="a", result="b")
        yield FileRead("src/a.py")
        yield TurnEnded("I look again.", 40, 60_000)


def spent(events: list[Event]) -> float:
    """Return the CPU seconds that a session takes."""
    continuation = Continuation("complex")
    before = time.process_time()
    for event in events:
        continuation.fold(event)
    return time.process_time() - before


def growth(events: Iterator[Event]) -> float:
    """Return the kilobytes by which what is kept grows after the first 20,000 events."""
    continuation = Continuation("complex")
    tracemalloc.start()
    first = 0
    for number, event in enumerate(events):
        continuation.fold(event)
        if number == SETTLED:
            first = tracemalloc.get_traced_memory()[0]
    last = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (last - first) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    count = parser.parse_args().events
    table = Table()
    for name, make in (("at work", working), ("in a stuck loop", stuck)):
        events = list(make(count))
        microseconds = min(spent(events) for _ in range(3)) / len(events) * 1e6
        what = f"continuation, an event of {count} of a session {name}"
        table.row(what, f"{microseconds:.1f} us CPU", f"{LIMIT_US} us", held=microseconds <= LIMIT_US)
        more = growth(make(count))
        what = f"the same, memory from event {SETTLED} to the last"
        table.row(what, f"{more:+.1f} KB", f"{GROWTH_KB} KB", held=more <= GROWTH_KB)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
