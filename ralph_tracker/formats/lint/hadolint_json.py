"""hadolint's JSON report (`hadolint --format=json`): an array with one object per finding."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.diagnostics import Row
from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.report import LintReport
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"code", "column", "file", "level", "line", "message"})


class _Finding(msgspec.Struct, gc=False):
    code: Any
    file: Any
    level: Any
    line: Any
    message: Any = None


def sniff(content: Content) -> bool:
    """Whether it is an array of findings, which have exactly these keys."""
    return content.opening.startswith("[") and content.json_keys == _KEYS


def read(content: Content) -> LintReport:
    """Count the findings by level and code. Raises DamageError."""
    return LintReport.of(diagnostics(content))


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings."""
    for each in decode(content, list[_Finding], "hadolint"):
        yield each.file, each.line, each.code, each.level, each.message
