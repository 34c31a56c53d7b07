"""The four hooks of a refine-until-done loop; each is one call of the tracker."""

import warnings
from pathlib import Path

from ralph_tracker.core.decision import Decision
from ralph_tracker.core.iteration_record import IterationRecord
from ralph_tracker.core.output_selection import Selection
from ralph_tracker.core.thresholds import SelectionMode
from ralph_tracker.iteration.apply_selection import Apply
from ralph_tracker.iteration.tree_measurement import Source
from ralph_tracker.tracker import Tracker


def pre_loop(
    *,
    root: str | Path = ".",
    loop_id: str | None = None,
    metrics: Source | None = None,
    new: bool = False,
    rebaseline: bool = False,
    allow_missing: bool = False,
    trust: bool = False,
) -> IterationRecord:
    """Capture the baseline, iteration 0, and freeze the configuration of the loop.

    `metrics` is a mapping, or a YAML or JSON file; without it the project's checks are run and its files are kept. An
    unfinished loop is an error unless `new` abandons it or `rebaseline` starts one linked to it, and so is a baseline
    whose tests cannot be measured unless `allow_missing`. `trust` accepts checks that came with the project. Raises
    LoopError, InputError, ConfigError, StoreError, and UntrustedError for such checks.
    """
    tracker = Tracker(Path(root), loop_id, trust=trust)
    return tracker.pre_loop(metrics, new=new, rebaseline=rebaseline, allow_missing=allow_missing)


def post_iteration(
    *,
    root: str | Path = ".",
    loop_id: str | None = None,
    metrics: Source | None = None,
    usage: Source | None = None,
    blocked: str | None = None,
    iteration: int | None = None,
    trust: bool = False,
) -> IterationRecord:
    """Record and judge the next iteration; `.message` is a one-line summary for an orchestrator.

    `usage` has cost_usd, input_tokens, output_tokens, turns and duration_s (seconds), each optional. `blocked` says why
    a person is needed. With `iteration` the call may be repeated. `trust` accepts a loop that this user did not start.
    Raises LoopError, InputError, RecordError, StoreError, and UntrustedError for such a loop; nothing is recorded then.
    Warns if the iteration is recorded, but the report's template cannot be used.
    """
    tracker = Tracker(Path(root), loop_id, trust=trust)
    recorded = tracker.post_iteration(metrics, usage=usage, blocked=blocked, iteration=iteration)
    if recorded.problem is not None:
        warnings.warn(recorded.problem, stacklevel=2)
    return recorded.record


def loop_decision(*, root: str | Path = ".", loop_id: str | None = None, apply: bool = False) -> Decision:
    """Return what the loop should do next; calling it again returns the same decision.

    `apply` carries a rollback out. Raises NotRecordedError if the last iteration was not recorded, and NoSnapshotError
    if no files are kept to roll back to.
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
    """Select the peak as the loop's output, report it, apply it, and finish the loop.

    A person may override with `iteration` and a `reason`. `apply` says where its files go: to `.aiwg/output/`, into the
    working tree (which can be undone), to the branch `branch`, or nowhere. A loop whose metrics were handed in keeps no
    files, so nothing is applied. Raises LoopError, InputError, RecordError and StoreError.
    """
    tracker = Tracker(Path(root), loop_id)
    return tracker.select_output(mode=mode, iteration=iteration, reason=reason, apply=apply, branch=branch).selection
