"""The state that the judge carries from one iteration of a loop to the next."""

from typing import NamedTuple

from ralph_tracker.core.best import Candidate
from ralph_tracker.core.known_tests import KnownTests, SeenTests
from ralph_tracker.core.lineage import Lineage, Scorer
from ralph_tracker.core.rules import Rules
from ralph_tracker.core.score import Basis, test_weights


class LoopState(NamedTuple):
    """The state of a loop after an iteration.

    `basis` is None before the baseline, `iteration` then -1. `lineage` and `known` belong to the iteration that the
    next one descends from, the rest to the loop. `seen_at` is the iteration that changed `seen` last. `rollbacks`
    counts the latest consecutive decisions that were a rollback or the escalation that replaced one. `cost_usd` is the
    known cost, None if unknown. `met_target` says that the baseline's score reached the target already. `accepted` are
    alert ids, `accepted_findings` the stamps of their findings.
    """

    loop_id: str
    rules: Rules
    basis: Basis | None = None
    iteration: int = -1
    lineage: Lineage = Lineage()
    known: KnownTests = KnownTests()
    seen: SeenTests = SeenTests()
    seen_at: int = 0
    frontier: tuple[Candidate, ...] = ()
    rollbacks: int = 0
    cost_usd: float | None = None
    met_target: bool = False
    accepted: frozenset[str] = frozenset()
    accepted_findings: frozenset[str] = frozenset()

    @property
    def scorer(self) -> Scorer:
        """Return the scorer of the loop as of now."""
        if self.basis is None:
            msg = "a loop without a baseline has no scorer"
            raise ValueError(msg)
        return Scorer(test_weights(self.basis), self.seen)
