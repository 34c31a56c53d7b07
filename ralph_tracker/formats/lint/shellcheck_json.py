"""ShellCheck's JSON reports: an array of comments (`--format=json`), or an object with one (`json1`)."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.diagnostics import Row
from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.report import LintReport
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"file", "line", "endLine", "column", "level", "code", "message"})
_KEYS_1: Final = frozenset({"comments"})


class _Comment(msgspec.Struct, gc=False):
    file: Any
    line: Any
    level: Any
    code: Any
    message: Any = None


class _Report1(msgspec.Struct):
    comments: list[_Comment]


def sniff(content: Content) -> bool:
    """Whether it is an array of comments, or an object with comments and nothing else."""
    keys = content.json_keys
    return keys >= _KEYS if content.opening.startswith("[") else keys == _KEYS_1


def read(content: Content) -> LintReport:
    """Count the comments by level and code; style comments are notes. Raises DamageError."""
    return LintReport.of(diagnostics(content))


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the comments."""
    if content.opening.startswith("["):
        comments = decode(content, list[_Comment], "ShellCheck")
    else:
        comments = decode(content, _Report1, "ShellCheck").comments
    for each in comments:
        yield each.file, each.line, f"SC{each.code}", each.level, each.message
