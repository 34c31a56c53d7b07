"""What is wrong with an iteration, by name and in lines for people."""

from typing import Final

from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.rounding import quantity
from ralph_tracker.errors import RecordError, StoreError
from ralph_tracker.iteration.shortfalls import first_words, shortfalls
from ralph_tracker.store.records import LoopRecords

SHOWN: Final = 5


def wrong_lines(committed: LoopRecords, number: int) -> tuple[str, ...]:
    """Return the failing tests with place and message, the lost ones, and what did not load; () if nothing is known."""
    try:
        held = shortfalls(committed, number)
    except (RecordError, StoreError):
        return ()
    if held is None:
        return ()
    failing = held.failing or ()
    lines = [f"failing: {first_words(test)}" for test in failing[:SHOWN]]
    rest = len(failing) - SHOWN
    lines += [f"failing: {rest} more"] if rest > 0 else []
    lines += [f"failing: {quantity(held.held_back, 'held-back test')}"] if held.held_back else []
    lines += [f"lost: {names_in_short(held.lost)}"] if held.lost else []
    loads = [f"{what}: {why}" if why else what for what, why in sorted(held.not_loaded.items())]
    return (*lines, *(f"does not load: {line}" for line in loads[:SHOWN]))
