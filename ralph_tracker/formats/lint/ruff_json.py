"""Ruff's JSON report (`ruff check --output-format=json`): an array with one object per finding.

Findings that the code suppresses are not in it.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import decode, inside
from ralph_tracker.formats.parsed_report import Row, code_text, severity_of_word
from ralph_tracker.formats.report_content import Content, any_of, empty_array, json_array

sniff: Final = any_of(json_array("code", "filename", "location", "end_location", "message"), empty_array)
_SYNTAX: Final = "invalid-syntax"


class _Finding(msgspec.Struct, gc=False):
    code: Any
    filename: Any
    location: Any
    end_location: msgspec.Raw
    message: Any
    severity: Any = None


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings; syntax errors have no code, and older versions of ruff write no severity."""
    for each in decode(content, list[_Finding], "ruff"):
        code = code_text(each.code) or _SYNTAX
        word = severity_of_word(each.severity) or ("error" if code == _SYNTAX else None)
        yield each.filename, inside(each.location, "row"), code, word, each.message
