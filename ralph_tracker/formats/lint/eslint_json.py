"""ESLint's JSON report (`eslint --format=json`, or `json-with-metadata`): an array with one object per file."""

from collections import Counter
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_typed import decode
from ralph_tracker.formats.lint.lint_report import LintReport, Severity, named
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"filePath", "messages"})
_WITH_METADATA: Final = frozenset({"results", "metadata"})
_FATAL: Final = "fatal"
_SEVERITIES: Final[dict[str, Severity]] = {"1": "warning", "2": "error"}


class _Message(msgspec.Struct, gc=False):
    ruleId: Any = None  # noqa: N815  # ESLint's names, here and below
    severity: Any = None
    fatal: Any = None


class _File(msgspec.Struct, gc=False):
    messages: list[_Message]
    suppressedMessages: list[msgspec.Raw] = []  # noqa: N815
    errorCount: Any = None  # noqa: N815
    warningCount: Any = None  # noqa: N815


class _WithMetadata(msgspec.Struct):
    results: list[_File]


def sniff(content: Content) -> bool:
    """Whether it is an array of files with messages, or an object with such an array and metadata."""
    keys = content.json_keys
    return keys >= _KEYS if content.opening.startswith("[") else keys == _WITH_METADATA


def read(content: Content) -> LintReport:
    """Count the messages by severity and rule; those of a file that ESLint cannot parse are errors. Raises DamageError.

    A message without a severity, which ESLint does not write, does not count.
    """
    if content.opening.startswith("["):
        files = decode(content, list[_File], "ESLint")
    else:
        files = decode(content, _WithMetadata, "ESLint").results
    findings: Counter[tuple[str, Severity]] = Counter()
    for message in (message for file in files for message in file.messages):
        fatal = message.fatal is True
        severity: Severity = "error" if fatal else _SEVERITIES.get(str(message.severity), "none")
        findings[named(message.ruleId) or (_FATAL if fatal else ""), severity] += 1
    report = LintReport(findings=dict(findings), suppressed=sum(len(file.suppressedMessages) for file in files))
    errors, warnings = _total([each.errorCount for each in files]), _total([each.warningCount for each in files])
    if errors in (None, report.errors) and warnings in (None, report.warnings):
        return report
    declared, listed = (
        f"errors: {errors}, warnings: {warnings}",
        f"errors: {report.errors}, warnings: {report.warnings}",
    )
    return report._replace(contradiction=f"declared {declared}; listed {listed}")


def _total(counts: list[Any]) -> int | None:
    return sum(counts) if all(isinstance(each, int) for each in counts) else None
