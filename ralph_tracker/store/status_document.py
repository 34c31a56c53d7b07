"""Where a loop stands, as a document: what state.json holds, and what is to be done."""

from typing import TypedDict

from ralph_tracker.core.documents import SCHEMA_VERSION, AlertDocument, SchemaVersion, StoredDecisionDocument
from ralph_tracker.core.findings import Verdict
from ralph_tracker.store.loop_status import Status, Summary
from ralph_tracker.store.restoring import InterruptedRestoreDocument, Restoring, interrupted_document


class StatusDocument(TypedDict):
    """`head` is the iteration that the next descends from; `unrecorded` was begun and is not on record.

    `missing_files` says what of the kept files is missing at a glance, null if nothing is; `verify` looks at all.
    """

    schema_version: SchemaVersion
    loop_id: str
    status: Status
    iteration: int
    head: int
    started_at: str
    updated_at: str
    classification: str
    message: str
    quality_score: float
    adjusted_score: float
    best_iteration: int | None
    best_quality_score: float
    best_adjusted_score: float
    verified: bool
    decision: StoredDecisionDocument
    alerts: list[AlertDocument]
    accepted: list[str]
    cost_usd: float | None
    carried_out: dict[str, int] | None
    integrity: Verdict | None
    unrecorded: int | None
    interrupted_restore: InterruptedRestoreDocument | None
    missing_files: str | None
    next_step: str


def status_document(
    summary: Summary,
    unrecorded: int | None,
    next_step: str,
    *,
    interrupted: Restoring | None = None,
    missing_files: str | None = None,
) -> StatusDocument:
    """Return where a loop stands, and the next step."""
    return {
        "schema_version": SCHEMA_VERSION,
        "loop_id": summary.loop_id,
        "status": summary.status,
        "iteration": summary.iteration,
        "head": summary.head,
        "started_at": summary.started_at,
        "updated_at": summary.updated_at,
        "classification": summary.classification,
        "message": summary.message,
        "quality_score": summary.quality_score,
        "adjusted_score": summary.adjusted_score,
        "best_iteration": summary.best_iteration,
        "best_quality_score": summary.best_quality_score,
        "best_adjusted_score": summary.best_adjusted_score,
        "verified": summary.verified,
        "decision": summary.decision,
        "alerts": list(summary.alerts),
        "accepted": list(summary.accepted),
        "cost_usd": summary.cost_usd,
        "carried_out": None if summary.carried_out is None else dict(summary.carried_out),
        "integrity": summary.integrity,
        "unrecorded": unrecorded,
        "interrupted_restore": interrupted_document(interrupted),
        "missing_files": missing_files,
        "next_step": next_step,
    }
