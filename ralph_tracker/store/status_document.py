"""Where a loop stands, as a document: what state.json holds, and what is to be done."""

from typing import Final, TypedDict

from ralph_tracker.core.findings import Verdict
from ralph_tracker.core.iteration_record import SCHEMA_VERSION, AlertDocument, SchemaVersion, StoredDecisionDocument
from ralph_tracker.store.layout import MANIFEST, LoopPaths
from ralph_tracker.store.loop_status import Status, Summary, latest_iteration
from ralph_tracker.store.reading import read_json, read_lines
from ralph_tracker.store.restoring import InterruptedRestoreDocument, Restoring, interrupted_document
from ralph_tracker.store.snapshots.values import ITERATIONS, OBJECTS, RULES

REPAIR: Final = "`ralph-tracker verify` lists what is lost, `ralph-tracker verify --repair` rebuilds what it can"


def missing_files(paths: LoopPaths) -> str | None:
    """Return what of the kept files is missing at a glance, None if nothing is; no content is read.

    The latest iteration is named last: while a writer is at work, or was killed, it may have no name yet.
    """
    if paths.old_store.is_dir() or not ((paths.iteration(0) / MANIFEST).exists() or _was_kept(paths)):
        return None
    numbers = range(latest_iteration(paths) + 1)
    if not (paths.store / RULES).is_file() or not (paths.store / OBJECTS).is_dir():
        return f"the store of the kept files is missing or damaged ({paths.shown}/store)"
    named = {path.name for path in (paths.store / ITERATIONS).glob("*")}
    lost = {number for number in numbers if str(number) not in named}
    if lost and paths.staging.is_dir():
        lost.discard(numbers[-1])
    if lost:
        for event in read_lines(paths.events):
            if isinstance(event, dict) and event.get("event") == "gc" and isinstance(event.get("iterations"), list):
                lost.difference_update(event["iterations"])
    if not lost:
        return None
    shown = ", ".join(map(str, sorted(lost)))
    return f"the snapshots of iterations {shown} are missing in {paths.shown}/store"


def _was_kept(paths: LoopPaths) -> bool:
    """Return whether the baseline's seal names a manifest, which is missing then."""
    seal = read_json(paths.iteration(0) / "seal.json")
    files = seal.get("files") if isinstance(seal, dict) else None
    return isinstance(files, dict) and MANIFEST in files


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


class LoopsDocument(TypedDict):
    """All loops of a project; `unreadable` says by id why a loop cannot be read."""

    loops: list[StatusDocument]
    unreadable: dict[str, str]


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
