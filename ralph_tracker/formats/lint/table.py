"""The formats of linters' reports, in the order in which they are tried."""

from typing import Final

from ralph_tracker.formats.format import Format
from ralph_tracker.formats.lint import ruff_json

FORMATS: Final[tuple[Format, ...]] = (Format("ruff-json", "lint", "json", ruff_json.sniff, ruff_json.read),)
