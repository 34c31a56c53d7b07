"""Read the events of a recorded session, be it a file of events or what an agent printed.

The lines of Claude Code, and of the programs that imitate its output, are messages of claude-agent-sdk as JSON, which
`ClaudeEvents` reads. Their output tokens are only known with `--include-partial-messages`: those in the messages are
placeholders. Codex, Gemini CLI and opencode have a reader of their own; only opencode prints where an answer of the
model ends. For the other two, the calls that overlap belong to one answer, with the text before them.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from types import SimpleNamespace
from typing import Any, Final

from ralph_tracker.agents.claude_sdk_session import ClaudeEvents
from ralph_tracker.agents.output.event_values import Object, amount, count, inner, objects, text, total, word
from ralph_tracker.agents.output.run_output import recognise
from ralph_tracker.errors import InputError
from ralph_tracker.steering.session_events import (
    Event,
    FileChanged,
    FileRead,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    digest_of,
    end_of_tool,
    file_named,
    read_events,
)

_READABLE: Final = "the events of a session, or what Claude Code, Codex, Gemini CLI or opencode print as JSON lines"


def read_session(lines: Iterable[str], name: str) -> Iterator[Event]:
    """Yield the events of a session; `name` is the file's name for errors. Raises InputError with the line."""
    lines, before = iter(lines), []
    for line in lines:
        before.append(line)
        if line.strip():
            break
    whole = chain(before, lines)
    try:
        first = object_of("".join(before), name)
    except InputError:
        first = {}
    known = recognise(first)
    if "event" in first or "type" not in first:
        yield from read_events(whole, name)
    elif known is not None and known.name in _READERS:
        reader = _READERS[known.name]()
        for number, line in enumerate(whole, 1):
            if line.strip():
                yield from reader.feed(object_of(line, f"{name}, line {number}"))
        yield from reader.end()
    elif known is not None and known.name in {"claude-code", "amp", "cursor", "qwen-code"}:
        yield from read_stream(whole, name)
    else:
        raise InputError(f"{name}, line {len(before)}: no session that can be replayed; give {_READABLE}")


