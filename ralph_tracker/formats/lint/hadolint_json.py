"""hadolint's JSON report (`hadolint --format=json`): an array with one object per finding."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.parsed_report import Row
from ralph_tracker.formats.report_content import Content, json_array

sniff: Final = json_array("code", "column", "file", "level", "line", "message", only=True)


class _Finding(msgspec.Struct, gc=False):
    code: Any
    file: Any
    level: Any
    line: Any
    message: Any = None


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings."""
    for each in decode(content, list[_Finding], "hadolint"):
        yield each.file, each.line, each.code, each.level, each.message
