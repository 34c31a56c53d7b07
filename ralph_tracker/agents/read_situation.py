"""Read the situation of a loop from its records, for the feedback to its agent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ralph_tracker.agents.feedback import TOKENS, ScorePart, Situation, Undone
from ralph_tracker.core.alerts import Alert
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.iteration_record import IterationRecord
from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.iteration.diff import component_shares
from ralph_tracker.iteration.measure import configured_by
from ralph_tracker.iteration.remaining_problems import RemainingProblems, remaining_problems
from ralph_tracker.store.layout import MANIFEST
from ralph_tracker.store.loop_reader import LoopReader
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.packed import kept_json
from ralph_tracker.store.records import LoopRecords

_WHOLE: Final = 100.0


def tokens_of(store: LoopStore) -> int:
    """Return the token budget of the feedback; the default for a loop of an earlier version. Raises RecordError."""
    section: Any = LoopReader.read(store, configured_by).config.document.get("feedback")
    return int(section["tokens"]) if isinstance(section, dict) else TOKENS


def situation_of(
    committed: LoopRecords,
    record: IterationRecord,
    root: Path,
    decision: Decision | None = None,
    *,
    lacks: Sequence[str] = (),
    iterations_left: int = 0,
    with_rules: bool = False,
) -> Situation:
    """Return the situation after an iteration; the files are those of the lineage's head.

    Parts of the record that cannot be read are left out as unknown. Raises RecordError if the loop's status is damaged.
    """
    head = committed.summary().head
    return Situation(
        iteration=record.iteration,
        classification=record.classification,
        score=record.adjusted_score,
        best_iteration=record.best.iteration,
        best_score=record.best.adjusted,
        problems=known_problems(committed, head, root),
        parts=score_parts(committed, head),
        alerts=tuple(alert_line(alert) for alert in record.unaccepted_alerts),
        undone=None if head == record.iteration else undone(committed, record.iteration),
        decision=decision,
        lacks=tuple(lacks),
        iterations_left=iterations_left,
        with_rules=with_rules,
    )


def current_situation(committed: LoopRecords, summary: Summary, root: Path) -> Situation:
    """Return the situation of a running loop for an agent that begins a session, without a decision.

    Damage and errors are as in `situation_of`.
    """
    return Situation(
        iteration=summary.iteration,
        classification=summary.classification,
        score=summary.adjusted_score,
        best_iteration=summary.best_iteration,
        best_score=summary.best_adjusted_score,
        problems=known_problems(committed, summary.head, root),
        parts=score_parts(committed, summary.head),
        alerts=tuple(f"{alert['severity']} {alert['id']}: {alert['message']}" for alert in summary.alerts),
        undone=None if summary.head == summary.iteration else undone(committed, summary.iteration),
        with_rules=True,
    )


def alert_line(alert: Alert) -> str:
    """Return an alert with its id, and the place of its first finding."""
    place = f" ({alert.findings[0].place})" if alert.findings else ""
    return f"{alert.severity.name} {alert.id}: {alert.message}{place}"


def known_problems(committed: LoopRecords, number: int, root: Path | None) -> RemainingProblems | None:
    """Return what holds an iteration back, None if its record cannot be read."""
    try:
        return remaining_problems(committed, number, root)
    except RalphTrackerError:
        return None


def undone(committed: LoopRecords, number: int) -> Undone:
    """Return what an iteration that was rolled back had changed and lacked."""
    manifest = kept_json(committed.paths, number, MANIFEST)
    changes = manifest.get("since_previous") if isinstance(manifest, dict) else None
    files = tuple(str(each["path"]) for each in changes or () if isinstance(each, dict) and "path" in each)
    return Undone(number, files, known_problems(committed, number, None))


def score_parts(committed: LoopRecords, number: int) -> tuple[ScorePart, ...]:
    """Return what each component costs an iteration's score; () if its record is damaged."""
    plain = kept_json(committed.paths, number, "metrics.json")
    record: Any = plain.get("iteration_metrics") if isinstance(plain, dict) else None
    if not isinstance(record, dict) or not _are_numbers(record.get("weights"), record.get("components")):
        return ()
    shares = component_shares(record["weights"], record["components"])
    known = (each for each in shares if each.value is not None)
    return tuple(ScorePart(each.name, each.weight * (_WHOLE - (each.value or 0.0))) for each in known)


def _are_numbers(*documents: object) -> bool:
    return all(
        isinstance(document, Mapping)
        and all(value is None or isinstance(value, int | float) for value in document.values())
        for document in documents
    )
