"""The hook of ralph-orchestrator: an event on standard input, iterations on record, a few words for its log."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ralph_tracker.agents.ralph_orchestrator.calls import EVENTS, Call, Event, Standing, calls_for
from ralph_tracker.errors import InputError, LoopError
from ralph_tracker.store.files import to_json, write_whole
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.reading import read_json
from ralph_tracker.store.standing import paths_of, summary_at
from ralph_tracker.tracker import Tracker

STANDING: Final = "ralph-orchestrator.json"
READ_AT_MOST: Final = 1 << 20
_SCHEMA: Final = 1


def answer(environment: Mapping[str, str], descriptor: int = 0) -> str:
    """Read an event, do what it asks for, and return what was done, a line each. Raises as the tracker does."""
    event = Event.of(_payload(descriptor))
    if event.name not in EVENTS:
        return ""
    tracker = Tracker(Path(event.workspace or "."), environment=environment)
    paths, latest = _loop(tracker)
    standing = None if paths is None else _standing(paths)
    lines = [_carried_out(tracker, call) for call in calls_for(event, standing, latest)]
    _remember(tracker, event)
    return "".join(f"{line}\n" for line in lines)


def _carried_out(tracker: Tracker, call: Call) -> str:
    if call == "begin":
        return tracker.pre_loop(None).message
    if call == "measure":
        record = tracker.post_iteration(None).record
        return f"iteration {record.iteration}: {record.message}"
    return tracker.select_output(apply="output", finish=call != "select").selection.message


def _loop(tracker: Tracker) -> tuple[LoopPaths | None, int | None]:
    """Return the loop that is meant, and its last iteration where it is running."""
    try:
        paths = paths_of(tracker.root, None, tracker.environment)
    except LoopError:
        return None, None
    summary = summary_at(paths)
    return (paths, summary.iteration) if summary.status == "running" else (None, None)


def _standing(paths: LoopPaths) -> Standing | None:
    plain = read_json(paths.folder / STANDING)
    try:
        return Standing(str(plain["loop"]), int(plain["pid"]), int(plain["base"]), int(plain["started"]))
    except (TypeError, KeyError, ValueError):
        return None


def _remember(tracker: Tracker, event: Event) -> None:
    """Write down where the run stands, last of all: an event whose call was killed before that is answered again."""
    paths, latest = _loop(tracker)
    if paths is not None and latest is not None:
        plain = {"schema_version": _SCHEMA, **Standing.at(event, latest)._asdict()}
        write_whole(paths.folder / STANDING, to_json(plain))


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
