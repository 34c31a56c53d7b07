"""Bandit's JSON report (`bandit -f json`): one object, with a list of findings and one of files it could not read."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.parsed_report import Row
from ralph_tracker.formats.report_content import Content, DamageError, json_object

sniff: Final = json_object("errors", "generated_at", "metrics", "results")


class _Finding(msgspec.Struct, gc=False):
    test_id: Any
    issue_severity: Any
    filename: Any = None
    line_number: Any = None
    issue_text: Any = None


class _Report(msgspec.Struct, gc=False):
    errors: list[msgspec.Raw]
    metrics: Mapping[str, msgspec.Raw]
    results: list[_Finding]


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings. Raises DamageError where Bandit could not read a file, or looked at none."""
    report = decode(content, _Report, "Bandit")
    if report.errors:
        raise DamageError(f"Bandit could not read {len(report.errors)} of the files")
    if not report.metrics.keys() - {"_totals"}:
        raise DamageError("Bandit looked at no file")
    for each in report.results:
        yield each.filename, each.line_number, each.test_id, each.issue_severity, each.issue_text
