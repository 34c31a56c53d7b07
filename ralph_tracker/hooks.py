"""The four hooks of a refine-until-done loop; each is one call on the tracker."""

import warnings
from pathlib import Path

from ralph_tracker.core.decision import Decision
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.core.rules import SelectionMode
from ralph_tracker.core.selection import Selection
from ralph_tracker.iteration.apply import Apply
from ralph_tracker.iteration.measure import Source
from ralph_tracker.tracker import Tracker


def pre_loop(
    *,
    root: str | Path = ".",
    loop_id: str | None = None,
    metrics: Source | None = None,
    new: bool = False,
    rebaseline: bool = False,
    allow_missing: bool = False,
) -> IterationRecord:
    """Capture the baseline, iteration 0, and freeze the configuration of the loop.

    `metrics` is a mapping, or a YAML or JSON file; without it the project's checks are run and
    its files are kept. An unfinished loop is in the way unless `new` abandons it or
    `rebaseline` starts one that is linked to it. A baseline whose tests cannot be measured is refused
    unless `allow_missing`. Raises LoopError, InputError, ConfigError and StoreError.
    """
    return Tracker(Path(root), loop_id).pre_loop(metrics, new=new, rebaseline=rebaseline, allow_missing=allow_missing)


def post_iteration(
    *,
    root: str | Path = ".",
    loop_id: str | None = None,
    metrics: Source | None = None,
    usage: Source | None = None,
    blocked: str | None = None,
    iteration: int | None = None,
) -> IterationRecord:
    """Record and judge the next iteration; `.message` is the one line for an orchestrator.

    `usage` has cost_usd, input_tokens, output_tokens, turns and duration_s (seconds), each optional. `blocked` says
    why a person is needed. With `iteration` the call may be repeated. Raises LoopError, InputError, RecordError and
    StoreError; the iteration is not on record then. Warns where it is, but the report's template cannot be used.
    """
    tracker = Tracker(Path(root), loop_id)
    recorded = tracker.post_iteration(metrics, usage=usage, blocked=blocked, iteration=iteration)
    if recorded.problem is not None:
        warnings.warn(recorded.problem, stacklevel=2)
    return recorded.record


def loop_decision(*, root: str | Path = ".", loop_id: str | None = None, apply: bool = False) -> Decision:
    """Return what the loop should do next; calling it again returns the same decision.

    `apply` carries a rollback out. Raises NotRecordedError after an iteration that failed to be recorded, and
    NoSnapshotError where there is nothing to roll back with.
    """
    return Tracker(Path(root), loop_id).loop_decision(apply=apply).decision


def post_loop(
    *,
    root: str | Path = ".",
    loop_id: str | None = None,
    mode: SelectionMode | None = None,
    iteration: int | None = None,
    reason: str | None = None,
    apply: Apply = "output",
    branch: str | None = None,
) -> Selection:
    """Select the output of the loop, the peak and not the last, report it, apply it, and finish the loop.

    A person may override with `iteration` and a `reason`. `apply` says where its files go: to `.aiwg/output/`, into the
    working tree (which can be undone), to the branch `branch`, or nowhere. A loop whose metrics were handed in keeps no
    files, and nothing is applied. Raises LoopError, InputError, RecordError and StoreError.
    """
    tracker = Tracker(Path(root), loop_id)
    return tracker.select_output(mode=mode, iteration=iteration, reason=reason, apply=apply, branch=branch).selection