class _Answers:
    """The answers of a model whose ends are not printed: one ends with the last result of its tools."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.open: dict[str, tuple[ToolStarted, str | None]] = {}
        """The tools that have begun and not ended, each with the file that it names."""

    def begin(self, call: str, name: str, given: object) -> Iterator[Event]:
        """Yield the start of a tool."""
        started = ToolStarted(call, name, digest_of(given))
        self.open[call] = started, file_named(name, given)
        yield started

    def finish(self, call: str, *, success: bool, result: object, files: Iterable[Event] = ()) -> Iterator[Event]:
        """Yield the end of a tool after the events of its files, which only a success has; nothing if it never began.

        With the last tool that is open the answer ends.
        """
        if call not in self.open:
            return
        begun, path = self.open.pop(call)
        if success:
            yield from files
        ended = ToolEnded(call, begun.name, success, begun.arguments, digest_of(result, is_result=True))
        yield from end_of_tool(ended, path)
        if not self.open:
            yield from self.end(is_whole=False)

    def end(self, tokens: int | None = None, *, is_whole: bool = True) -> Iterator[Event]:
        """Yield the end of the turn; with `is_whole` only if something was said."""
        if self.said or not is_whole:
            yield TurnEnded("\n".join(self.said), tokens)
            self.said = []


class _Codex(_Answers):
    """A reader of `codex exec --json`; the tokens of a run are those of its last turn."""

    def feed(self, line: Object) -> Iterator[Event]:
        item = inner(line, "item")
        match word(line, "type"), word(item, "type"):
            case "item.completed", "agent_message":
                yield from self.end()
                self.said = [text(item.get("text")) or ""]
            case (
                "item.started" | "item.completed",
                "command_execution" | "file_change" | "mcp_tool_call" | "web_search",
            ):
                yield from self._tool(item, is_start=line["type"] == "item.started")
            case "turn.completed" | "turn.failed", _:
                yield from self.end(count(inner(line, "usage").get("output_tokens")))
            case _:
                pass

    def _tool(self, item: Object, *, is_start: bool) -> Iterator[Event]:
        call, kind = word(item, "id"), word(item, "type")
        if is_start or call not in self.open:
            yield from self.begin(call, kind, {key: item[key] for key in _CODEX_GIVEN if key in item})
        if is_start:
            return
        success = item.get("status", "completed") == "completed" and item.get("exit_code", 0) == 0
        result = [item.get(key) for key in ("aggregated_output", "exit_code", "changes", "result", "error")]
        yield from self.finish(call, success=success, result=result, files=_codex_files(item))


_CODEX_GIVEN: Final = ("command", "changes", "server", "tool", "arguments", "query")


def _codex_files(item: Object) -> Iterator[Event]:
    """Yield the files that an item changed, or read by a plain command: Codex reads by the shell only."""
    for change in objects(item.get("changes")):
        yield FileChanged(word(change, "path"))
    command = word(item, "command")
    try:
        if re.match(r"^(?:\S*/)?(?:ba|z)?sh -l?c ", command):
            inside = shlex.split(command)
            command = inside[2] if len(inside) == 3 else ""  # the shell, its flags, the command
        words = [] if re.search(r"[|;&<>$`\n]", command) else shlex.split(command)  # more than one command
    except ValueError:
        return
    if words and words[0] in {"cat", "head", "nl", "tail"}:
        yield from (FileRead(each) for each in words[1:] if not each.startswith("-") and not each.isdecimal())
    elif words[:2] == ["sed", "-n"]:
        yield from map(FileRead, words[3:])


class _Gemini(_Answers):
    """A reader of `gemini --output-format stream-json`; the tokens of a run are those of its last turn."""

    def feed(self, line: Object) -> Iterator[Event]:
        call = word(line, "tool_id")
        match word(line, "type"):
            case "message" if line.get("role") == "assistant":
                if not line.get("delta"):
                    yield from self.end()
                self.said = ["".join((*self.said, text(line.get("content")) or ""))]
            case "tool_use":
                yield from self.begin(call, word(line, "tool_name"), inner(line, "parameters"))
            case "tool_result":
                success, result = line.get("status") == "success", [line.get("output"), line.get("error")]
                yield from self.finish(call, success=success, result=result)
            case "result":
                yield from self.end(count(inner(line, "stats").get("output_tokens")))
            case _:
                pass


class _Opencode:
    """A reader of `opencode run --format json`: each step is a turn with its tokens and cost."""

    def __init__(self) -> None:
        self._said: list[str] = []

    def feed(self, line: Object) -> Iterator[Event]:
        part = inner(line, "part")
        match word(line, "type"):
            case "text":
                self._said.append(text(part.get("text")) or "")
            case "tool_use":
                # A tool is printed once, when it has ended.
                call, name, state = word(part, "callID"), word(part, "tool"), inner(part, "state")
                given, exit_code = inner(state, "input"), inner(state, "metadata").get("exit")
                success, arguments = state.get("status") == "completed" and exit_code in {0, None}, digest_of(given)
                yield ToolStarted(call, name, arguments)
                result = digest_of([state.get("output"), state.get("error")], is_result=True)
                yield from end_of_tool(ToolEnded(call, name, success, arguments, result), file_named(name, given))
            case "step_finish":
                tokens, cache = inner(part, "tokens"), inner(part, "tokens", "cache")
                written = total([count(tokens.get("output")), count(tokens.get("reasoning", 0))])
                read = total([count(tokens.get("input")), count(cache.get("read", 0)), count(cache.get("write", 0))])
                yield TurnEnded("\n".join(self._said), written, read, amount(part.get("cost")) or None)
                self._said = []
            case _:
                pass

    def end(self) -> Iterator[Event]:
        if self._said:
            yield TurnEnded("\n".join(self._said))


_READERS: Final[Mapping[str, type[_Codex] | type[_Gemini] | type[_Opencode]]] = {
    "codex": _Codex,
    "gemini-stream": _Gemini,
    "opencode": _Opencode,
}


def _like_sdk(kind: str, **fields: object) -> SimpleNamespace:
    """Return a message or a block as claude-agent-sdk has it: known by the name of its class, with these fields."""
    made: SimpleNamespace = type(kind, (SimpleNamespace,), {})(**fields)
    return made


def read_stream(lines: Iterable[str], name: str) -> Iterator[Event]:
    """Yield the events in such output; `name` is the file's name for errors. Raises InputError with the line."""
    heard: list[Event] = []
    session = ClaudeEvents(heard.append)
    for number, line in enumerate(lines, 1):
        if line.strip():
            session.message(_message(object_of(line, f"{name}, line {number}")))
            yield from heard
            heard.clear()
    session.message(_like_sdk("ResultMessage", total_cost_usd=None))  # if the output was cut
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


def _message(given: Object) -> SimpleNamespace | None:
    """Return a line's object as a message, None if it is not one of the session."""
    message, parent = inner(given, "message"), given.get("parent_tool_use_id")
    blocks = [block for each in objects(message.get("content")) if (block := _block(each)) is not None]
    match word(given, "type"):
        case "assistant":
            about = {"model": word(message, "model"), "message_id": word(message, "id") or None}
            usage = inner(message, "usage")
            return _like_sdk("AssistantMessage", content=blocks, usage=usage, parent_tool_use_id=parent, **about)
        case "user":
            return _like_sdk("UserMessage", content=blocks, parent_tool_use_id=parent)
        case "stream_event":
            event = inner(given, "event")
            usage = {"output_tokens": count(inner(event, "usage").get("output_tokens"))}
            begun = {"id": word(inner(event, "message"), "id") or None}
            told = {"type": word(event, "type"), "message": begun, "usage": usage}
            return _like_sdk("StreamEvent", event=told, parent_tool_use_id=parent)
        case "result":
            return _like_sdk("ResultMessage", total_cost_usd=amount(given.get("total_cost_usd")))
        case _:
            return None


def _block(given: Object) -> SimpleNamespace | None:
    match word(given, "type"):
        case "text":
            return _like_sdk("TextBlock", text=word(given, "text"))
        case "tool_use":
            about = {"id": word(given, "id"), "name": word(given, "name")}
            return _like_sdk("ToolUseBlock", input=inner(given, "input"), **about)
        case "tool_result":
            call, is_error = word(given, "tool_use_id"), given.get("is_error") is True
            return _like_sdk("ToolResultBlock", tool_use_id=call, content=given.get("content"), is_error=is_error)
        case _:
            return None
