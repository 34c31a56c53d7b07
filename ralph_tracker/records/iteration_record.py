"""The record of one iteration, as it is kept, shown and returned; as a document it has the seed's shape."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NotRequired, TypedDict, cast, get_args

from ralph_tracker.codec import ValueObject, document_of
from ralph_tracker.core.alert_types import Alert, AlertState, in_order
from ralph_tracker.core.decision import Action, Decision
from ralph_tracker.core.integrity_result import (
    EarlierTests,
    Finding,
    Integrity,
    Rerun,
    SuppressionKind,
    Verdict,
)
from ralph_tracker.core.judge import Judgement
from ralph_tracker.core.lineage import Classification
from ralph_tracker.core.metrics import (
    METRICS,
    SCORE_DECIMALS,
    SECTIONS,
    FurtherMetric,
    Metrics,
    Usage,
    Value,
    deltas,
    half_up,
    plain_number,
    read,
)
from ralph_tracker.records.score_reasons import why_adjusted

SCHEMA_VERSION: Final = 1
SchemaVersion = Literal[1]
Document = dict[str, Any]
Numbers = dict[str, float]


class IntegrityRecord(ValueObject, shown="verdict"):
    """How far an iteration is believed, as recorded.

    `found` is the result of the comparison, including findings that were accepted.
    """

    verdict: Verdict
    found: Integrity

    def to_dict(self) -> "TrustDocument":
        """Return the verdict with what was found."""
        return {"verdict": self.verdict, **self.found.to_dict()}  # type: ignore[typeddict-item]  # its other keys


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    TestingDocument = dict[str, Value]
    QualityDocument = dict[str, Value]
    CodebaseDocument = dict[str, Value]
    UsageDocument = Numbers
    FurtherMetricDocument = Document
    RerunDocument = Document
    FindingDocument = Document
    AlertDocument = Document
    DecisionDocument = Document
    StoredDecisionDocument = Document
    EarlierTestsDocument = dict[str, int]
    SuppressionsDocument = dict[str, int]
else:

    def _measured(name: str, values: type, fields: Iterable[str]) -> type:
        """Return the document of some fields of a value that are None, and left out, where they are not known."""
        known = {field: get_args(values.__annotations__[field])[0] for field in fields}
        return TypedDict(name, known, total=False)

    TestingDocument, QualityDocument, CodebaseDocument = (
        _measured(f"{section.title()}Document", Metrics, [each.name for each in METRICS if each.section == section])
        for section in SECTIONS
    )
    UsageDocument = _measured("UsageDocument", Usage, Usage._fields)
    RerunDocument = document_of(Rerun)
    FurtherMetricDocument = document_of(FurtherMetric, {"samples": NotRequired[list[float]]})
    FindingDocument = document_of(
        Finding, about="`line` is in the new text, null where it is gone; `reference` is the iteration compared with."
    )
    AlertDocument = document_of(
        Alert,
        {
            "action": NotRequired[str],
            "state": AlertState,
            "note": NotRequired[str],
            "tests": NotRequired[list[str]],
            "tests_total": NotRequired[int],
            "findings": NotRequired[list[FindingDocument]],
            "findings_total": NotRequired[int],
        },
        about="An alert; the record that raised it has its action, note, tests and findings, later ones do not.",
    )
    EarlierTestsDocument = TypedDict("EarlierTestsDocument", dict.fromkeys(EarlierTests._fields, int))
    EarlierTestsDocument.__doc__ = (
        "How many tests of the iteration compared with are held, retired, fixed or newly met here; `no_gain` are here."
    )
    SuppressionsDocument = TypedDict("SuppressionsDocument", dict.fromkeys(get_args(SuppressionKind), int))
    SuppressionsDocument.__doc__ = "How many are new since the baseline; fewer than there were is below 0."
    DecisionDocument = document_of(
        Decision, about="`confidence` is 0 to 1; `target_iteration` is set for a rollback only."
    )
    StoredDecisionDocument = document_of(
        Decision, {"rule": int}, about="`rule` is the row of the decision table that decided."
    )


class MetricsDocument(TypedDict, total=False):
    testing: TestingDocument
    quality: QualityDocument
    codebase: CodebaseDocument


class TrustDocument(TypedDict):
    """`earlier_tests` is null where earlier tests cannot be run."""

    verdict: Verdict
    reruns: list[RerunDocument]
    findings: list[FindingDocument]
    findings_total: int
    earlier_tests: EarlierTestsDocument | None
    suppressions: SuppressionsDocument
    unread: dict[str, str]


class DeltasDocument(TypedDict):
    from_previous: Numbers
    from_baseline: Numbers


class PlanCountsDocument(TypedDict):
    done: int
    open: int


class _FurtherDocument(TypedDict, total=False):
    metrics: dict[str, FurtherMetricDocument]


class _SinceDocument(TypedDict, total=False):
    deltas: DeltasDocument


class IterationDocument(MetricsDocument, _FurtherDocument, _SinceDocument):
    """Scores are 0 to 1, `breakdown` and `components` 0 to 100; null is "not measured", never 0.

    `kept_before` is the iteration that was the one to take before this one, `not_kept` why this one did not take its
    place.
    """

    loop_id: str
    iteration: int
    previous_iteration: int | None
    timestamp: str
    classification: Classification
    quality_score: float
    adjusted_score: float
    adjusted_because: str | None
    score: Literal["given", "computed"]
    breakdown: Numbers
    weights: Numbers
    components: dict[str, float | None]
    evidence: float
    verified: bool
    kept_before: int | None
    not_kept: str | None
    is_best_iteration: bool
    alerts: list[AlertDocument]
    open_alerts: list[AlertDocument]
    closed_alerts: list[str]
    integrity: TrustDocument | None
    plan: PlanCountsDocument | None
    usage: UsageDocument | None
    blocked: str | None
    tree: str | None
    notes: list[str]


class _BaselineDocument(TypedDict, total=False):
    baseline_stored: bool  # always true, which msgspec 0.19 cannot say in a schema
    next_action: str


class TrackerDocument(TypedDict):
    current_best: str | None
    best_quality_score: float
    current_iteration_score: float
    adjusted_best_quality_score: float
    adjusted_current_iteration_score: float
    best_is_verified: bool | None


class RecordDocument(_BaselineDocument):
    schema_version: SchemaVersion
    iteration_metrics: IterationDocument
    best_iteration_tracker: TrackerDocument
    recommendation: DecisionDocument
    message: str


class BestTracker(
    ValueObject,
    document="current_best best_quality_score=score adjusted_best_quality_score=adjusted best_is_verified=verified",
):
    """The best iteration on record after an iteration.

    It is the kept iteration (semantics § 8). `iteration` is None after the baseline, the scores then 0.0. `score` is
    its quality_score, `adjusted` its adjusted score.
    """

    iteration: int | None = None
    score: float = 0.0
    adjusted: float = 0.0
    verified: bool = True

    @property
    def current_best(self) -> str | None:
        """Return the iteration in the words of the specification."""
        return None if self.iteration is None else f"iteration_{self.iteration}"


class IterationRecord(ValueObject, shown="loop_id iteration classification adjusted_score action alert_ids"):
    """All that is known and judged about one iteration.

    Scores are 0 to 1 with 4 decimals. `kept_before` is the iteration that was kept before this one (None: a baseline),
    `not_kept` why this one did not take its place (None: it did). `dimensions` are 0 to 100 and hold only
    those of the loop, `components` None if not measured. `previous` is the iteration that this one descends from (None
    for the baseline). `integrity` is None if nobody compared files and tests. `alerts` are new, `open_alerts` carried;
    `closed_alerts` and `accepted` name ids. `plan` counts its tasks, done and open.
    """

    loop_id: str
    iteration: int
    previous: int | None
    timestamp: str
    classification: Classification
    metrics: Metrics
    quality_score: float
    adjusted_score: float
    adjusted_because: str
    score_given: bool
    dimensions: Mapping[str, float]
    weights: Mapping[str, float]
    components: Mapping[str, float | None]
    evidence: float
    verified: bool
    kept_before: int | None
    not_kept: str | None
    best: BestTracker
    decision: Decision
    message: str
    from_previous: Mapping[str, float] = {}
    from_baseline: Mapping[str, float] = {}
    alerts: tuple[Alert, ...] = ()
    open_alerts: tuple[Alert, ...] = ()
    closed_alerts: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    usage: Usage | None = None
    blocked: str | None = None
    tree: str | None = None
    integrity: IntegrityRecord | None = None
    plan: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()
    further: tuple[FurtherMetric, ...] = ()
    objective_note: str = ""

    @property
    def action(self) -> Action:
        """Return what the loop should do next."""
        return self.decision.action

    @property
    def alert_ids(self) -> tuple[str, ...]:
        """Return the ids of the alerts that nobody has accepted."""
        return tuple(alert.id for alert in self.unaccepted_alerts)

    @property
    def is_baseline(self) -> bool:
        """Return whether this is iteration 0."""
        return self.previous is None

    @property
    def unaccepted_alerts(self) -> tuple[Alert, ...]:
        """Return the new and open alerts that nobody has accepted, in order."""
        return in_order(alert for alert in (*self.alerts, *self.open_alerts) if alert.id not in self.accepted)

    @property
    def is_best(self) -> bool:
        """Return whether this iteration is the best on record; never for the baseline."""
        return self.best.iteration == self.iteration

    def to_dict(self) -> RecordDocument:
        """Return the record as the seed's `iteration_metrics` document."""
        best = self.best
        baseline: _BaselineDocument = {}
        if self.is_baseline:
            baseline = {"baseline_stored": True, "next_action": "await_iteration_1"}
        return {
            "schema_version": SCHEMA_VERSION,
            "iteration_metrics": _iteration(self),
            **baseline,
            "best_iteration_tracker": {
                "current_best": best.current_best,
                "best_quality_score": best.score,
                "current_iteration_score": self.quality_score,
                "adjusted_best_quality_score": best.adjusted,
                "adjusted_current_iteration_score": self.adjusted_score,
                "best_is_verified": best.verified if best.iteration is not None else None,
            },
            "recommendation": self.decision.to_dict(),
            "message": self.message,
        }


