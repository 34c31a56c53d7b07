"""Commit an iteration or a restore to the loop, write the report, and repair what a killed call left."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from ralph_tracker.core.iteration_record import IterationRecord, RecordDocument
from ralph_tracker.core.judge import Judgement
from ralph_tracker.errors import ConfigError, InputError, LoopError, RalphTrackerError
from ralph_tracker.iteration.tree_measurement import MeasuredIteration
from ralph_tracker.iteration.trust_listing import UNTRUSTED_TEMPLATE, trusted_templates
from ralph_tracker.report.markdown_reports import ITERATION_REPORT, has_own, iteration_report
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.loop_store import ON_RECORD, Entry, LoopStore, summary_of
from ralph_tracker.store.loop_summary import (
    Summary,
    attempted_iteration,
    damaged_iteration,
    require_running,
    summary_at,
    with_events,
)
from ralph_tracker.store.restore_mark import UndoIds, is_recorded
from ralph_tracker.store.safe_files import as_store_error


def judge_or_refuse(how: Callable[[], Judgement]) -> Judgement:
    """Return a judgement. Raises InputError for metrics that contradict themselves."""
    try:
        return how()
    except ValueError as error:
        raise InputError(f"metrics: {error}") from None


def record_iteration(
    store: LoopStore, judgement: Judgement, measured: MeasuredIteration, started_at: str
) -> RecordDocument:
    """Commit an iteration with its files, and return its record. Raises StoreError where the disk refuses."""
    number = judgement.record.iteration
    entry = Entry(
        document=judgement.record.to_dict(),
        measurement=measured.measurement,
        state=judgement.state,
        candidate=judgement.candidate,
        summary=summary_of(judgement, started_at),
        fill=measured.fill(number),
    )
    store.commit(entry)
    measured.name(number)
    return entry.document


def write_report(store: LoopStore, number: int, document: Mapping[str, Any]) -> str | None:
    """Write the report of a recorded iteration; return why the user's template could not be used, None if it was.

    Raises StoreError if the disk refuses.
    """
    path, problem, root = store.paths.report(number), None, trusted_templates(store.paths.root)
    if root is None and has_own(ITERATION_REPORT, store.paths.root):
        problem = UNTRUSTED_TEMPLATE
    with as_store_error(path, ON_RECORD):
        try:
            text = iteration_report(document, root)
        except ConfigError as error:
            problem = f"{error}; the report is written as shipped"
            text = iteration_report(document)
    store.write(path, text.encode("utf-8", "replace"), ON_RECORD)
    return problem


@contextmanager
def failure_marked(store: LoopStore) -> Iterator[None]:
    """Mark the next iteration as not recorded if the body fails, so that no decision is based on the previous one."""
    try:
        yield
    except BaseException:
        with suppress(RalphTrackerError):  # a loop that has ended or is damaged needs no mark
            store.begin(require_running(summary_at(store.paths)).iteration + 1)
        raise


def repeated_record(
    loop: ConfiguredLoop, summary: Summary, iteration: int, given: MeasuredIteration | None
) -> IterationRecord:
    """Return the record of an iteration if its state of work is unchanged: the tree, or what is `given` now.

    Raises LoopError otherwise.
    """
    if not 0 < iteration <= summary.iteration:
        raise LoopError(f"iteration {iteration} is not the next one; the next is {summary.iteration + 1}")
    measured = loop.store.measurement(iteration)
    if measured is None:
        raise damaged_iteration(loop.store.paths, iteration)
    if given is None:
        same = IterationSnapshots(loop.store).tree_equals(iteration, measured[0].tree)
    else:
        same = given.measurement.state_of_work() == measured[0].state_of_work()
    if not same:
        raise LoopError(
            f"iteration {iteration} is on record with another state; leave --iteration out to record the next"
        )
    return loop.record(iteration)


def follow(store: LoopStore, summary: Summary, number: int, undo: UndoIds | None, at: str) -> Summary:
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
    follow(store, summary, number, undo, at)
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
        follow(store, summary, came_from, undone, at)
    return undone


def _record_restore(store: LoopStore, summary: Summary, *, resume: bool) -> Summary:
    """Record a restore that was interrupted before it was recorded; with `resume`, finish it first."""
    iteration_snapshots = IterationSnapshots(store)
    marked = iteration_snapshots.restoring.read()
    if marked is not None and not is_recorded(marked, store.paths):
        if not resume:
            return summary
        restoring = iteration_snapshots.resume_restore()
        if restoring is not None and restoring.number is not None:
            return follow(store, summary, restoring.number, restoring.undo_ids, restoring.at)
    iteration_snapshots.restoring.clear()
    return summary


def recover_loop(loop: ConfiguredLoop, *, unfinished: bool, resume: bool = True) -> Summary:
    """Return the status of the loop, after repairing what a killed call left half-written.

    An interrupted restore is finished, or raises LoopError if files were edited since; not `resume` leaves it to the
    caller, who restores.
    """
    store, summary = loop.store, loop.recover(unfinished=unfinished)
    if unfinished:
        IterationSnapshots(store).repair(summary.iteration)
    if store.paths.restoring.exists():
        summary = _record_restore(store, summary, resume=resume)
    if unfinished and 0 < (attempted_iteration(store.paths) or 0) <= summary.iteration:
        store.done()  # not the baseline's mark: pre_loop has to finish that
    if unfinished and summary.iteration and not store.paths.report(summary.iteration).exists():
        from ralph_tracker.store.record_listing import RecordHistory  # noqa: PLC0415  # after a kill only

        document = RecordHistory(store).one(summary.iteration).document
        if document is not None:
            write_report(store, summary.iteration, document)
    return summary
