"""RuboCop's JSON report (`rubocop --format json`): one object, with the offenses of each file and their number."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import Count, damage_at, decode, inside
from ralph_tracker.formats.parsed_report import LintReport, Row
from ralph_tracker.formats.report_content import Content, json_object

sniff: Final = json_object("metadata", "files", "summary", inner={"rubocop_version"})


class _Offense(msgspec.Struct, gc=False):
    severity: Any
    cop_name: Any
    corrected: bool = False
    location: Any = None
    message: Any = None


class _File(msgspec.Struct, gc=False):
    offenses: list[_Offense]
    path: Any = None


class _Summary(msgspec.Struct, gc=False):
    offense_count: Count
    inspected_file_count: Count | None = None


class _Report(msgspec.Struct):
    files: list[_File]
    summary: _Summary


def read(content: Content) -> LintReport:
    """Count the offenses by severity and cop, without those that the run corrected.

    Raises DamageError, also if no file was inspected.
    """
    report = decode(content, _Report, "RuboCop")
    if report.summary.inspected_file_count == 0:
        raise damage_at(content, ["summary", "inspected_file_count"], "RuboCop inspected no file")
    listed = sum(len(file.offenses) for file in report.files)
    said = report.summary.offense_count
    wrong = None if said == listed else f"declared offenses: {said}, listed: {listed}"
    return LintReport.of(_rows(report))._replace(contradiction=wrong)


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the offenses that are left."""
    yield from _rows(decode(content, _Report, "RuboCop"))


def _rows(report: _Report) -> Iterator[Row]:
    for file in report.files:
        for each in file.offenses:
            if not each.corrected:
                # Conventions make a run fail all the same.
                word = "warning" if each.severity in {"convention", "refactor"} else each.severity
                yield file.path, inside(each.location, "start_line"), each.cop_name, word, each.message
