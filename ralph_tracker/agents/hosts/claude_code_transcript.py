"""Count what an iteration of Claude Code took: tokens in its transcript, the cost in what the status line stored."""

import json
import os
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from ralph_tracker.agents.hosts.host import HookEvent
from ralph_tracker.agents.hosts.session_usage import COSTS, costs_of
from ralph_tracker.agents.output.event_values import count, input_tokens
from ralph_tracker.errors import InputError
from ralph_tracker.safe_files import open_regular

# Blocks of one answer are close together: duplicates further apart than this many answers are not recognized.
_REMEMBERED: Final = 64
_LONGEST_LINE: Final = 4 << 20
_TAIL: Final = 1 << 18
_TO_THE_SECOND: Final = len("2026-01-01T00:00:00")
_Tokens = tuple[int, int | None]


@dataclass(slots=True)
class TranscriptPosition:
    """The position in a transcript; `counted` are the latest answers with their input and output tokens."""

    offset: int = 0
    counted: OrderedDict[str, _Tokens] = field(default_factory=OrderedDict)

    @classmethod
    def of(cls, plain: Any) -> Self:  # noqa: ANN401  # whatever was stored
        """Return what `plain` stored; the start of the file for anything else."""
        try:
            counted = ((key, (int(i), None if o is None else int(o))) for key, i, o in plain["counted"])
            return cls(int(plain["offset"]), OrderedDict(counted))
        except (TypeError, KeyError, ValueError):
            return cls()

    def plain(self) -> dict[str, Any]:
        """Return it as a plain document."""
        return {"offset": self.offset, "counted": [[key, *taken] for key, taken in self.counted.items()]}


@dataclass(frozen=True, slots=True)
class TokenUse:
    """The token usage of answers: input (including the cache), output, and the number of answers.

    `unfinished` are answers whose output is unknown; negative if earlier ones became known.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    unfinished: int = 0

    def __add__(self, other: "TokenUse") -> "TokenUse":
        return TokenUse(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.turns + other.turns,
            self.unfinished + other.unfinished,
        )


def transcripts_of(path: Path) -> list[Path]:
    """Return the transcript of a session and those of its subagents."""
    return [path, *sorted((path.parent / path.stem / "subagents").glob("agent-*.jsonl"))]


def read_on(path: Path, reading: TranscriptPosition, since: str) -> TokenUse:
    """Return the usage in lines after `reading` that are not older than `since` (UTC, ISO 8601).

    Both times have a precision of seconds. Afterwards `reading` is behind the last whole line, or 256 MiB further: what
    follows is for the next call. Raises OSError if the file cannot be read, InputError if it is a pipe or a device.
    """
    taken = TokenUse()
    for line in _whole_lines(path, reading):
        found = _answer(line, since)
        if found is None:
            continue
        key, now = found
        before = reading.counted.pop(key, None)
        was_read, was_written = before or (0, None)  # what was already counted of this answer
        read, written = max(was_read, now[0]), now[1]
        if was_written is not None:
            written = max(was_written, written or 0)
        reading.counted[key] = read, written
        if len(reading.counted) > _REMEMBERED:
            reading.counted.popitem(last=False)
        unfinished = int(written is None) - int(before is not None and was_written is None)
        more = (written or 0) - (was_written or 0)
        taken += TokenUse(read - was_read, more, int(before is None), unfinished)
    return taken


def ends_with(path: Path, text: str) -> bool:
    """Return whether the last answer in the transcript begins with this text; True if there is none."""
    try:
        with open_regular(path) as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL))
            lines = file.read(_TAIL).split(b"\n")
    except (OSError, InputError):
        return True
    last = next((line for line in reversed(lines) if b'"type":"assistant"' in line), b"")
    wanted = text.strip()[:200]
    return any(json.dumps(wanted, ensure_ascii=plain)[1:-1].encode() in last for plain in (True, False))


def _whole_lines(path: Path, reading: TranscriptPosition) -> Iterator[bytes]:
    with open_regular(path) as file:
        if file.seek(0, 2) < reading.offset:  # another file of that name
            reading.offset = 0
        end = file.seek(reading.offset) + (256 << 20)
        while reading.offset < end and (line := file.readline(_LONGEST_LINE)):
            if not line.endswith(b"\n"):
                if len(line) < _LONGEST_LINE:
                    return  # still being written
                while line and not line.endswith(b"\n"):  # a tool's output may be of any size
                    line = file.readline(_LONGEST_LINE)
                    if file.tell() >= end:
                        reading.offset = file.tell()
                        return
                if not line:
                    return
                line = b""
            reading.offset = file.tell()
            yield line


def _answer(line: bytes, since: str) -> tuple[str, _Tokens] | None:
    """Return the key of a model's answer with its input and output tokens; None for any other line."""
    if b'"usage"' not in line:
        return None
    try:
        document = json.loads(line)
        message = document["message"]
        usage: Mapping[str, Any] = message["usage"]
        if document["type"] != "assistant" or document.get("isApiErrorMessage"):
            return None
        if (
            message.get("model") == "<synthetic>"
            or str(document.get("timestamp", ""))[:_TO_THE_SECOND] < since[:_TO_THE_SECOND]
        ):
            return None
        output = None if message.get("stop_reason") is None else count(usage.get("output_tokens"))
        return f"{message['id']} {document.get('requestId', '')}", (input_tokens(usage) or 0, output)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


