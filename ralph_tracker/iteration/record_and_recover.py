"""Record an iteration in its loop, with its report, and finish what a killed call left half recorded."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from ralph_tracker.core.judge import Judgement
from ralph_tracker.errors import ConfigError, InputError, LoopError, RalphTrackerError
from ralph_tracker.iteration.measure_iteration import MeasuredIteration
from ralph_tracker.iteration.restore_iteration import record_interrupted_restore
from ralph_tracker.iteration.trust_listing import UNTRUSTED_TEMPLATE, trusted_templates
from ralph_tracker.records.iteration_record import IterationRecord, RecordDocument, record_of
from ralph_tracker.report.markdown_reports import ITERATION_REPORT, has_own, iteration_report
from ralph_tracker.safe_files import as_store_error
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.summary import (
    Summary,
    attempted_iteration,
    damaged_iteration,
    require_running,
    summary_at,
)
from ralph_tracker.store.write import ON_RECORD, Entry, LoopStore, summary_of


def judge_or_refuse(how: Callable[[], Judgement]) -> Judgement:
    """Return a judgement. Raises InputError for metrics that contradict themselves."""
    try:
        return how()
    except ValueError as error:
        raise InputError(f"metrics: {error}") from None


def record_iteration(
    store: LoopStore, judgement: Judgement, measured: MeasuredIteration, started_at: str
) -> tuple[IterationRecord, RecordDocument]:
    """Commit an iteration with its files, and return its record. Raises StoreError where the disk refuses."""
    record = record_of(judgement)
    number = record.iteration
    entry = Entry(
        document=record.to_dict(),
        measurement=measured.measurement,
        state=judgement.state,
        walked=judgement.walked,
        summary=summary_of(record, judgement.state, started_at),
        fill=measured.fill(number),
        copies={} if measured.kept is None else measured.kept.copies,
    )
    store.commit(entry)
    measured.name(number)
    return record, entry.document


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
    store.write(path, text.encode("utf-8", "replace"), ON_RECORD, durable=False)
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


def recover_loop(loop: ConfiguredLoop, *, unfinished: bool, resume: bool = True) -> Summary:
    """Return the status of the loop, after repairing what a killed call left half-written.

    An interrupted restore is finished, or raises LoopError if files were edited since; not `resume` leaves it to the
    caller, who restores.
    """
    store, summary = loop.store, loop.recover(unfinished=unfinished)
    if unfinished:
        IterationSnapshots(store).repair(summary.iteration)
    if store.paths.restoring.exists():
        summary = record_interrupted_restore(store, summary, resume=resume)
    if unfinished and 0 < (attempted_iteration(store.paths) or 0) <= summary.iteration:
        store.done()  # not the baseline's mark: pre_loop has to finish that
    if unfinished and summary.iteration and not store.paths.report(summary.iteration).exists():
        from ralph_tracker.store.records_to_show import RecordHistory  # noqa: PLC0415  # after a kill only

        document = RecordHistory(store).one(summary.iteration).document
        if document is not None:
            write_report(store, summary.iteration, document)
    return summary
