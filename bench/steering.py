"""Measure steering: CPU per event, and memory, which must not grow with the session.

A session of 100,000 events makes progress all the time: every turn has a call and a new file, and every fifth a change,
so that nothing can be deduplicated. A second session is a stuck loop without anything new. Evaluators are asked every 5
turns, callbacks at every tool and every 20 for a checkpoint, live progress is updated and shown at every turn.

    python bench/steering.py [--events N]
"""

import argparse
import asyncio
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

from table import Table

from ralph_tracker.steering import (
    AgentCallbacks,
    AllAgree,
    Continuation,
    FileChanged,
    FileRead,
    Interaction,
    LiveProgress,
    Plan,
    ProgressMonitor,
    QualityProgressEvaluator,
    SimpleProgressEvaluator,
    Task,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    compute_progress_summary,
    follow,
    new_plan_state,
    run_evaluated,
)
from ralph_tracker.steering.progress_evaluators import QualityState
from ralph_tracker.steering.session_events import Event

LIMIT_US, GROWTH_KB = 50, 16
SETTLED = 20_000
WORDS = 40  # of a turn, enough to fill the bounded memory early

Session = Callable[[Iterable[Event]], Awaitable[object]]


def working(count: int) -> Iterator[Event]:
    """Yield events of a session that finds something new in every turn."""
    for number in range(count // 5):
        call = f"toolu_{number}"
        yield ToolStarted(call, "Read", f"{number:016x}")
        yield ToolEnded(call, "Read", success=True, arguments=f"{number:016x}", result=f"{number + 1:016x}")
        yield FileRead(f"src/part{number}.py") if number % 5 else FileChanged(f"src/part{number}.py")
        yield FileRead(f"src/part{number // 2}.py")
        yield TurnEnded(" ".join(f"part{number + n}" for n in range(WORDS)), 40, 20_000 + number % 1000, 0.001)


def stuck(count: int) -> Iterator[Event]:
    """Yield events of a session that reads the same file again and again."""
    for _ in range(count // 4):
        yield ToolStarted("toolu", "Read", "a")
        yield ToolEnded("toolu", "Read", success=True, arguments="a", result="b")
        yield FileRead("src/a.py")
        yield TurnEnded("I look again.", 40, 60_000)


async def continuation(events: Iterable[Event]) -> None:
    """Judge a session turn by turn."""
    folded = Continuation("complex")
    for event in events:
        folded.fold(event)


async def evaluators(events: Iterable[Event]) -> None:
    """Ask the evaluators that need no model, every 5 turns."""
    quality = QualityProgressEvaluator(lambda: QualityState("forward"))
    simple = SimpleProgressEvaluator(max_cost_usd=None)
    response = await run_evaluated(flowing(events), ProgressMonitor(AllAgree(simple, quality), time.monotonic))
    assert response.error is None, response.error


async def callbacks(events: Iterable[Event]) -> None:
    """Call a transport at every start and end of a tool, ask for a cancel, and hold a checkpoint every 20 tools."""

    async def shown(*_: object) -> None:
        pass

    async def asked(*given: object) -> bool:
        return bool(given)  # a checkpoint gets its count, a cancel check nothing

    outcome = await follow(flowing(events), Interaction(AgentCallbacks(shown, shown, asked, asked)))
    assert not outcome.cancelled


async def live_progress(events: Iterable[Event]) -> None:
    """Follow the cost of a plan, and show it at every turn."""
    tasks = tuple(Task(f"t{number}", f"task {number}") for number in range(20))
    live = LiveProgress(compute_progress_summary(new_plan_state(Plan(tasks))))
    for event in events:
        live.fold(event)
        if isinstance(event, TurnEnded):
            live.line()


async def flowing(events: Iterable[Event]) -> AsyncIterator[Event]:
    for event in events:
        yield event
        if isinstance(event, TurnEnded):
            await asyncio.sleep(0)  # as any agent yields to the event loop


def spent(session: Session, events: list[Event]) -> float:
    """Return the CPU seconds of a session."""
    before = time.process_time()
    asyncio.run(session(events))
    return time.process_time() - before


def growth(session: Session, events: Iterator[Event]) -> float:
    """Return by how many kilobytes memory grows after the first 20,000 events."""
    marks: list[int] = []

    def watched() -> Iterator[Event]:
        for number, event in enumerate(events):
            if number == SETTLED:
                marks.append(tracemalloc.get_traced_memory()[0])
            yield event
        marks.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    asyncio.run(session(watched()))
    tracemalloc.stop()
    return (marks[-1] - marks[0]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    count = parser.parse_args().events
    table = Table()
    rows: tuple[tuple[Session, str, Callable[[int], Iterator[Event]]], ...] = (
        (continuation, "at work", working),
        (continuation, "in a stuck loop", stuck),
        (evaluators, "at work", working),
        (callbacks, "at work", working),
        (live_progress, "at work", working),
    )
    for session, name, make in rows:
        events = list(make(count))
        microseconds = min(spent(session, events) for _ in range(3)) / len(events) * 1e6
        what = f"{session.__name__.replace('_', ' ')}, an event of {count} of a session {name}"
        table.row(what, f"{microseconds:.1f} us CPU", f"{LIMIT_US} us", held=microseconds <= LIMIT_US)
        more = growth(session, make(count))
        what = f"the same, memory from event {SETTLED} to the last"
        table.row(what, f"{more:+.1f} KB", f"{GROWTH_KB} KB", held=more <= GROWTH_KB)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
