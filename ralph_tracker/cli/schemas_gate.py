"""The published shape of gate; a part of the table in `schemas`."""

from typing import (
    Final,
    Literal,
    NotRequired,  # pydantic brings it, and needs it before Python 3.12
)

from pydantic import ConfigDict
from typing_extensions import TypedDict

from ralph_tracker.cli.schemas_integrity import FindingShape, TrustShape
from ralph_tracker.cli.schemas_measured import Codebase, Quality, Testing

_EXACT: Final = ConfigDict(extra="forbid")


class MeasureShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    name: str
    measured: bool
    why: str | None
    accepted: bool


class FailingShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    new: list[str]
    still: list[str]


class GateAlert(TypedDict):
    """As AlertShape; what no iteration on record has raised has neither id nor time."""

    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    id: str | None
    severity: Literal["CRITICAL", "HIGH", "MEDIUM"]
    type: str
    message: str
    action: str
    triggered_at: str | None
    state: Literal["new", "open", "accepted"]
    note: NotRequired[str]
    tests: NotRequired[list[str]]
    tests_total: NotRequired[int]
    findings: NotRequired[list[FindingShape]]
    findings_total: NotRequired[int]


class GateShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    schema_version: Literal[1]
    verdict: Literal["pass", "regression", "not_measured"]
    exit_code: Literal[0, 3, 4]
    loop_id: str
    compared_with: int
    classification: Literal["forward", "plateau", "regression", "stalled"]
    quality_score: float
    adjusted_score: float
    testing: NotRequired[Testing]
    quality: NotRequired[Quality]
    codebase: NotRequired[Codebase]
    deltas: dict[str, float]
    reasons: list[str]
    next_step: str | None
    alerts: list[GateAlert]
    measures: list[MeasureShape]
    failing_tests: FailingShape | None
    integrity: TrustShape | None
    notes: list[str]
