"""ShellCheck's JSON reports: an array of comments (`--format=json`), or an object with one (`json1`)."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.parsed_report import Row
from ralph_tracker.formats.report_content import Content, any_of, json_array, json_object

sniff: Final = any_of(
    json_array("file", "line", "endLine", "column", "level", "code", "message"), json_object("comments", only=True)
)


class _Comment(msgspec.Struct, gc=False):
    file: Any
    line: Any
    level: Any
    code: Any
    message: Any = None


class _Report1(msgspec.Struct):
    comments: list[_Comment]


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the comments."""
    if content.opening.startswith("["):
        comments = decode(content, list[_Comment], "ShellCheck")
    else:
        comments = decode(content, _Report1, "ShellCheck").comments
    for each in comments:
        yield each.file, each.line, f"SC{each.code}", each.level, each.message
