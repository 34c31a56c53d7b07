"""The published shapes: what is handed in, and what every `--json` prints. Real output is tested against them."""

from collections.abc import Callable
from typing import (
    Any,
    Final,
    Literal,
    NotRequired,  # pydantic brings it, and needs it before Python 3.12
)

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from ralph_tracker.cli.schemas_gate import GateShape
from ralph_tracker.cli.schemas_integrity import FindingShape, IntegrityShape, TrustShape, VerdictWord
from ralph_tracker.cli.schemas_looking import DiffShape, ExplanationShape
from ralph_tracker.cli.schemas_measured import Codebase, Quality, Testing
from ralph_tracker.cli.schemas_plan import PlanShape
from ralph_tracker.cli.schemas_read import ReadFile
from ralph_tracker.cli.schemas_simulate import SimulationShape
from ralph_tracker.cli.schemas_upkeep import CollectionShape, Examination, Restored, Verified
from ralph_tracker.config.schema import ConfigDocument
from ralph_tracker.measure.given_models import GivenMetrics, GivenUsage

_EXACT: Final = ConfigDict(extra="forbid")
Number = float
Numbers = dict[str, float]


class AlertShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    id: str
    severity: Literal["CRITICAL", "HIGH", "MEDIUM"]
    type: str
    message: str
    triggered_at: str
    state: Literal["new", "open", "closed", "accepted"]
    action: NotRequired[str]
    note: NotRequired[str]
    tests: NotRequired[list[str]]
    tests_total: NotRequired[int]
    findings: NotRequired[list[FindingShape]]
    findings_total: NotRequired[int]


class Deltas(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    from_previous: Numbers
    from_baseline: Numbers


class UsageShape(TypedDict, total=False):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    cost_usd: Number
    input_tokens: int
    output_tokens: int
    turns: int
    duration_s: Number


class Iteration(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    loop_id: str
    iteration: int
    previous_iteration: int | None
    timestamp: str
    classification: Literal["baseline", "forward", "plateau", "regression", "stalled"]
    testing: NotRequired[Testing]
    quality: NotRequired[Quality]
    codebase: NotRequired[Codebase]
    deltas: NotRequired[Deltas]
    quality_score: Number
    adjusted_score: Number
    adjusted_score_recorded: NotRequired[Number]
    adjusted_because: str | None
    score: Literal["given", "computed"]
    breakdown: Numbers
    weights: Numbers
    components: dict[str, Number | None]
    evidence: Number
    tests_ever_seen: int
    verified: bool
    is_best_iteration: bool
    alerts: list[AlertShape]
    open_alerts: list[AlertShape]
    closed_alerts: list[str]
    integrity: TrustShape | None
    usage: UsageShape | None
    blocked: str | None
    tree: str | None
    notes: list[str]


class Tracker(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    current_best: str | None
    best_quality_score: Number
    current_iteration_score: Number
    adjusted_best_quality_score: Number
    adjusted_current_iteration_score: Number
    best_is_verified: bool | None


class DecisionShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    action: Literal["continue", "stop", "rollback", "escalate"]
    target_iteration: int | None
    reason: str
    confidence: Number
    alternatives: list[str]


class Record(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    schema_version: Literal[1]
    iteration_metrics: Iteration
    baseline_stored: NotRequired[Literal[True]]
    next_action: NotRequired[str]
    best_iteration_tracker: Tracker
    recommendation: DecisionShape
    message: str


class Shown(Record):
    explanation: ExplanationShape


class Criteria(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    primary: str
    threshold: Number
    verification_required: bool


class Details(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    iteration: int
    quality_score: Number
    adjusted_score: Number
    timestamp: str
    testing: NotRequired[Testing]
    quality: NotRequired[Quality]
    codebase: NotRequired[Codebase]
    artifacts_path: str


class Comparison(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    final_quality: Number
    selected_quality: Number
    adjusted_final_quality: Number
    adjusted_selected_quality: Number
    delta: Number
    improvement_percentage: Number | None
    reason_final_not_selected: str | None


class DegradationShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    degradation_started: str | None
    pattern: Literal["none", "over_refinement", "fluctuating"]
    iterations_after_peak: int
    quality_loss: str | None


class Applied(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    source: str | None
    destination: str | None
    files_copied: list[str]
    files_deleted: list[str]
    note: str


class BestOutput(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    loop_id: str
    total_iterations: int
    selected_iteration: int
    final_iteration: int
    mode: str
    accepted: bool
    verified: bool
    integrity: VerdictWord | None
    override_reason: str | None
    quality_trajectory: Numbers
    adjusted_quality_trajectory: Numbers
    peak_by_quality_score: int
    selection_criteria: Criteria
    selected_iteration_details: Details
    comparison_to_final: Comparison
    selection_rationale: list[str]
    degradation_analysis: DegradationShape
    artifacts_applied: Applied
    report_generated: str
    verified_again: bool
    unreadable: list[str]


class SelectionShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    schema_version: Literal[1]
    best_output_selection: BestOutput
    message: str


class StoredDecision(DecisionShape):
    rule: int


class Status(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    schema_version: Literal[1]
    loop_id: str
    status: Literal["running", "finished", "abandoned", "rebaselined"]
    iteration: int
    head: int
    started_at: str
    updated_at: str
    classification: str
    message: str
    quality_score: Number
    adjusted_score: Number
    best_iteration: int | None
    best_quality_score: Number
    best_adjusted_score: Number
    verified: bool
    decision: StoredDecision
    alerts: list[AlertShape]
    accepted: list[str]
    cost_usd: Number | None
    unrecorded: int | None
    carried_out: dict[str, int] | None
    integrity: VerdictWord | None
    next_step: str


class Acceptance(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    accepted: str
    reason: str
    best_iteration: int | None
    decision: DecisionShape


class ReportText(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    iteration: int
    format: Literal["md"]
    text: str


def _of(shape: Any) -> Callable[[], dict[str, Any]]:  # noqa: ANN401  # any type that pydantic knows
    return lambda: TypeAdapter(shape).json_schema()


SCHEMAS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "config": ConfigDocument.model_json_schema,
    "metrics": GivenMetrics.model_json_schema,
    "usage": GivenUsage.model_json_schema,
    "record": _of(Record),
    "decision": _of(DecisionShape),
    "selection": _of(SelectionShape),
    "status": _of(Status),
    "history": _of(list[Record]),
    "show": _of(Shown),
    "diff": _of(DiffShape),
    "acceptance": _of(Acceptance),
    "report": _of(ReportText),
    "restore": _of(Restored),
    "verify": _of(Verified),
    "gc": _of(CollectionShape),
    "doctor": _of(Examination),
    "gate": _of(GateShape),
    "integrity": _of(IntegrityShape),
    "read": _of(list[ReadFile]),
    "simulate": _of(SimulationShape),
    "plan": _of(PlanShape),
}
