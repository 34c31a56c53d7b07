"""Translate the hooks of an agent of your own: snake_case events in an envelope, answers of one word with a text."""

from collections.abc import Mapping
from typing import Any

from ralph_tracker.agents.hosts.host import HookAnswer, HookEvent, Host

_EVENTS = {"turn_end": "Stop", "tool_done": "PostToolUse", "session_start": "SessionStart"}


def parse_event(payload: HookEvent) -> HookEvent | None:
    """Return an event in ralph-tracker's form, None for one that is of no interest."""
    name = _EVENTS.get(payload.get("event", ""))
    return None if name is None else {"hook_event_name": name, **payload.get("data", {})}


def format_answer(answer: HookAnswer) -> Mapping[str, Any] | None:
    """Return an answer in the agent's form: go on working, with the reason, or a note."""
    return {"action": "continue" if answer.kind == "block" else "note", "text": answer.text}


HOST = Host(name="acme", title="Acme", parse_event=parse_event, format_answer=format_answer, ends_turns=True)
