"""The table of formats of agents' output, told apart by what the output holds, line by line, never by the command.

A new format is one file in formats/ and one line here. One of events (JSON objects) has `sniff` and `Reader`; the
first that knows an object is the format of all that follows. One of text has `Reader`, which hears every line and
says at the end whether the text was its format.

agent         how to start it                                                what is told
Claude Code   claude -p PROMPT --output-format stream-json --verbose         cost, tokens, turns, duration, ending,
              (or json)                                                      time of a limit, last words
Qwen Code     qwen -p PROMPT --output-format stream-json (or json)           tokens, turns, duration, ending, last words
Amp           amp --execute PROMPT --stream-json                             tokens, turns, duration, ending, last words
Cursor        cursor-agent -p PROMPT --output-format stream-json (or json)   tokens, duration, ending, last words
Codex         codex exec --json PROMPT                                       tokens, ending, time of a limit, last words
Gemini CLI    gemini -p PROMPT --output-format stream-json                   tokens, duration, ending, last words
              gemini -p PROMPT --output-format json                          tokens, ending, last words
opencode      opencode run --format json PROMPT                              cost, tokens, turns, ending, last words
Copilot CLI   copilot -p PROMPT --output-format json                         turns, duration, ending, last words
              copilot -p PROMPT                                              tokens (rounded), duration, ending,
                                                                             last words
Aider         aider --message PROMPT --yes-always                            cost, tokens (rounded), turns, ending,
                                                                             last words
any other     as you like                                                    ending by exit code and words, last words

Input tokens are those of the OpenTelemetry convention everywhere: with what was read from and written to a cache.
Output tokens are with reasoning. A sum of which a part is not told is not told. Where a run was cut, what is told is
what had been told by then.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol, cast

from ralph_tracker.agents.output.heard import EventReader, TextReader
from ralph_tracker.agents.output.values import Object


class _Events(Protocol):
    """What the file of a format of events has."""

    Reader: Callable[[], EventReader]

    def sniff(self, event: Object, /) -> bool: ...


class Events(NamedTuple):
    """Describe a format of events; the file of its name is imported when it is tried."""

    name: str

    def sniff(self, event: Object) -> bool:
        """Say whether the object is an event of the format."""
        return self._module.sniff(event)

    def reader(self) -> EventReader:
        """Return a reader that has heard nothing yet."""
        return self._module.Reader()

    @property
    def _module(self) -> _Events:
        return cast("_Events", _file(self.name))


# Those that imitate Claude Code's events are tried before it.
EVENTS: Final[tuple[Events, ...]] = (
    Events("qwen-code"),
    Events("amp"),
    Events("cursor"),
    Events("claude-code"),
    Events("codex"),
    Events("opencode"),
    Events("copilot"),
    Events("gemini-stream"),
    Events("gemini-json"),
)
TEXTS: Final[tuple[str, ...]] = ("aider", "copilot-text")


def recognise(event: Object) -> Events | None:
    """Return the format of which the object is an event, None where it is of none."""
    return next((each for each in EVENTS if each.sniff(event)), None)


def text_readers() -> tuple[TextReader, ...]:
    """Return a reader for each format of text."""
    return tuple(cast("TextReader", _file(name).Reader()) for name in TEXTS)


def _file(name: str) -> Any:  # noqa: ANN401  # what a module has is said where it is cast
    return import_module(f"ralph_tracker.agents.output.formats.{name.replace('-', '_')}")
