"""Read the bytes of an agent's two output streams, and report on the run. No files, processes or clock.

The last event says how a run ended. Only if it is missing or the exit code contradicts it, the exit code and messages
decide, with these limits:

- In an event format the agent's prose is ignored. What it was retrying when the stream ended, the last lines of
  standard error, and lines of standard output that are not events count, if the exit code is not 0.
- In plain text a line counts if the exit code is not 0, it is among the last 5 of standard output or the last 20 of
  standard error, and it begins like an error. With exit code 0 the output counts if it is only a known complaint. A
  question for permission counts at the very end, with any exit code.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ralph_tracker.agents.output.aider import Aider
from ralph_tracker.agents.output.claude_code_family import Amp, ClaudeCode, Cursor, QwenCode
from ralph_tracker.agents.output.codex import Codex
from ralph_tracker.agents.output.copilot import CopilotEvents, CopilotText
from ralph_tracker.agents.output.error_messages import asks_permission, outcome_of_error_line, outcome_of_whole_message
from ralph_tracker.agents.output.event_values import Object, is_session, last_words, objects, one_line, plain
from ralph_tracker.agents.output.gemini import GeminiJson, GeminiStream
from ralph_tracker.agents.output.opencode import Opencode
from ralph_tracker.agents.output.run_report import Ending, EventReader, RunOutcome, RunReport, StreamReport, TextReader
from ralph_tracker.core.metrics import Usage
from ralph_tracker.formats.report_content import parse_json

MAX_LINE: Final = 1 << 20


_LONGEST: Final = 4_000


class PlainText:
    """The last lines of a text, each cut at 4,000 characters.

    `tail` is the end of the text, at most 4,000 characters, and `whole` all of it, None if that is not short.
    """

    def __init__(self, kept: int) -> None:
        self.said = False
        self._end: deque[str] = deque(maxlen=kept)
        self.tail = ""
        self.whole: str | None = ""

    def feed(self, line: str) -> None:
        """Add a line that is not blank."""
        self.said = True
        self._end.append(line[:_LONGEST])
        self.tail = f"{self.tail}\n{line[-_LONGEST:]}"[-_LONGEST:]
        if self.whole is not None:
            whole = f"{self.whole}\n{line}" if self.whole else line
            self.whole = whole if len(whole) <= 1_000 else None

    @property
    def last_line(self) -> str | None:
        """Return the last line, None if there is none."""
        return self._end[-1] if self._end else None

    def outcome_of_error_line(self) -> RunOutcome | None:
        """Return the meaning of the latest line that begins like an error's; None if there is none."""
        found = (outcome_of_error_line(line.strip()) for line in reversed(self._end))
        return next((each for each in found if each is not None), None)


class Lines:
    """A splitter of bytes at newlines and carriage returns, which end progress lines; invalid UTF-8 is replaced.

    A line of more than 1 MiB is dropped; `has_dropped` is whether one was.
    """

    def __init__(self) -> None:
        self.has_dropped = False
        self._begun = bytearray()
        self._dropping = False

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yield the lines that end within the chunk, without line ends and blank lines."""
        start = 0
        for end in re.finditer(rb"[\r\n]", chunk):
            self._add(memoryview(chunk)[start : end.start()])
            yield from self.end()
            start = end.end()
        self._add(memoryview(chunk)[start:])

    def end(self) -> Iterator[str]:
        """Yield the incomplete last line, if there is one."""
        line = bytes(self._begun).decode(errors="replace")
        self._begun.clear()
        self._dropping = False
        if line.strip():
            yield line

    def _add(self, part: memoryview) -> None:
        if self._dropping:
            return
        if len(self._begun) + len(part) > MAX_LINE:
            self._begun.clear()
            self._dropping = True
            self.has_dropped = True
            return
        self._begun += part


class PrintedObject:
    """A JSON object printed over several lines, of at most 1 MiB."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0

    def feed(self, line: str) -> str | None:
        """Return the object's text if the line ends it, None otherwise."""
        if line == "{":
            self._lines, self._size = [], 0
        elif not self._lines:
            return None
        self._size += len(line)
        if self._size > MAX_LINE:
            self._lines = []
            return None
        self._lines.append(line)
        if line != "}":
            return None
        whole, self._lines = "\n".join(self._lines), []
        return whole


class Events(NamedTuple):
    """An event format, and what makes a reader of it."""

    name: str
    reader: type[EventReader]


# Formats that imitate Claude Code's are tried before it.
EVENTS: Final[tuple[Events, ...]] = (
    Events("qwen-code", QwenCode),
    Events("amp", Amp),
    Events("cursor", Cursor),
    Events("claude-code", ClaudeCode),
    Events("codex", Codex),
    Events("opencode", Opencode),
    Events("copilot", CopilotEvents),
    Events("gemini-stream", GeminiStream),
    Events("gemini-json", GeminiJson),
)
TEXTS: Final[Mapping[str, type[TextReader]]] = {"aider": Aider, "copilot-text": CopilotText}


