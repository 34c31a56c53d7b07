"""The hook of Claude Code: an event on standard input, an answer in that host's form or none.

Whatever goes wrong here ends with exit 0 and no answer: exit 2 would keep the agent from stopping, and for no reason
that it could fix. What went wrong is noted in the loop's folder.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from ralph_tracker.agents.claude_code.presence import Presence, presence

READ_AT_MOST: Final = 16 << 20
_CHUNK: Final = 1 << 16
_TOOLS: Final = frozenset({"PostToolUse", "PostToolUseFailure", "PostToolBatch", "StopFailure"})


def answer(environment: Mapping[str, str], descriptor: int = 0) -> str:
    """Read an event, do what it asks for, and return what to print: one document of JSON, or nothing."""
    began = time.time()

    def act(where: Presence, descriptor: int) -> str:
        found = _handled(read_event(descriptor), where, environment, began)
        return "" if found is None else json.dumps(found) + "\n"

    return within(environment, descriptor, "hook", act)


def within(environment: Mapping[str, str], descriptor: int, what: str, act: Callable[[Presence, int], str]) -> str:
    """Return what `act` does in a session of a loop, "" outside of one; "" too where it fails, which is noted."""
    where: Presence | None = None
    try:
        where = presence(environment, _here())
        if where is not None:
            return act(where, descriptor)
        _drain(descriptor)
    except BaseException as error:  # noqa: BLE001  # as above: an agent is never held by a fault of ours
        from ralph_tracker.agents.claude_code.journal import note_trouble  # noqa: PLC0415  # after a fault only

        note_trouble(None if where is None else where.loop, what, error)
    return ""


def _handled(
    event: Mapping[str, Any], where: Presence, environment: Mapping[str, str], began: float
) -> dict[str, Any] | None:
    name = event.get("hook_event_name")
    if name in _TOOLS:
        return None if where.loop is None else _tool_heard(event, where, environment)
    if name == "UserPromptSubmit" and where.loop is not None:
        from ralph_tracker.agents.claude_code.session import prompted  # noqa: PLC0415  # once a prompt

        prompted(where.loop, event)
        return None
    if where.driven:
        return None
    if name == "SessionStart":
        from ralph_tracker.agents.claude_code.session import session_started  # noqa: PLC0415  # once a session

        return session_started(event, where, environment)
    if name == "Stop" and where.loop is not None:
        from ralph_tracker.agents.claude_code.stop_hook import stopped  # noqa: PLC0415  # it imports what measures

        return stopped(event, where.root, where.loop, environment, began)
    return None


def _tool_heard(event: Mapping[str, Any], where: Presence, environment: Mapping[str, str]) -> dict[str, Any] | None:
    """Note an event of a tool; the end of a turn is answered, with the words of the continuation or not at all."""
    assert where.loop is not None  # noqa: S101  # as it is called
    if event.get("hook_event_name") == "PostToolBatch" and event.get("agent_id") is None:
        from ralph_tracker.agents.claude_code.turn_guidance import turn_ended  # noqa: PLC0415  # once a turn

        return turn_ended(event, where.root, where.loop, environment)
    from ralph_tracker.agents.claude_code.journal import note_event  # noqa: PLC0415  # of a loop only

    note_event(where.loop, event)
    return None


def read_event(descriptor: int) -> dict[str, Any]:
    """Read the JSON object on standard input. Raises ValueError for what is none."""
    if os.isatty(descriptor):
        raise ValueError("no event on standard input: Claude Code calls this by itself")
    chunks, size = [], 0
    while chunk := os.read(descriptor, _CHUNK):
        size += len(chunk)
        if size <= READ_AT_MOST:
            chunks.append(chunk)
    if size > READ_AT_MOST:
        raise ValueError(f"an event of {size} bytes; at most {READ_AT_MOST} are read")
    event = json.loads(b"".join(chunks).decode("utf-8", "replace"))
    if not isinstance(event, dict):
        raise ValueError("the event on standard input is no JSON object")  # noqa: TRY004  # bad input, no bug
    return event


def _drain(descriptor: int) -> None:
    """Take what the client writes, so that it does not meet a closed pipe."""
    if os.isatty(descriptor):
        return
    while os.read(descriptor, _CHUNK):
        pass


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # pathlib costs more than all of this
    except OSError:  # the folder is gone
        return "/"
