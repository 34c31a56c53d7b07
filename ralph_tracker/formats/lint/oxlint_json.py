"""oxlint's JSON report (`oxlint --format=json`): the findings, and the number of files."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import Count, damage_at, decode, inside
from ralph_tracker.formats.parsed_report import Row
from ralph_tracker.formats.report_content import Content, json_object

sniff: Final = json_object("diagnostics", "number_of_files")


class _Finding(msgspec.Struct, gc=False):
    message: Any
    severity: Any
    code: Any = None
    filename: Any = None
    labels: Any = None


class _Report(msgspec.Struct):
    diagnostics: list[_Finding]
    number_of_files: Count


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings; a file that cannot be parsed has one without a code. Raises DamageError without a file."""
    report = decode(content, _Report, "oxlint")
    if not report.number_of_files:
        raise damage_at(content, ["number_of_files"], "oxlint checked no file")
    for each in report.diagnostics:
        first = each.labels[0] if isinstance(each.labels, list) and each.labels else None
        yield each.filename, inside(first, "span", "line"), each.code, each.severity, each.message
