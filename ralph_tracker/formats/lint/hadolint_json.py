"""hadolint's JSON report (`hadolint --format=json`): an array with one object per finding."""

from collections import Counter
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_typed import decode
from ralph_tracker.formats.lint.lint_report import LintReport, Severity, named, resolved
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"code", "column", "file", "level", "line", "message"})


class _Finding(msgspec.Struct, gc=False):
    code: Any
    file: msgspec.Raw
    level: Any
    line: msgspec.Raw


def sniff(content: Content) -> bool:
    """Whether it is an array of findings, which have exactly these keys."""
    return content.opening.startswith("[") and content.json_keys == _KEYS


def read(content: Content) -> LintReport:
    """Count the findings by level and code. Raises DamageError."""
    findings: Counter[tuple[str, Severity]] = Counter()
    for finding in decode(content, list[_Finding], "hadolint"):
        code = named(finding.code)
        findings[code, resolved(finding.level, code)] += 1
    return LintReport(findings=dict(findings))
