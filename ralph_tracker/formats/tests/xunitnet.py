"""xUnit.net's XML: `assemblies` of version 2 and 3, or one `assembly` of version 1.

Errors outside of tests (`errors/error`, in version 1 the failure of a `class`) are cases in error.
"""

from collections.abc import Mapping
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, Elements, attribute_count, xml_root
from ralph_tracker.formats.tests.case_collector import ERROR, UNNAMED, CaseCollector, case_id, contradiction, seconds

_ROOTS: Final = ("assemblies", "assembly")
sniff: Final = xml_root(*_ROOTS)
_RESULTS: Final = {"pass": PASSED, "fail": FAILED, "skip": SKIPPED, "notrun": SKIPPED}
_ASSEMBLY_KEYS: Final = frozenset({"environment", "run-date", "start-rtf", "test-framework", "total"})


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError, also if no element is an assembly whose tests ran."""
    return _Reader(content).walk().report()


class _Reader(Elements):
    """Handle the events of one document; a test is added when it ends, because it contains its message."""

    TEXTS = frozenset({"message"})

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self._open: Mapping[str, str] | None = None
        self._message = ""
        self._cases = CaseCollector()
        self._declared: DeclaredCounts | None = None
        self._class = ""
        self._errors: list[str] = []

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        around = self.path[-1] if self.path else ""
        if not around and name not in _ROOTS:
            raise DamageError(f"the root element is <{name}>, not one of xUnit.net's")
        if name == "assembly":
            if not _ASSEMBLY_KEYS & attributes.keys():
                raise DamageError("the assembly says nothing of a test run")
            declared = DeclaredCounts(
                tests=attribute_count(attributes, "total"),
                failures=attribute_count(attributes, "failed"),
                errors=attribute_count(attributes, "errors"),
                skipped=attribute_count(attributes, "skipped"),
            )
            self._declared = declared if self._declared is None else self._declared + declared
        elif name == "test":
            self._open, self._message = attributes, ""
        elif name == "class":
            self._class = attributes.get("name", "")
        elif name == "error" and around == "errors":
            where = " ".join(filter(None, (attributes.get("type"), attributes.get("name"))))
            self._errors.append(f"{where or UNNAMED} (error)")
        elif name == "failure" and around == "class":
            self._errors.append(f"{self._class or UNNAMED} (class)")

    def closed(self, name: str) -> None:
        if name == "message" and self.path[-1:] == ["failure"]:
            self._message = self.text
        elif name == "test" and self._open is not None:
            test, self._open = self._open, None
            said = test.get("result", "")
            outcome = _RESULTS.get(said.lower())
            if outcome is None:
                raise DamageError(f"result is {said[:40]!r}, which xUnit.net does not have")
            case = case_id(test.get("type", ""), test.get("name", ""))
            self._cases.add(case, outcome, seconds(test.get("time")), said=self._message)

    def report(self) -> TestReport:
        """Return the report; `total` excludes errors outside of tests."""
        if self._declared is None:
            raise DamageError("there is no assembly in it")
        wrong = contradiction(self._declared, self._cases, failures_elsewhere=len(self._errors))
        for error in self._errors:
            self._cases.add(error, ERROR)
        return self._cases.report(self._declared, contradiction=wrong)
