"""Keep the cost and the context size of sessions, where a status line brings what hooks do not get."""

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.store.opening import own_file

COSTS: Final = "agent-costs.json"
_SCHEMA: Final = 1
_SESSIONS: Final = 32
CONTEXT: Final = "agent-context.json"


def costs_of(loop: str) -> dict[str, dict[str, float]]:
    """Return, by session, its cost in this loop (`spent`, USD) and its counter (`total`); {} if unknown."""
    try:
        return {
            name: {key: float(each[key]) for key in ("total", "spent")}
            for name, each in _sessions_in(loop, COSTS).items()
        }
    except (ValueError, KeyError, TypeError):
        return {}


def write_sessions(loop: str, name: str, sessions: Mapping[str, Any]) -> None:
    """Replace a file in a loop's folder by the data of the latest sessions. Raises OSError."""
    temporary = f"{loop}/.tmp-{name}-{os.getpid()}"
    kept = dict(list(sessions.items())[-_SESSIONS:])
    with open(temporary, "x", encoding="utf-8") as file:  # noqa: PTH123  # as above
        json.dump({"schema_version": _SCHEMA, "sessions": kept}, file)
    os.replace(temporary, f"{loop}/{name}")  # noqa: PTH105  # as above


def context_of(loop: str, session: str) -> dict[str, int]:
    """Return `context_tokens` and `context_window` of a session; {} if unknown."""
    known = contexts_of(loop).get(session)
    if not isinstance(known, dict):
        return {}
    tokens, window = known.get("context_tokens"), known.get("context_window")
    if not (isinstance(tokens, int) and isinstance(window, int) and tokens >= 0 and window > 0):
        return {}
    return {"context_tokens": tokens, "context_window": window}


def contexts_of(loop: str) -> dict[str, Any]:
    """Return what is known of the contexts, by session; {} if nothing is."""
    return _sessions_in(loop, CONTEXT)


def _sessions_in(loop: str, name: str) -> dict[str, Any]:
    """Return the data of a file in a loop's folder by session; {} if it is not there or damaged."""
    try:
        with open(f"{loop}/{name}", encoding="utf-8", opener=own_file) as file:  # the status line runs often
            sessions = json.load(file)["sessions"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return sessions if isinstance(sessions, dict) else {}
