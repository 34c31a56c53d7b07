"""Pyright's JSON report (`pyright --outputjson`): the diagnostics, then their totals."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec

from ralph_tracker.formats.json_reader import damage_at, decode, inside
from ralph_tracker.formats.parsed_report import Row, TypeReport
from ralph_tracker.formats.report_content import Content, json_object, plausible

sniff: Final = json_object("generalDiagnostics", "summary")
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


def read(content: Content) -> TypeReport:
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


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the diagnostics, whose lines Pyright counts from 0."""
    for each in decode(content, _Report, "Pyright").generalDiagnostics:
        line = inside(each.range, "start", "line")
        yield each.file, line + 1 if isinstance(line, int) else None, each.rule, each.severity, each.message
