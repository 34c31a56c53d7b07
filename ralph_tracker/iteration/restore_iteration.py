"""Restore the working tree to an earlier iteration, from which the lineage continues, and undo such a restore."""

from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.restore_mark import UndoIds, is_recorded
from ralph_tracker.store.summary import Summary, with_events
from ralph_tracker.store.write import LoopStore


def record_rollback(store: LoopStore, summary: Summary, number: int, undo: UndoIds | None, at: str) -> Summary:
    """Record that the lineage continues from an earlier iteration; `undo` is None if the tree was not restored."""
    moved = {"to": number, "from": summary.head, "after": summary.iteration}
    ids = {} if undo is None else {name: each for name, each in undo._asdict().items() if each is not None}
    store.append_event({"event": "rollback", **moved, **ids, "at": at})
    followed = with_events(summary, store.events())
    store.write_summary(followed)
    IterationSnapshots(store).restoring.clear()
    return followed


def restore(store: LoopStore, summary: Summary, number: int, at: str) -> UndoIds:
    """Restore the working tree to that iteration, from which the next one descends; return the ids that undo it."""
    undo = IterationSnapshots(store).restore(number)
    record_rollback(store, summary, number, undo, at)
    return undo


def undo_restore(store: LoopStore, summary: Summary, undo_id: str, at: str) -> UndoIds:
    """Undo a restore of the tree and of the lineage; return the ids that undo this."""
    events = (e for e in reversed(store.events()) if e["event"] == "rollback")
    restores = (e for e in events if undo_id in {e.get("undo"), e.get("edits")})
    came_from = next((e["from"] for e in restores if isinstance(e.get("from"), int)), None)
    iteration_snapshots = IterationSnapshots(store)
    undone = iteration_snapshots.undo(undo_id, came_from)
    if came_from is None:
        iteration_snapshots.restoring.clear()
    else:
        record_rollback(store, summary, came_from, undone, at)
    return undone


def record_interrupted_restore(store: LoopStore, summary: Summary, *, resume: bool) -> Summary:
    """Record a restore that was interrupted before it was recorded; with `resume`, finish it first."""
    iteration_snapshots = IterationSnapshots(store)
    marked = iteration_snapshots.restoring.read()
    if marked is not None and not is_recorded(marked, store.paths):
        if not resume:
            return summary
        restoring = iteration_snapshots.resume_restore()
        if restoring is not None and restoring.number is not None:
            return record_rollback(store, summary, restoring.number, restoring.undo_ids, restoring.at)
    iteration_snapshots.restoring.clear()
    return summary
