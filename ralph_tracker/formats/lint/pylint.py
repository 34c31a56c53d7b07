"""Pylint's reports.

JSON: an array with one object per message (`json`), or an object with totals (`json2`). Text: `path:line:column: code:
text`, `path:line: [code(symbol), object] text` (`parseable`), or `path(line): [code(symbol)object] text` (`msvs`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import damage_at, decode
from ralph_tracker.formats.parsed_report import LintReport, Row, Severity, by_line
from ralph_tracker.formats.report_content import Content, DamageError, any_of, json_array, json_object, plain, text_with

sniff_json: Final = any_of(
    json_array("type", "module", "symbol", "message-id"), json_object("messages", "statistics", only=True)
)
_CODE: Final = r"[CRWEFI]\d{4}"
_FINDING: Final = re.compile(
    rf"^(?P<file>\S[^\n]*?)(?:\((?P<row>\d{{1,9}})\)|:(?P<line>\d{{1,9}})):(?:\d{{1,9}}: (?P<code>{_CODE}): "
    rf"| \[(?P<in_brackets>{_CODE})(?:\([^)\n]{{0,80}}\))?(?:(?:, |\w)[^\]\n]{{0,200}})?\] )(?P<message>.*)",
    re.MULTILINE,
)
_RATING: Final = re.compile(r"^Your code has been rated at (?P<rating>-?\d{1,9}\.\d\d)/10", re.MULTILINE)
_OF_GITHUB: Final = re.compile(r"^::(?:error|warning|notice) ", re.MULTILINE)
sniff_text: Final = text_with(_FINDING, _RATING, unless=_OF_GITHUB, not_opening="{[")
_LEVELS: Final[Mapping[str, Severity]] = {
    **dict.fromkeys("EF", "error"),
    "W": "warning",
    **dict.fromkeys("CRI", "note"),
}


class _Message(msgspec.Struct, gc=False):
    type: Any
    code: Any = msgspec.field(name="message-id")
    path: Any = None
    line: Any = None
    symbol: Any = None
    message: Any = None


class _Message2(_Message):
    code: Any = msgspec.field(name="messageId")


class _Statistics(msgspec.Struct):
    messageTypeCount: dict[str, Any] = {}  # noqa: N815  # Pylint's names, here and below
    modulesLinted: Any = None  # noqa: N815


class _Report2(msgspec.Struct):
    messages: list[_Message2]
    statistics: _Statistics


def read_json(content: Content) -> LintReport:
    """Count the messages by type and code: conventions, refactorings and informations are notes. Raises DamageError.

    An empty result of a run that linted no module is not a report.
    """
    if content.opening.startswith("["):
        return LintReport.of(_rows(decode(content, list[_Message], "Pylint")))
    both = decode(content, _Report2, "Pylint")
    if both.statistics.modulesLinted == 0 and not both.messages:
        raise damage_at(content, ["statistics", "modulesLinted"], "Pylint linted no module")
    listed = Counter(str(message.type) for message in both.messages)
    declared = {name: number for name, number in both.statistics.messageTypeCount.items() if number}
    agrees = not declared or declared == dict(listed)
    wrong = None if agrees else f"declared: {_counts_text(declared)}; listed: {_counts_text(listed)}"
    return LintReport.of(_rows(both.messages))._replace(contradiction=wrong)


def diagnostics_json(content: Content) -> Iterator[Row]:
    """Yield the messages, each with the symbol before its text."""
    if content.opening.startswith("["):
        yield from _rows(decode(content, list[_Message], "Pylint"))
    else:
        yield from _rows(decode(content, _Report2, "Pylint").messages)


def _rows(messages: Sequence[_Message]) -> Iterator[Row]:
    for each in messages:
        yield each.path, each.line, each.code, each.type, f"{each.symbol}: {each.message}"


def _counts_text(counts: dict[str, Any]) -> str:
    return ", ".join(f"{name} {counts[name]}" for name in sorted(counts)) or "nothing"


def read_text(content: Content) -> LintReport:
    """Count the messages by code; other lines, such as pylint's own tables, are skipped and counted.

    The rating shows that the run finished. Without it (`--score=n`) text that ends within a line is cut short; a cut
    between two messages cannot be detected then. Code that is rated below 10 has messages: where none can be read, they
    are in a layout of their own (`--msg-template`). Raises DamageError.
    """
    findings: Counter[tuple[str, Severity]] = Counter()
    skipped, rated = 0, None
    for line in map(plain, content.lines()):
        found = _FINDING.match(line)
        if found:
            code = found["code"] or found["in_brackets"]
            findings[code, _LEVELS[code[0]]] += 1
        elif line.strip():
            rated = _RATING.match(line) or rated
            skipped += 1
    if not findings and (rated is None or float(rated["rating"]) < 10.0):
        raise DamageError("no line is a message of pylint; leave its layout as it is, or use --output-format=json")
    if rated is None and not content.text.endswith("\n"):
        raise DamageError("cut short: the last line has no end, and pylint's rating is missing")
    return LintReport(findings=dict(findings), skipped_lines=skipped)


def diagnostics_text(content: Content) -> Iterator[Row]:
    """Yield the messages; conventions, refactorings and informations are notes, as in JSON."""
    for file, line, code, _, message in by_line(_FINDING, content):
        yield file, line, code, _LEVELS[code[0]], message
