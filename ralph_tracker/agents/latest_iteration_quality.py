"""Read the tracker's records for `QualityProgressEvaluator` (steering.md § 1)."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ralph_tracker.core.findings import Severity
from ralph_tracker.errors import LoopError
from ralph_tracker.steering.progress_evaluators import QualityState
from ralph_tracker.store.loop_summary import find_loop, summary_at


def latest_iteration_quality(
    root: str | Path = ".", loop_id: str | None = None, environment: Mapping[str, str] = os.environ
) -> Callable[[], QualityState | None]:
    """Return a function that reads the latest iteration of a loop at each call; it returns None if there is no loop.

    `loop_id` None is the one in the environment, or else the current one. The function raises RecordError if the record
    is damaged.
    """

    def state() -> QualityState | None:
        try:
            summary = summary_at(find_loop(Path(root), loop_id, environment))
        except LoopError:
            return None
        critical = [each for each in summary.alerts if each["severity"] == Severity.CRITICAL.name]
        return QualityState(summary.classification, tuple(f"{each['id']}: {each['message']}" for each in critical))

    return state
