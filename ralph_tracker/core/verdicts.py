"""What is found of one iteration: its class, its alerts, new and carried, and whether it is verified."""

from dataclasses import dataclass, replace

from ralph_tracker.core import alerts as raising
from ralph_tracker.core.alert_types import Alert, in_order, is_mended
from ralph_tracker.core.best import best_of
from ralph_tracker.core.classify import Scored, classify, step_of
from ralph_tracker.core.cycles import find_cycle
from ralph_tracker.core.identities import compare
from ralph_tracker.core.line import Classification, Point, Yardstick
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import Measurement, Metrics
from ralph_tracker.core.score import Basis, Score


@dataclass(frozen=True, slots=True)
class View:
    """Bundle what one judgement looks at."""

    state: LoopState
    basis: Basis
    metrics: Metrics
    measurement: Measurement
    score: Score
    yardstick: Yardstick
    point: Point

    @property
    def number(self) -> int:
        return self.point.iteration

    @property
    def adjusted(self) -> float:
        return self.yardstick.score(self.number, self.point.ground)


@dataclass(frozen=True, slots=True)
class Verdicts:
    classification: Classification
    new: tuple[Alert, ...]
    carried: tuple[Alert, ...]
    closed: tuple[str, ...]
    accepted: tuple[str, ...]
    same_tree_cycle: bool

    @property
    def counting(self) -> tuple[Alert, ...]:
        """Return the new and open alerts that nobody accepted, in order."""
        return in_order(a for a in (*self.new, *self.carried) if a.id not in self.accepted)

    @property
    def lasting(self) -> tuple[Alert, ...]:
        """Return what stays open; an accepted report that is missing stays too, so that it is not raised anew."""
        known = in_order((*self.new, *self.carried))
        return tuple(a for a in known if a.kind.lasting and (a.group is not None or a.id not in self.accepted))


def verdicts_of(view: View) -> Verdicts:
    state, line = view.state, view.state.line
    if view.number == 0:
        at = _situation(view)
        new = tuple(raising.raise_alerts(at, "baseline", None))
        return Verdicts("baseline", new, (), (), _accepted(new, state), same_tree_cycle=False)
    at = _situation(view)
    step = step_of(view.metrics, line.readings, view.score.components)
    scored = Scored(point=view.point, line=line, yardstick=view.yardstick, given=view.basis.given_score)
    broken = raising.working_tests_failing(at) is not None
    classification = classify(step, scored, state.rules, working_tests_failing=broken)
    cycle = find_cycle(view.point, line, view.measurement, view.yardstick, state.rules.cycling)
    target = best_of(state.frontier, view.yardstick, verified_only=True)
    new = tuple(
        replace(alert, rollback_to=target.iteration if target else None)
        for alert in raising.raise_alerts(at, classification, cycle)
    )
    groups = raising.measured_groups(at)
    mended = [a for a in line.open_alerts if is_mended(a, view.metrics, view.measurement.tests, groups)]
    carried = in_order(a for a in line.open_alerts if a not in mended)
    return Verdicts(
        classification,
        new,
        carried,
        tuple(alert.id for alert in in_order(mended)),
        _accepted((*new, *carried), state),
        same_tree_cycle=cycle is not None and cycle.same_tree,
    )


def _accepted(alerts: tuple[Alert, ...], state: LoopState) -> tuple[str, ...]:
    return tuple(alert.id for alert in alerts if alert.id in state.accepted)


def _situation(view: View) -> raising.Situation:
    state, line = view.state, view.state.line
    tests = view.measurement.tests
    flaky = view.yardstick.seen.flaky
    return raising.Situation(
        iteration=view.number,
        previous=line.head or 0,
        metrics=view.metrics,
        readings=line.readings,
        tests=compare(state.known, tests, flaky),
        components=view.score.components,
        missing=view.measurement.missing,
        basis=view.basis,
        rules=state.rules,
        config_changed=view.measurement.config_changed,
        already_missing=frozenset(a.group for a in line.open_alerts if a.group is not None),
    )


def is_verified(view: View, verdicts: Verdicts) -> bool:
    """Tell whether the build holds, tests were measured where the loop has them, and none is a CRITICAL alert's."""
    if view.metrics.build_status == "failure":
        return False
    if view.basis.has_tests and view.metrics.test_count is None and view.metrics.pass_rate is None:
        return False
    return not any(alert.kind.about_tests for alert in verdicts.counting)
