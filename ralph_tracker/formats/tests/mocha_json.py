"""mocha's JSON report (`--reporter=json`).

`tests` lists the tests that ran, `failures` also failed hooks: these are cases in error with mocha's names.
"""

from collections import Counter
from typing import Any, Final

import msgspec

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.json_reader import Count, decode
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, json_object
from ralph_tracker.formats.tests.case_collector import ERROR, CaseCollector, case_id, contradiction, file_name

sniff: Final = json_object("stats", "tests", "pending", "failures", "passes")


class _Stats(msgspec.Struct, gc=False):
    tests: Count
    pending: Count
    failures: Count
    passes: Count = 0  # it is read only to be refused below zero


class _Test(msgspec.Struct, rename="camel", gc=False):
    full_title: str
    file: str | None = None
    duration: float | None = None
    current_retry: int | None = None
    err: Any = None

    @property
    def said(self) -> str | None:
        """Return the message and place of the error: the stack begins with the message."""
        error = self.err if isinstance(self.err, dict) else {}
        return next((each for each in (error.get("stack"), error.get("message")) if isinstance(each, str)), None)

    @property
    def key(self) -> tuple[str, str]:
        return self.file or "", self.full_title


class _Report(msgspec.Struct):
    stats: _Stats
    tests: list[_Test]
    pending: list[_Test]
    failures: list[_Test]


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError."""
    report = decode(content, _Report, "mocha")
    pending, failures = (Counter(test.key for test in part) for part in (report.pending, report.failures))
    cases = CaseCollector()
    for test in report.tests:
        outcome = FAILED if test.err and failures[test.key] else SKIPPED if pending[test.key] else PASSED
        if outcome != PASSED:
            (failures if outcome == FAILED else pending)[test.key] -= 1
        retried = bool(test.current_retry)
        seconds = None if test.duration is None else test.duration / 1000
        cases.add(
            _id(test.key, content), outcome, seconds, rerun=retried, flaky=retried and outcome == PASSED, said=test.said
        )
    stats = report.stats
    declared = DeclaredCounts(tests=stats.tests, failures=stats.failures, skipped=stats.pending)
    hooks = list(failures.elements())
    said = {test.key: test.said for test in report.failures}
    wrong = contradiction(declared, cases, failures_elsewhere=len(hooks))
    for key in hooks:
        cases.add(_id(key, content), ERROR, said=said[key])
    return cases.report(declared, contradiction=wrong)


def _id(key: tuple[str, str], content: Content) -> str:
    return case_id(file_name(key[0], content.folders), key[1])
