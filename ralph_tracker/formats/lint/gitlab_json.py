"""GitLab's code quality JSON, written by ruff, ty, Biome, oxlint, golangci-lint, PHPStan and others.

Ruff and most others call an error `major` and a warning `minor`; Biome and oxlint, known by the shape of their rules'
names, call them `critical` and `major`.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import decode, inside
from ralph_tracker.formats.parsed_report import Row, Severity, code_text
from ralph_tracker.formats.report_content import Content, json_array

sniff: Final = json_array("description", "fingerprint", "location")
_SEVERITIES: Final[dict[str, Severity]] = {
    "blocker": "error",
    "critical": "error",
    "major": "error",
    "minor": "warning",
    "info": "note",
}
_WARNS_BY_MAJOR: Final = re.compile(r"(?:lint|assist|suppressions)/|[\w@/-]+\(")


class _Finding(msgspec.Struct, gc=False):
    description: Any
    location: Any
    check_name: Any = None
    severity: Any = None


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings."""
    for each in decode(content, list[_Finding], "code quality"):
        code = code_text(each.check_name)
        word = _SEVERITIES.get(each.severity) if isinstance(each.severity, str) else None
        if each.severity == "major" and _WARNS_BY_MAJOR.match(code):
            word = "warning"
        line = inside(each.location, "lines", "begin") or inside(each.location, "positions", "begin", "line")
        yield inside(each.location, "path"), line, code, word, each.description
