"""List where the findings of a linter or type checker are; the readers beside it count them.

One table of formats. Only what a report states is listed: a finding without a file is left out, and damage ends the
list without an error, as the count has already been taken.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from ralph_tracker.formats import json_lines
from ralph_tracker.formats.elements import Elements
from ralph_tracker.formats.lint.lint_report import Severity, named, overridden, resolved
from ralph_tracker.formats.registry import BY_NAME, recognise
from ralph_tracker.formats.report_bytes import Content, plain
from ralph_tracker.formats.unreadable import DamageError

MOST: Final = 5_000
_MESSAGE: Final = 300
_MOST_BYTES: Final = 20_000_000
_MISSHAPEN: Final = (KeyError, TypeError, IndexError, AttributeError, ValueError)
_NOT_NUMBERS: Final = frozenset({"none", "note"})


class Complaint(NamedTuple):
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


_Row = tuple[Any, Any, Any, Any, Any]  # file, line, code, the tool's word for the severity, message


def complaints(
    data: bytes,
    *,
    format: str | None = None,  # noqa: A002  # as in the registry
    severity: Mapping[str, Severity] | None = None,
) -> tuple[Complaint, ...]:
    """Return the errors and warnings of a report with their places, at most 5,000; () for what has none.

    `format` None is found out; a report above 20 MB is not listed. `severity` overrides by prefix of the code.
    """
    content = Content(data)
    if len(data) > _MOST_BYTES or not content.opening:
        return ()
    chosen = recognise(content) if format is None else BY_NAME.get(format)
    rows = None if chosen is None else _ROWS.get(chosen.name)
    return () if rows is None else tuple(islice(_complaints(content, rows, severity or {}), MOST))


def _complaints(
    content: Content, rows: Callable[[Content], Iterator[_Row]], overrides: Mapping[str, Severity]
) -> Iterator[Complaint]:
    with suppress(DamageError, *_MISSHAPEN):
        for file, line, code, word, message in rows(content):
            name = named(code)
            how = overridden(name, overrides) or resolved(word, name)
            if not isinstance(file, str) or not file or how in _NOT_NUMBERS:
                continue
            at = int(line) if str(line).isdecimal() else None
            yield Complaint(file, at or None, name, first_line(message), how)


def first_line(message: object) -> str:
    """Return the first line of a tool's message that is not empty, at most 300 characters; "" for none."""
    lines = (line.strip() for line in message.splitlines()) if isinstance(message, str) else iter(())
    text = next(filter(None, lines), "")
    return text if len(text) <= _MESSAGE else f"{text[: _MESSAGE - 1]}…"


def _items(content: Content, key: str = "") -> list[Any]:
    """Return the array at the top, or the one under that key of an object."""
    document: Any = content.json_value()
    found: list[Any] = document[key] if isinstance(document, dict) else document
    return found


def _ruff(content: Content) -> Iterator[_Row]:
    for each in _items(content):
        code = each["code"] or "invalid-syntax"
        word = each.get("severity") or ("error" if code == "invalid-syntax" else None)
        yield each["filename"], each["location"]["row"], code, word, each["message"]


def _eslint(content: Content) -> Iterator[_Row]:
    for file in _items(content, "results"):
        for each in file["messages"]:
            word = "error" if each.get("fatal") or each.get("severity") == 2 else "warning"  # noqa: PLR2004
            yield file.get("filePath"), each.get("line"), each.get("ruleId"), word, each.get("message")


def _pylint(content: Content) -> Iterator[_Row]:
    for each in _items(content, "messages"):
        code = each.get("message-id", each.get("messageId"))
        yield each["path"], each["line"], code, each["type"], f"{each['symbol']}: {each['message']}"


def _shellcheck(content: Content) -> Iterator[_Row]:
    for each in _items(content, "comments"):
        yield each["file"], each["line"], f"SC{each['code']}", each["level"], each["message"]


def _hadolint(content: Content) -> Iterator[_Row]:
    for each in _items(content):
        yield each["file"], each["line"], each["code"], each["level"], each["message"]


def _stylelint(content: Content) -> Iterator[_Row]:
    for file in _items(content):
        for each in (*file.get("parseErrors", ()), *file["warnings"]):
            yield file["source"], each.get("line"), each.get("rule", "parseError"), each.get("severity"), each["text"]


def _rubocop(content: Content) -> Iterator[_Row]:
    from ralph_tracker.formats.lint import rubocop_json  # noqa: PLC0415  # builds msgspec types, which nobody else needs here

    for file in _items(content, "files"):
        for each in file["offenses"]:
            if not each.get("corrected"):
                line = each["location"].get("start_line")
                yield file["path"], line, each["cop_name"], rubocop_json.severity(each["severity"]), each["message"]


def _golangci(content: Content) -> Iterator[_Row]:
    for _, document in json_lines.objects(content):
        for each in (document or {}).get("Issues") or ():
            at = each["Pos"]
            yield at["Filename"], at["Line"], each["FromLinter"], each.get("Severity"), each["Text"]


