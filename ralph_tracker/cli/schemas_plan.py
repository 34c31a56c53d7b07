"""The published shape of plan show; a part of the table in `schemas`."""

from typing import (
    Final,
    Literal,
    NotRequired,  # pydantic brings it, and needs it before Python 3.12
)

from pydantic import ConfigDict
from typing_extensions import TypedDict

from ralph_tracker.steering.plan import Status, Trigger

_EXACT: Final = ConfigDict(extra="forbid")


class OutcomeShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    status: Literal["complete", "failed"]
    cost_usd: NotRequired[float]
    changed_files: list[str]
    commit: NotRequired[str]
    fix_cycles: int
    validation_failure: NotRequired[str]
    failing_tests: list[str]
    open_alerts: list[str]
    rolled_back: list[str]
    reason: str


class TaskShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    id: str
    title: str
    description: str
    checks: list[str]
    status: Status
    outcome: NotRequired[OutcomeShape]
    loops: NotRequired[list[str]]
    head: NotRequired[str]


class CheckpointShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    trigger: Trigger
    failed: NotRequired[str]


class SummaryShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    tasks_completed: int
    tasks_remaining: int
    tasks_skipped: int
    tasks_failed: int
    cumulative_cost: float | None
    cost_is_partial: bool
    estimated_remaining_cost: float | None
    changed_files_so_far: list[str]
    fix_cycles_so_far: int
    current_task_title: str | None


class PlanShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    schema_version: Literal[1]
    digest: str
    context: str
    current: NotRequired[str]
    fired: list[Trigger]
    scheduled_at: int
    checkpoint: NotRequired[CheckpointShape]
    dropped: list[str]
    tasks: list[TaskShape]
    summary: SummaryShape
