"""ralph-tracker schema: the shape of what is handed in, and of what every `--json` prints."""

from collections.abc import Callable
from typing import (
    Any,  # pydantic brings it, and needs it before Python 3.12
    Final,
    Literal,
    NotRequired,
)

import click
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from ralph_tracker.cli.output import say_json
from ralph_tracker.config.schema import ConfigDocument
from ralph_tracker.measure.given_models import GivenMetrics, GivenUsage
from ralph_tracker.steering.plan import Status as TaskStatus
from ralph_tracker.steering.plan import Trigger

_EXACT: Final = ConfigDict(extra="forbid")
Number = float
VerdictWord = Literal["PASS", "SUSPECT", "TAMPERED", "UNPROVEN"]
SeverityWord = Literal["CRITICAL", "HIGH", "MEDIUM"]
Numbers = dict[str, float]
# Listed here so that help and completion need no pydantic; a test holds it against the table.
NAMES: Final = (
    "config",
    "metrics",
    "usage",
    "record",
    "decision",
    "selection",
    "status",
    "history",
    "show",
    "diff",
    "acceptance",
    "report",
    "restore",
    "verify",
    "gc",
    "doctor",
    "gate",
    "integrity",
    "read",
    "simulate",
    "plan",
)


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


class FindingShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    rule: str
    severity: SeverityWord
    message: str
    file: str
    line: int | None
    test: str | None
    tests: list[str]
    old: str | None
    new: str | None
    reference: int | None
    failure: str | None
    command: str | None


class RerunShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    references: dict[str, int]
    files: list[str]
    whole: bool
    commands: list[str]
    duration_s: Number
    tests: int
    failed: int
    flaky: list[str]
    problem: str | None


class Suppressions(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    lint: int
    types: int
    coverage: int


class TrustShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    verdict: VerdictWord
    verdict_recorded: NotRequired[VerdictWord]
    union_rate: Number | None
    reruns: list[RerunShape]
    findings: list[FindingShape]
    findings_total: int
    tests_matched: int
    suppressions: Suppressions
    unread: dict[str, str]


class HeldFinding(FindingShape):
    alert: str | None
    state: Literal["new", "open", "accepted"]


class HeldTests(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    alert: str
    state: Literal["new", "open", "accepted"]
    type: str
    severity: SeverityWord
    message: str
    tests: dict[str, str]


class IntegrityShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    schema_version: Literal[1]
    loop_id: str
    iteration: int
    verdict: VerdictWord
    verdict_recorded: VerdictWord
    pass_rate: Number | None
    union_rate: Number | None
    quality_score: Number
    adjusted_score: Number
    reruns: list[RerunShape]
    findings: list[HeldFinding]
    tests: list[HeldTests]
    matched: dict[str, list[str]]
    suppressions: Suppressions
    unread: dict[str, str]


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
    best: list[str]
    tests: Outcomes | None
    tests_note: str | None
    files: list[FileShape] | None
    files_note: str | None
    checks: list[CheckEnd] | None
    output: str | None


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
    status: TaskStatus
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


class Restored(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    iteration: int | None
    undone: str | None
    undo: str


class Verified(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    damaged: dict[str, list[str]]
    collected: list[int]


class CollectedIteration(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    iteration: int
    bytes: int


class KeptIteration(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    iteration: int
    reasons: list[str]


class CollectionShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    loop_id: str
    keeps_files: bool
    collected: list[CollectedIteration]
    kept: list[KeptIteration]
    undo: list[str]
    leftovers: list[str]
    carried_out: bool
    freed_bytes: int | None


class Examined(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    what: str
    state: Literal["ok", "warning", "missing"]
    found: str
    next_step: str | None


class Examination(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    healthy: bool
    lines: list[Examined]


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


class PlanCounts(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    done: int
    open: int


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
    plan: PlanCounts | None
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
    accepted_with: list[str]
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


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES), metavar="NAME")
def command(name: str) -> None:
    """Print the JSON Schema NAME.

    config, metrics and usage are handed in. record is printed by pre-loop and post-iteration; decision by
    loop-decision; selection by post-loop and select-best; the others by the verb of their name (acceptance: accept).
    """
    say_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **SCHEMAS[name]()})
