"""The published shapes of the three sections of metrics; a part of the table in `schemas`."""

from typing import Final, Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

_EXACT: Final = ConfigDict(extra="forbid")


class Testing(TypedDict, total=False):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    test_count: int
    tests_passed: int
    tests_failed: int
    tests_skipped: int
    pass_rate: float
    coverage_percentage: float
    coverage_lines_covered: int
    coverage_lines_total: int


class Quality(TypedDict, total=False):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    lint_errors: int
    lint_warnings: int
    type_errors: int
    build_status: Literal["success", "failure"]
    error_count: int


class Codebase(TypedDict, total=False):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    file_count: int
    loc_total: int
    complexity_score: float
