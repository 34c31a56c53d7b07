"""The events of a session: one stream that everything here folds, whatever agent or chat platform it comes from.

A host's binding makes them, `simulate` reads them back from JSON lines. Arguments and results go by digest: what a
fold keeps does not grow with what a tool prints.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ralph_tracker.errors import InputError

_DIGEST_CHARACTERS: Final = 16
_SPACE: Final = re.compile(r"\s+")
# What differs between two calls that ask the same, by the names that hosts give it.
_PASSING: Final = frozenset(
    {
        *("id", "call_id", "tool_use_id", "request_id", "timestamp", "time", "description"),
        *("duration", "duration_ms", "durationMs", "durationSeconds", "totalDurationMs", "elapsed", "elapsed_ms"),
    }
)
# "in 0.12s", "3 ms", "0:01:05", "2026-01-31T12:00:00Z": how long or when it ran, as tools print it.
_TIMES: Final = re.compile(
    r"(?<![\w.:-])(?:\d+(?:\.\d+)? ?(?:[mµun]?s|secs?|seconds?|min|minutes?)\b"
    r"|(?:\d{4}-\d\d-\d\d[T ])?\d?\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:]))"
)


class ToolStarted(NamedTuple):
    """A tool is about to run; `call` names this very call, `arguments` is the digest of what it is asked."""

    call: str
    name: str
    arguments: str = ""


class ToolEnded(NamedTuple):
    """A tool has ended.

    `success` is the host's own error flag or exit status, never guessed from words. `result` is the digest of what it
    gave, `tree` the name of the content of the tree after it, None if nobody looked.
    """

    call: str
    name: str
    success: bool
    arguments: str = ""
    result: str = ""
    tree: str | None = None


class TurnEnded(NamedTuple):
    """The model has answered; a turn without a tool counts too.

    `text` is what it said. `output_tokens` and `cost_usd` (USD) are of this turn, `context_tokens` what its whole
    context takes; each None if the host does not tell.
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
    """Tests pass that did not before: the tracker's or the agent's own run says so."""

    names: tuple[str, ...]


class PersonSaid(NamedTuple):
    """A person wrote something while the session ran."""

    text: str


TestsPassed.__test__ = False  # type: ignore[attr-defined]  # for pytest, which takes it for tests by its name
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
    "names": "a list of texts",
    "cost_usd": "an amount",
    **dict.fromkeys(_WHOLE, "a whole number"),
}
_GREATEST: Final = 2**53
_NAMES: Final = {kind: name for name, kind in KINDS.items()}


def digest_of(value: Any, *, is_result: bool = False) -> str:  # noqa: ANN401  # whatever a host hands over
    """Return a short digest of arguments or a result: the same for what means the same.

    Keys are sorted, white space is squashed, and ids, times and descriptions of the call are left out. Of a result
    durations and times of day within its texts are left out too: the same failure took another while.
    """
    text = json.dumps(_canonical(value, is_result), sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]


def _canonical(value: Any, is_result: bool) -> Any:  # noqa: ANN401, FBT001  # as above
    if isinstance(value, Mapping):
        return {str(key): _canonical(each, is_result) for key, each in value.items() if key not in _PASSING}
    if isinstance(value, list | tuple):
        return [_canonical(each, is_result) for each in value]
    if not isinstance(value, str):
        return value
    return _SPACE.sub(" ", _TIMES.sub("", value) if is_result else value).strip()


def event_to_plain(event: Event) -> dict[str, Any]:
    """Return an event as it stands in a line of JSON; what is not known is left out."""
    fields = {name: value for name, value in event._asdict().items() if value is not None}
    return {"event": _NAMES[type(event)], **fields}


def event_from_plain(plain: Any) -> Event:  # noqa: ANN401  # whatever a line held
    """Return the event that a document holds. Raises ValueError, in a few words, for anything else."""
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


def _is_fit(name: str, value: Any) -> bool:  # noqa: ANN401  # whatever a line held
    match _SHOULD_BE.get(name, "text"):
        case "text":
            return isinstance(value, str) or (value is None and name == "tree")
        case "true or false":
            return isinstance(value, bool)
        case "a list of texts":
            return isinstance(value, list) and all(isinstance(each, str) for each in value)
        case _:
            is_number = isinstance(value, int if name in _WHOLE else int | float) and not isinstance(value, bool)
            return value is None or (is_number and 0 <= value < _GREATEST)


def read_events(lines: Iterable[str], name: str) -> Iterator[Event]:
    """Yield the events of JSON lines; `name` is how an error calls the file. Raises InputError with the line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield event_from_plain(json.loads(line))
        except (ValueError, RecursionError) as error:
            why = f"no JSON ({error})" if isinstance(error, json.JSONDecodeError) else str(error)
            why = "nested too deeply" if isinstance(error, RecursionError) else why
            raise InputError(f"{name}, line {number}: {why}; fix or drop that line") from None
