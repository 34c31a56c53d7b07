"""Robot Framework's output.xml: a status for each test, and for each suite."""

from collections.abc import Mapping
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, Elements, attribute_count, xml_root
from ralph_tracker.formats.tests.case_collector import CaseCollector, case_id, contradiction, seconds

sniff: Final = xml_root("robot")
_OUTCOMES: Final = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED, "NOT RUN": SKIPPED}


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError."""
    return _Reader(content).walk().report()


class _Reader(Elements):
    """Handle the events of one document; a test's status counts when its suite's is known.

    A suite whose tear-down failed has none that passed: its tests were written before.
    """

    TEXTS = frozenset({"status", "tag"})

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self._cases = CaseCollector()
        self._suites: list[tuple[str, int]] = []
        self._tests: list[tuple[str, str, float | None, str]] = []
        self._name = ""
        self._is_run, self._not_run = True, 0
        self._status: Mapping[str, str] = {}
        self._declared = DeclaredCounts()

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.path and name != "robot":
            raise DamageError(f"the root element is <{name}>, not Robot Framework's")
        above = self.path[-1] if self.path else ""
        if name == "suite" and above in ("robot", "suite"):
            self._suites.append((attributes.get("name", ""), len(self._tests)))
        elif name == "test":
            self._name, self._status, self._is_run = attributes.get("name", ""), {}, True
        elif name == "status" and above in ("test", "suite"):
            self._status = attributes
        elif name == "stat" and above == "total":
            passed, failed, skipped = (attribute_count(attributes, key) or 0 for key in ("pass", "fail", "skip"))
            self._declared = DeclaredCounts(passed + failed + skipped, failed, skipped=skipped)

    def closed(self, name: str) -> None:
        above = self.path[-1] if self.path else ""
        if name == "tag" and above == "test":
            # The tag of a test that was not run, since an earlier one had failed; its status is FAIL.
            self._is_run = self._is_run and self.text.strip() != "robot:exit"
        elif name == "status" and above == "test" and not self._is_run:
            self._not_run += 1
            self._cases.leave_out()
        elif name == "status" and above == "test":
            status = self._status.get("status", "")
            if status not in _OUTCOMES:
                raise DamageError(f"the test {self._name!r} has no status of Robot Framework")
            owner = ".".join(suite for suite, _ in self._suites)
            spent = seconds(self._status.get("elapsed"))
            self._tests.append((case_id(owner, self._name), _OUTCOMES[status], spent, self.text))
        elif name == "status" and above == "suite" and self._suites and "uite teardown failed" in self.text:
            begins = self._suites[-1][1]
            self._tests[begins:] = [
                (case, FAILED, spent, said or self.text) for case, _, spent, said in self._tests[begins:]
            ]
        elif name == "suite" and above in ("robot", "suite"):
            self._suites.pop()

    def report(self) -> TestReport:
        """Return the report; the statistics at its end declare the numbers."""
        for case, outcome, spent, said in self._tests:
            self._cases.add(case, outcome, spent, said=said)
        tests, failed = ((count or 0) - self._not_run for count in (self._declared.tests, self._declared.failures))
        declared = self._declared._replace(tests=tests, failures=failed) if self._not_run else self._declared
        return self._cases.report(declared, contradiction=contradiction(declared, self._cases))
