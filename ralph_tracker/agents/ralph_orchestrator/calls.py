"""What an event of ralph-orchestrator asks for; pure.

That runner has no event at the end of an iteration: iteration N is measured when N + 1 starts, and when the loop ends.
It numbers its iterations from 1 in every run, also in one that goes on with `--continue`, which keeps the loop's id.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, Self

from ralph_tracker.errors import InputError

Call = Literal["close", "begin", "measure", "finish", "select"]
START: Final = "pre.loop.start"
ITERATION: Final = "pre.iteration.start"
COMPLETE: Final = "pre.loop.complete"
ERROR: Final = "pre.loop.error"
EVENTS: Final = frozenset({START, ITERATION, COMPLETE, ERROR})
_ENDS: Final[Mapping[str, Call]] = {COMPLETE: "finish", ERROR: "select"}
SUPPORTED_SCHEMA: Final = 1


class Event(NamedTuple):
    """Hold what matters of an event: its name, the runner's loop and process, its number of the iteration."""

    name: str
    loop: str
    pid: int
    current: int
    workspace: str | None

    @classmethod
    def of(cls, payload: Any) -> Self:  # noqa: ANN401  # any JSON value
        """Return the event of a payload. Raises InputError for what is none, or of another version."""
        try:
            version, loop = payload["schema_version"], payload["loop"]
            workspace = loop.get("workspace")
            event = cls(
                str(payload["phase_event"]),
                str(loop["id"]),
                int(loop["pid"]),
                int(payload["iteration"]["current"]),
                workspace if isinstance(workspace, str) and workspace else None,
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                "no event of ralph-orchestrator on standard input; name this command in its hooks"
            ) from None
        if version != SUPPORTED_SCHEMA:
            raise InputError(
                f"an event of schema_version {version}; {SUPPORTED_SCHEMA} is known, upgrade ralph-tracker"
            )
        return event

    @property
    def done(self) -> int:
        """Return how many iterations of this run are done; one that is interrupted counts."""
        return self.current - 1 if self.name == ITERATION else self.current


class Standing(NamedTuple):
    """Hold where a run of the runner stands.

    `base` is the iteration on record when the run began, `started` how many iterations of it have been started.
    """

    loop: str = ""
    pid: int = 0
    base: int = 0
    started: int = 0

    @classmethod
    def at(cls, event: Event, latest: int) -> Self:
        """Return where the run stands once its event has been answered."""
        return cls(event.loop, event.pid, latest - event.done, event.current)

    def same_run(self, event: Event) -> bool:
        """Tell whether an event is of this run."""
        return (self.loop, self.pid) == (event.loop, event.pid)

    def due(self, event: Event, latest: int) -> bool:
        """Tell whether work was done that is not on record; `latest` is the last iteration that is."""
        done = event.done if self.same_run(event) else self.started
        return latest < self.base + done


def calls_for(event: Event, standing: Standing | None, latest: int | None) -> tuple[Call, ...]:
    """Return what to do, in order.

    `standing` is what is remembered of the loop, None for one that this runner has not been seen in. `latest` is the
    last iteration on record, None where no loop is running. A call that is repeated gets nothing to do, or the same
    again. `close` ends a loop of another task, `select` leaves one running, for a run that goes on with it.
    """
    if event.name not in EVENTS:
        return ()
    if latest is None:
        return ("begin",) if event.name == START else ()
    measure: tuple[Call, ...] = ("measure",) if standing is not None and standing.due(event, latest) else ()
    if event.name == START:
        another = standing is not None and standing.loop != event.loop
        return (*measure, "close", "begin") if another else measure
    return (*measure, _ENDS[event.name]) if event.name in _ENDS else measure
