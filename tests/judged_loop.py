"""A loop that is driven as a caller drives the judge, with values and nothing else."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from ralph_tracker.core.alert_types import TYPE_BY_NAME, Alert
from ralph_tracker.core.judge import Judgement, acceptance, judge, judge_baseline
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.metrics import Group, Measurement, Metrics, TestResults
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.core.walk import Refusal
from ralph_tracker.records.iteration_record import IterationRecord, record_of
from ralph_tracker.records.output_selection import Selection, SelectionCandidate, select

METRIC_NAMES = frozenset(Metrics._fields)
# Ten passing tests, 80 % covered, nothing found, a hundred lines: no rule has anything to say about it.
STEADY: Mapping[str, Any] = {
    "test_count": 10,
    "tests_passed": 10,
    "tests_failed": 0,
    "tests_skipped": 0,
    "coverage_percentage": 80.0,
    "lint_errors": 0,
    "lint_warnings": 0,
    "type_errors": 0,
    "build_status": "success",
    "file_count": 5,
    "loc_total": 100,
    "complexity_score": 2.0,
}
NOWHERE_NEAR = Thresholds()._replace(loop=Thresholds().loop._replace(target_score=None, max_iterations=None))


def measurement_of(base: Mapping[str, Any], changes: Mapping[str, Any], number: int) -> Measurement:
    """Make a measurement: the base with changes, None takes a value out.

    `tests` (id → outcome) brings names, from which the counts are taken as at the edge; `flaky` names those whose
    reruns disagreed, `failed_first` those that passed when repeated, `score` is a given quality_score.
    """
    values = dict(base) | {name: value for name, value in changes.items() if name in METRIC_NAMES}
    rest = {name: value for name, value in changes.items() if name not in METRIC_NAMES}
    outcomes, flaky, score = rest.pop("tests", None), rest.pop("flaky", ()), rest.pop("score", None)
    failed_first = frozenset(rest.pop("failed_first", ()))
    results = None
    if outcomes is not None:
        results = TestResults(dict(outcomes), flaky=frozenset(flaky) | failed_first, failed_first=failed_first)
        ended = Counter(outcomes.values())
        values |= {"test_count": len(outcomes), "tests_passed": ended["passed"]}
        values |= {"tests_failed": ended["failed"], "tests_skipped": ended["skipped"]}
    rest.setdefault("timestamp", f"2026-02-02T{10 + number // 60}:{number % 60:02d}:00Z")
    return Measurement(metrics=Metrics(**values), tests=results, quality_score=score, **rest)


class Loop:
    """Drive one loop: each turn is judged after the one before, every judgement is kept.

    Without other thresholds there is no target and no limit, so that these two end nothing by accident.
    """

    def __init__(
        self,
        *,
        thresholds: Thresholds = NOWHERE_NEAR,
        base: Mapping[str, Any] = STEADY,
        configured: frozenset[Group] = frozenset(),
        accepted: tuple[Alert, ...] = (),
        first: Measurement | None = None,
        **changes: Any,
    ):
        self.base, self.thresholds, self.configured = base, thresholds, configured
        self.measurements = [first or measurement_of(base, changes, 0)]
        self.moves: dict[int, int] = {}
        state = JudgeState(loop_id="ralph-001", thresholds=thresholds)
        for alert in accepted:
            state = acceptance(state, alert)
        self.judgements: list[Judgement] = [judge_baseline(state, self.measurements[0], configured)]
        self.state = self.judgements[0].state

    def turn(self, **changes: Any) -> IterationRecord:
        """Judge one more iteration: the base with changes."""
        return self.judge(measurement_of(self.base, changes, len(self.judgements)))

    def turns(self, times: int, **changes: Any) -> IterationRecord:
        """Judge the same several times."""
        for _ in range(times):
            self.turn(**changes)
        return self.last

    def judge(self, measurement: Measurement) -> IterationRecord:
        """Judge one more iteration."""
        self.measurements.append(measurement)
        self.judgements.append(judge(self.state, measurement))
        self.state = self.judgements[-1].state
        return self.last

    def roll_back(self, to: int) -> None:
        """Carry out and record a rollback."""
        self.moves[len(self.judgements)] = to
        target = self.judgements[to].state
        self.state = self.state._replace(lineage=target.lineage, known=target.known)

    def again(self, *accepted: Alert) -> "Loop":
        """Judge the whole loop again from before its baseline, with those alerts accepted."""
        settings = {"thresholds": self.thresholds, "base": self.base, "configured": self.configured}
        other = Loop(**settings, accepted=accepted, first=self.measurements[0])
        for number, measurement in enumerate(self.measurements[1:], start=1):
            if number in self.moves:
                other.roll_back(self.moves[number])
            other.judge(measurement)
        return other

    def select(self, **wishes: Any) -> Selection:
        """Select the output of the loop as of now."""
        judged = zip(self.judgements, self.records, strict=True)
        contenders = [SelectionCandidate(each.walked, record.timestamp, record.metrics) for each, record in judged]
        return select("ralph-001", contenders, self.thresholds, **wishes)

    @property
    def taken(self) -> list[int]:
        """Return the iterations that took the place of the one kept before them, the baseline first."""
        return [j.walked.iteration for j in self.judgements if j.walked.taken]

    @property
    def refusal(self) -> Refusal | None:
        """Return why the latest iteration did not take that place."""
        return self.judgements[-1].walked.refusal

    @property
    def last(self) -> IterationRecord:
        """Return the latest record."""
        return record_of(self.judgements[-1])

    @property
    def records(self) -> list[IterationRecord]:
        """Return all records, the baseline's first."""
        return [record_of(judgement) for judgement in self.judgements]

    @property
    def kinds(self) -> list[str]:
        """Return the types of the latest record's new alerts, in their order."""
        return [alert.type for alert in self.last.alerts]

    @property
    def open_kinds(self) -> list[str]:
        """Return the types of the latest record's carried alerts, in their order."""
        return [alert.type for alert in self.last.open_alerts]

    def alert(self, kind: str) -> Alert:
        """Return the latest record's one new alert of that type."""
        (found,) = [alert for alert in self.last.alerts if alert.type == kind]
        return found


@pytest.fixture(scope="session")
def start() -> type[Loop]:
    """Start a loop: `start(**changes of the steady baseline)`."""
    return Loop


@pytest.fixture(scope="session")
def steady() -> Mapping[str, Any]:
    """Return the values of the steady baseline."""
    return STEADY


@pytest.fixture(scope="session")
def make_alert():
    """Make an alert of a type, as raised at an iteration."""

    def make(kind: str, iteration: int = 3, message: str = "what happened", **more: Any) -> Alert:
        return Alert(kind=TYPE_BY_NAME[kind], iteration=iteration, message=message, **more)

    return make
