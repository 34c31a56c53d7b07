"""Stylelint's JSON report (`stylelint --formatter=json`): an array with one object per file."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.diagnostics import Row
from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.report import LintReport
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"source", "warnings", "invalidOptionWarnings"})
_UNPARSED: Final = "parseError"


class _Warning(msgspec.Struct, gc=False):
    rule: Any = None
    severity: Any = None
    line: Any = None
    text: Any = None


class _File(msgspec.Struct, gc=False):
    warnings: list[_Warning]
    parseErrors: list[_Warning] = []  # noqa: N815  # Stylelint's name
    source: Any = None


def sniff(content: Content) -> bool:
    """Whether it is an array of files with warnings."""
    return content.opening.startswith("[") and content.json_keys >= _KEYS


def read(content: Content) -> LintReport:
    """Count the warnings by severity and rule; parse errors count as errors. Raises DamageError."""
    return LintReport.of(diagnostics(content))


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the parse errors and the warnings of all files."""
    for file in decode(content, list[_File], "Stylelint"):
        for error in file.parseErrors:
            yield file.source, error.line, _UNPARSED, "error", error.text
        for each in file.warnings:
            yield file.source, each.line, each.rule, each.severity, each.text
