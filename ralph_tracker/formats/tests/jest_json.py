"""The JSON report of jest (`--json`) and vitest (`--reporter=json`).

A test file that could not run is a case in error, as is a run that failed although no test did (uncaught errors,
thresholds). A file that failed although no test in it did had a hook that failed. vitest lists what it did not come to
as pending, which is a skipped test of jest.
"""

from typing import Any, Final, Literal

import msgspec

from ralph_tracker.core.known_tests import WHOLE_RUN
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.json_reader import Count, decode
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, json_object
from ralph_tracker.formats.tests.case_collector import (
    ERROR,
    CaseCollector,
    case_id,
    contradiction,
    file_name,
)

sniff: Final = json_object("numTotalTests", "testResults")
_OUTCOMES: Final = {
    "passed": PASSED,
    "failed": FAILED,
    **dict.fromkeys(("skipped", "pending", "todo", "disabled"), SKIPPED),
}


class _Test(msgspec.Struct, rename="camel", gc=False):
    status: Literal["passed", "failed", "skipped", "pending", "todo", "disabled"]
    title: str = ""
    ancestor_titles: list[str] = []
    duration: float | None = None
    invocations: int | None = None
    failure_messages: Any = None

    @property
    def said(self) -> str | None:
        text = self.failure_messages
        return "\n".join(each for each in text if isinstance(each, str)) if isinstance(text, list) else None


class _File(msgspec.Struct, rename="camel", gc=False):
    assertion_results: list[_Test]
    name: str = ""
    status: str = ""
    message: Any = None


class _Report(msgspec.Struct, rename="camel"):
    num_total_tests: Count
    test_results: list[_File]
    num_failed_tests: Count | None = None
    success: bool | None = None
    was_interrupted: bool = False
    num_runtime_error_test_suites: Any = None

    @property
    def may_have_stopped(self) -> bool:
        """Return whether vitest may have stopped the run at a test that failed."""
        return self.num_runtime_error_test_suites is None and bool(self.num_failed_tests)


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError, also if the run was interrupted."""
    report = decode(content, _Report, "jest or vitest")
    if report.was_interrupted:
        raise DamageError("the run was interrupted, tests are missing")
    cases, broken, not_run, hooks = CaseCollector(), [], 0, 0
    # The report lists files in the order in which they finished, which varies.
    files = ((file_name(each.name, content.folders), each) for each in report.test_results)
    for file, result in sorted(files, key=lambda each: (each[0], each[1].name)):
        for test in result.assertion_results:
            if test.status == "pending" and report.may_have_stopped:
                not_run += 1
                cases.leave_out()
                continue
            name = " > ".join(filter(None, (*test.ancestor_titles, test.title)))
            again = (test.invocations or 1) > 1
            outcome = _OUTCOMES[test.status]
            flaky = outcome == PASSED and (again or bool(test.failure_messages))
            seconds = None if test.duration is None else test.duration / 1000
            cases.add(case_id(file, name), outcome, seconds, rerun=again or flaky, flaky=flaky, said=test.said)
        said = result.message if isinstance(result.message, str) else ""
        if result.status == "failed" and not result.assertion_results:
            broken.append((file, said))
        elif result.status == "failed" and not any(test.status == "failed" for test in result.assertion_results):
            cases.add_broken(f"{file}::(test file)", _without_banner(said) or "a hook of its suites failed")
            hooks += 1
        elif report.may_have_stopped and not result.assertion_results:
            cases.leave_out()  # vitest fails a file without tests
    declared = DeclaredCounts(tests=report.num_total_tests - not_run, failures=report.num_failed_tests)
    wrong = contradiction(declared, cases)
    for file, said in broken:
        cases.add(case_id(file, "(test file)"), ERROR, said=_without_banner(said))
        cases.add_not_loaded(file, _without_banner(said))
    if report.success is False and not (cases.failed or hooks):
        cases.add(WHOLE_RUN, ERROR)
    return cases.report(declared, contradiction=wrong)


def _without_banner(said: str) -> str:
    """Return the message without jest's heading, or without its advice on a file that it cannot parse."""
    return said.partition("Details:\n")[2] or said.partition("Test suite failed to run\n")[2] or said
