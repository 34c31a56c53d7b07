"""The formats of coverage reports, in the order in which they are tried."""

from typing import Final

from ralph_tracker.formats.coverage import coveragepy_json
from ralph_tracker.formats.format import Format

FORMATS: Final[tuple[Format, ...]] = (
    Format("coveragepy-json", "coverage", "json", coveragepy_json.sniff, coveragepy_json.read),
)
