"""The types of reports: one value object per kind, and Unreadable for everything else."""

from typing import Literal

from ralph_tracker.formats.coverage.coverage_report import CoverageReport
from ralph_tracker.formats.lint.lint_report import LintReport
from ralph_tracker.formats.tests.test_report import TestReport
from ralph_tracker.formats.types.type_report import TypeReport
from ralph_tracker.formats.unreadable import EMPTY, Unreadable

__all__ = ["EMPTY", "CoverageReport", "Kind", "LintReport", "Report", "TestReport", "TypeReport", "Unreadable"]

Kind = Literal["tests", "coverage", "lint", "types"]
Report = TestReport | CoverageReport | LintReport | TypeReport
