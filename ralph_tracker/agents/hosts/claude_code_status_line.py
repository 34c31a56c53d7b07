"""Print the status line of Claude Code, with the loop's status, and store the cost and context size in its payload."""

import json
from collections.abc import Mapping
from typing import Any

from ralph_tracker.agents.hosts.claude_code import HOST
from ralph_tracker.agents.hosts.hook_dispatch import SessionLoop, read_event, within
from ralph_tracker.agents.hosts.session_event_log import note_trouble
from ralph_tracker.agents.hosts.session_usage import costs_of, take_context, take_cost
from ralph_tracker.safe_files import own_file
from ralph_tracker.short_text import percent


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