def recognise(event: Object) -> Events | None:
    """Return the format of an event, None if it is unknown."""
    return next((each for each in EVENTS if each.reader.sniff(event)), None)


class RunOutputReader:
    """A reader of an agent's output, in chunks of any size, that reports on the run at its end.

    Its state is bounded, and it never raises, whatever the agent writes.
    """

    def __init__(self) -> None:
        self._output = _Stream(5)
        self._errors = _Stream(20)

    def feed_stdout(self, chunk: bytes) -> None:
        """Read a chunk of standard output."""
        self._output.feed(chunk)

    def feed_stderr(self, chunk: bytes) -> None:
        """Read a chunk of standard error."""
        self._errors.feed(chunk)

    def report(self, exit_code: int | None) -> RunReport:
        """Return the report on the run; `exit_code` is None if a signal ended it, or we did."""
        self._output.end()
        self._errors.end()
        events = self._output.events or self._errors.events
        texts = self._output.of_text() or self._errors.of_text() or StreamReport(Usage())
        stream = events.result() if events else texts
        prose = None if events else self._output.text.tail.strip() or None
        found = self._conclude(stream, prose, exit_code)
        return RunReport(
            usage=stream.usage,
            ending=found.ending,
            why=one_line(found.why),
            retry_after_s=found.retry_after_s,
            retry_at=found.retry_at,
            last_message=last_words(stream.last_message or prose),
            session=self._output.session,
            models=stream.models,
            own_input=stream.own_input,
        )

    def _conclude(self, stream: StreamReport, prose: str | None, exit_code: int | None) -> RunOutcome:
        said = stream.outcome
        meant = dict(stream.exits).get(exit_code) if exit_code is not None else None
        if said is not None and said.ending is Ending.FAILED:
            return said._replace(ending=meant or said.ending)
        if said is not None and (said.ending is not Ending.DONE or not exit_code):
            return said
        asked, last_line = asks_permission(prose or ""), self._errors.text.last_line or self._output.text.last_line
        if exit_code == 0:
            if stream.trouble is not None:
                return stream.trouble
            if asked is not None:
                return RunOutcome(Ending.NEEDS_PERSON, asked)
            anything = self._output.said or self._errors.said
            return outcome_of_whole_message(self._output.text.whole or "") or RunOutcome(
                Ending.DONE if anything else Ending.UNKNOWN
            )
        if meant is not None:
            return RunOutcome(meant, last_line)
        trouble = (
            stream.trouble or self._errors.text.outcome_of_error_line() or self._output.text.outcome_of_error_line()
        )
        if trouble is None and asked is not None:
            return RunOutcome(Ending.NEEDS_PERSON, asked)
        failed = RunOutcome(Ending.UNKNOWN) if exit_code is None else RunOutcome(Ending.FAILED, last_line)
        return trouble or failed


class _Stream:
    """One of the two streams: its events go to the reader of their format, all else is text."""

    def __init__(self, kept: int) -> None:
        self.events: EventReader | None = None
        self.session: str | None = None
        self.text = PlainText(kept)
        self._lines = Lines()
        self._document = PrintedObject()
        self._texts = [reader() for reader in TEXTS.values()]

    @property
    def said(self) -> bool:
        """Return whether there was any output, including dropped lines."""
        return self.text.said or self.events is not None or self._lines.has_dropped

    def feed(self, chunk: bytes) -> None:
        for line in self._lines.feed(chunk):
            self._line(line)

    def end(self) -> None:
        """Read the incomplete last line."""
        for line in self._lines.end():
            self._line(line)

    def of_text(self) -> StreamReport | None:
        """Return the report of a text format, None if there is none."""
        return next((found for each in self._texts if (found := each.result()) is not None), None)

    def _line(self, raw: str) -> None:
        line = plain(raw).rstrip()
        if not line:
            return
        whole = self._document.feed(line)
        if whole is not None and self._events(whole):
            return
        if line.lstrip().startswith(("{", "[")) and self._events(line):
            return
        self.text.feed(line)
        for each in self._texts:
            each.feed(line)

    def _events(self, words: str) -> bool:
        """Read the object, or each of a list of objects; return False if their format is unknown."""
        value = parse_json(words)
        parts = [value] if isinstance(value, dict) else objects(value)
        for event in parts:
            if self.events is None:
                found = recognise(event)
                self.events = found.reader() if found else None
            if self.events is not None:
                self.events.feed(event)
                self.session = self.session or next(
                    (
                        event[key]
                        for key in ("session_id", "sessionID", "sessionId", "thread_id")
                        if is_session(event.get(key))
                    ),
                    None,
                )
        return bool(parts) and self.events is not None
