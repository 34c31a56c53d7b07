"""Validate a document that we did not write before it is shown; missing values are n/a."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ralph_tracker.config.problems import first_problem

Number = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]
Numbers = dict[str, Number | None]


class _Shown(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Deltas(_Shown):
    from_previous: Numbers | None = None
    from_baseline: Numbers | None = None


class _Trust(_Shown):
    verdict: str | None = None
    union_rate: Number | None = None
    findings: list[dict[str, Any]] | None = None
    findings_total: int = 0
    unread: dict[str, str] | None = None


class _Metrics(_Shown):
    iteration: int
    timestamp: str | None = None
    classification: str | None = None
    testing: Numbers | None = None
    quality: dict[str, Number | str | None] | None = None
    codebase: Numbers | None = None
    deltas: _Deltas | None = None
    quality_score: Number | None = None
    adjusted_score: Number | None = None
    adjusted_because: str | None = None
    breakdown: dict[str, Number] | None = None
    weights: dict[str, Number] | None = None
    components: Numbers | None = None
    evidence: Number | None = None
    verified: bool | None = None
    alerts: list[dict[str, Any]] | None = None
    open_alerts: list[dict[str, Any]] | None = None
    closed_alerts: list[str] | None = None
    usage: Numbers | None = None
    notes: list[str] | None = None
    integrity: _Trust | None = None


class _Tracker(_Shown):
    current_best: str | int | None = None
    best_quality_score: Number | None = None


class _Advice(_Shown):
    action: str | None = None
    reason: str | None = None
    confidence: Number | None = None
    alternatives: list[str] | None = None


class _Document(_Shown):
    iteration_metrics: _Metrics
    best_iteration_tracker: _Tracker | None = None
    recommendation: _Advice | None = None


def why_not_showable(document: Mapping[str, Any]) -> str | None:
    """Return in one line why a document cannot be shown, None if it can."""
    try:
        _Document.model_validate(document)
    except ValidationError as error:
        return first_problem(error, _Document)
    return None
