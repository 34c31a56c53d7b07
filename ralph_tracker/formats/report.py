"""What report files come down to: one value object a kind of report, and Unreadable for all that is none."""

from typing import Final, Literal, NamedTuple

from ralph_tracker.formats.coverage.coverage_report import CoverageReport
from ralph_tracker.formats.lint.lint_report import LintReport
from ralph_tracker.formats.tests.test_report import TestReport
from ralph_tracker.formats.types.type_report import TypeReport

__all__ = ["EMPTY", "CoverageReport", "Kind", "LintReport", "Report", "TestReport", "TypeReport", "Unreadable"]

Kind = Literal["tests", "coverage", "lint", "types"]
Report = TestReport | CoverageReport | LintReport | TypeReport

EMPTY: Final = "empty"


class Unreadable(NamedTuple):
    """Say why bytes are no report, and where: lines and columns count from 1, None is unknown.

    It stands for "not measured", never for zero.
    """

    why: str
    line: int | None = None
    column: int | None = None

    @property
    def empty(self) -> bool:
        """Whether there was nothing at all, which some tools write when they find nothing (see registry.py)."""
        return self.why == EMPTY

    def __str__(self) -> str:
        if self.line is None:
            return self.why
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.why} (line {self.line}{column})"
