"""The formats of test reports, in the order in which they are tried."""

from typing import Final

from ralph_tracker.formats.format import Format
from ralph_tracker.formats.tests import junit

FORMATS: Final[tuple[Format, ...]] = (Format("junit", "tests", "xml", junit.sniff, junit.read),)
