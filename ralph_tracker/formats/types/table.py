"""The formats of type checkers' reports, in the order in which they are tried."""

from typing import Final

from ralph_tracker.formats.format import Format
from ralph_tracker.formats.types import mypy_json, mypy_text
from ralph_tracker.formats.types.report import TypeReport

FORMATS: Final[tuple[Format, ...]] = (
    Format("mypy-json", "types", "lines", mypy_json.sniff, mypy_json.read, silence=TypeReport()),
    Format("mypy-text", "types", "text", mypy_text.sniff, mypy_text.read, silence=TypeReport()),
)
