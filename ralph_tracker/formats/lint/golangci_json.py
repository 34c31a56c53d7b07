"""golangci-lint's JSON report: one line of standard output, which others may follow (`2 issues:`, …)."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import damage_at, decode, inside
from ralph_tracker.formats.parsed_report import LintReport, Row
from ralph_tracker.formats.report_content import Content

_KEYS: Final = frozenset({"Issues", "Report"})


class _Issue(msgspec.Struct, gc=False):
    linter: Any = msgspec.field(name="FromLinter")
    severity: Any = msgspec.field(name="Severity", default=None)
    text: Any = msgspec.field(name="Text", default=None)
    place: Any = msgspec.field(name="Pos", default=None)


class _Details(msgspec.Struct):
    error: Any = msgspec.field(name="Error", default=None)


class _Report(msgspec.Struct):
    issues: list[_Issue] | None = msgspec.field(name="Issues")
    details: _Details | None = msgspec.field(name="Report")


def sniff(content: Content) -> bool:
    """Whether the content or its first line is an object with issues and a report of the run."""
    return _document(content).json_keys >= _KEYS


def read(content: Content) -> LintReport:
    """Count the issues by severity and linter; without a severity the linter's name decides.

    Raises DamageError, also if the run failed.
    """
    document = _document(content)
    report = decode(document, _Report, "golangci-lint")
    if report.details is not None and report.details.error:
        raise damage_at(document, ["Report", "Error"], f"golangci-lint failed: {report.details.error}")
    return LintReport.of(_rows(report))


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the issues."""
    yield from _rows(decode(_document(content), _Report, "golangci-lint"))


def _rows(report: _Report) -> Iterator[Row]:
    for each in report.issues or ():
        yield inside(each.place, "Filename"), inside(each.place, "Line"), each.linter, each.severity, each.text


def _document(content: Content) -> Content:
    """Return the content, or only its first line if the rest does not belong to it."""
    if content.json_keys:
        return content
    first = next((line for line in content.lines() if line.strip()), "")
    line = Content(first.encode(), content.limits)
    return line if line.json_keys >= _KEYS else content
