"""What is found of one iteration: its class, its alerts, new and carried, and whether it is verified."""

from typing import NamedTuple

from ralph_tracker.core import alerts as raising
from ralph_tracker.core.alert_types import Alert, in_order
from ralph_tracker.core.best import best_of
from ralph_tracker.core.classify import Scored, Step, classify, step_of
from ralph_tracker.core.cycles import find_cycle
from ralph_tracker.core.findings import NOTHING_FOUND, Severity
from ralph_tracker.core.identities import compare
from ralph_tracker.core.line import Classification, Point, Yardstick
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import Measurement, Metrics
from ralph_tracker.core.score import Basis, Score
from ralph_tracker.core.trust import Doubts


class View(NamedTuple):
    """Bundle what one judgement looks at."""

    state: LoopState
    basis: Basis
    metrics: Metrics
    measurement: Measurement
    score: Score
    yardstick: Yardstick
    point: Point
    at: raising.Situation
    doubts: Doubts

    @property
    def number(self) -> int:
        return self.point.iteration

    @property
    def adjusted(self) -> float:
        return self.yardstick.score(self.number, self.point.ground)


class Verdicts(NamedTuple):
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
        return tuple(a for a in known if a.lasting and (a.group is not None or a.id not in self.accepted))


def verdicts_of(view: View) -> Verdicts:
    state, line, doubts = view.state, view.state.line, view.doubts
    if view.number == 0:
        new = raising.raise_alerts(view.at, "baseline", None)
        return Verdicts("baseline", new, (), (), _accepted(new, state), same_tree_cycle=False)
    scored = Scored(point=view.point, line=line, yardstick=view.yardstick, given=view.basis.given_score)
    broken = raising.working_tests_failing(view.at) is not None
    classification = classify(_step(view), scored, state.rules, working_tests_failing=broken)
    cycle = find_cycle(view.point, line, view.measurement, view.yardstick, state.rules.cycling)
    target = best_of(state.frontier, view.yardstick, verified_only=True)
    new = in_order(
        alert._replace(rollback_to=target.iteration if target else None)
        for alert in (*doubts.new, *raising.raise_alerts(view.at, classification, cycle))
    )
    return Verdicts(
        classification,
        new,
        doubts.carried,
        tuple(alert.id for alert in doubts.mended),
        _accepted((*new, *doubts.carried), state),
        same_tree_cycle=cycle is not None and cycle.same_tree,
    )


def _step(view: View) -> Step:
    """Return the four metrics as the class compares them; tests that are gone by merging alone are no fall."""
    step = step_of(view.metrics, view.state.line.readings, view.score.components)
    return step.without_fall("test_count") if view.at.fall_is_explained else step


def _accepted(alerts: tuple[Alert, ...], state: LoopState) -> tuple[str, ...]:
    return tuple(alert.id for alert in alerts if alert.id in state.accepted)


def situation_of(
    state: LoopState, basis: Basis, metrics: Metrics, measurement: Measurement, score: Score
) -> raising.Situation:
    line, seen = state.line, state.seen
    none = (measurement.integrity or NOTHING_FOUND).no_tests
    return raising.Situation(
        iteration=state.iteration + 1,
        previous=line.head or 0,
        metrics=metrics,
        readings=line.readings,
        tests=compare(state.known, measurement.tests, seen.flaky, seen.aliases, none),
        components=score.components,
        missing=measurement.missing,
        basis=basis,
        rules=state.rules,
        config_changed=measurement.config_changed,
        already_missing=frozenset(a.group for a in line.open_alerts if a.group is not None),
        integrity=measurement.integrity,
        open_findings=frozenset(f.key for alert in line.open_alerts for f in alert.findings),
        accepted_findings=state.accepted_findings,
    )


def is_verified(view: View, verdicts: Verdicts) -> bool:
    """Tell whether the build holds, tests were measured where the loop has them, and no CRITICAL alert is about any."""
    if view.metrics.build_status == "failure":
        return False
    if view.basis.has_tests and view.metrics.test_count is None and view.metrics.pass_rate is None:
        return False
    about = (a for a in verdicts.counting if a.kind.about_tests or a.kind.rule is not None)
    return not any(alert.severity is Severity.CRITICAL for alert in about)
