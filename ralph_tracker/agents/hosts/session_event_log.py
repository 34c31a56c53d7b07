"""Log the events of sessions, and our own errors, in the loop's folder.

An event or an error is a line of JSON, appended in one write, so that concurrent hooks do not mix; a large events file
is renamed, replacing the previous one. Imports are light, because this runs at every tool call.
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ralph_tracker.safe_files import own_file
from ralph_tracker.steering.session_events import digest_of, file_named

EVENTS: Final = "agent-events.jsonl"
TROUBLES: Final = "agent-errors.jsonl"
EARLIER: Final = "agent-events.1.jsonl"
TOOL_EVENTS: Final = frozenset({"PostToolUse", "PostToolUseFailure", "PostToolBatch"})
MOST_EVENTS: Final = 16 << 20
_TEXT_LENGTH: Final = 200
_TAIL: Final = 256 << 10
Line = Mapping[str, Any]


def note_event(loop: str, event: Mapping[str, Any], **more: object) -> dict[str, Any]:
    """Append an event of a session (tool, and digests of arguments and result), and return its line."""
    if _size(f"{loop}/{EVENTS}") >= MOST_EVENTS:
        os.replace(f"{loop}/{EVENTS}", f"{loop}/{EARLIER}")  # noqa: PTH105  # pathlib is slower than all of this
    line = {**_event_line(event), **more}
    _append(loop, EVENTS, line)
    return line


def lines_of(loop: str, session: str) -> Iterator[Line]:
    """Yield the last lines of a session, without its subagents and without invalid lines.

    A call that two hooks have logged is yielded once.
    """
    seen: set[tuple[str, object]] = set()  # in this turn
    wanted = f'"session":{json.dumps(session)}'.encode()
    if not os.path.exists(f"{loop}/{EVENTS}"):  # noqa: PTH110  # as above
        return
    with open(f"{loop}/{EVENTS}", "rb", opener=own_file) as file:  # as above
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        if size > _TAIL:
            file.readline()  # skip an incomplete line
        for line in file:
            if wanted not in line:
                continue
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if not isinstance(found, dict) or found.get("session") != session or found.get("agent") is not None:
                continue
            call = (str(found.get("event")), found.get("call"))
            if call[1] is not None and call in seen:
                continue
            seen = set() if call[0] == "PostToolBatch" else {*seen, call}
            yield found


def note_trouble(loop: str | None, event: str, error: BaseException | str) -> None:
    """Log an error in the loop's folder, or on standard error without a loop; never raises."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    line = {"event": _cut(event), "error": _cut(" ".join(text.split()), 2 * _TEXT_LENGTH)}
    try:
        if loop is not None and _size(f"{loop}/{TROUBLES}") < 1 << 20:
            _append(loop, TROUBLES, line)
            return
    except OSError:
        pass
    try:
        sys.stderr.write(f"ralph-tracker: {ascii(line['error'])[1:-1]}\n")
    except (OSError, ValueError, AttributeError):  # standard error is closed or missing
        return


def _event_line(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the line of an event; texts are cut, a tool's arguments and result are digests."""
    names = {"session": "session_id", "prompt": "prompt_id", "agent": "agent_id", "tool": "tool_name"}
    line: dict[str, Any] = {"event": _cut(event.get("hook_event_name"))}
    line |= {name: _cut(event[key]) for name, key in names.items() if key in event}
    given = event.get("tool_input")
    if "tool_name" in event:
        failed = "error" in event
        line["call"] = _cut(event.get("tool_use_id"))
        line["args"] = digest_of(given)
        line["result"] = digest_of(event["error"] if failed else event.get("tool_response"), is_result=True)
        line["error"] = failed
        path = file_named(str(event["tool_name"]), given)
        if path is not None:
            line["file"] = _cut(path)
    if isinstance(event.get("duration_ms"), int | float):
        line["duration_ms"] = event["duration_ms"]
    calls = event.get("tool_calls")
    if isinstance(calls, list):
        line["calls"] = [_cut(call.get("tool_use_id")) for call in calls[:50] if isinstance(call, dict)]
    if event.get("hook_event_name") == "StopFailure":
        line["failure"] = _cut(event.get("error"))
    return line


def _cut(value: Any, most: int = _TEXT_LENGTH) -> str | None:  # noqa: ANN401  # any JSON value
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= most else text[:most]


def _append(loop: str, name: str, line: Mapping[str, Any]) -> None:
    document = {"schema_version": 1, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **line}
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(f"{loop}/{name}", flags, 0o644)
    try:
        os.write(descriptor, json.dumps(document, separators=(",", ":")).encode() + b"\n")
    finally:
        os.close(descriptor)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116  # pathlib is slower than all of this
    except OSError:
        return 0
