"""Store a session's cost and context size from the status line's payloads; hooks do not get either."""

import json
import os
import time
from collections.abc import Mapping
from typing import Any, Final

COSTS: Final = "agent-costs.json"
_SCHEMA: Final = 1
_SESSIONS: Final = 32
_MILLISECONDS: Final = 1000
CONTEXT: Final = "agent-context.json"
_PERCENT: Final = 100


def costs_of(loop: str) -> dict[str, dict[str, float]]:
    """Return, by session, its cost in this loop (`spent`, USD) and its counter (`total`); {} if unknown."""
    try:
        with open(f"{loop}/{COSTS}", encoding="utf-8") as file:  # noqa: PTH123  # the status line runs often
            sessions = json.load(file)["sessions"]
        return {str(name): {key: float(each[key]) for key in ("total", "spent")} for name, each in sessions.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


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
    write_sessions(loop, COSTS, sessions)


def _older(cost: Mapping[str, Any], started_at: str) -> bool:
    """Return whether a session is older than the loop; True if its age is unknown."""
    age = cost.get("total_duration_ms")
    if not isinstance(age, int | float):
        return True
    import calendar  # noqa: PLC0415  # once per session

    try:
        began = calendar.timegm(time.strptime(started_at, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return True
    return time.time() - age / _MILLISECONDS < began


def write_sessions(loop: str, name: str, sessions: Mapping[str, Any]) -> None:
    """Replace a file in a loop's folder by the data of the latest sessions. Raises OSError."""
    temporary = f"{loop}/.tmp-{name}-{os.getpid()}"
    kept = dict(list(sessions.items())[-_SESSIONS:])
    with open(temporary, "w", encoding="utf-8") as file:  # noqa: PTH123  # as above
        json.dump({"schema_version": _SCHEMA, "sessions": kept}, file)
    os.replace(temporary, f"{loop}/{name}")  # noqa: PTH105  # as above


def context_of(loop: str, session: str) -> dict[str, int]:
    """Return `context_tokens` and `context_window` of a session; {} if unknown."""
    known = _known(loop).get(session)
    if not isinstance(known, dict):
        return {}
    tokens, window = known.get("context_tokens"), known.get("context_window")
    if not (isinstance(tokens, int) and isinstance(window, int) and tokens >= 0 and window > 0):
        return {}
    return {"context_tokens": tokens, "context_window": window}


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
    sessions = _known(loop)
    sessions.pop(session, None)
    write_sessions(loop, CONTEXT, {**sessions, session: now})


def _known(loop: str) -> dict[str, Any]:
    try:
        with open(f"{loop}/{CONTEXT}", encoding="utf-8") as file:  # noqa: PTH123  # the status line runs often
            sessions = json.load(file)["sessions"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return sessions if isinstance(sessions, dict) else {}
