"""Count what sessions take: the tokens of a model's answers, and the cost and context size that a status line gets.

Hooks get neither cost nor context size, so the status line stores them in the loop's folder, in a file each, for the
latest sessions. Imports are light, because the status line runs often and the context size is read at every turn.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.hosts.host import HookEvent
from ralph_tracker.errors import InputError
from ralph_tracker.safe_files import own_file

COSTS: Final = "agent-costs.json"
_CONTEXT: Final = "agent-context.json"
_KEPT: Final = 32
_PERCENT: Final = 100


class ModelAnswer(NamedTuple):
    """An answer of a model: when (epoch seconds), tokens in (the cache included) and out, USD (None: unknown)."""

    at: float
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None


def at_of(timestamp: str) -> float:
    """Return a time of ISO 8601 in epoch seconds."""
    from datetime import datetime  # noqa: PLC0415  # seldom needed

    return datetime.fromisoformat(timestamp).timestamp()


def usage_in_transcript(
    event: HookEvent, since: str, counted: dict[str, Any], read: Callable[[Any], tuple[object, ModelAnswer] | None]
) -> dict[str, float]:
    """Return the usage since the last recorded iteration from the session's transcript, {} if it is unknown.

    `read(line)` returns the answer in a line of JSON, with what it is known by when it is written again; None or an
    error (ValueError, KeyError, TypeError) if there is none. The rest is as in `usage_since`.
    """
    from pathlib import Path  # noqa: PLC0415  # only at stops

    from ralph_tracker.safe_files import open_regular  # noqa: PLC0415  # as above

    path, found = event.get("transcript_path"), {}
    if not isinstance(path, str):
        return {}
    try:
        with open_regular(Path(path)) as file:
            while line := file.readline(4 << 20):
                try:
                    answer = read(json.loads(line))
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue
                if answer is not None:
                    found[answer[0]] = answer[1]
    except (OSError, InputError):
        return {}
    return usage_since(event, found.values(), since, counted)


def usage_since(
    event: HookEvent, answers: Iterable[ModelAnswer], since: str, counted: dict[str, Any]
) -> dict[str, float]:
    """Return the usage of the answers that no iteration has, and mark them as counted; {} if there are none.

    `answers` are all of the session. In a session that is new to the loop, those before `since` (UTC, ISO 8601) are
    left out.
    """
    every, session = list(answers), str(event.get("session_id", ""))
    known = dict(counted.get("answers", {}))
    if session in known:
        new = every[int(known.pop(session)) :]
    else:
        start = at_of(since)
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


def take_cost(loop: str, payload: Mapping[str, Any], started_at: str) -> None:
    """Add a session's cost since its last payload; `started_at` is when the loop began (UTC, ISO 8601).

    A session older than the loop counts from its first payload. Raises OSError if the disk refuses.
    """
    session, cost = payload.get("session_id"), payload.get("cost")
    if not isinstance(session, str) or not isinstance(cost, dict):
        return
    total = cost.get("total_cost_usd")
    if not isinstance(total, int | float) or not 0 <= total < float("inf"):
        return
    sessions = costs_of(loop)
    before = sessions.pop(session, None)
    if before is None:
        spent = 0.0 if _older(cost, started_at) else float(total)
    elif before["total"] == total:
        return
    else:
        spent = before["spent"] + (total - before["total"] if total > before["total"] else total)
    sessions[session] = {"total": float(total), "spent": spent}
    _write_sessions(loop, COSTS, sessions)


def _older(cost: Mapping[str, Any], started_at: str) -> bool:
    """Return whether a session is older than the loop; True if its age is unknown."""
    age = cost.get("total_duration_ms")
    if not isinstance(age, int | float):
        return True
    try:
        began = at_of(started_at)
    except ValueError:
        return True
    return time.time() - age / 1000 < began


def costs_of(loop: str) -> dict[str, dict[str, float]]:
    """Return, by session, its cost in this loop (`spent`, USD) and its counter (`total`); {} if unknown."""
    try:
        return {
            name: {key: float(each[key]) for key in ("total", "spent")}
            for name, each in _sessions_in(loop, COSTS).items()
        }
    except (ValueError, KeyError, TypeError):
        return {}


def take_context(loop: str, payload: Mapping[str, Any]) -> None:
    """Store a payload's context size if it has changed. Raises OSError if the disk refuses."""
    session, window_usage = payload.get("session_id"), payload.get("context_window")
    if not isinstance(session, str) or not isinstance(window_usage, dict):
        return
    window, used = window_usage.get("context_window_size"), window_usage.get("used_percentage")
    if not isinstance(window, int) or not isinstance(used, int | float) or not (window > 0 and 0 <= used < _PERCENT**2):
        return
    now = {"context_tokens": round(window * used / _PERCENT), "context_window": window}
    if context_of(loop, session) == now:
        return
    sessions = _sessions_in(loop, _CONTEXT)
    sessions.pop(session, None)
    _write_sessions(loop, _CONTEXT, {**sessions, session: now})


def context_of(loop: str, session: str) -> dict[str, int]:
    """Return `context_tokens` and `context_window` of a session; {} if unknown."""
    known = _sessions_in(loop, _CONTEXT).get(session)
    if not isinstance(known, dict):
        return {}
    tokens, window = known.get("context_tokens"), known.get("context_window")
    if not (isinstance(tokens, int) and isinstance(window, int) and tokens >= 0 and window > 0):
        return {}
    return {"context_tokens": tokens, "context_window": window}


def _sessions_in(loop: str, name: str) -> dict[str, Any]:
    """Return the data of a file in a loop's folder by session; {} if it is not there or damaged."""
    try:
        with open(f"{loop}/{name}", encoding="utf-8", opener=own_file) as file:  # the status line runs often
            sessions = json.load(file)["sessions"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return sessions if isinstance(sessions, dict) else {}


def _write_sessions(loop: str, name: str, sessions: Mapping[str, Any]) -> None:
    """Replace a file in a loop's folder by the data of the latest sessions. Raises OSError."""
    temporary = f"{loop}/.tmp-{name}-{os.getpid()}"
    kept = dict(list(sessions.items())[-_KEPT:])
    with open(temporary, "x", encoding="utf-8") as file:  # noqa: PTH123  # pathlib is slower than all of this
        json.dump({"schema_version": 1, "sessions": kept}, file)
    os.replace(temporary, f"{loop}/{name}")  # noqa: PTH105  # as above
