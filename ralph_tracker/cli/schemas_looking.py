"""The published shapes of diff, and of what show adds to a record; a part of the table in `schemas`."""

from typing import Final, Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

_EXACT: Final = ConfigDict(extra="forbid")
Number = float


class Side(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    iteration: int
    classification: str | None


class Change(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    name: str
    before: Number | str | None
    after: Number | str | None
    change: Number | None
    verdict: Literal["better", "worse", "same", "changed", "unknown"]


class Outcome(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    id: str
    before: Literal["passed", "failed", "skipped"] | None
    after: Literal["passed", "failed", "skipped"] | None


class Outcomes(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    broken: list[Outcome]
    fixed: list[Outcome]
    newly_skipped: list[Outcome]
    new: list[Outcome]
    gone: list[Outcome]


class FileShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    path: str
    status: Literal["added", "modified", "deleted", "renamed", "type_changed"]
    old_path: str | None
    old_mode: str | None
    new_mode: str | None
    content: Literal["text", "large", "binary"]
    added: int | None
    deleted: int | None
    patch: str | None


class DiffShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    loop_id: str
    before: Side
    after: Side
    scores: list[Change]
    metrics: list[Change]
    tests: Outcomes | None
    tests_note: str | None
    files: list[FileShape] | None
    files_note: str | None


class Share(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    name: str
    dimension: str
    value: Number | None
    weight: Number
    contribution: Number


class Rule(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    number: int
    condition: str


class CheckEnd(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    name: str
    exit_code: int | None
    signal: str | None
    timed_out: bool
    problem: str | None
    duration_s: Number
    summary: str


class ExplanationShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    components: list[Share]
    alerts: dict[str, str]
    rule: Rule | None
    compared_with: int | None
    tests: Outcomes | None
    tests_note: str | None
    files: list[FileShape] | None
    files_note: str | None
    checks: list[CheckEnd] | None
    output: str | None
