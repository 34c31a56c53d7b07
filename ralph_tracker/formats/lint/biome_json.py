"""Biome's JSON report (`biome lint --reporter=json`): the findings that it printed, and the numbers of all."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import Count, damage_at, decode, inside
from ralph_tracker.formats.parsed_report import NO_CODE, LintReport, Row, Severity
from ralph_tracker.formats.report_content import Content, json_object, plausible

sniff: Final = json_object("summary", "diagnostics", "command")


class _Summary(msgspec.Struct):
    changed: Count
    unchanged: Count
    errors: Count
    warnings: Count
    infos: Count = 0


class _Finding(msgspec.Struct, gc=False):
    severity: Any
    category: Any = None
    message: Any = None
    location: Any = None


class _Report(msgspec.Struct):
    summary: _Summary
    diagnostics: list[_Finding]


def read(content: Content) -> LintReport:
    """Count the findings; those beyond `--max-diagnostics` are known by their number only.

    Raises DamageError, also if no file was checked.
    """
    report = decode(content, _Report, "Biome")
    summary = report.summary
    if not summary.changed + summary.unchanged:
        raise damage_at(content, ["summary", "unchanged"], "Biome checked no file")
    listed = LintReport.of(_rows(report))
    findings = dict(listed.findings)
    totals: dict[Severity, tuple[int, int]] = {
        "error": (summary.errors, listed.errors),
        "warning": (summary.warnings, listed.warnings),
        "note": (summary.infos, listed.notes),
    }
    for severity, (all_of_them, printed) in totals.items():
        if plausible(all_of_them, "findings") > printed:
            findings[NO_CODE, severity] = findings.get((NO_CODE, severity), 0) + all_of_them - printed
    return LintReport(findings=findings)


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings that are listed."""
    yield from _rows(decode(content, _Report, "Biome"))


def _rows(report: _Report) -> Iterator[Row]:
    for each in report.diagnostics:
        place = inside(each.location, "path"), inside(each.location, "start", "line")
        yield *place, each.category, each.severity, each.message
