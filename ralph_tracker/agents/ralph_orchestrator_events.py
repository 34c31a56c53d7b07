"""Answer the hooks of ralph-orchestrator: an event on standard input, iterations recorded, a few words for its log."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

from ralph_tracker.errors import InputError, LoopError
from ralph_tracker.safe_files import write_whole
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.json_documents import read_json, to_json
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.summary import summary_at
from ralph_tracker.tracker import Tracker

Call = Literal["close", "begin", "measure", "finish", "select"]
START: Final = "pre.loop.start"
ITERATION: Final = "pre.iteration.start"
COMPLETE: Final = "pre.loop.complete"
ERROR: Final = "pre.loop.error"
EVENTS: Final = frozenset({START, ITERATION, COMPLETE, ERROR})
_ENDS: Final[Mapping[str, Call]] = {COMPLETE: "finish", ERROR: "select"}
SUPPORTED_SCHEMA: Final = 1
STANDING: Final = "ralph-orchestrator.json"
READ_AT_MOST: Final = 1 << 20


class Event(NamedTuple):
    """The relevant parts of an event: its name, the runner's loop and process, and its iteration number."""

    name: str
    loop: str
    pid: int
    current: int
    workspace: str | None

    @classmethod
    def of(cls, payload: Any) -> Self:  # noqa: ANN401  # any JSON value
        """Return the event of a payload. Raises InputError if it is invalid or of another version."""
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
        """Return how many iterations of this run are done, including an interrupted one."""
        return self.current - 1 if self.name == ITERATION else self.current


class RunnerState(NamedTuple):
    """The state of a run of the runner.

    `base` is the last recorded iteration when the run began, `started` how many of its iterations have started.
    """

    loop: str = ""
    pid: int = 0
    base: int = 0
    started: int = 0

    @classmethod
    def read(cls, paths: LoopPaths) -> Self | None:
        """Return the stored state, None if there is none or it is damaged."""
        plain = read_json(paths.folder / STANDING)
        try:
            return cls(str(plain["loop"]), int(plain["pid"]), int(plain["base"]), int(plain["started"]))
        except (TypeError, KeyError, ValueError):
            return None

    @classmethod
    def at(cls, event: Event, latest: int) -> Self:
        """Return the run's state after an event was answered."""
        return cls(event.loop, event.pid, latest - event.done, event.current)

    def due(self, event: Event, latest: int) -> bool:
        """Return whether there is unrecorded work; `latest` is the last recorded iteration."""
        is_of_this_run = (self.loop, self.pid) == (event.loop, event.pid)
        done = event.done if is_of_this_run else self.started
        return latest < self.base + done


def calls_for(event: Event, stored: RunnerState | None, latest: int | None) -> tuple[Call, ...]:
    """Return the calls to make, in order.

    `stored` is the stored state, None if this runner has not used the loop. `latest` is the last recorded iteration,
    None if no loop is running. A repeated event gives no call or the same one. `close` ends a loop of another task,
    `select` leaves one running for a run that continues it.
    """
    if event.name not in EVENTS:
        return ()
    if latest is None:
        return ("begin",) if event.name == START else ()
    measure: tuple[Call, ...] = ("measure",) if stored is not None and stored.due(event, latest) else ()
    if event.name == START:
        another = stored is not None and stored.loop != event.loop
        return (*measure, "close", "begin") if another else measure
    return (*measure, _ENDS[event.name]) if event.name in _ENDS else measure


def answer(environment: Mapping[str, str], descriptor: int = 0) -> str:
    """Read an event, handle it, and return what was done, one line each. Raises as the tracker does."""
    event = Event.of(_payload(descriptor))
    if event.name not in EVENTS:
        return ""
    tracker = Tracker(Path(event.workspace or "."), environment=environment)
    paths, latest = _loop(tracker)
    stored, lines = None if paths is None else RunnerState.read(paths), []
    for call in calls_for(event, stored, latest):
        if call == "begin":
            lines.append(tracker.pre_loop(None).message)
        elif call == "measure":
            record = tracker.post_iteration(None).record
            lines.append(f"iteration {record.iteration}: {record.message}")
        else:
            lines.append(tracker.select_output(apply="output", finish=call != "select").selection.message)
    paths, latest = _loop(tracker)
    if paths is not None and latest is not None:  # at the end, so that an event whose call was killed is answered again
        plain = {"schema_version": 1, **RunnerState.at(event, latest)._asdict()}
        write_whole(paths.folder / STANDING, to_json(plain))
    return "".join(f"{line}\n" for line in lines)


def _loop(tracker: Tracker) -> tuple[LoopPaths | None, int | None]:
    """Return the loop that is meant, and its last iteration if it is running."""
    try:
        paths = find_loop(tracker.root, None, tracker.environment)
    except LoopError:
        return None, None
    summary = summary_at(paths)
    return (paths, summary.iteration) if summary.status == "running" else (None, None)


def _payload(descriptor: int) -> Any:  # noqa: ANN401  # any JSON value
    if os.isatty(descriptor):
        raise InputError("no event on standard input: ralph-orchestrator calls this by itself, from its hooks")
    with os.fdopen(os.dup(descriptor), "rb") as file:
        data = file.read(READ_AT_MOST + 1)
    if len(data) > READ_AT_MOST:
        raise InputError(f"an event of more than {READ_AT_MOST} bytes; that is none of ralph-orchestrator")
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
