"""Pyrefly's reports: one JSON object with a list of errors, or text (`full-text`, `min-text`), of which a clean run
prints nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.parsed_report import Row, TypeReport, by_line
from ralph_tracker.formats.report_content import Content, DamageError, json_object, plain, text_with

_FINDING: Final = re.compile(
    r"^ *(?P<severity>ERROR|WARN|INFO) (?:(?P<file>\S[^\n]*?):(?P<line>\d{1,9}):\d{1,9}(?:-[\d:]+)?: )?"
    r"(?P<message>\S[^\n]*) \[(?P<code>[a-z][a-z-]{1,60})\]\r?$",
    re.MULTILINE,
)
_FOUND: Final = re.compile(r"^ *INFO (?P<errors>[\d,]{1,12}) errors?\b", re.MULTILINE)
_WORDS: Final = {"ERROR": "error", "WARN": "warning", "INFO": "info"}
sniff_json: Final = json_object("errors", only=True)
sniff_text: Final = text_with(_FINDING, not_opening="{[<")


class _Error(msgspec.Struct, gc=False):
    severity: Any
    path: Any
    line: Any
    name: Any = None
    description: Any = None


class _Report(msgspec.Struct):
    errors: list[_Error]


def read_json(content: Content) -> TypeReport:
    """Count the errors by severity. Raises DamageError."""
    return _report(diagnostics_json(content))


def diagnostics_json(content: Content) -> Iterator[Row]:
    """Yield the errors."""
    for each in decode(content, _Report, "Pyrefly").errors:
        yield each.path, each.line, each.name, each.severity, each.description


def read_text(content: Content) -> TypeReport:
    """Count the errors by severity.

    Raises DamageError for a last line without an end, and for another number than Pyrefly's own, which is on standard
    error. A cut between two errors cannot be detected.
    """
    report = _report(diagnostics_text(content))
    if not plain(content.text).endswith("\n"):
        raise DamageError("cut short: the last line has no end", content.text.count("\n") + 1)
    totals = [int(found["errors"].replace(",", "") or 0) for found in _FOUND.finditer(plain(content.text))]
    if not totals and not report.errors + report.warnings + report.notes:
        raise DamageError("no line is an error of Pyrefly")
    if totals and sum(totals) != report.errors:
        raise DamageError(f"Pyrefly found {sum(totals)} errors, and {report.errors} of them can be read")
    return report


def diagnostics_text(content: Content) -> Iterable[Row]:
    """Yield the errors; those of `full-text` have their place in the line below."""
    return ((*row[:3], _WORDS[row[3]], row[4]) for row in by_line(_FINDING, content))


def _report(rows: Iterable[Row]) -> TypeReport:
    severities = Counter(str(row[3]).lower() for row in rows)
    return TypeReport(
        errors=severities["error"],
        warnings=severities["warning"] + severities["warn"],
        notes=severities["info"],
    )
