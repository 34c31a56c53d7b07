"""Real report files of many producers, outside the project: a folder that RALPH_TRACKER_CORPUS names.

Its MANIFEST.tsv says for each file what format it is in, whether it can be read, and what a reader must count.
"""

import csv
import json
import os
from pathlib import Path

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.report import CoverageReport, LintReport, TestReport, TypeReport, Unreadable

VARIABLE = "RALPH_TRACKER_CORPUS"
FOLDER = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None
JUNIT_COUNTS = ("tests", "passed", "failed", "errors", "skipped")

# Where we count otherwise than the manifest expects: file, count, our value, why.
EXCEPTIONS: dict[tuple[str, str], tuple[int, str]] = {
    ("types/mypy-text/tool-run__mypy_clean.txt", "errors"): (1, "its one error has no line; mypy's summary counts it"),
    ("types/mypy-text/tool-run__mypy_clean.txt", "notes"): (1, "the note to that error has no line either"),
    ("types/mypy-text/tool-run__mypy_pygount.txt", "errors"): (1, "as above: Found 1 error in 1 file"),
    ("types/mypy-text/tool-run__mypy_pygount.txt", "notes"): (1, "as above"),
}


def manifest() -> list[dict[str, str]]:
    if FOLDER is None:
        return []
    with (FOLDER / "MANIFEST.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


ROWS = manifest()
OURS = [row for row in ROWS if row["format"] in registry.BY_NAME]
pytestmark = pytest.mark.skipif(FOLDER is None, reason=f"{VARIABLE} names no folder of real reports")


def counts(result: object, expected: dict[str, object]) -> dict[str, object]:
    """Return what the manifest counts in such a report, where it expects anything.

    Coverage is compared with the tool's own totals (`declared_…`): coverage.py's are the statements, while the
    manifest's `lines_…` count the lines listed for each file, of which one file lists more than its totals say.
    """
    match result:
        case TestReport():
            found: dict[str, object] = {name: getattr(result, name) for name in JUNIT_COUNTS}
            found |= {"declared_tests": result.declared.tests, "flaky_rerun": len(result.rerun)}
            # Where no suite declares a number, ours is the root's; the manifest has none.
            return {name: found[name] for name in found if expected[name] is not None}
        case CoverageReport():
            found = {"declared_covered": result.lines_covered, "declared_total": result.lines_total}
            return found | {"declared_percent": result.percent}
        case LintReport():
            codes = {code: result.codes.get(code) for code in expected["by_code"]}  # the most frequent ones
            return {
                "results": result.results,
                "syntax_errors": result.codes.get("invalid-syntax", 0),
                "by_code": codes,
            }
        case TypeReport():
            found = {"errors": result.errors, "notes": result.notes}
            found |= {"declared_errors": result.declared_errors, "non_json_lines": result.skipped_lines}
            return {name: found[name] for name in found if name in expected}
    raise AssertionError(result)


@pytest.mark.parametrize("row", OURS or [None], ids=lambda row: row["path"] if row else "corpus")
def test_a_file_of_the_corpus_is_read_as_the_manifest_expects(row):
    result = registry.read((FOLDER / row["path"]).read_bytes())
    if row["status"] == "unscored":
        return
    if row["status"] != "ok":
        assert isinstance(result, Unreadable)
        return
    expected = json.loads(row["expected_json"])
    for name, value in counts(result, expected).items():
        wanted, why = EXCEPTIONS.get((row["path"], name), (expected[name], "as the manifest expects"))
        assert value == wanted, f"{name}: {why}"


def test_no_file_of_another_format_is_taken_for_one_of_ours():
    others = [row for row in ROWS if row["format"] not in registry.BY_NAME]
    assert others
    # That file is mypy's plain output, in a collection of compilers' messages.
    known = {"types/errorformat-text/errorformat__mypy.in"}
    read = {row["path"] for row in others if not isinstance(registry.read(_data(row)), Unreadable)}
    assert read == known


def test_a_file_of_the_corpus_cut_in_half_is_no_smaller_report():
    for row in OURS:
        data = _data(row)
        result, half = registry.read(data), registry.read(data[: len(data) // 2])
        if isinstance(result, TestReport | CoverageReport | LintReport) and result != LintReport():
            assert isinstance(half, Unreadable), row["path"]


def _data(row: dict[str, str]) -> bytes:
    return (FOLDER / row["path"]).read_bytes()
