"""Count what an iteration took where a host lists the model's answers of a session, each with its tokens."""

import calendar
import json
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.hosts.host import Heard
from ralph_tracker.config.regular_file import open_regular
from ralph_tracker.errors import InputError

_KEPT: Final = 32
_LONGEST_LINE: Final = 4 << 20


class ModelAnswer(NamedTuple):
    """An answer of a model: when (epoch seconds), tokens in (the cache included) and out, USD (None: unknown)."""

    at: float
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None


def at_of(timestamp: str) -> float:
    """Return a time of ISO 8601 in epoch seconds."""
    return datetime.fromisoformat(timestamp).timestamp()


def usage_in_transcript(
    event: Heard, since: str, counted: dict[str, Any], read: Callable[[Any], tuple[object, ModelAnswer] | None]
) -> dict[str, float]:
    """Return the usage since the last recorded iteration from the session's transcript, {} if it is unknown.

    `read(line)` returns the answer in a line of JSON, with what it is known by when it is written again; None or an
    error (ValueError, KeyError, TypeError) if there is none. The rest is as in `usage_since`.
    """
    path, found = event.get("transcript_path"), {}
    if not isinstance(path, str):
        return {}
    try:
        with open_regular(Path(path)) as file:
            while line := file.readline(_LONGEST_LINE):
                try:
                    answer = read(json.loads(line))
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue
                if answer is not None:
                    found[answer[0]] = answer[1]
    except (OSError, InputError):
        return {}
    return usage_since(event, found.values(), since, counted)


def usage_since(event: Heard, answers: Iterable[ModelAnswer], since: str, counted: dict[str, Any]) -> dict[str, float]:
    """Return the usage of the answers that no iteration has, and mark them as counted; {} if there are none.

    `answers` are all of the session. In a session that is new to the loop, those before `since` (UTC, ISO 8601) are
    left out.
    """
    every, session = list(answers), str(event.get("session_id", ""))
    known = dict(counted.get("answers", {}))
    if session in known:
        new = every[int(known.pop(session)) :]
    else:
        start = calendar.timegm(time.strptime(since, "%Y-%m-%dT%H:%M:%SZ"))
        new = [each for each in every if each.at >= start]
    counted["answers"] = dict([*known.items(), (session, len(every))][-_KEPT:])
    if not new:
        return {}
    found: dict[str, float] = {
        "input_tokens": sum(each.input_tokens for each in new),
        "output_tokens": sum(each.output_tokens for each in new),
        "turns": len(new),
    }
    costs = [each.cost_usd for each in new if each.cost_usd is not None]
    return {**found, "cost_usd": round(sum(costs), 6)} if len(costs) == len(new) else found
