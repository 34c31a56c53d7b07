"""What a session's context takes, by the payloads of the status line: no hook tells it, and none is guessed."""

import json
from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.agents.claude_code.costs import write_sessions

CONTEXT: Final = "agent-context.json"
_PERCENT: Final = 100


def context_of(loop: str, session: str) -> dict[str, int]:
    """Return `context_tokens` and `context_window` of a session, both in tokens; {} where they are not known."""
    known = _known(loop).get(session)
    if not isinstance(known, dict):
        return {}
    tokens, window = known.get("context_tokens"), known.get("context_window")
    if not (isinstance(tokens, int) and isinstance(window, int) and tokens >= 0 and window > 0):
        return {}
    return {"context_tokens": tokens, "context_window": window}


def take_context(loop: str, payload: Mapping[str, Any]) -> None:
    """Keep what a payload tells of the context, where it is new. Raises OSError where the disk refuses."""
    session, told = payload.get("session_id"), payload.get("context_window")
    if not isinstance(session, str) or not isinstance(told, dict):
        return
    window, used = told.get("context_window_size"), told.get("used_percentage")
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
        with open(f"{loop}/{CONTEXT}", encoding="utf-8") as file:  # noqa: PTH123  # the status line is asked for often
            sessions = json.load(file)["sessions"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return sessions if isinstance(sessions, dict) else {}
