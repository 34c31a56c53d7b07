"""Say what happens in a loop right now: who works since when, and the agent's latest words."""

import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.output.event_values import one_line
from ralph_tracker.measure.secrets import mask_secrets, secret_values
from ralph_tracker.runner.attempt import logs_of
from ralph_tracker.runner.saved_run import run_state
from ralph_tracker.store.json_documents import read_json
from ralph_tracker.store.layout import RUN, LoopPaths
from ralph_tracker.store.summary import Summary, attempted_iteration

# Where agents that print events name what they do: a tool's own words before its name, and prose.
_WORDS: Final = ("command", "file_path", "path", "pattern", "url", "text", "message", "result")
_PHASES: Final = {
    "measure": "iteration {number} is being measured",
    "decide": "iteration {number} is being judged",
    "select": "the best iteration is being selected",
}
# What a decision leaves to do before an agent works on, where no run carries it out.
_WAITING: Final = {
    "escalate": "waiting for a person to decide",
    "rollback": "waiting for the rollback",
    "stop": "waiting to be ended",
}


class Activity(NamedTuple):
    """What happens now in a few words, since when (epoch seconds, None if unknown), and the agent's latest line."""

    what: str
    since: float | None = None
    said: str = ""


def activity_of(paths: LoopPaths, summary: Summary, environment: Mapping[str, str]) -> Activity:
    """Return what happens in a loop now; values of secret variables of the environment are masked.

    Reads a few small files and the end of the agent's output; a damaged one counts as not there.
    """
    if summary.status != "running":
        return Activity(f"the loop is {summary.status}", _epoch(summary.updated_at))
    progress, state = read_json(paths.folder / RUN), run_state(paths)
    if state is not None and isinstance(progress, dict) and isinstance(progress.get("iteration"), int):
        number, since = progress["iteration"], _change_time(paths.folder / RUN)
        if state == "interrupted":
            return Activity(f"the run was interrupted in iteration {number}", since)
        return _runner_activity(paths, progress, number, since, environment)
    number = attempted_iteration(paths)
    if number is not None and number > summary.iteration:
        return Activity(_PHASES["measure"].format(number=number), _change_time(paths.attempt))
    waiting = _WAITING.get(summary.decision["action"]) if summary.head == summary.iteration else None
    return Activity(waiting or f"working on iteration {summary.iteration + 1}", _epoch(summary.updated_at))


def _runner_activity(
    paths: LoopPaths, progress: Mapping[str, Any], number: int, since: float | None, environment: Mapping[str, str]
) -> Activity:
    words = _PHASES.get(str(progress.get("phase")))
    if words is not None:
        return Activity(words.format(number=number), since)
    if not progress.get("at_work"):
        return Activity(f"iteration {number} waits for the agent to run again", since)
    tried = progress.get("tried")
    logs = logs_of(paths, number, tried if isinstance(tried, int) else 1)
    secrets = secret_values(environment)
    said = next(filter(None, (latest_words(mask_secrets(_tail(log), secrets)) for log in logs)), "")
    return Activity(f"the agent works on iteration {number}", since, said)


def latest_words(output: bytes) -> str:
    """Return the last line of an agent's output that says something, "" if there is none; of an event, its words."""
    for line in reversed(output.decode("utf-8", "replace").splitlines()):
        try:
            words = next(_texts(json.loads(line)), None) if line.lstrip().startswith("{") else line
        except (ValueError, RecursionError):
            words = line
        shown = one_line(words)
        if shown is not None:
            return shown
    return ""


def _texts(event: Any) -> Iterator[str]:  # noqa: ANN401  # any JSON value
    """Yield the texts of an event that people understand, the innermost of the known keys first."""
    if isinstance(event, list):
        for part in reversed(event):
            yield from _texts(part)
    if isinstance(event, dict):
        for part in event.values():
            if isinstance(part, dict | list):
                yield from _texts(part)
        told = next((event[key] for key in _WORDS if isinstance(event.get(key), str) and event[key].strip()), None)
        if told is not None:
            yield told


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - (1 << 16)))
            return file.read()
    except OSError:
        return b""


def _change_time(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _epoch(moment: str) -> float | None:
    try:
        return datetime.fromisoformat(moment).timestamp()
    except (TypeError, ValueError):
        return None
