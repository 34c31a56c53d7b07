"""pytest-json-report's file (`--json-report`): one object, with the phases of each test."""

from typing import Any, Final

import msgspec

from ralph_tracker.core.metrics import PASSED, SKIPPED
from ralph_tracker.formats.json_reader import Count, decode, inside
from ralph_tracker.formats.parsed_report import Counts, DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, json_object
from ralph_tracker.formats.tests.case_collector import ERROR, CaseCollector, unlike
from ralph_tracker.formats.tests.pytest_reportlog import outcome_of

sniff: Final = json_object("created", "exitcode", "summary")


class _Summary(msgspec.Struct):
    total: Count = 0
    passed: Count = 0
    failed: Count = 0
    error: Count = 0
    skipped: Count = 0
    xfailed: Count = 0
    xpassed: Count = 0
    rerun: Count = 0


class _Phase(msgspec.Struct):
    outcome: str
    duration: float = 0.0
    crash: Any = None
    longrepr: Any = None

    @property
    def said(self) -> str:
        place = f"\n{inside(self.crash, 'path')}:{inside(self.crash, 'lineno')}"
        return f"{self.crash['message']}{place}" if inside(self.crash, "message") else str(self.longrepr or "")


class _Test(msgspec.Struct):
    nodeid: str
    outcome: str
    setup: _Phase | None = None
    call: _Phase | None = None
    teardown: _Phase | None = None


class _Collector(msgspec.Struct):
    nodeid: str
    outcome: str
    longrepr: Any = None


class _Report(msgspec.Struct):
    exitcode: int
    summary: _Summary
    tests: list[_Test] | None = None
    collectors: list[_Collector] = []


def read(content: Content) -> TestReport:
    """Read the report; without the list of tests (`--json-report-summary`) only their numbers.

    Raises DamageError, also if the run was stopped before a failure.
    """
    report = decode(content, _Report, "pytest-json-report")
    cases, summary = CaseCollector(), report.summary
    for each in report.collectors:
        if each.outcome != "passed":
            said = str(each.longrepr or "")
            cases.add(each.nodeid, ERROR if each.outcome == "failed" else SKIPPED, said=said)
            if each.outcome == "failed":
                cases.add_not_loaded(each.nodeid, said)
    loaded = len(cases.outcomes)
    for test in report.tests or ():
        _add(cases, test)
    unnamed = None
    if report.tests is None:
        unnamed = Counts(
            summary.passed + summary.xpassed + summary.rerun,
            summary.failed,
            summary.error,
            summary.skipped + summary.xfailed,
        )
    if report.exitcode in (2, 3, 4) and not cases.failed + (unnamed.failed + unnamed.errors if unnamed else 0):
        raise DamageError(f"the run was stopped: pytest ended with {report.exitcode}")
    found = len(cases.outcomes) - loaded + (unnamed.tests if unnamed else 0)
    wrong = unlike("tests", summary.total, found) if found != summary.total else None
    return cases.report(DeclaredCounts(summary.total), contradiction=wrong, unnamed=unnamed)


def _add(cases: CaseCollector, test: _Test) -> None:
    phases = [(name, phase) for name in ("setup", "call", "teardown") if (phase := getattr(test, name)) is not None]
    outcome = outcome_of((name, phase.outcome) for name, phase in phases)
    said = next((phase.said for _, phase in phases if phase.outcome == "failed"), "")
    again = test.outcome == "rerun"
    seconds = sum(phase.duration for _, phase in phases)
    cases.add(test.nodeid, outcome, seconds, rerun=again, flaky=again and outcome == PASSED, said=said)