def message_of(decision: Decision, classification: Classification, alerts: tuple[Alert, ...]) -> str:
    """Return the one line for an orchestrator (semantics § 8); `alerts` are the new and open ones in order."""
    if decision.rule in {1, 3, 4, 5, 7}:
        title = alerts[0].kind.title if alerts else "Regression"
        return f"ALERT: {title}, recommend {decision.action}"
    if decision.action == "continue" and classification == "forward":
        return "Forward progress detected, continue"
    return decision.reason


def record_of(judgement: Judgement) -> IterationRecord:
    """Return the record of a judged iteration."""
    inputs, assessment, walked = judgement.inputs, judgement.assessment, judgement.walked
    state, basis, metrics, measurement, *_ = facts = inputs.facts
    found, verdict, best = measurement.integrity, inputs.integrity_alerts.verdict, judgement.state.best
    if not facts.iteration or best is None:
        tracker, from_baseline = BestTracker(), {}
    else:
        tracker = BestTracker(best.iteration, best.quality_score, best.score, best.verified)
        from_baseline = deltas(metrics, read(basis.baseline, 0))
    return IterationRecord(
        loop_id=state.loop_id,
        iteration=facts.iteration,
        previous=state.lineage.head,
        timestamp=measurement.timestamp,
        classification=assessment.classification,
        metrics=metrics,
        quality_score=inputs.score.value,
        adjusted_score=inputs.adjusted,
        adjusted_because=why_adjusted(
            basis,
            metrics,
            inputs.score.value,
            inputs.adjusted,
            inputs.tally,
            {} if found is None else found.suppressions,
        ),
        score_given=basis.given_score,
        dimensions={} if basis.given_score else inputs.score.dimensions,
        weights={} if basis.given_score else basis.weights,
        components=inputs.score.components,
        evidence=inputs.score.evidence,
        verified=walked.verified,
        kept_before=walked.kept_before,
        not_kept=None if walked.refusal is None else walked.refusal.why,
        best=tracker,
        decision=judgement.decision,
        message=message_of(judgement.decision, assessment.classification, assessment.counting),
        from_previous=deltas(metrics, state.lineage.readings),
        from_baseline=from_baseline,
        alerts=assessment.new,
        open_alerts=assessment.carried,
        closed_alerts=assessment.closed,
        accepted=assessment.accepted,
        usage=measurement.usage,
        blocked=measurement.blocked,
        tree=measurement.tree,
        integrity=None if found is None or verdict is None else IntegrityRecord(verdict, found),
        plan=measurement.plan,
        notes=(*_notes(judgement), *measurement.notes),
        further=measurement.further,
        objective_note="" if inputs.weighed is None else inputs.weighed.note,
    )


