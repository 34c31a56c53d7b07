"""Stylelint's JSON report (`stylelint --formatter=json`): an array with one object per file."""

from collections import Counter
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_typed import decode
from ralph_tracker.formats.lint.lint_report import LintReport, Severity, named, resolved
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"source", "warnings", "invalidOptionWarnings"})
_UNPARSED: Final = "parseError"


class _Warning(msgspec.Struct, gc=False):
    rule: Any = None
    severity: Any = None


class _File(msgspec.Struct, gc=False):
    warnings: list[_Warning]
    parseErrors: list[msgspec.Raw] = []  # noqa: N815  # Stylelint's name


def sniff(content: Content) -> bool:
    """Whether it is an array of files with warnings."""
    return content.opening.startswith("[") and content.json_keys >= _KEYS


def read(content: Content) -> LintReport:
    """Count the warnings by severity and rule; parse errors count as errors. Raises DamageError."""
    findings: Counter[tuple[str, Severity]] = Counter()
    for file in decode(content, list[_File], "Stylelint"):
        if file.parseErrors:
            findings[_UNPARSED, "error"] += len(file.parseErrors)
        for warning in file.warnings:
            code = named(warning.rule)
            findings[code, resolved(warning.severity, code)] += 1
    return LintReport(findings=dict(findings))
