"""Real report files of many producers, outside the project: a folder that RALPH_TRACKER_CORPUS names.

Its MANIFEST.tsv says for each file what format it is in, whether it can be read, and what a reader must count.
"""

import csv
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import (
    CoverageReport,
    LintReport,
    TestReport,
    TypeReport,
    Unreadable,
    severity_of_word,
)
from tests.tables import table

VARIABLE = "RALPH_TRACKER_CORPUS"
FOLDER = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None
JUNIT_COUNTS = ("tests", "passed", "failed", "errors", "skipped")
LINT_COUNTS = ("results", "errors", "warnings", "notes", "suppressed")

# Where we count otherwise than the manifest expects: file, count, our value, why.
EXCEPTIONS: dict[tuple[str, str], tuple[int, str]] = {
    ("types/mypy-text/tool-run__mypy_clean.txt", "errors"): (1, "its one error has no line; mypy's summary counts it"),
    ("types/mypy-text/tool-run__mypy_clean.txt", "notes"): (1, "the note to that error has no line either"),
    ("types/mypy-text/tool-run__mypy_pygount.txt", "errors"): (1, "as above: Found 1 error in 1 file"),
    ("types/mypy-text/tool-run__mypy_pygount.txt", "notes"): (1, "as above"),
    ("lint/sarif/sarif-sdk__TEST1003.Baseline.sarif", "results"): (0, "all are absent from this run"),
    ("lint/sarif/sarif-sdk__TEST1003.Baseline.sarif", "warnings"): (0, "as above"),
    ("lint/sarif/sarif-sdk__TEST1003.Baseline.sarif", "notes"): (0, "as above"),
}


# A last line without an end is whole where a file is written so, and the half of its text may be a finding too.
# The middle of the others lies between two records of their text, or between the tables after its findings.
ENDLESS = {
    "lint/flake8-text/analysis-model__flake8.log",
    "lint/pylint-text/diff_cover__pylint_report.txt",
    "coverage/lcov/cargo-llvm-cov__package2.lcov.info",
}


# What the manifest calls readable and we refuse: file, why.
REFUSED: dict[str, str] = {
    "lint/sarif/sarif-sdk__SARIF2003.ProvideVersionControlProvenance_Valid.sarif": "without `results` nothing was"
    " scanned, says SARIF 3.14.23",
    "coverage/lcov/grcov__invalid_DA_record.info": "its last record has no end_of_record and ends within a row",
    "coverage/simplecov/test-reporter__simplecov-branch-example.json": "output of the JSON formatter, not a resultset;"
    " the manifest finds no file in it, and calls its like with groups unreadable",
    "coverage/simplecov/test-reporter__simplecov-branch-with-nocov-example.json": "as above",
}


# What the manifest calls malformed and we read: file, why.
READ: dict[str, str] = {
    "tests/nunit/publish-unit-test-result-action__NUnit-issue17521.xml": "its messages have characters that XML cannot"
    " hold, which are replaced",
}