def target_note(target: float, score: float) -> str:
    """Return why a target that the baseline has reached does not end the loop, and what does."""
    return (
        f"the target {plain_number(target)} never stops this loop, because its baseline already scores "
        f"{plain_number(score)}: set a higher target, or none; the loop ends when the agent changes nothing and "
        "everything passes"
    )


def _notes(judgement: Judgement) -> list[str]:
    facts, weighed = judgement.inputs.facts, judgement.inputs.weighed
    notes = [weighed.note] if weighed is not None and weighed.note else []
    if facts.iteration == 0 and judgement.state.met_target:
        notes.append(target_note(facts.state.thresholds.loop.target_score or 0, judgement.inputs.adjusted))
    given, used = facts.measurement.metrics.error_count, facts.metrics.error_count
    if given is not None and given != used:
        sums = "not recorded" if used is None else f"{used} is recorded"
        notes.append(f"error_count {given} was given; this loop sums it from its parts since the baseline: {sums}")
    return notes


def _iteration(record: IterationRecord) -> IterationDocument:
    since: _SinceDocument = {}
    further: _FurtherDocument = {"metrics": {m.name: m.to_dict() for m in record.further}} if record.further else {}
    if not record.is_baseline:
        since = {"deltas": {"from_previous": dict(record.from_previous), "from_baseline": dict(record.from_baseline)}}
    return {
        "loop_id": record.loop_id,
        "iteration": record.iteration,
        "previous_iteration": record.previous,
        "timestamp": record.timestamp,
        "classification": record.classification,
        **cast("MetricsDocument", record.metrics.to_dict()),
        **further,
        **since,
        "quality_score": record.quality_score,
        "adjusted_score": record.adjusted_score,
        "adjusted_because": record.adjusted_because or None,
        "score": "given" if record.score_given else "computed",
        "breakdown": _round_values(record.dimensions),
        "weights": _round_values(record.weights),
        "components": {name: None if value is None else _round(value) for name, value in record.components.items()},
        "evidence": _round(record.evidence),
        "verified": record.verified,
        "kept_before": record.kept_before,
        "not_kept": record.not_kept,
        "is_best_iteration": record.is_best,
        "alerts": [a.to_dict(_state(a, record, "new")) for a in record.alerts],
        "open_alerts": [a.in_short(_state(a, record, "open")) for a in record.open_alerts],
        "closed_alerts": list(record.closed_alerts),
        "integrity": None if record.integrity is None else record.integrity.to_dict(),
        "plan": None if record.plan is None else {"done": record.plan[0], "open": record.plan[1]},
        "usage": record.usage.to_dict() if record.usage else None,
        "blocked": record.blocked,
        "tree": record.tree,
        "notes": list(record.notes),
    }


def _round(value: float) -> float:
    return half_up(value, SCORE_DECIMALS)


def _round_values(values: Mapping[str, float]) -> Numbers:
    return {name: _round(value) for name, value in values.items()}


def _state(alert: Alert, record: IterationRecord, state: AlertState) -> AlertState:
    return "accepted" if alert.id in record.accepted else state
