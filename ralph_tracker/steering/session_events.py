"""Define the events of a session, whatever agent or chat platform they come from, and those that a tool call makes.

Bindings to hosts create them, and `simulate` reads them from JSON lines. Arguments and results are digests, so that
memory does not grow with a tool's output. Which files the tools of agents name is defined here, so that a session gives
the same events from hooks, printed messages and the SDK.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ralph_tracker.errors import InputError

# Keys in which two equal calls may differ, as various hosts name them.
_PASSING: Final = frozenset(
    {
        *("id", "call_id", "tool_use_id", "request_id", "timestamp", "time", "description"),
        *("duration", "duration_ms", "durationMs", "durationSeconds", "totalDurationMs", "elapsed", "elapsed_ms"),
    }
)
# "in 0.12s", "3 ms", "0:01:05", "2026-01-31T12:00:00Z": durations and times as tools print them.
_TIMES: Final = re.compile(
    r"(?<![\w.:-])(?:\d+(?:\.\d+)? ?(?:[mµun]?s|secs?|seconds?|min|minutes?)\b"
    r"|(?:\d{4}-\d\d-\d\d[T ])?\d?\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:]))"
)


class ToolStarted(NamedTuple):
    """A tool is about to run; `call` identifies the call, `arguments` is the digest of its arguments."""

    call: str
    name: str
    arguments: str = ""


class ToolEnded(NamedTuple):
    """A tool has ended.

    `success` is the host's error flag or exit status, never guessed from words. `result` is the digest of its output,
    `tree` the id of the tree afterwards, None if unknown. A `refused` call did not run: it does not end
    a streak of repeats, and asked for again it is one.
    """

    call: str
    name: str
    success: bool
    arguments: str = ""
    result: str = ""
    tree: str | None = None
    refused: bool = False


class TurnEnded(NamedTuple):
    """The model has answered; a turn without a tool counts too.

    `text` is its answer. `output_tokens` and `cost_usd` are of this turn, `context_tokens` is the size of the whole
    context; each None if the host does not report it.
    """

    text: str = ""
    output_tokens: int | None = None
    context_tokens: int | None = None
    cost_usd: float | None = None


class FileRead(NamedTuple):
    """A file was read."""

    path: str


class FileChanged(NamedTuple):
    """A file was written, made or removed."""

    path: str


class TestsPassed(NamedTuple):
    """Tests that did not pass before pass, according to the tracker or the agent's own run."""

    names: tuple[str, ...]


class PersonSaid(NamedTuple):
    """A person wrote something while the session ran."""

    text: str


TestsPassed.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it because of its name
Event = ToolStarted | ToolEnded | TurnEnded | FileRead | FileChanged | TestsPassed | PersonSaid
KINDS: Final[Mapping[str, type[Event]]] = {
    "tool_started": ToolStarted,
    "tool_ended": ToolEnded,
    "turn_ended": TurnEnded,
    "file_read": FileRead,
    "file_changed": FileChanged,
    "tests_passed": TestsPassed,
    "person_said": PersonSaid,
}
_WHOLE: Final = frozenset({"output_tokens", "context_tokens"})
_SHOULD_BE: Final = {
    "success": "true or false",
    "refused": "true or false",
    "names": "a list of texts",
    "cost_usd": "an amount",
    **dict.fromkeys(_WHOLE, "a whole number"),
}
_NAMES: Final = {kind: name for name, kind in KINDS.items()}


def digest_of(value: Any, *, is_result: bool = False) -> str:  # noqa: ANN401  # whatever a host hands over
    """Return a short digest of arguments or a result, equal for equal meaning.

    Keys are sorted, white space is collapsed, and ids, times and descriptions of the call are left out. Durations and
    times in the texts of a result are left out too, so that the same failure has the same digest.
    """
    text = json.dumps(_canonical(value, is_result), sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _canonical(value: Any, is_result: bool) -> Any:  # noqa: ANN401, FBT001  # as above
    if isinstance(value, Mapping):
        return {str(key): _canonical(each, is_result) for key, each in value.items() if key not in _PASSING}
    if isinstance(value, list | tuple):
        return [_canonical(each, is_result) for each in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"\s+", " ", _TIMES.sub("", value) if is_result else value).strip()


READS: Final = frozenset({"Read", "read", "read_file", "view"})
READING_TOOLS: Final = READS | {
    *("Glob", "Grep", "LS", "WebFetch", "WebSearch", "glob", "grep", "list", "list_directory", "search_file_content"),
}
"""The tools that change nothing."""
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
    return (FileRead(path) if ended.name in READS else FileChanged(path), ended)


def event_to_plain(event: Event) -> dict[str, Any]:
    """Return an event as an object for a line of JSON, without unknown values."""
    fields = {name: value for name, value in event._asdict().items() if value is not None}
    return {"event": _NAMES[type(event)], **fields}


def event_from_plain(plain: Any) -> Event:  # noqa: ANN401  # any JSON value
    """Return the event in a document. Raises ValueError, in a few words, for anything else."""
    word = plain.get("event") if isinstance(plain, dict) else None
    kind = KINDS.get(word) if isinstance(word, str) else None
    if kind is None:
        raise ValueError(f"no event; expected one of {', '.join(KINDS)}")
    values = {name: value for name, value in plain.items() if name != "event"}
    unknown = values.keys() - set(kind._fields)
    missing = [name for name in kind._fields if name not in values and name not in kind._field_defaults]
    if unknown or missing:
        raise ValueError(
            f"{plain['event']}: " + (f"no key {min(unknown)!r}" if unknown else f"{missing[0]!r} is missing")
        )
    for name, value in values.items():
        if not _is_fit(name, value):
            raise ValueError(f"{plain['event']}: {name} should be {_SHOULD_BE.get(name, 'text')}")
    if "names" in values:
        values["names"] = tuple(values["names"])
    return kind(**values)


def _is_fit(name: str, value: Any) -> bool:  # noqa: ANN401  # any JSON value
    match _SHOULD_BE.get(name, "text"):
        case "text":
            return isinstance(value, str) or (value is None and name == "tree")
        case "true or false":
            return isinstance(value, bool)
        case "a list of texts":
            return isinstance(value, list) and all(isinstance(each, str) for each in value)
        case _:
            is_number = isinstance(value, int if name in _WHOLE else int | float) and not isinstance(value, bool)
            return value is None or (is_number and 0 <= value < 2**53)


def read_events(lines: Iterable[str], name: str) -> Iterator[Event]:
    """Yield the events in JSON lines; `name` is the file's name for errors. Raises InputError with the line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield event_from_plain(json.loads(line))
        except (ValueError, RecursionError) as error:
            why = f"no JSON ({error})" if isinstance(error, json.JSONDecodeError) else str(error)
            why = "nested too deeply" if isinstance(error, RecursionError) else why
            raise InputError(f"{name}, line {number}: {why}; fix or drop that line") from None
