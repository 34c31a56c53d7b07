"""Stylelint's JSON report (`stylelint --formatter=json`): an array with one object per file."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.parsed_report import Row
from ralph_tracker.formats.report_content import Content, DamageError, json_array

sniff: Final = json_array("source", "warnings", "invalidOptionWarnings")


class _Warning(msgspec.Struct, gc=False):
    rule: Any = None
    severity: Any = None
    line: Any = None
    text: Any = None


class _File(msgspec.Struct, gc=False):
    warnings: list[_Warning]
    parseErrors: list[_Warning] = []  # noqa: N815  # Stylelint's name
    source: Any = None
    invalidOptionWarnings: list[_Warning] = []  # noqa: N815


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the parse errors and the warnings of all files. Raises DamageError where a rule could not run."""
    for file in decode(content, list[_File], "Stylelint"):
        for invalid in file.invalidOptionWarnings:
            raise DamageError(f"Stylelint could not run a rule: {invalid.text}")
        for error in file.parseErrors:
            yield file.source, error.line, "parseError", "error", error.text
        for each in file.warnings:
            yield file.source, each.line, each.rule, each.severity, each.text
