"""coverage.py's data file as a report: by coverage.py itself, on the sources, or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import CoverageReport, Unreadable
from ralph_tracker.measure import report_totals
from ralph_tracker.measure.find_reports import FoundReport
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.measure.report_totals import read_results
from ralph_tracker.measure.run_checks import Check, CheckResult
from tests.tables import table


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a module of four statements of which three ran, and what is in the way of coverage.py."""
    (tmp_path / "shop.py").write_text("def unused():\n    return 1\n\nprice = 2\nassert price\n")
    (tmp_path / "coverage").mkdir()
    (tmp_path / "coverage" / "__init__.py").write_text("raise SystemExit('not the tool')\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")}
    command = [sys.executable, "-P", "-m", "coverage", "run", "--include=shop.py", "shop.py"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    return tmp_path


def test_the_sources_tell_of_how_many_lines(project):
    data = project / ".coverage"
    assert report_totals.is_data(data.read_bytes())
    report = registry.read(report_totals.as_json(data, project))
    assert isinstance(report, CoverageReport), report
    assert (report.lines_covered, report.lines_total, report.percent) == (3, 4, 75.0)


def test_a_check_may_name_the_data_file_as_its_report(project):
    check = Check("coverage", ["x"], reports=(".coverage",))
    found = FoundReport(".coverage", project / ".coverage")
    result = CheckResult(check, FinishedCommand(exit_code=0), (found,), project / "out", project / "err")
    assert read_results([result], root=project).metrics.coverage_percentage == 75.0
    without = read_results([result])
    assert without.metrics.coverage_percentage is None
    assert without.missing["coverage"].endswith("write a report with `coverage json`")


def test_without_the_sources_it_is_unreadable_and_never_a_percentage(project):
    (project / "shop.py").unlink()
    report = report_totals.as_json(project / ".coverage", project)
    assert isinstance(report, Unreadable)
    assert report.why.startswith("coverage.py's data: No source for code:")
    assert report.why.endswith("write a report with `coverage json` in the check and name that")


def test_what_is_no_data_says_what_coverage_py_says(tmp_path):
    data = tmp_path / "data"
    data.write_bytes(b"SQLite format 3\0 and no more")
    report = report_totals.as_json(data, tmp_path)
    assert isinstance(report, Unreadable)
    assert report.why.startswith("coverage.py's data: Couldn't use data file")


def test_without_coverage_py_it_says_so_and_what_to_do(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho python: No module named coverage >&2\nexit 1\n")
    python.chmod(0o700)
    report = report_totals.as_json(tmp_path / "data", tmp_path, str(python))
    otherwise = "write a report with `coverage json` in the check and name that"
    assert report == Unreadable(f"coverage.py's data: python: No module named coverage; {otherwise}")


@table("data", [b"", b"{}", b"<coverage/>", b"SQLite"])
def test_other_reports_are_no_data(data):
    assert not report_totals.is_data(data)
