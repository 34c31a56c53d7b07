"""What the output of a run of an agent tells: what it cost, how it ended, and its last words."""

from enum import StrEnum
from typing import NamedTuple

from ralph_tracker.core.metrics import Usage


class Ending(StrEnum):
    """How a run ended; OUT_OF_BUDGET is the agent's own limit of turns or money, UNKNOWN that nothing tells."""

    DONE = "done"
    RATE_LIMITED = "rate_limited"
    NEEDS_PERSON = "needs_person"
    OUT_OF_BUDGET = "out_of_budget"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Told(NamedTuple):
    """Hold what a run told; None is "not told".

    `why` is one line in the agent's words, at most 200 characters. `retry_after_s` (seconds) and `retry_at` (epoch
    seconds) are when it says that it may be tried again. `last_message` is the end of its last words, at most 2,000
    characters.
    """

    usage: Usage
    ending: Ending
    why: str | None = None
    retry_after_s: float | None = None
    retry_at: float | None = None
    last_message: str | None = None