_KEPT: Final = 32


def usage_of(event: HookEvent, loop: Path, since: str, began: float, counted: dict[str, Any]) -> dict[str, float]:
    """Return the usage since the last recorded iteration, and mark it as recorded; {} if unknown.

    As `hosts.stop_hook.UsageReader`. `counted` has the positions in the transcripts, and the recorded cost in USD by
    session.
    """
    _wait_for_client(event, str(loop), began)
    found: dict[str, float] = {}
    taken = _tokens(Path(str(event.get("transcript_path") or "")), since, counted)
    if taken is not None:
        found = {"input_tokens": taken.input_tokens, "turns": taken.turns}
        if taken.unfinished <= 0:
            found["output_tokens"] = taken.output_tokens
    spent = {name: each["spent"] for name, each in costs_of(str(loop)).items()}
    if event.get("session_id") in spent:
        recorded = counted.get("cost", {})
        found["cost_usd"] = round(sum(each - float(recorded.get(name, 0.0)) for name, each in spent.items()), 6)
        counted["cost"] = dict(list(spent.items())[-_KEPT:])
    return found


def _tokens(transcript: Path, since: str, counted: dict[str, Any]) -> TokenUse | None:
    """Return the session's tokens, None if its transcript cannot be read; `since` applies to unknown files."""
    readings = {str(name): TranscriptPosition.of(each) for name, each in counted.get("transcripts", {}).items()}
    total: TokenUse | None = None
    for path in transcripts_of(transcript) if transcript.name else ():
        known = readings.pop(str(path), None)
        reading = known or TranscriptPosition()
        try:
            taken = read_on(path, reading, "" if known else since)
        except (OSError, InputError):
            continue
        readings[str(path)] = reading
        total = taken if total is None else total + taken
    counted["transcripts"] = {name: each.plain() for name, each in list(readings.items())[-_KEPT:]}
    return total


def _wait_for_client(event: HookEvent, loop: str, began: float) -> None:
    """Wait briefly for what the client writes in the background: the last answer, and the cost."""
    path, text = event.get("transcript_path"), event.get("last_assistant_message")
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline:
        is_written = not isinstance(path, str) or not isinstance(text, str) or ends_with(Path(path), text)
        # A session without a status line has no cost there.
        if is_written and (
            event.get("session_id") not in costs_of(loop) or os.stat(f"{loop}/{COSTS}").st_mtime >= began  # noqa: PTH116
        ):
            return
        time.sleep(0.02)
