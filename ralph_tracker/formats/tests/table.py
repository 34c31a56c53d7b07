"""The formats of test reports, in the order in which they are tried."""

from typing import Final

from ralph_tracker.formats.format import Format

FORMATS: Final[tuple[Format, ...]] = (
    Format("junit", "tests", "xml"),
    Format("nunit", "tests", "xml"),
    Format("xunitnet", "tests", "xml"),
    Format("trx", "tests", "xml"),
    Format("jest-json", "tests", "json"),
    Format("mocha-json", "tests", "json"),
    Format("rspec-json", "tests", "json"),
    Format("gotest-json", "tests", "lines"),
    Format("dart-json", "tests", "lines"),
    Format("tap", "tests", "text"),
    Format("libtest-text", "tests", "text"),
    Format("pytest-text", "tests", "text"),
)
