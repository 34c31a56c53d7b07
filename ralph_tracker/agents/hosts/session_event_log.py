"""Keep what is known of sessions in the loop's folder: their events, our errors, their costs and context sizes.

An event or an error is a line of JSON, appended in one write, so that concurrent hooks do not mix; a large events file
is renamed, replacing the previous one. Costs and context sizes come from a status line, since hooks do not get them.
Which files the tools of agents name is defined here, so that a session gives the same events from hooks, printed
messages and the SDK. Imports are light, because this runs at every tool call.
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.steering.session_events import Event, FileChanged, FileRead, ToolEnded, digest_of
from ralph_tracker.store.safe_open import own_file

_READS: Final = frozenset({"Read", "read", "read_file", "view"})
FILE_KEYS: Final[Mapping[str, str]] = {
    "Read": "file_path",
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    # Gemini CLI
    "read_file": "file_path",
    "write_file": "file_path",
    "replace": "file_path",
    # opencode
    "read": "filePath",
    "write": "filePath",
    # GitHub Copilot CLI
    "view": "path",
    "create": "path",
}


EVENTS: Final = "agent-events.jsonl"
TROUBLES: Final = "agent-errors.jsonl"
EARLIER: Final = "agent-events.1.jsonl"
TOOL_EVENTS: Final = frozenset({"PostToolUse", "PostToolUseFailure", "PostToolBatch"})
MOST_EVENTS: Final = 16 << 20
_SCHEMA: Final = 1
_SHOWN: Final = 200
_CALLS: Final = 50
_MOST: Final = 1 << 20
COSTS: Final = "agent-costs.json"
_SESSIONS: Final = 32
CONTEXT: Final = "agent-context.json"


def note_event(loop: str, event: Mapping[str, Any], **more: object) -> dict[str, Any]:
    """Append an event of a session (tool, and digests of arguments and result), and return its line."""
    if _size(f"{loop}/{EVENTS}") >= MOST_EVENTS:
        os.replace(f"{loop}/{EVENTS}", f"{loop}/{EARLIER}")  # noqa: PTH105  # pathlib is slower than all of this
    line = {**_event_line(event), **more}
    _append(loop, EVENTS, line)
    return line


def note_trouble(loop: str | None, event: str, error: BaseException | str) -> None:
    """Log an error in the loop's folder, or on standard error without a loop; never raises."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    line = {"event": _cut(event), "error": _cut(" ".join(text.split()), 2 * _SHOWN)}
    try:
        if loop is not None and _size(f"{loop}/{TROUBLES}") < _MOST:
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
        line["calls"] = [_cut(call.get("tool_use_id")) for call in calls[:_CALLS] if isinstance(call, dict)]
    if event.get("hook_event_name") == "StopFailure":
        line["failure"] = _cut(event.get("error"))
    return line


def _cut(value: Any, most: int = _SHOWN) -> str | None:  # noqa: ANN401  # any JSON value
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= most else text[:most]


def _append(loop: str, name: str, line: Mapping[str, Any]) -> None:
    document = {"schema_version": _SCHEMA, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **line}
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


def file_named(tool: str, given: Any) -> str | None:  # noqa: ANN401  # whatever the model asked
    """Return the file that a tool reads or changes, None if there is none."""
    key = FILE_KEYS.get(tool)
    if tool == "edit" and isinstance(given, Mapping):  # of opencode and Copilot
        key = "filePath" if "filePath" in given else "path"
    path = given.get(key) if key is not None and isinstance(given, Mapping) else None
    return path if isinstance(path, str) else None


def end_of_tool(ended: ToolEnded, path: str | None) -> tuple[Event, ...]:
    """Return the events of a tool that has ended, preceded by that of its file if it succeeded.

    Then a change counts before the call is judged, so that `edit → test → edit → test` is progress.
    """
    if path is None or not ended.success or ended.name not in {*FILE_KEYS, "edit"}:
        return (ended,)
    return (FileRead(path) if ended.name in _READS else FileChanged(path), ended)


def costs_of(loop: str) -> dict[str, dict[str, float]]:
    """Return, by session, its cost in this loop (`spent`, USD) and its counter (`total`); {} if unknown."""
    try:
        return {
            name: {key: float(each[key]) for key in ("total", "spent")}
            for name, each in sessions_in(loop, COSTS).items()
        }
    except (ValueError, KeyError, TypeError):
        return {}


def write_sessions(loop: str, name: str, sessions: Mapping[str, Any]) -> None:
    """Replace a file in a loop's folder by the data of the latest sessions. Raises OSError."""
    temporary = f"{loop}/.tmp-{name}-{os.getpid()}"
    kept = dict(list(sessions.items())[-_SESSIONS:])
    with open(temporary, "x", encoding="utf-8") as file:  # noqa: PTH123  # pathlib is slower than all of this
        json.dump({"schema_version": _SCHEMA, "sessions": kept}, file)
    os.replace(temporary, f"{loop}/{name}")  # noqa: PTH105  # as above


def context_of(loop: str, session: str) -> dict[str, int]:
    """Return `context_tokens` and `context_window` of a session; {} if unknown."""
    known = sessions_in(loop, CONTEXT).get(session)
    if not isinstance(known, dict):
        return {}
    tokens, window = known.get("context_tokens"), known.get("context_window")
    if not (isinstance(tokens, int) and isinstance(window, int) and tokens >= 0 and window > 0):
        return {}
    return {"context_tokens": tokens, "context_window": window}


def sessions_in(loop: str, name: str) -> dict[str, Any]:
    """Return the data of a file in a loop's folder by session; {} if it is not there or damaged."""
    try:
        with open(f"{loop}/{name}", encoding="utf-8", opener=own_file) as file:  # the status line runs often
            sessions = json.load(file)["sessions"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return sessions if isinstance(sessions, dict) else {}