def manifest() -> list[dict[str, str]]:
    if FOLDER is None:
        return []
    with (FOLDER / "MANIFEST.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


ROWS = manifest()
OURS = [row for row in ROWS if row["format"] in registry.BY_NAME]
pytestmark = pytest.mark.skipif(FOLDER is None, reason=f"{VARIABLE} names no folder of real reports")


def coverage_counts(result: CoverageReport, expected: dict[str, object]) -> dict[str, object]:
    """Return lines or statements, whichever the manifest counts, and what the file states of itself."""
    lines = {"lines_covered": result.lines_covered, "lines_total": result.lines_total, "percent": result.percent}
    if result.files is None and expected.keys() & {"declared_LF", "declared_line_rate"}:  # the manifest counts rows
        lines = {"lines_covered": 0, "lines_total": 0, "percent": None}
    if "declared_percent" in expected:  # coverage.py's totals are ours; one file has more rows than these say
        lines = {}
    if "statements_missed" in expected:  # the table of coverage.py, which mixes branches in
        lines = {"percent": result.declared_percent}
    if "lines_total" not in expected:
        lines |= {"statements_covered": result.lines_covered, "statements_total": result.lines_total}
        lines |= {"statements_missed": result.lines_total - result.lines_covered}
    covered = dict.fromkeys(("declared_covered", "declared_LH", "seq_covered"), result.declared_covered)
    total = dict.fromkeys(("declared_total", "declared_valid", "declared_LF", "seq_total"), result.declared_total)
    percent = dict.fromkeys(("declared_percent", "declared_sequence_percent"), result.declared_percent)
    skipped = dict.fromkeys(("bad_DA", "bad_lines"), result.skipped_lines)
    found = {**lines, **covered, **total, **percent, **skipped}
    return {name: pytest.approx(found[name], abs=1e-4) for name in found if name in expected}


def counts(result: object, expected: dict[str, object]) -> dict[str, object]:
    """Return what the manifest counts in such a report, where it expects anything."""
    match result:
        case TestReport():
            found: dict[str, object] = {name: getattr(result, name) for name in JUNIT_COUNTS}
            found |= {"declared_tests": result.declared.tests, "flaky_rerun": len(result.rerun)}
            found |= {"declared_failed": result.declared.failures, "load_errors": result.errors}
            found |= {"non_json_lines": result.skipped_lines}
            # Where no suite declares a number, ours is the root's; the manifest has none.
            return {name: found[name] for name in found if expected.get(name) is not None}
        case CoverageReport():
            return coverage_counts(result, expected)
        case LintReport():
            found = {name: getattr(result, name) for name in LINT_COUNTS}
            codes: Counter[str] = Counter()
            for (code, severity), number in result.findings.items():
                codes[code] += number
                found["none"] = found.get("none", 0) + number * (severity == "none")
            found |= {"info": result.notes, "other": found.get("none", 0), "non_json_lines": result.skipped_lines}
            found |= {"syntax_errors": codes["invalid-syntax"], "linters": dict(codes)}
            found["by_code"] = {code: codes.get(code) for code in expected.get("by_code", ())}  # the frequent
            return {name: found[name] for name in found if name in expected}
        case TypeReport():
            found = {"errors": result.errors, "warnings": result.warnings, "notes": result.notes}
            found |= {"information": result.notes}  # which is what Pyright calls them
            found |= {"declared_errors": result.declared_errors, "non_json_lines": result.skipped_lines}
            return {name: found[name] for name in found if name in expected}
    raise AssertionError(result)


@table("row", OURS)
def test_a_file_of_the_corpus_is_read_as_the_manifest_expects(row):
    result = registry.read((FOLDER / row["path"]).read_bytes())
    if row["status"] == "unscored":
        return
    if row["path"] in READ:
        assert not isinstance(result, Unreadable)
        return
    if row["status"] != "ok":
        assert isinstance(result, Unreadable)
        examined = registry.examine(_data(row)).result
        assert examined.why
        assert _data(row).lstrip()[:1] not in (b"<", b"{", b"[") or (examined.line and examined.column)
        return
    if row["path"] in REFUSED:
        assert isinstance(result, Unreadable)
        return
    expected = json.loads(row["expected_json"])
    for name, value in counts(result, expected).items():
        wanted, why = EXCEPTIONS.get((row["path"], name), (expected[name], "as the manifest expects"))
        assert value == wanted, f"{name}: {why}"


def levels(expected: dict[str, Any]) -> dict[str, int]:
    """Return the linter's own words for how grave its findings are, with their numbers."""
    found = expected.get("by_level") or expected.get("by_severity") or {}
    return found or {name: expected[name] for name in ("fatal", "convention", "refactor") if "convention" in expected}


@table("row", OURS)
def test_the_words_of_a_linter_become_severities(row):
    expected = json.loads(row["expected_json"])
    wanted = Counter()
    for word, number in levels(expected).items():
        wanted[severity_of_word(word) or "warning"] += number
    if not wanted:
        return
    wanted += Counter(error=expected.get("errors", 0), warning=expected.get("warnings", 0))
    result = registry.read(_data(row))
    assert (result.errors, result.warnings, result.notes) == (wanted["error"], wanted["warning"], wanted["note"])


def test_the_files_that_are_counted_otherwise_are_few():
    readable = [row for row in ROWS if row["status"] == "ok"]
    otherwise = {path for path, _ in EXCEPTIONS} | REFUSED.keys()
    assert otherwise <= {row["path"] for row in readable}
    assert len(otherwise) <= len(readable) * 0.02


def test_a_readable_file_of_any_format_can_be_read():
    assert [row["path"] for row in ROWS if row["status"] == "ok" and row["format"] not in registry.BY_NAME] == []


def test_no_file_of_another_format_is_taken_for_one_of_ours():
    others = [row for row in ROWS if row["format"] not in registry.BY_NAME]
    assert others
    # These files are plain output of mypy and of flake8, in a collection of compilers' messages.
    known = {"types/errorformat-text/errorformat__mypy.in", "lint/errorformat-text/errorformat__flake8.in"}
    read = {row["path"] for row in others if not isinstance(registry.read(_data(row)), Unreadable)}
    assert read == known


def test_a_file_of_the_corpus_cut_in_half_is_no_smaller_report():
    for row in OURS:
        data = _data(row)
        result, half = registry.read(data), registry.read(data[: len(data) // 2])
        if isinstance(result, TestReport | CoverageReport | LintReport) and result != LintReport():
            assert isinstance(half, Unreadable) or row["path"] in ENDLESS, row["path"]


def _data(row: dict[str, str]) -> bytes:
    return (FOLDER / row["path"]).read_bytes()
