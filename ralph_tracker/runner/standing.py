"""Where a loop stands, as a run asks for it."""

from datetime import datetime

from ralph_tracker.core.records import IterationRecord
from ralph_tracker.errors import NoSnapshotError
from ralph_tracker.store.committed import Committed
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.onlooker import STORE, Onlooker, lookout
from ralph_tracker.store.opened import OpenLoop
from ralph_tracker.store.summary import Summary
from ralph_tracker.taking import configured_by
from ralph_tracker.tracker import Tracker

_MINUTE_S = 60


def record_of(tracker: Tracker) -> IterationRecord:
    """Return the latest record of the loop, judged as of now. Raises as the tracker does."""
    loop = OpenLoop.read(tracker.store(), configured_by)
    return loop.record(loop.store.summary().iteration)


def tree_of_now(paths: LoopPaths) -> str | None:
    """Name the content of the project's files as they stand, None where the loop keeps no files.

    Nothing of the loop is written. Raises StoreError where the tree cannot be read.
    """
    with lookout("run") as folder:
        try:
            return Onlooker(Committed(paths), folder / STORE).now()
        except NoSnapshotError:
            return None


def status_line(summary: Summary, iteration: int, now: float) -> str:
    """Return iteration, score, best, cost and time of a loop in one line; `now` is epoch seconds."""
    best = "none yet"
    if summary.best_iteration is not None:
        best = f"{summary.best_adjusted_score:.4g} (iteration {summary.best_iteration})"
    cost = "unknown" if summary.cost_usd is None else f"${summary.cost_usd:.2f}"
    spent = now - datetime.fromisoformat(summary.started_at).timestamp()
    return (
        f"[ralph {summary.loop_id}] iteration {iteration} · score {summary.adjusted_score:.4g} · best {best} · "
        f"cost {cost} · {_shown_time(spent)}"
    )


def _shown_time(seconds: float) -> str:
    minutes, rest = divmod(int(max(seconds, 0)), _MINUTE_S)
    hours, minutes = divmod(minutes, _MINUTE_S)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
