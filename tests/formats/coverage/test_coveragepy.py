"""All that coverage.py writes of one run comes to the same numbers, which are its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.report import CoverageReport, Unreadable

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


def test_shards_of_one_project_are_the_whole(tmp_path):
    shards = []
    for call in ("total([1], 1)", "unused()"):
        run(tmp_path, call)
        shards.append(written(tmp_path, "lcov"))
    assert [shard.lines_covered for shard in shards] == [9, 3]
    whole = shards[0] + shards[1]
    assert (whole.lines_covered, whole.lines_total) == (10, 11)
    assert whole.files == {"shop.py": {line: line != 5 for line in (*range(1, 10), 12, 13)}}
