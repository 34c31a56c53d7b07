"""What sessions have cost in a loop, by the payloads of the status line: the only live source of it.

The client counts from the start of a session and begins anew after /clear: kept is the sum of the steps.
"""

import json
import os
import time
from collections.abc import Mapping
from typing import Any, Final

COSTS: Final = "agent-costs.json"
_SCHEMA: Final = 1
_SESSIONS: Final = 32
_MILLISECONDS: Final = 1000


def costs_of(loop: str) -> dict[str, dict[str, float]]:
    """Return, by session, what it has cost in this loop (`spent`, USD) and its counter (`total`); {} where unknown."""
    try:
        with open(f"{loop}/{COSTS}", encoding="utf-8") as file:  # noqa: PTH123  # the status line is asked for often
            sessions = json.load(file)["sessions"]
        return {str(name): {key: float(each[key]) for key in ("total", "spent")} for name, each in sessions.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def take_cost(loop: str, payload: Mapping[str, Any], started_at: str) -> None:
    """Add what a session has cost since its last payload; `started_at` is when the loop began (UTC, ISO 8601).

    A session that is older than the loop counts from its first payload. Raises OSError where the disk refuses.
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
    """Tell whether a session is older than the loop; one of unknown age is."""
    age = cost.get("total_duration_ms")
    if not isinstance(age, int | float):
        return True
    import calendar  # noqa: PLC0415  # once a session

    try:
        began = calendar.timegm(time.strptime(started_at, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return True
    return time.time() - age / _MILLISECONDS < began


def write_sessions(loop: str, name: str, sessions: Mapping[str, Any]) -> None:
    """Replace a file in a loop's folder by what is known of the last sessions. Raises OSError."""
    temporary = f"{loop}/.tmp-{name}-{os.getpid()}"
    kept = dict(list(sessions.items())[-_SESSIONS:])
    with open(temporary, "w", encoding="utf-8") as file:  # noqa: PTH123  # as above
        json.dump({"schema_version": _SCHEMA, "sessions": kept}, file)
    os.replace(temporary, f"{loop}/{name}")  # noqa: PTH105  # as above
