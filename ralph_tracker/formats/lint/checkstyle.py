"""Checkstyle's XML, also written by linters of many languages: one `error` per finding, inside its `file`."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from ralph_tracker.formats.elements import Elements
from ralph_tracker.formats.lint.lint_report import NO_CODE, LintReport, Severity, resolved
from ralph_tracker.formats.report_bytes import Content

ROOT: Final = "checkstyle"
_FINDING, _EXCEPTION = "error", "exception"


def sniff(content: Content) -> bool:
    """Whether the root is Checkstyle's."""
    return content.root == ROOT


def read(content: Content) -> LintReport:
    """Count the findings by severity and source. Raises DamageError.

    The exception of a file that could not be checked is an error.
    """
    reader = _Reader(content)
    reader.walk()
    return LintReport(findings=dict(reader.findings))


class _Reader(Elements):
    """Handle the events of one document."""

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self.findings: Counter[tuple[str, Severity]] = Counter()

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == _FINDING:
            code = attributes.get("source", NO_CODE)
            self.findings[code, resolved(attributes.get("severity"), code)] += 1
        elif name == _EXCEPTION:
            self.findings[_EXCEPTION, "error"] += 1

    def closed(self, name: str) -> None:
        """Do nothing: a finding is complete when it is opened."""
