"""TRX, the results of VSTest and MSTest (`TestRun`).

Every result counts, including the rows of a data-driven test. Aborted tests and timeouts failed; a result without an
outcome, or one that never ended, is in error, as is a failed run without a failed test.
"""

import re
from collections.abc import Mapping
from typing import Final

from ralph_tracker.core.known_tests import WHOLE_RUN
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import MAX_FAILURES, DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, Elements, attribute_count, xml_root
from ralph_tracker.formats.tests.case_collector import ERROR, CaseCollector, case_id, contradiction

_ROOT: Final = "TestRun"
sniff: Final = xml_root(_ROOT)
_OUTCOMES: Final = {
    **dict.fromkeys(("passed", "passedbutrunaborted", "warning", "completed"), PASSED),
    **dict.fromkeys(("failed", "aborted", "timeout"), FAILED),
    **dict.fromkeys(("notexecuted", "notrunnable", "inconclusive", "pending"), SKIPPED),
}


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError."""
    return _Reader(content).walk().report()


class _Reader(Elements):
    """Handle the events of one document; definitions and results refer to each other and come in any order."""

    TEXTS = frozenset({"Message"})

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self._messages: dict[int, str] = {}  # by the number of the result
        self._results: list[tuple[str, str, str, str]] = []
        self._classes: dict[str, str] = {}
        self._definition = ""
        self._declared = DeclaredCounts()
        self._run = ""
        self._complete = False

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        around = self.path[-1] if self.path else ""
        if not around and name != _ROOT:
            raise DamageError(f"the root element is <{name}>, not {_ROOT}")
        if around in {"Results", "InnerResults"}:
            said = (attributes.get(key, "") for key in ("testId", "testName", "outcome", "duration"))
            test, title, outcome, duration = said
            self._results.append((test, title, outcome, duration))
        elif around == "TestDefinitions":
            self._definition = attributes.get("id", "")
        elif name == "TestMethod":
            self._classes[self._definition] = attributes.get("className", "").partition(",")[0]
        elif name == "ResultSummary":
            self._run, self._complete = attributes.get("outcome", ""), True
        elif name == "Counters":
            self._declared = DeclaredCounts(
                tests=attribute_count(attributes, "total"),
                failures=attribute_count(attributes, "failed"),
                errors=attribute_count(attributes, "error"),
            )
        elif name == "Results":
            self._complete = True

    def closed(self, name: str) -> None:
        if (
            name == "Message"
            and self.path[-1:] == ["ErrorInfo"]
            and self._results
            and len(self._messages) < MAX_FAILURES
        ):
            self._messages.setdefault(len(self._results) - 1, self.text)

    def report(self) -> TestReport:
        """Return the report; a run without results and without a summary is not one."""
        if not self._complete:
            raise DamageError("there are neither results nor a summary in it")
        cases = CaseCollector()
        for number, (test, title, outcome, duration) in enumerate(self._results):
            case = case_id(self._classes.get(test, ""), title)
            cases.add(case, _OUTCOMES.get(outcome.lower(), ERROR), _seconds(duration), said=self._messages.get(number))
        wrong = contradiction(self._declared, cases)
        if self._run.lower() in {"failed", "error", "aborted", "timeout", "disconnected"} and not cases.failed:
            cases.add(WHOLE_RUN, ERROR)
        return cases.report(self._declared, contradiction=wrong)


def _seconds(text: str) -> float | None:
    """Return a time span (`[days.]hours:minutes:seconds`) in seconds; None if it is invalid."""
    found = re.fullmatch(r"(?:(\d{1,6})\.)?(\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)", text)
    if found is None:
        return None
    days, hours, minutes, rest = found.groups(default="0")
    return int(days) * 86_400 + int(hours) * 3_600 + int(minutes) * 60 + float(rest)
