"""What one reader hands over: what it heard in its format, before the exit code is asked."""

from enum import StrEnum
from typing import NamedTuple, Protocol

from ralph_tracker.agents.output.values import Object
from ralph_tracker.core.metrics import Usage


class Ending(StrEnum):
    """How a run ended; OUT_OF_BUDGET is the agent's own limit of turns or money, UNKNOWN that nothing tells."""

    DONE = "done"
    RATE_LIMITED = "rate_limited"
    NEEDS_PERSON = "needs_person"
    OUT_OF_BUDGET = "out_of_budget"
    FAILED = "failed"
    UNKNOWN = "unknown"


class RunReport(NamedTuple):
    """What a run told; None is "not told".

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


class Verdict(NamedTuple):
    """How a run ended or what it struggles with, why, and when it may be tried again, as `RunReport` does."""

    ending: Ending
    why: str | None = None
    retry_after_s: float | None = None
    retry_at: float | None = None


class StreamReport(NamedTuple):
    """What a stream of one format said.

    `verdict` is how the run ended in the format's own words, None if its last event is missing. `trouble` is what
    the agent struggled with when the stream ended (a retry, say): it counts only where the run did not end well.
    `exits` says what the program's exit codes mean.
    """

    usage: Usage
    verdict: Verdict | None = None
    trouble: Verdict | None = None
    last_message: str | None = None
    exits: tuple[tuple[int, Ending], ...] = ()


class EventReader(Protocol):
    """Hear the events of one run: JSON objects, in order. Never raises, holds a bounded state."""

    def take(self, event: Object, /) -> None: ...

    def heard(self) -> StreamReport: ...


class TextReader(Protocol):
    """Hear the lines of one run that are no events. Never raises, holds a bounded state."""

    def take(self, line: str, /) -> None: ...

    def heard(self) -> StreamReport | None:
        """Return what was heard, None if the text is not of the format."""
        ...
