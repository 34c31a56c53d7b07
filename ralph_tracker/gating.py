"""The gate: measure the tree as it stands, judge it as the next iteration, record nothing."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from ralph_tracker.core.gate import Gate, gate_of
from ralph_tracker.core.identities import failing
from ralph_tracker.core.judge import judge
from ralph_tracker.errors import LoopError
from ralph_tracker.observing import Progress
from ralph_tracker.recording import judged
from ralph_tracker.store.committed import Committed
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.onlooker import lookout
from ralph_tracker.store.opened import OpenLoop
from ralph_tracker.store.standing import paths_of, summary_at
from ralph_tracker.taking import Source, Taking, configured_by, refuse_other_origin

_BRING_ALONG: Final = "on the state to compare with; in CI, do that there too, or bring .aiwg/ along as a cache"


def gate(
    root: Path,
    loop_id: str | None,
    metrics: Source | None,
    *,
    now: datetime,
    environment: Mapping[str, str],
    progress: Progress | None = None,
) -> Gate:
    """Measure, or take the given metrics, and judge them against the last iteration of the line.

    Nothing of the loop is written and no lock is taken; a loop that has ended is compared with too. Raises LoopError
    where there is no loop, InputError for metrics that cannot be used, RecordError for a loop that cannot be read.
    """
    loop = OpenLoop.read(LoopStore(_paths(root, loop_id, environment)), configured_by)
    refuse_other_origin(loop, metrics)
    summary = summary_at(loop.store.paths)
    state = Committed(loop.store.paths).state(summary, loop.config.rules)  # a reader's: nothing is mended
    with lookout("gate") as folder:
        taken = Taking(now, loop).unrecorded(loop, state, metrics, environment, folder, progress=progress)
    judgement = judged(lambda: judge(state, taken.measurement))
    fails = failing(state.known, taken.measurement.tests, judgement.state.seen.aliases)
    checks = () if taken.observation is None else taken.observation.measures
    return gate_of(judgement.record, summary.head, taken.measurement.missing, checks, fails)


def _paths(root: Path, loop_id: str | None, environment: Mapping[str, str]) -> LoopPaths:
    try:
        return paths_of(root, loop_id, environment)
    except LoopError as error:
        raise LoopError(f"{error}, {_BRING_ALONG}") from None
