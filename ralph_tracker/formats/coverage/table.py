"""The formats of coverage reports, in the order in which they are tried."""

from typing import Final

from ralph_tracker.formats.format import Format

FORMATS: Final[tuple[Format, ...]] = (
    Format("cobertura", "coverage", "xml"),
    Format("jacoco", "coverage", "xml"),
    Format("clover", "coverage", "xml"),
    Format("opencover", "coverage", "xml"),
    Format("coveragepy-json", "coverage", "json"),
    Format("llvm-cov-json", "coverage", "json"),
    Format("istanbul-summary", "coverage", "json"),
    Format("istanbul-final", "coverage", "json"),
    Format("simplecov", "coverage", "json"),
    Format("coveragepy-sqlite", "coverage", "text"),
    Format("gocover", "coverage", "text"),
    Format("lcov", "coverage", "text"),
    Format("coveragepy-text", "coverage", "text"),
)
