"""All that coverage.py writes of one run comes to the same numbers, which are its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import CoverageReport, Unreadable
from tests.tables import table

SOURCE = """\
def total(prices, discount=0):
    result = 0
    for price in prices:
        if price < 0:
            raise ValueError(price)
        result += price
    if discount:
        result -= discount
    return result


def unused():
    return 1
"""


def coverage(folder: Path, *arguments: str) -> bytes:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")}
    command = [sys.executable, "-m", "coverage", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True).stdout


def run(folder: Path, call: str, *options: str) -> None:
    (folder / "shop.py").write_text(SOURCE)
    (folder / "main.py").write_text(f"import shop\n\nshop.{call}\n")
    coverage(folder, "run", *options, "--source=.", "--omit=main.py", "main.py")


def written(folder: Path, kind: str) -> CoverageReport | Unreadable:
    return registry.read(coverage(folder, kind, "-q", "-o", "-"))


@pytest.mark.parametrize("options", [(), ("--branch",)], ids=["lines", "branches"])
@pytest.mark.slow
def test_all_reports_of_one_run_agree(tmp_path, options):
    run(tmp_path, "total([1, 2])", *options)
    reports = {kind: written(tmp_path, kind) for kind in ("xml", "json", "lcov")}
    reports["report"] = registry.read(coverage(tmp_path, "report", "--precision=9"))
    for kind, report in reports.items():
        assert isinstance(report, CoverageReport), (kind, report)
        assert (report.lines_covered, report.lines_total, report.contradiction) == (8, 11, None), kind
        assert report.percent == pytest.approx(800 / 11), kind
    assert reports["json"].files == reports["lcov"].files
    assert list(reports["json"].files.values()) == list(reports["xml"].files.values())


@pytest.mark.slow
def test_shards_of_one_project_are_the_whole(tmp_path):
    shards = []
    for call in ("total([1], 1)", "unused()"):
        run(tmp_path, call)
        shards.append(written(tmp_path, "lcov"))
    assert [shard.lines_covered for shard in shards] == [9, 3]
    whole = shards[0] + shards[1]
    assert (whole.lines_covered, whole.lines_total) == (10, 11)
    assert whole.files == {"shop.py": {line: line != 5 for line in (*range(1, 10), 12, 13)}}


def read(totals: object, **more) -> CoverageReport | Unreadable:
    result = registry.read(json.dumps({"meta": {}, "files": {}, "totals": totals}).encode(), **more)
    assert isinstance(result, CoverageReport | Unreadable)
    return result


def totals(**changes: object) -> dict[str, object]:
    return {"covered_lines": 1, "num_statements": 3, "percent_covered": 33.3} | changes


def test_without_branches_the_percentage_is_the_tools():
    assert read(totals()) == CoverageReport(
        lines_covered=1,
        lines_total=3,
        percent=33.3,
        declared_covered=1,
        declared_total=3,
        declared_percent=33.3,
    )


def test_with_branches_it_is_that_of_the_statements():
    assert read(totals(num_branches=8, percent_statements_covered=33.25)).percent == 33.25
    assert read(totals(num_branches=8, covered_lines=3, percent_covered=20.0)).percent == 100.0


def test_no_statement_is_no_data_whatever_the_tool_calls_it():
    nothing = totals(covered_lines=0, num_statements=0, percent_covered=100.0)
    report = read(nothing)
    assert (report.lines_covered, report.lines_total, report.percent) == (0, 0, None)


@table(
    ("file", "rows", "said"),
    [
        ({"executed_lines": [1], "missing_lines": [2, 3]}, {1: True, 2: False, 3: False}, None),
        ({"executed_lines": [1, 2], "missing_lines": [3]}, None, "declared lines: 1 of 3, listed: 2 of 3"),
        ({"executed_lines": [1]}, None, "declared lines: 1 of 3, listed: 1 of 1"),
        ({"executed_lines": ["1"], "missing_lines": None}, None, None),
        ([], None, None),
    ],
    ids=["borne-out", "contradicted", "half", "no-numbers", "no-object"],
)
def test_the_rows_of_files_are_kept_where_they_bear_the_totals_out(file, rows, said):
    report = registry.read(json.dumps({"meta": {}, "files": {"a.py": file}, "totals": totals()}).encode())
    assert (report.lines_covered, report.lines_total, report.contradiction) == (1, 3, said)
    assert report.files == (rows and {"a.py": rows})


@table(
    ("change", "why"),
    [
        ({"covered_lines": -1}, "covered_lines is -1, not a count"),
        ({"covered_lines": True}, "covered_lines is True, not a count"),
        ({"covered_lines": 1.5}, "covered_lines is 1.5, not a count"),
        ({"covered_lines": None}, "covered_lines is missing, not a count"),
        ({"num_statements": "3"}, "num_statements is '3', not a count"),
        ({"num_statements": "9" * 99}, f"num_statements is '{'9' * 39}…, not a count"),
        ({"covered_lines": 4}, "covered_lines is 4, more than the 3 of num_statements"),
        ({"percent_covered": -0.5}, "percent_covered is -0.5, not a percentage from 0 to 100"),
        ({"percent_covered": 100.5}, "percent_covered is 100.5, not a percentage from 0 to 100"),
        ({"percent_covered": True}, "percent_covered is True, not a percentage from 0 to 100"),
        ({"num_branches": 1, "percent_statements_covered": "x"}, "percent_statements_covered is 'x', not a percent"),
    ],
)
def test_numbers_that_are_none_make_it_unreadable(change, why):
    result = read(totals(**change))
    assert isinstance(result, Unreadable)
    assert result.why.startswith(why)


@table("number", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_json_does_not_have_are_named(number):
    data = json.dumps({"meta": {}, "files": {}, "totals": totals()}).replace("33.3", number).encode()
    assert registry.read(data) == Unreadable(f"malformed JSON: {number} is no number")


def test_a_number_beyond_all_numbers_is_no_percentage():
    data = json.dumps({"meta": {}, "files": {}, "totals": totals()}).replace("33.3", "1e999").encode()
    assert registry.read(data) == Unreadable("percent_covered is inf, not a percentage from 0 to 100")


def test_totals_that_are_no_object_make_it_unreadable():
    assert read([1]) == Unreadable("totals is [1], not an object")


def test_what_was_asked_to_be_coverage_and_is_not_is_unreadable():
    assert registry.read(b"[1]", format="coveragepy-json") == Unreadable("the report is no JSON object")
    assert registry.read(b"{}", format="coveragepy-json") == Unreadable("totals is missing, not an object")
    assert registry.read(b"{", format="coveragepy-json").line == 1