def _cargo(content: Content) -> Iterator[_Row]:
    for _, entry in json_lines.objects(content):
        message = (entry or {}).get("message")
        if isinstance(message, dict) and message.get("spans"):
            primary = [each for each in message["spans"] if each.get("is_primary")] or message["spans"]
            code = (message.get("code") or {}).get("code")
            word = "error" if str(message.get("level")).startswith("error") else message.get("level")
            yield primary[0]["file_name"], primary[0]["line_start"], code, word, message["message"]


def _sarif(content: Content) -> Iterator[_Row]:
    for run in _items(content, "runs"):
        for each in run.get("results") or ():
            suppressed = each.get("suppressions")
            if suppressed and all(one.get("status") in (None, "accepted") for one in suppressed):
                continue
            where = (each.get("locations") or [{}])[0].get("physicalLocation") or {}
            file = (where.get("artifactLocation") or {}).get("uri")
            line = (where.get("region") or {}).get("startLine")
            word = each.get("level") or "warning"
            if str(each.get("kind", "fail")).lower() != "fail":
                word = "none"
            code = each.get("ruleId") or (each.get("rule") or {}).get("id")
            if isinstance(file, str):
                file = file.removeprefix("file://")
            yield file, line, code, word, (each.get("message") or {}).get("text")


def _pyright(content: Content) -> Iterator[_Row]:
    for each in _items(content, "generalDiagnostics"):
        line = ((each.get("range") or {}).get("start") or {}).get("line")
        at = line + 1 if isinstance(line, int) else None
        yield each.get("file"), at, each.get("rule"), each.get("severity"), each.get("message")


def _mypy_json(content: Content) -> Iterator[_Row]:
    for _, each in json_lines.objects(content):
        if each is not None and "severity" in each:
            yield each["file"], each["line"], each.get("code"), each["severity"], each["message"]


def _by(pattern: str) -> Callable[[Content], Iterator[_Row]]:
    """Return the rows of a text with one finding a line; the groups are named as the fields."""
    compiled = re.compile(pattern)

    def rows(content: Content) -> Iterator[_Row]:
        for line in map(plain, json_lines.lines(content)):
            found = compiled.match(line.rstrip("\r"))
            if found:
                parts = found.groupdict()
                code = parts.get("code") or parts.get("in_brackets") or ""
                yield parts["file"], parts.get("line") or parts.get("row"), code, parts.get("word"), parts["message"]

    return rows


class _Checkstyle(Elements):
    """Gather the findings of one document."""

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self.rows: list[_Row] = []
        self._file: str | None = None

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "file":
            self._file = attributes.get("name")
        elif name == "error":
            code, word = attributes.get("source", ""), attributes.get("severity")
            self.rows.append((self._file, attributes.get("line"), code, word, attributes.get("message")))


def _checkstyle(content: Content) -> Iterator[_Row]:
    reader = _Checkstyle(content)
    reader.walk()
    yield from reader.rows


_ROWS: Final[Mapping[str, Callable[[Content], Iterator[_Row]]]] = {
    "checkstyle": _checkstyle,
    "ruff-json": _ruff,
    "sarif": _sarif,
    "eslint-json": _eslint,
    "pylint-json": _pylint,
    "shellcheck-json": _shellcheck,
    "hadolint-json": _hadolint,
    "stylelint-json": _stylelint,
    "rubocop-json": _rubocop,
    "golangci-json": _golangci,
    "cargo-json": _cargo,
    "pylint-text": _by(
        r"(?P<file>\S[^\n]*?):(?P<line>\d{1,9}):(?:\d{1,9}: (?P<code>[CRWEFI]\d{4}): "
        r"| \[(?P<in_brackets>[CRWEFI]\d{4})[^\]\n]{0,290}\] )(?P<message>.*)"
    ),
    "flake8-text": _by(
        r"(?P<file>\S[^\n]*?):(?P<line>\d{1,9}):(?:\d{1,9}: (?P<code>[A-Z]{1,3}\d{1,3}) "
        r"| \[(?P<in_brackets>[A-Z]{1,3}\d{1,3})\] )(?P<message>.*)"
    ),
    "pyright-json": _pyright,
    "mypy-json": _mypy_json,
    "mypy-text": _by(
        r"(?P<file>\S.*?):(?:(?P<line>\d{1,9}):)?(?:\d{1,9}:){0,3} (?P<word>error|warning): "
        r"(?P<message>.*?)(?:  \[(?P<code>[\w-]{1,60})\])?$"
    ),
    "tsc-text": _by(
        r"(?P<file>\S[^\n]*?)(?:\((?P<line>\d{1,9}),\d{1,9}\):|:(?P<row>\d{1,9}):\d{1,9} -) "
        r"(?P<word>error|warning) (?P<code>TS\d{1,6}): (?P<message>.*)"
    ),
}
