"""What came of a task, read from the records of its loop."""

from collections.abc import Sequence

from ralph_tracker.agents.failing import failing_tests
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.errors import LoopError
from ralph_tracker.runner.goals import named_checks, unmet
from ralph_tracker.steering.plan import PlanTask, TaskOutcome
from ralph_tracker.store.git.head import head_of
from ralph_tracker.store.keeping import Keeper
from ralph_tracker.store.opened import OpenLoop
from ralph_tracker.store.snapshots import shown
from ralph_tracker.store.summary import Summary
from ralph_tracker.taking import configured_by
from ralph_tracker.tracker import Tracker


def outcome_of(tracker: Tracker, begun: PlanTask) -> tuple[TaskOutcome, str]:
    """Return what came of a task whose loop has ended, and that in a line: which iteration the files are, and why.

    Raises as the tracker does.
    """
    store = tracker.store()
    loop, summary = OpenLoop.read(store, configured_by), store.summary()
    records = [judgement.record for judgement in loop.judged()]
    # Where the line stands is what the files are: the last iteration, or the peak that was put there.
    kept = next(record for record in records if record.iteration == summary.head)
    named = named_checks(begun.task, loop.config.document)
    lacks = unmet(store, named, kept)
    is_complete = not (kept.is_baseline or lacks or kept.decision.action == "rollback")
    # Back at the baseline nothing may lack: what the last iteration lacked is why it came to nothing.
    lacks = unmet(store, named, records[-1]) if kept.is_baseline else lacks
    why = "" if is_complete else "; ".join((summary.decision["reason"], *lacks))
    head = head_of(tracker.root)
    outcome = TaskOutcome(
        "complete" if is_complete else "failed",
        cost_usd=spent_on(tracker, begun.loops),
        changed_files=tuple(shown(change.path) for change in Keeper(store).differs_from_baseline(kept.iteration)),
        commit=head if head != begun.head else None,
        fix_cycles=max(summary.iteration - 1, 0),
        failing_tests=failing_tests(store.paths, kept.iteration) or (),
        open_alerts=_alerts(kept),
        rolled_back=_rolled_back(records),
        reason=why,
    )
    return outcome, _told(begun, outcome, kept, summary)


def _told(begun: PlanTask, outcome: TaskOutcome, kept: IterationRecord, summary: Summary) -> str:
    said = f"task {begun.id}: {outcome.status}, the files are those of iteration {kept.iteration}"
    said += f" with a score of {kept.adjusted_score:.4g}"
    if summary.best_iteration is not None and summary.best_adjusted_score > kept.adjusted_score:
        said += f"; the peak by score was iteration {summary.best_iteration} with {summary.best_adjusted_score:.4g}"
    return f"{said}; {outcome.reason}" if outcome.reason else said


def _alerts(kept: IterationRecord) -> tuple[str, ...]:
    return tuple(f"{each.severity.name} {each.id}: {each.message}" for each in kept.standing_alerts)


def _rolled_back(records: Sequence[IterationRecord]) -> tuple[str, ...]:
    taken_back = (record for record in records if record.decision.action == "rollback")
    return tuple(f"iteration {record.iteration}: {record.decision.reason}" for record in taken_back)


def spent_on(tracker: Tracker, loops: Sequence[str]) -> float | None:
    """Return the USD that loops have cost together, as far as that is known; None where nobody told."""
    known = [cost for loop_id in loops if (cost := _cost_of(tracker._replace(loop_id=loop_id))) is not None]
    return sum(known) if known else None


def _cost_of(tracker: Tracker) -> float | None:
    try:
        return tracker.store().summary().cost_usd
    except LoopError:
        return None  # it was never begun
