"""Ruff's JSON report (`ruff check --output-format=json`): an array with one object per finding."""

from collections import Counter
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_typed import decode
from ralph_tracker.formats.lint.lint_report import LintReport, Severity, given, named, of_code
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"code", "filename", "location", "end_location", "message"})
_SYNTAX: Final = "invalid-syntax"


class _Finding(msgspec.Struct, gc=False):
    code: Any
    filename: msgspec.Raw
    location: msgspec.Raw
    end_location: msgspec.Raw
    message: msgspec.Raw
    severity: Any = None


def sniff(content: Content) -> bool:
    """Whether it is an array of findings; ruff writes an empty one if it finds nothing."""
    return content.opening.startswith("[") and (content.json_keys >= _KEYS or content.is_empty_array)


def read(content: Content) -> LintReport:
    """Count the findings by severity and by code; suppressed ones are not in the report. Raises DamageError."""
    findings: Counter[tuple[str, Severity]] = Counter()
    for finding in decode(content, list[_Finding], "ruff"):
        code = named(finding.code) or _SYNTAX
        findings[code, given(finding.severity) or ("error" if code == _SYNTAX else of_code(code))] += 1
    return LintReport(findings=dict(findings))
