"""SimpleCov's results (`coverage/.resultset.json`): per command and file the hits per line, null if not counted."""

from typing import Final

from msgspec import Struct

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.parsed_report import CoverageReport
from ralph_tracker.formats.report_content import Content, DamageError

_COVERAGE: Final = "coverage"
_OF_COMMAND: Final = frozenset({_COVERAGE, "timestamp"})
_VERSION: Final = "simplecov_version"

Hits = list[int | str | None]


class _File(Struct):
    lines: Hits


class _Command(Struct):
    coverage: dict[str, _File | Hits]


def sniff(content: Content) -> bool:
    """Whether it is an object of commands with their coverage, or SimpleCov's other report."""
    inner = content.json_inner_keys
    return content.opening.startswith("{") and ((_COVERAGE in inner and inner <= _OF_COMMAND) or _VERSION in inner)


def read(content: Content) -> CoverageReport:
    """Read the rows of all commands; a line is covered if one covers it. Raises DamageError.

    `coverage.json`, which SimpleCov's JSON formatter also writes, is refused: it names no command.
    """
    if _VERSION in content.json_inner_keys:
        raise DamageError("this is the output of SimpleCov's JSON formatter; name coverage/.resultset.json instead")
    files: dict[str, dict[int, bool]] = {}
    for command in decode(content, dict[str, _Command], "SimpleCov").values():
        for path, file in command.coverage.items():
            lines = files.setdefault(path, {})
            for number, hits in enumerate(file.lines if isinstance(file, _File) else file, start=1):
                if isinstance(hits, int):
                    coverage_builder.mark(lines, number, hit=hits > 0)
    return coverage_builder.report(files)
