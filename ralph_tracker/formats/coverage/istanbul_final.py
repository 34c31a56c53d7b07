"""Istanbul's full report (`coverage-final.json` of nyc, c8, jest and vitest): statements and their hits."""

from typing import Annotated, Final

from msgspec import Meta, Struct, field

from ralph_tracker.formats import json_typed
from ralph_tracker.formats.coverage import rows
from ralph_tracker.formats.coverage.coverage_report import CoverageReport
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"statementMap", "s"})


class _Position(Struct):
    line: Annotated[int, Meta(ge=0)]


class _Statement(Struct):
    start: _Position


class _File(Struct):
    statements: dict[str, _Statement] = field(name="statementMap")
    hits: dict[str, int] = field(name="s")


def sniff(content: Content) -> bool:
    """Whether it is an object of files with statements."""
    return content.opening.startswith("{") and content.json_inner_keys >= _KEYS


def read(content: Content) -> CoverageReport:
    """Read the lines as Istanbul counts them: those on which a statement begins. Raises DamageError."""
    files: dict[str, dict[int, bool]] = {}
    for path, file in json_typed.decode(content, dict[str, _File], "Istanbul").items():
        lines = files[path] = {}
        for name, hits in file.hits.items():
            statement = file.statements.get(name)
            if statement is not None:
                rows.mark(lines, statement.start.line, hit=hits > 0)
    return rows.report(files)
