"""NUnit's XML, version 3 (`test-run`) and version 2 (`test-results`); a lone `test-suite` may be the root.

A test in error is `result="Error"` in version 2 and a failed one in version 3; inconclusive, ignored and not runnable
tests count as skipped. A suite that failed although nothing in it did (its tear-down, an assembly that cannot be
loaded) is a case in error.
"""

from collections.abc import Mapping
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, Elements, attribute_count, xml_root
from ralph_tracker.formats.tests.case_collector import (
    ERROR,
    CaseCollector,
    case_id,
    contradiction,
    first_count,
    seconds,
)

_ROOTS: Final = ("test-run", "test-results", "test-suite")
sniff: Final = xml_root(*_ROOTS)
_RESULTS: Final = {
    "passed": PASSED,
    "success": PASSED,
    "warning": PASSED,
    "failed": FAILED,
    "failure": FAILED,
    "cancelled": FAILED,
    "error": ERROR,
    **dict.fromkeys(("skipped", "ignored", "inconclusive", "invalid", "notrunnable", "explicit"), SKIPPED),
}
_BAD: Final = frozenset({FAILED, ERROR})


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError, also for a result unknown to NUnit."""
    return _Reader(content).walk().report()


class _Reader(Elements):
    """Handle the events of one document; `_suites` are the open suites, `_bad` the failures seen before each."""

    TEXTS = frozenset({"message"})

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self._cases = CaseCollector()
        self._declared = DeclaredCounts()
        self._message = ""
        self._not_counted: list[int] = []
        self._suites: list[Mapping[str, str]] = []
        self._bad: list[int] = []
        self._failures = 0
        self._broken: list[str] = []
        self._case: Mapping[str, str] | None = None
        self._failure = False

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.path:
            if name not in _ROOTS:
                raise DamageError(f"the root element is <{name}>, not one of NUnit's")
            self._declared = DeclaredCounts(
                tests=first_count(attributes, "total", "testcasecount"),
                failures=first_count(attributes, "failed", "failures"),
                errors=attribute_count(attributes, "errors"),
                skipped=attribute_count(attributes, "skipped"),
            )
            self._not_counted = [
                max(attribute_count(attributes, key) or 0, 0) for key in ("not-run", "ignored", "skipped", "invalid")
            ]
        if name == "test-suite":
            self._suites.append(attributes)
            self._bad.append(self._failures)
        elif name == "test-case":
            self._case, self._failure, self._message = attributes, False, ""
        elif name in ("failure", "error") and self.path[-1:] == ["test-case"]:
            self._failure = True

    def closed(self, name: str) -> None:
        if name == "message" and self._case is not None:
            self._message = self.text
        if name == "test-suite":
            suite, before = self._suites.pop(), self._bad.pop()
            if self._failures == before and _result(suite) in _BAD and suite.get("site") != "Parent":
                self._broken.append(f"{suite.get('fullname') or suite.get('name', '')} (suite)")
                self._failures += 1
        elif name == "test-case" and self._case is not None:
            case, self._case = self._case, None
            outcome = _outcome(case, failure=self._failure)
            self._failures += outcome in _BAD
            spent = seconds(case.get("duration", case.get("time")))
            # In version 2 the name may be the method alone, to which the suite is added.
            around = self._suites[-1].get("name", "") if self._suites else ""
            full = case.get("fullname") or case_id(around, case.get("name", ""))
            self._cases.add(full, outcome, spent, said=self._message)

    def report(self) -> TestReport:
        """Return the report; in some versions `total` excludes tests that did not run."""
        total = self._declared.tests
        also = () if total is None else (total + self._not_counted[0], total + sum(self._not_counted[1:]))
        elsewhere = len(self._broken)
        wrong = contradiction(self._declared, self._cases, also, failures_elsewhere=elsewhere)
        for suite in self._broken:
            self._cases.add(suite, ERROR)
        return self._cases.report(self._declared, contradiction=wrong)


def _outcome(case: Mapping[str, str], *, failure: bool) -> str:
    """Return the outcome of a case by its result, or by the attributes used before NUnit 2.5."""
    said = _result(case)
    if said is not None:
        return said
    if failure or case.get("success", "").lower() == "false":
        return SKIPPED if case.get("executed", "").lower() == "false" else FAILED
    return SKIPPED if case.get("executed", "").lower() == "false" else PASSED


def _result(attributes: Mapping[str, str]) -> str | None:
    """Return the outcome for a result (`Failed`, `Failed(Child)`, `Failed:Error`); None without one."""
    said = attributes.get("result")
    if said is None:
        return None
    word = said.partition("(")[0].partition(":")[0].strip().lower()
    if word not in _RESULTS:
        raise DamageError(f"result is {said[:40]!r}, which NUnit does not have")
    return _RESULTS[word]
