"""The formats of linters' reports, in the order in which they are tried."""

from typing import Final

from ralph_tracker.formats.format import Format
from ralph_tracker.formats.lint.report import LintReport

FORMATS: Final[tuple[Format, ...]] = (
    Format("checkstyle", "lint", "xml"),
    Format("ruff-json", "lint", "json"),
    Format("sarif", "lint", "json"),
    Format("eslint-json", "lint", "json"),
    Format("pylint-json", "lint", "json"),
    Format("shellcheck-json", "lint", "json"),
    Format("hadolint-json", "lint", "json"),
    Format("stylelint-json", "lint", "json"),
    Format("golangci-json", "lint", "lines"),
    Format("cargo-json", "lint", "lines"),
    Format("pylint-text", "lint", "text", silence=LintReport()),
    Format("flake8-text", "lint", "text", silence=LintReport()),
)
