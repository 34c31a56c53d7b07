"""The published shape of simulate; a part of the table in `schemas`."""

from typing import Final, Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

_EXACT: Final = ConfigDict(extra="forbid")


class PartsShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    velocity: float
    not_stuck: float
    tokens: float
    interventions: float
    complexity: float


class EvaluationShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    should_continue: bool
    reason: str


class TurnShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    turn: int
    action: Literal["continue", "nudge_synthesis", "force_synthesis"]
    score: float
    parts: PartsShape
    terms: PartsShape
    reasons: list[str]
    message: str | None
    evaluation: EvaluationShape | None


class AllowedShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    max_interventions: int
    max_iterations: int
    tool_budget: int
    share: float


class ProgressShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    unique_files_read: int
    total_file_reads: int
    files_revisited: int
    tools_used: int
    total_iterations: int


class SimulationShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    schema_version: Literal[1]
    complexity: Literal["simple", "medium", "complex", "generation"]
    limits: AllowedShape
    context_window: int
    context_tokens: int | None
    interventions: int
    progress: ProgressShape
    turns: list[TurnShape]
