"""Print the status line of Claude Code: the loop's status, and the cost in its payload."""

import json
import time
from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.agents.claude_code.claude_code_hooks import HOST
from ralph_tracker.agents.hosts.hook_answer import SessionLoop, read_event, within
from ralph_tracker.agents.hosts.session_event_log import (
    CONTEXT,
    COSTS,
    context_of,
    costs_of,
    note_trouble,
    sessions_in,
    write_sessions,
)
from ralph_tracker.store.safe_open import own_file

_MILLISECONDS: Final = 1000
_PERCENT: Final = 100


def line(environment: Mapping[str, str], descriptor: int = 0) -> str:
    """Return the line, "" if the session belongs to no loop or after an error, which is logged."""
    return within(HOST, environment, descriptor, "statusLine", _line)


def _line(where: SessionLoop, descriptor: int) -> str:
    payload = read_event(descriptor)
    if where.loop is None:
        return ""
    with open(f"{where.loop}/state.json", encoding="utf-8", opener=own_file) as file:  # called often
        state = json.load(file)
    try:
        take_cost(where.loop, payload, state["started_at"])
        take_context(where.loop, payload)
    except OSError as error:  # show the line without the cost
        note_trouble(where.loop, "statusLine", error)
    parts = [f"{state['loop_id']} iteration {state['iteration']}", f"score {percent(state['adjusted_score'])}"]
    if state["best_iteration"] is not None:
        parts.append(f"best {percent(state['best_adjusted_score'])} (iteration {state['best_iteration']})")
    if state["alerts"]:
        parts.append(f"alerts {len(state['alerts'])}")
    cost = _cost(where.loop, state)
    parts.append("cost unknown" if cost is None else f"${cost:.2f}")
    return " · ".join(parts) + "\n"


def percent(score: float) -> str:
    """Format a recorded score as every command does (report/sentences.py), without the imports of reports."""
    tenths = (round(score * 10_000) + 5) // 10
    return f"{(min(tenths, 999) if score < 1 else tenths) / 10:g} %"


def _cost(loop: str, state: Mapping[str, Any]) -> float | None:
    """Return the recorded cost plus the cost since then, in USD; None if nothing is known."""
    spent = costs_of(loop)
    if not spent:
        known = state["cost_usd"]
        return None if known is None else float(known)
    try:
        with open(f"{loop}/agent-turns.json", encoding="utf-8", opener=own_file) as file:  # called often
            recorded = json.load(file)["counted"]["cost"]
    except (OSError, ValueError, KeyError, TypeError):
        recorded = {}
    since = [each["spent"] - float(recorded.get(name, 0.0)) for name, each in spent.items()]
    return float(state["cost_usd"] or 0.0) + sum(since)


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
    sessions = sessions_in(loop, CONTEXT)
    sessions.pop(session, None)
    write_sessions(loop, CONTEXT, {**sessions, session: now})
