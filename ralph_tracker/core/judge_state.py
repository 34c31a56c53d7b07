"""The state that the judge carries from one iteration of a loop to the next."""

from typing import NamedTuple

from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.lineage import Lineage
from ralph_tracker.core.objective import Progress
from ralph_tracker.core.score import Basis
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.core.walk import Kept, WalkedIteration


class JudgeState(NamedTuple):
    """The state of a loop after an iteration.

    `basis` is None before the baseline, `iteration` then -1. `lineage` and `known` belong to the iteration that the
    next one descends from, the rest to the loop. `kept` is the iteration that later ones are compared with, `best` the
    one to take so far; both are None before the baseline. `flaky` are tests with two outcomes on one tree. `rollbacks`
    counts the latest consecutive decisions that were a rollback or the escalation that replaced one. `cost_usd` is the
    known cost, None if unknown. `met_target` says that the baseline's score reached the target already. `accepted` are
    alert ids, `accepted_findings` the stamps of their findings. `progress` is that of the loop's objectives. `highest`
    is the highest score of all iterations, taken or not, None before the baseline.
    """

    loop_id: str
    thresholds: Thresholds
    basis: Basis | None = None
    iteration: int = -1
    lineage: Lineage = Lineage()
    known: KnownTests = KnownTests()
    kept: Kept | None = None
    best: WalkedIteration | None = None
    flaky: frozenset[str] = frozenset()
    rollbacks: int = 0
    cost_usd: float | None = None
    met_target: bool = False
    accepted: frozenset[str] = frozenset()
    accepted_findings: frozenset[str] = frozenset()
    progress: Progress = Progress()
    highest: float | None = None
