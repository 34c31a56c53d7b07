"""Reports that were read wrongly once: each with the numbers that its tool meant, counted by hand."""

from pathlib import Path

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import CoverageReport, LintReport, Report, TestReport, Unreadable
from tests.tables import table

FIXTURES = Path(__file__).parents[2] / "fixtures" / "reports"
# case: what its check is said to be of, and the numbers: of tests (all, passed, failed, errors, skipped), of findings
# (errors, warnings, notes), of lines (covered, all); None is not measured.
RIGHT: dict[str, tuple[str, tuple[int, ...] | None]] = {
    "junit/stray-byte": ("tests", (2, 1, 1, 0, 0)),
    "junit/mocha-hooks": ("tests", (7, 2, 3, 0, 2)),
    "junit/jest-junit-todo": ("tests", (7, 3, 2, 0, 2)),
    "junit/mocha-outside-of-tests": ("tests", (12, 6, 4, 0, 2)),
    "junit/jest-junit-todo-no-time": ("tests", (10, 6, 2, 0, 2)),
    "tap/deno": ("tests", (8, 3, 3, 0, 2)),
    "tap/ava-hooks": ("tests", (2, 2, 0, 0, 0)),
    "tap/ava-fail-fast": ("tests", (4, 1, 1, 0, 2)),
    "jest-json/vitest-hooks": ("tests", (19, 9, 2, 3, 5)),
    "jest-json/among-other-lines": ("tests", (2, 2, 0, 0, 0)),
    "cobertura/two-source-folders": ("coverage", (2, 4)),
    "lcov/exponents": ("coverage", (1, 2)),
    "sarif/without-results": ("lint", None),
    "cucumber-json/undefined-and-pending": ("tests", (4, 1, 3, 0, 0)),
    "pytest-reportlog/unittest": ("tests", (21, 8, 6, 4, 3)),
    "pytest-text/parts": ("tests", (12, 3, 4, 3, 2)),
    "pytest-text/parts-verbose": ("tests", (12, 2, 4, 3, 3)),
    "unittest-text/classes": ("tests", (8, 1, 3, 2, 2)),
    "linter-junit/oxlint-syntax-error": ("lint", (1, 6, 0)),
    "linter-junit/bandit-two": ("lint", (0, 1, 1)),
    "linter-junit/ruff-two-files": ("lint", (12, 0, 0)),
    "gitlab-json/ty-more": ("types", (6, 0, 0)),
    "ruff-json-lines/two-files": ("lint", (12, 0, 0)),
    "pyrefly-json/two-files": ("types", (3, 0, 0)),
    "pylint-text/msvs-refactorings": ("lint", (3, 9, 7)),
}


def numbers(report: Report | Unreadable) -> tuple[int, ...] | None:
    match report:
        case Unreadable():
            return None
        case TestReport():
            return report.tests, report.passed, report.failed, report.errors, report.skipped
        case CoverageReport():
            return report.lines_covered, report.lines_total
    return report.errors, report.warnings, report.notes


@table(("case", "kind", "right"), [(case, *row) for case, row in RIGHT.items()])
@table("is_named", [True, False])
def test_a_report_has_the_numbers_that_its_tool_meant(case, kind, right, is_named):
    (path,) = (FIXTURES / case).glob("report.*")
    report = registry.read(path.read_bytes(), kind=kind if is_named else None)
    assert numbers(report) == right
    assert not isinstance(report, LintReport) or not is_named or kind == "lint"
