"""Checkstyle's XML, also written by linters of many languages: one `error` per finding, inside its `file`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.formats.parsed_report import MAX_DIAGNOSTICS, NO_CODE, LintReport, Row, Severity, severity_of
from ralph_tracker.formats.report_content import Content, Elements, xml_root

sniff: Final = xml_root("checkstyle")
_FINDING, _EXCEPTION = "error", "exception"


def read(content: Content) -> LintReport:
    """Count the findings by severity and source. Raises DamageError.

    The exception of a file that could not be checked is an error.
    """
    return LintReport(findings=dict(_Reader(content).walk().findings))


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings with the file that each is inside."""
    yield from _Reader(content).walk().rows


class _Reader(Elements):
    """Handle the events of one document."""

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self.findings: Counter[tuple[str, Severity]] = Counter()
        self.rows: list[Row] = []
        self._file: str | None = None

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == _FINDING:
            code, word = attributes.get("source", NO_CODE), attributes.get("severity")
            self.findings[code, severity_of(word, code)] += 1
            if len(self.rows) < MAX_DIAGNOSTICS:
                self.rows.append((self._file, attributes.get("line"), code, word, attributes.get("message")))
        elif name == "file":
            self._file = attributes.get("name")
        elif name == _EXCEPTION:
            self.findings[_EXCEPTION, "error"] += 1
