"""The findings of linters, type checkers and compilers at their places; the readers of formats also count them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

from ralph_tracker.formats.report_bytes import Content, plain

Severity = Literal["error", "warning", "note", "none"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
NO_CODE: Final = ""
_ERROR_CODE: Final = re.compile(r"[EF][0-9]+")
_WORDS: Final[Mapping[str, Severity]] = {
    **dict.fromkeys(("fatal", "critical", "high", "error"), "error"),
    **dict.fromkeys(("warning", "warn", "medium"), "warning"),
    **dict.fromkeys(("note", "info", "information", "help", "hint", "style", "low", "convention", "refactor"), "note"),
    **dict.fromkeys(("none", "ignore"), "none"),
}
MOST: Final = 5_000
_MESSAGE: Final = 300

Row = tuple[Any, Any, Any, Any, Any]
"""As a report has it, of whatever type: file, line, code, the tool's word for the severity, message."""


class Diagnostic(NamedTuple):
    """One finding at its place: `line` is None if the report has none, `code` "" without a rule.

    `message` is its first line, at most 300 characters.
    """

    file: str
    line: int | None
    code: str
    message: str
    severity: Severity = "error"

    @property
    def text(self) -> str:
        """Return `file:line code message`, without what is unknown; a message that begins with its place, alone."""
        if self.message.startswith((f"{self.file}:", f"{self.file}(")):
            return self.message
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return " ".join(filter(None, (place, self.code, self.message)))


def first_line(message: object) -> str:
    """Return the first line of a tool's message that is not empty, at most 300 characters; "" for none."""
    lines = (line.strip() for line in message.splitlines()) if isinstance(message, str) else iter(())
    text = next(filter(None, lines), "")
    return text if len(text) <= _MESSAGE else f"{text[: _MESSAGE - 1]}…"


def inside(value: object, *keys: str) -> Any:  # noqa: ANN401  # as the report has it
    """Return what is under the keys, each inside the one before; None where nothing is."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def by_line(pattern: re.Pattern[str], content: Content) -> Iterator[Row]:
    """Yield the lines of a text that the pattern matches.

    Its groups are named `file`, `line` or `row`, `code` or `in_brackets`, `severity`, and `message`.
    """
    for line in map(plain, content.lines()):
        found = pattern.match(line.rstrip("\r"))
        if found:
            parts = found.groupdict()
            code = parts.get("code") or parts.get("in_brackets") or ""
            yield parts["file"], parts.get("line") or parts.get("row"), code, parts.get("severity"), parts["message"]


def severity_of_word(word: object) -> Severity | None:
    """Return the severity for a tool's word, None if there is none or it is unknown."""
    return _WORDS.get(word.lower()) if isinstance(word, str) else None


def severity_of_code(code: str) -> Severity:
    """Return the severity of a finding whose tool gives none: error for codes of E and F, else warning."""
    return "error" if _ERROR_CODE.fullmatch(code) else "warning"


def severity_of(word: object, code: str) -> Severity:
    """Return the severity for the word, else that of the code."""
    return severity_of_word(word) or severity_of_code(code)


def code_text(code: object) -> str:
    """Return the code as text, `NO_CODE` for anything but text or an int."""
    return str(code) if isinstance(code, str | int) else NO_CODE


def overridden_severity(code: str, overrides: Mapping[str, Severity]) -> Severity | None:
    """Return the severity of the longest matching prefix in `overrides`, None without one."""
    fitting = [prefix for prefix in overrides if code.startswith(prefix)]
    return overrides[max(fitting, key=len)] if fitting else None
