"""Print the status line of Claude Code: the loop's status, and the cost in its payload."""

import json
from collections.abc import Mapping
from typing import Any

from ralph_tracker.agents.claude_code.hook import read_event, within
from ralph_tracker.agents.claude_code.journal import note_trouble
from ralph_tracker.agents.claude_code.presence import Presence
from ralph_tracker.agents.claude_code.usage import costs_of, take_context, take_cost


def line(environment: Mapping[str, str], descriptor: int = 0) -> str:
    """Return the line, "" if the session belongs to no loop or after an error, which is logged."""
    return within(environment, descriptor, "statusLine", _line)


def _line(where: Presence, descriptor: int) -> str:
    payload = read_event(descriptor)
    if where.loop is None:
        return ""
    with open(f"{where.loop}/state.json", encoding="utf-8") as file:  # noqa: PTH123  # called often
        state = json.load(file)
    try:
        take_cost(where.loop, payload, state["started_at"])
        take_context(where.loop, payload)
    except OSError as error:  # show the line without the cost
        note_trouble(where.loop, "statusLine", error)
    return " · ".join(_parts(state, _cost(where.loop, state))) + "\n"


def _parts(state: Mapping[str, Any], cost: float | None) -> list[str]:
    parts = [f"{state['loop_id']} iteration {state['iteration']}", f"score {state['adjusted_score']:.2f}"]
    if state["best_iteration"] is not None:
        parts.append(f"best {state['best_adjusted_score']:.2f} (iteration {state['best_iteration']})")
    if state["alerts"]:
        parts.append(f"alerts {len(state['alerts'])}")
    return [*parts, "cost unknown" if cost is None else f"${cost:.2f}"]


def _cost(loop: str, state: Mapping[str, Any]) -> float | None:
    """Return the recorded cost plus the cost since then, in USD; None if nothing is known."""
    spent = costs_of(loop)
    if not spent:
        known = state["cost_usd"]
        return None if known is None else float(known)
    try:
        with open(f"{loop}/agent-turns.json", encoding="utf-8") as file:  # noqa: PTH123  # called often
            recorded = json.load(file)["cost"]
    except (OSError, ValueError, KeyError):
        recorded = {}
    since = [each["spent"] - float(recorded.get(name, 0.0)) for name, each in spent.items()]
    return float(state["cost_usd"] or 0.0) + sum(since)
