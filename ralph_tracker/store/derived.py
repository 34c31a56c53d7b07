"""What follows from a record: its line of the trajectory, where the loop stands, the best tracker."""

from collections.abc import Iterator, Mapping
from typing import Any

from ralph_tracker.core.best import Candidate
from ralph_tracker.core.documents import Document, alert_document, carried_document
from ralph_tracker.core.judge import Judgement
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.store import codec
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.summary import SCHEMA_VERSION, Summary


def row_of(document: Mapping[str, Any], candidate: Candidate) -> Document:
    """Return the line of the trajectory for a record."""
    record = document["iteration_metrics"]
    kept = ("iteration", "previous_iteration", "timestamp", "classification", "quality_score", "adjusted_score")
    sections = ("testing", "quality", "codebase")
    return {
        "schema_version": SCHEMA_VERSION,
        **{key: record[key] for key in kept},
        "metrics": {key: value for section in sections for key, value in record.get(section, {}).items()},
        "decision": document["recommendation"]["action"],
        "usage": record["usage"],
        "candidate": codec.candidate_to_plain(candidate),
    }


def summary_of(judgement: Judgement, started_at: str) -> Summary:
    """Return where a running loop stands after a judgement."""
    record, best = judgement.record, judgement.record.best
    return Summary(
        loop_id=record.loop_id,
        status="running",
        iteration=record.iteration,
        head=record.iteration,
        started_at=started_at,
        updated_at=record.timestamp,
        classification=record.classification,
        message=record.message,
        quality_score=record.quality_score,
        adjusted_score=record.adjusted_score,
        best_iteration=best.iteration,
        best_quality_score=best.score,
        best_adjusted_score=best.adjusted,
        verified=record.verified,
        decision=decision_plain(record),
        alerts=tuple(short_alerts(record)),
        accepted=tuple(sorted(judgement.state.accepted)),
        cost_usd=judgement.state.cost_usd,
        integrity=None if record.integrity is None else record.integrity.verdict,
    )


def decision_plain(record: IterationRecord) -> Document:
    """Return the decision as state.json holds it."""
    decision = record.decision
    return {
        "action": decision.action,
        "reason": decision.reason,
        "confidence": decision.confidence,
        "target_iteration": decision.target_iteration,
        "alternatives": list(decision.alternatives),
        "rule": decision.rule,
    }


def short_alerts(record: IterationRecord) -> Iterator[Document]:
    """Yield the new and the open alerts that nobody accepted, in short."""
    for alert in record.alerts:
        if alert.id not in record.accepted:
            yield alert_document(alert, "new")
    for alert in record.open_alerts:
        if alert.id not in record.accepted:
            yield carried_document(alert, "open")


def best_document(summary: Summary, paths: LoopPaths) -> Document:
    """Return the best tracker in the seed's shape."""
    best = summary.best_iteration
    folder = None if best is None else f"{paths.shown}/iterations/{paths.iteration(best).name}/"
    return {
        "schema_version": SCHEMA_VERSION,
        "best_iteration_tracker": {
            "current_best": None if best is None else f"iteration_{best}",
            "best_quality_score": summary.best_quality_score,
            "adjusted_best_quality_score": summary.best_adjusted_score,
            "best_artifacts_path": folder,
        },
    }
