"""The record of one iteration, as it is kept, shown and returned; as a document it has the seed's shape."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypedDict

from ralph_tracker.core.alert_types import Alert, AlertState, in_order
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.documents import (
    SCHEMA_VERSION,
    AlertDocument,
    DecisionDocument,
    MetricsDocument,
    Numbers,
    SchemaVersion,
    TrustDocument,
    UsageDocument,
    alert_document,
    decision_document,
    integrity_document,
    metrics_document,
    open_alert_document,
)
from ralph_tracker.core.integrity import IntegrityRecord
from ralph_tracker.core.lineage import Classification
from ralph_tracker.core.metrics import Metrics, Usage
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up


class DeltasDocument(TypedDict):
    from_previous: Numbers
    from_baseline: Numbers


class PlanCountsDocument(TypedDict):
    done: int
    open: int


class _SinceDocument(TypedDict, total=False):
    deltas: DeltasDocument
    adjusted_score_recorded: float


class IterationDocument(MetricsDocument, _SinceDocument):
    """Scores are 0 to 1, `breakdown` and `components` 0 to 100; null is "not measured", never 0.

    `…_recorded` are the values as written where those of now differ.
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
    tests_ever_seen: int
    verified: bool
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


class BestTracker(NamedTuple):
    """The best iteration on record after an iteration.

    `iteration` is None after the baseline, the scores then 0.0. `score` is its quality_score, `adjusted` what it was
    chosen by. `verified` is False if no iteration is verified and the highest score was taken.
    """

    iteration: int | None = None
    score: float = 0.0
    adjusted: float = 0.0
    verified: bool = True


class IterationRecord(NamedTuple):
    """All that is known and judged about one iteration.

    Scores are 0 to 1 with 4 decimals; `adjusted_score` is as of this iteration. `dimensions` are 0 to 100 and hold only
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
    tests_ever_seen: int
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
        return {
            "schema_version": SCHEMA_VERSION,
            "iteration_metrics": _iteration(self),
            **_baseline(self),
            "best_iteration_tracker": _tracker(self),
            "recommendation": decision_document(self.decision),
            "message": self.message,
        }


def _baseline(record: IterationRecord) -> _BaselineDocument:
    return {"baseline_stored": True, "next_action": "await_iteration_1"} if record.is_baseline else {}


def _iteration(record: IterationRecord) -> IterationDocument:
    return {
        "loop_id": record.loop_id,
        "iteration": record.iteration,
        "previous_iteration": record.previous,
        "timestamp": record.timestamp,
        "classification": record.classification,
        **metrics_document(record.metrics),
        **_since(record),
        "quality_score": record.quality_score,
        "adjusted_score": record.adjusted_score,
        "adjusted_because": record.adjusted_because or None,
        "score": "given" if record.score_given else "computed",
        "breakdown": _rounded(record.dimensions),
        "weights": _rounded(record.weights),
        "components": {name: None if value is None else _round(value) for name, value in record.components.items()},
        "evidence": _round(record.evidence),
        "tests_ever_seen": record.tests_ever_seen,
        "verified": record.verified,
        "is_best_iteration": record.is_best,
        "alerts": [alert_document(a, _state(a, record, "new")) for a in record.alerts],
        "open_alerts": [open_alert_document(a, _state(a, record, "open")) for a in record.open_alerts],
        "closed_alerts": list(record.closed_alerts),
        "integrity": integrity_document(record.integrity),
        "plan": None if record.plan is None else {"done": record.plan[0], "open": record.plan[1]},
        "usage": record.usage.measured() if record.usage else None,
        "blocked": record.blocked,
        "tree": record.tree,
        "notes": list(record.notes),
    }


def _since(record: IterationRecord) -> _SinceDocument:
    if record.is_baseline:
        return {}
    return {"deltas": {"from_previous": dict(record.from_previous), "from_baseline": dict(record.from_baseline)}}


def _round(value: float) -> float:
    return half_up(value, SCORE_DECIMALS)


def _rounded(values: Mapping[str, float]) -> Numbers:
    return {name: _round(value) for name, value in values.items()}


def _state(alert: Alert, record: IterationRecord, state: AlertState) -> AlertState:
    return "accepted" if alert.id in record.accepted else state


def _tracker(record: IterationRecord) -> TrackerDocument:
    """Return the seed's best_iteration_tracker."""
    best = record.best
    return {
        "current_best": None if best.iteration is None else f"iteration_{best.iteration}",
        "best_quality_score": best.score,
        "current_iteration_score": record.quality_score,
        "adjusted_best_quality_score": best.adjusted,
        "adjusted_current_iteration_score": record.adjusted_score,
        "best_is_verified": best.verified if best.iteration is not None else None,
    }
