"""Ruff's JSON report (`ruff check --output-format=json`): an array with one object per finding."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.diagnostics import Row, code_text, inside, severity_of_word
from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.report import LintReport
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"code", "filename", "location", "end_location", "message"})
_SYNTAX: Final = "invalid-syntax"


class _Finding(msgspec.Struct, gc=False):
    code: Any
    filename: Any
    location: Any
    end_location: msgspec.Raw
    message: Any
    severity: Any = None


def sniff(content: Content) -> bool:
    """Whether it is an array of findings; ruff writes an empty one if it finds nothing."""
    return content.opening.startswith("[") and (content.json_keys >= _KEYS or content.is_empty_array)


def read(content: Content) -> LintReport:
    """Count the findings by severity and by code; suppressed ones are not in the report. Raises DamageError."""
    return LintReport.of(diagnostics(content))


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings; syntax errors have no code, and older versions of ruff write no severity."""
    for each in decode(content, list[_Finding], "ruff"):
        code = code_text(each.code) or _SYNTAX
        word = severity_of_word(each.severity) or ("error" if code == _SYNTAX else None)
        yield each.filename, inside(each.location, "row"), code, word, each.message
