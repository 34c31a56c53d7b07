"""reviewdog's diagnostics: one object (`rdjson`), or an object a line (`rdjsonl`), written by ruff and converters.

A finding without a severity has that of the whole report. Ruff writes only the latter, a warning whatever it is: as in
its other reports, its findings are errors.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import Object, decode, inside, objects
from ralph_tracker.formats.parsed_report import Row, code_text
from ralph_tracker.formats.report_content import Content, DamageError, any_of, json_lines, json_object

sniff: Final = any_of(json_object("diagnostics", "source"), json_object("diagnostics", "severity"))
_OF_RUFF: Final = "ruff"
# The numbers of its protocol stand for the words.
_SEVERITIES: Final[Mapping[object, str]] = {1: "error", 2: "warning", 3: "info"}


class _Finding(msgspec.Struct, gc=False):
    message: Any
    location: Any
    severity: Any = None
    code: Any = None


class _Report(msgspec.Struct):
    diagnostics: list[_Finding]
    source: Any = None
    severity: Any = None


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings."""
    report = decode(content, _Report, "reviewdog")
    whole = "error" if inside(report.source, "name") == _OF_RUFF else report.severity
    for each in report.diagnostics:
        yield _row(each.location, each.code, each.severity or whole, each.message)


def _row(location: object, code: object, severity: object, message: object) -> Row:
    word = _SEVERITIES.get(severity, severity) if isinstance(severity, int | str) else None
    return (
        inside(location, "path"),
        inside(location, "range", "start", "line"),
        code_text(inside(code, "value")),
        word,
        message,
    )


def _is_finding(value: Object) -> bool:
    return "message" in value and isinstance(inside(value.get("location"), "path"), str)


sniff_lines: Final = json_lines(_is_finding)


def diagnostics_lines(content: Content) -> Iterator[Row]:
    """Yield the findings. Raises DamageError at a line that is no finding, as a result would be too small."""
    for line, each in objects(content):
        if each is not None and _is_finding(each):
            of_ruff = inside(each.get("source"), "name") == _OF_RUFF and not each.get("severity")
            severity = "error" if of_ruff else each.get("severity")
            yield _row(each["location"], each.get("code"), severity, each["message"])
        elif line.startswith("{"):
            raise DamageError("a line is no finding of reviewdog")
