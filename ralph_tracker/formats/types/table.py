"""The formats of type checkers' reports, in the order in which they are tried."""

from typing import Final

from ralph_tracker.formats.format import Format
from ralph_tracker.formats.types.report import TypeReport

FORMATS: Final[tuple[Format, ...]] = (
    Format("pyright-json", "types", "json"),
    Format("mypy-json", "types", "lines", silence=TypeReport()),
    Format("mypy-text", "types", "text", silence=TypeReport()),
    Format("tsc-text", "types", "text", silence=TypeReport()),
)
