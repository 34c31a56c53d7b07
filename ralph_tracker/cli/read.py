"""ralph-tracker read: show what is understood of a report file of tests, coverage, a linter or a type checker."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypedDict

import click

from ralph_tracker.cli.terminal import complain, say, say_json
from ralph_tracker.errors import EXIT_FAILURE, EXIT_OK, InputError
from ralph_tracker.formats.parsed_report import (
    CoverageReport,
    LintReport,
    Report,
    ReportKind,
    TestReport,
    TypeReport,
    Unreadable,
)
from ralph_tracker.formats.registry import ReadReport, examine
from ralph_tracker.formats.report_content import DEFAULT_LIMITS
from ralph_tracker.measure.report_totals import as_json, is_data
from ralph_tracker.safe_files import open_regular
from ralph_tracker.store.trust import Trust

STANDARD_INPUT: Final = "-"


class CasesDocument(TypedDict):
    tests: int
    passed: int
    failed: int
    errors: int
    skipped: int


class CoverageDocument(TypedDict):
    lines_covered: int
    lines_total: int
    percent: float | None


class LintDocument(TypedDict):
    results: int
    errors: int
    warnings: int
    notes: int
    suppressed: int


class TypesDocument(TypedDict):
    errors: int
    warnings: int


class _NumbersDocument(TypedDict, total=False):
    tests: CasesDocument
    coverage: CoverageDocument
    lint: LintDocument
    types: TypesDocument


class ReadDocument(_NumbersDocument):
    """`kind` names the key that has the numbers; `why`, `line` and `column` say where it cannot be read."""

    path: str
    status: Literal["ok", "unreadable"]
    kind: ReportKind | None
    format: str | None
    why: str | None
    line: int | None
    column: int | None
    contradiction: str | None
    note: str | None


@click.command("read")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("--format", "name", metavar="NAME", help="Read them in this format; else as they look.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as `ralph-tracker schema read` describes it.")
def command(files: tuple[str, ...], name: str | None, as_json: bool) -> int:
    """Show the content of each FILE: a report of tests, coverage, a linter or a type checker.

    Formats are recognized by content; - is standard input. The exit code is 1 if a file cannot be read.
    """
    understood = [understand(path, name) for path in files]
    if as_json:
        say_json(understood)
    else:
        for each in understood:
            (say if each["status"] == "ok" else complain)(line(each))
    return EXIT_OK if all(each["status"] == "ok" for each in understood) else EXIT_FAILURE


def understand(path: str, name: str | None) -> ReadDocument:
    """Return what a file holds; one that cannot be read says why, and where.

    coverage.py's own data is combined with the sources in the working directory, and with its settings if that is a
    project that the user trusts.
    """
    data = _bytes_of(path)
    if isinstance(data, bytes) and is_data(data) and path != STANDARD_INPUT:
        made = as_json(Path(path), Path(), settings=Trust(Path.cwd()).has_project())
        data, name = (made.why, None) if isinstance(made, Unreadable) else (made, "coveragepy-json")
    reading = examine(data, format=name) if isinstance(data, bytes) else ReadReport(None, Unreadable(data))
    result, form = reading.result, reading.format
    bad = result if isinstance(result, Unreadable) else None
    return {
        "path": os.fsencode(path).decode(errors="backslashreplace"),
        "status": "ok" if bad is None else "unreadable",
        "kind": form.kind if form else None,
        "format": form.name if form else None,
        "why": bad.why if bad else None,
        "line": bad.line if bad else None,
        "column": bad.column if bad else None,
        "contradiction": getattr(result, "contradiction", None),
        "note": getattr(result, "note", None),
        **_numbers(result),
    }


def _numbers(report: Report | Unreadable) -> _NumbersDocument:
    match report:
        case TestReport(tests=tests, passed=passed, failed=failed, errors=errors, skipped=skipped):
            return {"tests": {"tests": tests, "passed": passed, "failed": failed, "errors": errors, "skipped": skipped}}
        case CoverageReport(lines_covered=covered, lines_total=total, percent=percent):
            return {"coverage": {"lines_covered": covered, "lines_total": total, "percent": percent}}
        case LintReport():
            return {
                "lint": {
                    "results": report.results,
                    "errors": report.errors,
                    "warnings": report.warnings,
                    "notes": report.notes,
                    "suppressed": report.suppressed,
                }
            }
        case TypeReport(errors=errors, warnings=warnings):
            return {"types": {"errors": errors, "warnings": warnings}}
        case Unreadable():
            return {}


def _bytes_of(path: str) -> bytes | str:
    """Return a file's content, or why it cannot be read; reports have a maximal size."""
    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read(DEFAULT_LIMITS.max_bytes + 1)
        with open_regular(Path(path)) as file:
            size = os.fstat(file.fileno()).st_size
            if size > DEFAULT_LIMITS.max_bytes:
                return f"{size} bytes are more than the limit of {DEFAULT_LIMITS.max_bytes}"
            return file.read(DEFAULT_LIMITS.max_bytes + 1)
    except InputError:
        return "a pipe or a device, not a file; hand it in as standard input, with -"
    except (OSError, ValueError) as error:
        return f"cannot be opened ({getattr(error, 'strerror', None) or error})"


def line(understood: ReadDocument) -> str:
    """Say it in a line."""
    path, kind = understood["path"], understood["kind"]
    if understood["status"] != "ok" or kind is None:
        places = (("line", understood["line"]), ("column", understood["column"]))
        place = "".join(f", {name} {number}" for name, number in places if number is not None)
        asked = f" as {understood['format']}" if understood["format"] else ""
        return f"{path}: unreadable{asked}: {understood['why']}{place}"
    values: Mapping[str, Any] = understood[kind]
    numbers = ", ".join(f"{_value_text(value)} {name.replace('_', ' ')}" for name, value in values.items())
    said = f"; it contradicts itself: {understood['contradiction']}" if understood["contradiction"] else ""
    note = f"; {understood['note']}" if understood["note"] else ""
    return f"{path}: {kind} ({understood['format']}): {numbers}{said}{note}"


def _value_text(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
