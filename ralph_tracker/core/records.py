"""The record of one iteration, as it is kept, shown and returned."""

from collections.abc import Mapping
from typing import NamedTuple

from ralph_tracker.core.alert_types import Alert, in_order
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.integrity import IntegrityRecord
from ralph_tracker.core.lineage import Classification
from ralph_tracker.core.metrics import Metrics, Usage


class BestTracker(NamedTuple):
    """The best iteration on record after an iteration.

    `iteration` is None after the baseline, the scores then 0.0. `score` is its quality_score, `adjusted` what it was
    chosen by. `verified` is False if no iteration is verified and the highest score was taken.
    """

    iteration: int | None = None
    score: float = 0.0
    adjusted: float = 0.0
    verified: bool = True


class IterationRecord(NamedTuple):
    """All that is known and judged about one iteration.

    Scores are 0 to 1 with 4 decimals; `adjusted_score` is as of this iteration. `dimensions` are 0 to 100 and hold only
    those of the loop, `components` None if not measured. `previous` is the iteration that this one descends from (None
    for the baseline). `integrity` is None if nobody compared files and tests. `alerts` are new, `open_alerts` carried;
    `closed_alerts` and `accepted` name ids. `plan` counts its tasks, done and open.
    """

    loop_id: str
    iteration: int
    previous: int | None
    timestamp: str
    classification: Classification
    metrics: Metrics
    quality_score: float
    adjusted_score: float
    adjusted_because: str
    score_given: bool
    dimensions: Mapping[str, float]
    weights: Mapping[str, float]
    components: Mapping[str, float | None]
    evidence: float
    verified: bool
    tests_ever_seen: int
    best: BestTracker
    decision: Decision
    message: str
    from_previous: Mapping[str, float] = {}
    from_baseline: Mapping[str, float] = {}
    alerts: tuple[Alert, ...] = ()
    open_alerts: tuple[Alert, ...] = ()
    closed_alerts: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    usage: Usage | None = None
    blocked: str | None = None
    tree: str | None = None
    integrity: IntegrityRecord | None = None
    plan: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_baseline(self) -> bool:
        """Return whether this is iteration 0."""
        return self.previous is None

    @property
    def standing_alerts(self) -> tuple[Alert, ...]:
        """Return the new and open alerts that nobody has accepted, in order."""
        return in_order(alert for alert in (*self.alerts, *self.open_alerts) if alert.id not in self.accepted)

    @property
    def is_best(self) -> bool:
        """Return whether this iteration is the best on record; never for the baseline."""
        return self.best.iteration == self.iteration
