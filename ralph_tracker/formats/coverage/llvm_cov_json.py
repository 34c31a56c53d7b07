"""llvm-cov's JSON (`llvm-cov export`, `cargo llvm-cov --json`, Swift's): totals, and a summary per file."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.parsed_report import CoverageReport
from ralph_tracker.formats.report_content import Content, DamageError

_KEYS: Final = frozenset({"data", "type", "version"})
_TYPE: Final = "llvm.coverage.json.export"

Count = Annotated[int, Meta(ge=0)]


class _Lines(Struct):
    count: Count
    covered: Count
    percent: Annotated[float, Meta(ge=0, le=100)]


class _Summary(Struct):
    lines: _Lines


class _File(Struct):
    summary: _Summary


class _Export(Struct):
    totals: _Summary
    files: list[_File] = []


class _Document(Struct):
    type: str
    data: list[_Export]


def sniff(content: Content) -> bool:
    """Whether it is an object of llvm-cov's export type."""
    return content.opening.startswith("{") and content.json_keys >= _KEYS and f'"{_TYPE}"' in content.text


def read(content: Content) -> CoverageReport:
    """Read the totals of lines. Raises DamageError.

    The segments of each file are not resolved into lines: shards of one program are added by totals.
    """
    document = decode(content, _Document, "llvm-cov")
    if document.type != _TYPE or not document.data:
        raise DamageError(f"type is not {_TYPE}" if document.data else "data holds no export")
    covered = total = listed = listed_covered = 0
    for export in document.data:
        covered, total = covered + export.totals.lines.covered, total + export.totals.lines.count
        listed += sum(file.summary.lines.count for file in export.files)
        listed_covered += sum(file.summary.lines.covered for file in export.files)
    percent = document.data[0].totals.lines.percent if len(document.data) == 1 else None
    stated = coverage_builder.DeclaredTotals(covered=covered, total=total, percent=percent)
    has_files = any(export.files for export in document.data)
    against = (listed_covered, listed) if has_files else (covered, total)
    return coverage_builder.of_totals(stated, contradiction=coverage_builder.contradiction(stated, *against))
