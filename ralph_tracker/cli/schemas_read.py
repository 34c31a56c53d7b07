"""The published shape of read; a part of the table in `schemas`."""

from typing import Final, Literal, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict

_EXACT: Final = ConfigDict(extra="forbid")


class CaseCounts(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    tests: int
    passed: int
    failed: int
    errors: int
    skipped: int


class CoverageCounts(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    lines_covered: int
    lines_total: int
    percent: float | None


class LintCounts(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    results: int
    errors: int
    warnings: int
    notes: int
    suppressed: int


class TypeCounts(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    errors: int
    warnings: int


class ReadFile(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    path: str
    status: Literal["ok", "unreadable"]
    kind: Literal["tests", "coverage", "lint", "types"] | None
    format: str | None
    why: str | None
    line: int | None
    column: int | None
    contradiction: str | None
    note: str | None
    tests: NotRequired[CaseCounts]
    coverage: NotRequired[CoverageCounts]
    lint: NotRequired[LintCounts]
    types: NotRequired[TypeCounts]
