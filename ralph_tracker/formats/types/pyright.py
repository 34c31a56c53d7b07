"""Pyright's reports, as JSON (`--outputjson`) or text: the diagnostics, then their totals."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Final

import msgspec

from ralph_tracker.formats.json_reader import damage_at, decode, inside
from ralph_tracker.formats.parsed_report import Row, TypeReport, by_line
from ralph_tracker.formats.report_content import Content, DamageError, json_object, plain, plausible, text_with

sniff_json: Final = json_object("generalDiagnostics", "summary")
_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Diagnostic(msgspec.Struct, gc=False):
    severity: Any
    file: Any = None
    range: Any = None
    rule: Any = None
    message: Any = None


class _Summary(msgspec.Struct):
    filesAnalyzed: _Count  # noqa: N815  # Pyright's names, here and below
    errorCount: _Count  # noqa: N815
    warningCount: _Count  # noqa: N815


class _Report(msgspec.Struct):
    generalDiagnostics: list[_Diagnostic]  # noqa: N815
    summary: _Summary


def read_json(content: Content) -> TypeReport:
    """Count the diagnostics by severity; the greater of listed and declared errors is used. Raises DamageError.

    A run that analysed no file is not a report.
    """
    report = decode(content, _Report, "Pyright")
    summary = report.summary
    if not summary.filesAnalyzed:
        raise damage_at(content, ["summary", "filesAnalyzed"], "Pyright analysed no file")
    severities = Counter(str(each.severity) for each in report.generalDiagnostics)
    errors, warnings = severities["error"], severities["warning"]
    contradiction = None
    if (errors, warnings) != (summary.errorCount, summary.warningCount):
        contradiction = (
            f"declared errors: {summary.errorCount}, warnings: {summary.warningCount}; "
            f"listed errors: {errors}, warnings: {warnings}"
        )
    return TypeReport(
        errors=max(errors, plausible(summary.errorCount, "errors")),
        warnings=max(warnings, plausible(summary.warningCount, "warnings")),
        notes=severities["information"],
        declared_errors=summary.errorCount,
        contradiction=contradiction,
    )


def diagnostics_json(content: Content) -> Iterator[Row]:
    """Yield the diagnostics, whose lines Pyright counts from 0."""
    for each in decode(content, _Report, "Pyright").generalDiagnostics:
        line = inside(each.range, "start", "line")
        yield each.file, line + 1 if isinstance(line, int) else None, each.rule, each.severity, each.message


_ROW: Final = re.compile(
    r"^ *(?P<file>\S[^\n]*?):(?P<line>\d{1,9}):\d{1,9} - (?P<severity>error|warning|information|note): "
    r"(?P<message>.*?)(?: \((?P<code>report\w+)\))?$"
)
_TOTALS: Final = re.compile(
    r"^(?P<errors>\d{1,9}) errors?, (?P<warnings>\d{1,9}) warnings?, (?P<notes>\d{1,9}) (?:informations?|notes?)\b",
    re.MULTILINE,
)
sniff_text: Final = text_with(_TOTALS, not_opening="{[<")


def read_text(content: Content) -> TypeReport:
    """Count the diagnostics; the greater of listed and declared ones is used.

    Raises DamageError without the totals, with which Pyright ends, and where it found no file.
    """
    text = plain(content.text)
    totals = list(_TOTALS.finditer(text))
    if not totals:
        raise DamageError("cut short: the number of errors, with which Pyright ends, is missing")
    if nothing := re.search(r"^No source files found", text, flags=re.MULTILINE):
        raise DamageError("Pyright found no source file", text.count("\n", 0, nothing.start()) + 1)
    severities = Counter(str(row[3]) for row in diagnostics_text(content))
    errors, warnings, notes = (sum(int(each[name]) for each in totals) for name in ("errors", "warnings", "notes"))
    listed = severities["error"]
    return TypeReport(
        errors=max(listed, plausible(errors, "errors")),
        warnings=max(severities["warning"], plausible(warnings, "warnings")),
        notes=max(severities["information"] + severities["note"], plausible(notes, "notes")),
        declared_errors=errors,
        contradiction=None if errors == listed else f"declared errors: {errors}, listed: {listed}",
    )


diagnostics_text: Final = partial(by_line, _ROW)
