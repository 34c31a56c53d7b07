"""Define the report on an agent's run: how it ended and what it took, and the readers of output that make it."""

from enum import StrEnum
from typing import NamedTuple, Protocol

from ralph_tracker.agents.output.event_values import Object
from ralph_tracker.core.metrics import Usage


class Ending(StrEnum):
    """How a run ended; OUT_OF_BUDGET is the agent's own limit of turns or money."""

    DONE = "done"
    RATE_LIMITED = "rate_limited"
    NEEDS_PERSON = "needs_person"
    OUT_OF_BUDGET = "out_of_budget"
    FAILED = "failed"
    UNKNOWN = "unknown"


class RunReport(NamedTuple):
    """The report on a run; None is "not reported".

    `why` is one line in the agent's words, at most 200 characters. `retry_after_s` (seconds) and `retry_at` (epoch
    seconds) are when it may be tried again. `last_message` is the end of its last message, at most 2,000 characters.
    `session` is the id by which the client can continue its session. `models` are the models that were asked, each with
    its tokens, () where the client does not tell. `own_input` are the input tokens of this run alone, where the format
    has them beside sums that may be of a whole session.
    """

    usage: Usage
    ending: Ending
    why: str | None = None
    retry_after_s: float | None = None
    retry_at: float | None = None
    last_message: str | None = None
    session: str | None = None
    models: tuple["ModelTokens", ...] = ()
    own_input: int | None = None


class ModelTokens(NamedTuple):
    """What a run took of one model, "" where its name is not reported; `cached` is a part of `input`."""

    name: str
    input: int
    output: int
    cached: int = 0


class RunOutcome(NamedTuple):
    """How a run ended or what it was retrying, why, and when it may be tried again, as in `RunReport`."""

    ending: Ending
    why: str | None = None
    retry_after_s: float | None = None
    retry_at: float | None = None


class StreamReport(NamedTuple):
    """The content of a stream of one format.

    `outcome` is how the run ended in the format's words, None if its last event is missing. `trouble` is what the agent
    was retrying when the stream ended: it only counts if the run did not end well. `exits` is the meaning of the
    program's exit codes, `models` and `own_input` as in `RunReport`.
    """

    usage: Usage
    outcome: RunOutcome | None = None
    trouble: RunOutcome | None = None
    last_message: str | None = None
    exits: tuple[tuple[int, Ending], ...] = ()
    models: tuple[ModelTokens, ...] = ()
    own_input: int | None = None


class EventReader(Protocol):
    """A reader of one run's events, JSON objects in order. Never raises; its state is bounded."""

    @staticmethod
    def sniff(event: Object, /) -> bool:
        """Return whether the object is an event of the format."""
        ...

    def feed(self, event: Object, /) -> None: ...

    def result(self) -> StreamReport: ...


class TextReader(Protocol):
    """A reader of one run's lines that are not events. Never raises; its state is bounded."""

    def feed(self, line: str, /) -> None: ...

    def result(self) -> StreamReport | None:
        """Return the content of the stream, None if the text is not of the format."""
        ...
