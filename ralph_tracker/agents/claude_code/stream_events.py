"""Read a session's events from the output of `claude -p --output-format stream-json --verbose`.

Its messages are those of claude-agent-sdk as JSON, which `ClaudeEvents` reads. Output tokens are only known with
`--include-partial-messages`: those in the messages are placeholders.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.claude_events import ClaudeEvents
from ralph_tracker.agents.output.values import Object, amount, count, inner, objects, word
from ralph_tracker.errors import InputError
from ralph_tracker.steering.events import Event


class TextBlock(NamedTuple):
    """A text; this and the others have the names and fields of claude-agent-sdk."""

    text: str


class ToolUseBlock(NamedTuple):
    """A request to call a tool."""

    id: str
    name: str
    input: Object


class ToolResultBlock(NamedTuple):
    """The result of a tool."""

    tool_use_id: str
    content: Any
    is_error: bool


class AssistantMessage(NamedTuple):
    """One or more blocks of an answer."""

    content: list[Any]
    model: str
    message_id: str | None
    usage: Object
    parent_tool_use_id: object


class UserMessage(NamedTuple):
    """Results of tools."""

    content: list[Any]
    parent_tool_use_id: object


class StreamEvent(NamedTuple):
    """A piece of an answer in progress."""

    event: Object
    parent_tool_use_id: object


class ResultMessage(NamedTuple):
    """The end; `total_cost_usd` is None if unknown."""

    total_cost_usd: float | None


_END: Final = ResultMessage(None)


def read_stream(lines: Iterable[str], name: str) -> Iterator[Event]:
    """Yield the events in such output; `name` is the file's name for errors. Raises InputError with the line."""
    heard: list[Event] = []
    session = ClaudeEvents(heard.append)
    for number, line in enumerate(lines, 1):
        if line.strip():
            session.message(_message(object_of(line, f"{name}, line {number}")))
            yield from heard
            heard.clear()
    session.message(_END)  # if the output was cut
    yield from heard


def object_of(line: str, where: str) -> Object:
    """Return the object of a line of JSON. Raises InputError, with `where`, for anything else."""
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{where}: no object of JSON; fix or drop that line")
    return found


def _message(given: Object) -> tuple[Any, ...] | None:
    """Return a line's object as a message, None if it is not one of the session."""
    message, parent = inner(given, "message"), given.get("parent_tool_use_id")
    blocks = [block for each in objects(message.get("content")) if (block := _block(each)) is not None]
    match word(given, "type"):
        case "assistant":
            name = word(message, "id") or None
            return AssistantMessage(blocks, word(message, "model"), name, inner(message, "usage"), parent)
        case "user":
            return UserMessage(blocks, parent)
        case "stream_event":
            event = inner(given, "event")
            usage = {"output_tokens": count(inner(event, "usage").get("output_tokens"))}
            begun = {"id": word(inner(event, "message"), "id") or None}
            return StreamEvent({"type": word(event, "type"), "message": begun, "usage": usage}, parent)
        case "result":
            return ResultMessage(amount(given.get("total_cost_usd")))
        case _:
            return None


def _block(given: Object) -> tuple[Any, ...] | None:
    match word(given, "type"):
        case "text":
            return TextBlock(word(given, "text"))
        case "tool_use":
            return ToolUseBlock(word(given, "id"), word(given, "name"), inner(given, "input"))
        case "tool_result":
            return ToolResultBlock(word(given, "tool_use_id"), given.get("content"), given.get("is_error") is True)
        case _:
            return None
