"""Checkstyle's XML, also written by linters of many languages: one `error` per finding, inside its `file`."""

from collections import Counter
from typing import Final

from ralph_tracker.formats import markup
from ralph_tracker.formats.content import Content
from ralph_tracker.formats.lint.lint_report import NO_CODE, LintReport, Severity, resolved

ROOT: Final = "checkstyle"
_FINDING, _EXCEPTION = "error", "exception"


def sniff(content: Content) -> bool:
    """Whether the root is Checkstyle's."""
    return content.root == ROOT


def read(content: Content) -> LintReport:
    """Count the findings by severity and source. Raises DamageError.

    The exception of a file that could not be checked is an error.
    """
    findings: Counter[tuple[str, Severity]] = Counter()

    def start(name: str, attributes: dict[str, str]) -> None:
        local = markup.local_name(name)
        if local == _FINDING:
            code = attributes.get("source", NO_CODE)
            findings[code, resolved(attributes.get("severity"), code)] += 1
        elif local == _EXCEPTION:
            findings[_EXCEPTION, "error"] += 1

    content.stream(start, lambda _name: None)
    return LintReport(findings=dict(findings))
