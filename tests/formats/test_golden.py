"""Each folder fixtures/reports/<format>/<case> holds a report that a real tool wrote, and what we read in it."""

import json
from pathlib import Path

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import (
    Block,
    CoverageReport,
    LintReport,
    Report,
    TestReport,
    TypeReport,
    Unreadable,
)
from ralph_tracker.formats.report_content import Content
from tests.tables import table

FIXTURES = Path(__file__).parents[2] / "fixtures" / "reports"
CASES = sorted(folder for folder in FIXTURES.glob("*/*") if folder.is_dir())
NEVER_A_REPORT = {"coveragepy-sqlite"}  # it tells which lines ran, not of how many
KINDS = {"tests": TestReport, "coverage": CoverageReport, "lint": LintReport, "types": TypeReport}


def input_of(folder: Path) -> bytes:
    (found,) = [path for path in folder.iterdir() if path.name != "expected.json"]
    return found.read_bytes()


def shown(result: Report | Unreadable) -> dict[str, object]:
    """Lay a result out for a person: a test report as one line a case.

    Of a parser's message only the line is kept: its words differ between versions of Python.
    """
    if isinstance(result, Unreadable):
        malformed, _, _ = result.why.partition(": ")
        return {"unreadable": malformed if malformed.startswith("malformed") else result.why, "line": result.line}
    if isinstance(result, LintReport):
        return shown_lint(result)
    if isinstance(result, CoverageReport):
        return shown_coverage(result)
    if not isinstance(result, TestReport):
        return result._asdict()
    counts = {name: getattr(result, name) for name in ("tests", "passed", "failed", "errors", "skipped")}
    cases = {
        case: " ".join(
            ["error" if case in result.in_error else outcome]
            + [f"{seconds:.3f}" for seconds in (result.durations.get(case),) if seconds is not None]
            + ["rerun"] * (case in result.rerun)
            + ["flaky"] * (case in result.flaky)
        )
        for case, outcome in result.outcomes.items()
    }
    note = ({"note": result.note} if result.note else {}) | ({"broken": sorted(result.broken)} if result.broken else {})
    said = {"declared": result.declared._asdict(), "contradiction": result.contradiction, **note}
    told = {name: getattr(result, name) for name in ("messages", "not_loaded") if getattr(result, name)}
    return {**counts, **said, "cases": cases, **told}


def shown_coverage(report: CoverageReport) -> dict[str, object]:
    """Lay out each file as what in it is covered and what is not; blocks go by their place."""
    files = None if report.files is None else {}
    for path, lines in (report.files or {}).items():
        names = {key: key.place if isinstance(key, Block) else str(key) for key in lines}
        covered, missed = (" ".join(names[key] for key in lines if lines[key] is hit) for hit in (True, False))
        files[path] = {"covered": covered, "missed": missed}
    return {**report._asdict(), "files": files}


def shown_lint(report: LintReport) -> dict[str, object]:
    counts = {name: getattr(report, name) for name in ("results", "errors", "warnings", "notes")}
    none = report.results - report.errors - report.warnings - report.notes
    findings = {f"{code} {severity}".strip(): number for (code, severity), number in report.findings.items()}
    return {**counts, "none": none, **report._asdict(), "findings": findings}


@table("folder", CASES, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_real_report_is_read_as_expected(folder, bless):
    found = shown(registry.read(input_of(folder)))
    expected = folder / "expected.json"
    if bless:
        expected.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(expected.read_text(encoding="utf-8"))


@table("folder", CASES, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_real_report_is_recognised_and_reads_the_same_by_name(folder):
    data, name = input_of(folder), folder.parent.name
    by_content, by_name = registry.read(data), registry.read(data, format=name)
    if isinstance(by_content, Unreadable):
        assert isinstance(by_name, Unreadable)
        return
    content = Content(data)
    assert registry.recognise(content.document or content).name == name
    assert isinstance(by_content, KINDS[registry.BY_NAME[name].kind])
    assert by_name == by_content


def test_every_format_has_golden_cases_one_of_them_unreadable():
    for each in registry.FORMATS:
        results = [registry.read(input_of(folder)) for folder in CASES if folder.parent.name == each.name]
        assert any(isinstance(result, Unreadable) for result in results), each.name
        readable = any(not isinstance(result, Unreadable) for result in results)
        assert readable is (each.name not in NEVER_A_REPORT), each.name
