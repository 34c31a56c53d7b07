"""The judge: computes the record and the next state from the state of a loop and one measurement.

Pure and repeatable: the same measurements in the same order give the same records. A damaged state is rebuilt, and a
person's acceptance applied, by judging again.
"""

from typing import NamedTuple

from ralph_tracker.core.alert_rules import AlertFacts, raise_alerts, working_tests_failing
from ralph_tracker.core.alert_types import REMOVAL_ALERTS, Alert, in_order
from ralph_tracker.core.best_iteration import Candidate, best_now, best_of, extend_frontier
from ralph_tracker.core.classification import ScoreContext, classify, step_of
from ralph_tracker.core.comparable_score import (
    Scorer,
    adjusted_parts_of,
    findings_at_size,
    weights_of_tests,
    why_adjusted,
)
from ralph_tracker.core.decision import BASELINE_DECISION, Decision, DecisionFacts, decide, message_of
from ralph_tracker.core.integrity_alerts import (
    IntegrityAlerts,
    disbelieved_tests,
    integrity_alerts_of,
    integrity_record_of,
)
from ralph_tracker.core.integrity_result import NOTHING_FOUND, Severity
from ralph_tracker.core.iteration_record import BestTracker, IterationRecord
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import IgnoredTests, SeenTests, compare, extend_ranges
from ralph_tracker.core.lineage import Classification, Lineage, PastIteration, find_cycle
from ralph_tracker.core.metrics import (
    BUILD_FAILED,
    KEY_METRICS,
    PASSED,
    Group,
    Measurement,
    Metrics,
    deltas,
    plain_number,
    read,
    whole,
)
from ralph_tracker.core.score import (
    Basis,
    Score,
    basis_of,
    quality_score,
    recorded_metrics,
)


class JudgementInputs(NamedTuple):
    """The inputs of one judgement."""

    state: JudgeState
    basis: Basis
    metrics: Metrics
    measurement: Measurement
    score: Score
    scorer: Scorer
    point: PastIteration
    at: AlertFacts
    integrity_alerts: IntegrityAlerts

    @property
    def number(self) -> int:
        return self.point.iteration

    @property
    def adjusted(self) -> float:
        return self.scorer.score(self.point)


class Assessment(NamedTuple):
    """The classification of an iteration, and its alerts by what becomes of them."""

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
        """Return the alerts that stay open; an accepted missing report stays, so that it is not raised again."""
        known = in_order((*self.new, *self.carried))
        return tuple(a for a in known if a.lasting and (a.group is not None or a.id not in self.accepted))


def assess(inputs: JudgementInputs) -> Assessment:
    state, line, integrity_alerts = inputs.state, inputs.state.lineage, inputs.integrity_alerts
    if inputs.number == 0:
        new = raise_alerts(inputs.at, "baseline", None)
        return Assessment("baseline", new, (), (), _accepted_alert_ids(new, state), same_tree_cycle=False)
    scored = ScoreContext(point=inputs.point, line=line, scorer=inputs.scorer, given=inputs.basis.given_score)
    built = line.readings.get(BUILD_FAILED)  # a status has no delta: it fails and did not before
    build_failed = inputs.metrics.build_status == "failure" and built is not None and not built.value
    broke = working_tests_failing(inputs.at) is not None or inputs.at.build_broke or build_failed
    step = step_of(inputs.metrics, line.readings, inputs.score.components)._replace(
        gained=inputs.at.gained,
        lost=inputs.at.lost,
        named=inputs.at.tests is not None,
        uncovered=(inputs.at.change("coverage_lines_covered") or 0) < 0,
    )
    if inputs.at.fall_is_explained:
        step = step.without_fall("test_count")  # a test count that fell by merging alone counts as unchanged
    classification = classify(step, scored, state.thresholds, broke=broke)
    cycle = find_cycle(inputs.point, line, inputs.measurement, inputs.scorer, state.thresholds.cycling)
    tests, seen = inputs.measurement.tests, state.seen
    if cycle is not None and not cycle.same_tree and tests is not None and integrity_alerts.clean:
        # Where a believed test is new to the loop, equal numbers are a coincidence.
        believed = {name for name, how in tests.outcomes.items() if how == PASSED} - integrity_alerts.disbelieved
        if not seen.ran.union(seen.excluded).issuperset(seen.aliases.roots(believed)):
            cycle = None
    target = best_of(state.frontier, inputs.scorer)
    new = in_order(
        alert._replace(rollback_to=target.iteration if target else None)
        for alert in (*integrity_alerts.new, *raise_alerts(inputs.at, classification, cycle))
    )
    return Assessment(
        classification,
        new,
        integrity_alerts.carried,
        tuple(alert.id for alert in integrity_alerts.fixed),
        _accepted_alert_ids((*new, *integrity_alerts.carried), state),
        same_tree_cycle=cycle is not None and cycle.same_tree,
    )


def _accepted_alert_ids(alerts: tuple[Alert, ...], state: JudgeState) -> tuple[str, ...]:
    return tuple(alert.id for alert in alerts if alert.id in state.accepted)


def alert_facts_of(
    state: JudgeState, basis: Basis, metrics: Metrics, measurement: Measurement, score: Score
) -> AlertFacts:
    line, seen = state.lineage, state.seen
    uncounted = IgnoredTests(
        no_tests=(measurement.integrity or NOTHING_FOUND).no_tests,
        not_loaded=frozenset(measurement.not_loaded),
        disbelieved=disbelieved_tests(measurement.integrity, state.accepted_findings),
        not_collected_before={
            name: was for name, was in line.not_collected_before.items() if name not in seen.excluded
        },
    )
    return AlertFacts(
        iteration=state.iteration + 1,
        previous=line.head or 0,
        metrics=metrics,
        readings=line.readings,
        tests=compare(state.known, measurement.tests, seen.flaky, seen.aliases, uncounted),
        components=score.components,
        missing=measurement.missing,
        basis=basis,
        thresholds=state.thresholds,
        config_changed=measurement.config_changed,
        already_missing=frozenset(a.group for a in line.open_alerts if a.group is not None),
        integrity=measurement.integrity,
        open_findings=frozenset(f.key for alert in line.open_alerts for f in alert.findings),
        accepted_findings=state.accepted_findings,
        not_loaded={place: why for place, why in measurement.not_loaded.items() if place not in line.not_loaded},
        failing_named=measurement.failing_named,
    )


def is_verified(inputs: JudgementInputs, assessment: Assessment) -> bool:
    """Return whether the build holds, tests were measured if the loop has them, and this iteration lost none.

    Losses of earlier iterations show in the number of believed tests. Replaced tests (MEDIUM) may have been renamed as
    long as nobody compared the files.
    """
    if inputs.metrics.build_status == "failure":
        return False
    if inputs.basis.has_tests and inputs.metrics.test_count is None and inputs.metrics.pass_rate is None:
        return False
    raised = (a for a in assessment.new if a.id not in assessment.accepted)
    return not any(
        a.severity is Severity.CRITICAL if a.kind.rule else a.kind.about_tests and a.severity is not Severity.MEDIUM
        for a in raised
    )


class Judgement(NamedTuple):
    """A record and the state after it; `candidate` is what later selections keep of the iteration."""

    record: IterationRecord
    state: JudgeState
    candidate: Candidate


def judge_baseline(
    state: JudgeState, measurement: Measurement, configured: frozenset[Group] = frozenset()
) -> Judgement:
    """Judge iteration 0, which fixes what belongs to the loop.

    Raises ValueError if there is neither a score nor a component to judge by.
    """
    given = measurement.quality_score
    basis = basis_of(measurement.metrics, state.thresholds, given_score=given is not None, configured=configured)
    if given is None and not basis.components:
        msg = "the baseline has neither a quality_score nor anything to compute one from"
        raise ValueError(msg)
    return _judge(state._replace(basis=basis), measurement, basis)


def judge(state: JudgeState, measurement: Measurement) -> Judgement:
    """Judge the next iteration.

    Raises ValueError if the loop has no baseline, or if a score is given in a computed loop or vice versa.
    """
    if state.basis is None:
        msg = "the loop has no baseline yet"
        raise ValueError(msg)
    if state.basis.given_score and measurement.quality_score is None:
        msg = "quality_score is missing: this loop's scores are given, since the baseline's was"
        raise ValueError(msg)
    if not state.basis.given_score and measurement.quality_score is not None:
        msg = "quality_score is given, but this loop's scores are computed, since the baseline's was"
        raise ValueError(msg)
    return _judge(state, measurement, state.basis)


def excluded_tests(state: JudgeState, measurement: Measurement) -> frozenset[str]:
    """Return the tests that a measurement removes from those ever seen; earlier iterations are judged without them."""
    found = measurement.integrity or NOTHING_FOUND
    return state.seen.aliases.roots(found.no_tests) & state.seen.ran


def _judge(state: JudgeState, measurement: Measurement, basis: Basis) -> Judgement:
    number = state.iteration + 1
    metrics = recorded_metrics(measurement.metrics, basis.error_parts)
    score = quality_score(basis, metrics, measurement.quality_score)
    found = measurement.integrity or NOTHING_FOUND
    known = state.seen.with_aliases(found.matches, found.no_tests).with_flaky(measurement.tests)
    before, state = state.seen, state._replace(seen=known)
    at = alert_facts_of(state, basis, metrics, measurement, score)
    integrity_alerts = integrity_alerts_of(state, basis, at, metrics, measurement)
    seen = known.after(number, metrics.test_count, measurement.tests) if integrity_alerts.clean else known
    scorer = Scorer(weights_of_tests(basis), seen)
    point, candidate = _place_iteration(number, basis, metrics, measurement, score, seen, integrity_alerts)
    inputs = JudgementInputs(state, basis, metrics, measurement, score, scorer, point, at, integrity_alerts)
    assessment = assess(inputs)
    candidate = candidate._replace(verified=is_verified(inputs, assessment))
    point = point._replace(classification=assessment.classification)
    inputs = inputs._replace(point=point)
    frontier = extend_frontier(state.frontier, candidate, scorer)
    leader = best_now(frontier, scorer) if number else None
    best = BestTracker()
    if leader is not None:
        best = BestTracker(leader.iteration, leader.quality_score, scorer.score(leader), leader.verified)
    if not number:
        target = state.thresholds.loop.target_score
        state = state._replace(met_target=target is not None and inputs.adjusted >= target)
        inputs = inputs._replace(state=state)
    cost = state.cost_usd
    if measurement.usage is not None and measurement.usage.cost_usd is not None:
        cost = (cost or 0.0) + measurement.usage.cost_usd
    decision = _decision(inputs, assessment, candidate, best, cost)
    record = _record(inputs, assessment, candidate, best, decision)
    after = state._replace(
        basis=basis,
        iteration=number,
        lineage=_line_after(inputs, assessment.lasting),
        known=state.known.after(measurement.tests),
        seen=seen,
        seen_at=state.seen_at if seen == before else number,
        frontier=frontier,
        rollbacks=state.rollbacks + 1 if decision.counts_as_rollback else 0,
        cost_usd=cost,
    )
    return Judgement(record, after, candidate)


def _place_iteration(
    number: int,
    basis: Basis,
    metrics: Metrics,
    measurement: Measurement,
    score: Score,
    seen: SeenTests,
    integrity_alerts: IntegrityAlerts,
) -> tuple[PastIteration, Candidate]:
    passed = metrics.tests_passed
    if passed is None and metrics.pass_rate is not None and metrics.test_count is not None:
        passed = whole(metrics.pass_rate * metrics.test_count / 100)
    standing = seen.tally(passed, metrics.test_count, measurement.tests, integrity_alerts.disbelieved)
    adjusted_parts = adjusted_parts_of(
        basis,
        metrics,
        given=measurement.quality_score,
        passes=standing.passes,
        present=standing.present,
        unseen=standing.unseen,
        suppressions=(measurement.integrity or NOTHING_FOUND).suppressions,
    )
    plan = measurement.plan
    point = PastIteration(
        iteration=number,
        classification="baseline",
        key_metrics=tuple(metrics.number(name) for name in KEY_METRICS),
        loc=metrics.loc_total,
        tree=measurement.tree,
        adjusted_parts=adjusted_parts,
        tasks_done=None if plan is None else plan[0],
    )
    candidate = Candidate(
        iteration=number,
        quality_score=score.value,
        adjusted_parts=adjusted_parts,
        verified=False,
        findings=findings_at_size(basis.baseline, metrics),
        verdict=integrity_alerts.verdict,
        given=basis.given_score,
    )
    return point, candidate


def _decision(
    inputs: JudgementInputs, assessment: Assessment, candidate: Candidate, best: BestTracker, cost: float | None
) -> Decision:
    if inputs.number == 0:
        return BASELINE_DECISION
    # A loop that works off its plan makes progress: a task was done since just before the window of a stall.
    window = inputs.state.lineage.points[-inputs.state.thresholds.stall.window :]
    before = next((point.tasks_done for point in window if point.tasks_done is not None), None)
    now, passing = inputs.point.tasks_done, bool(inputs.metrics.tests_passed)
    ticked = now is not None and before is not None and now > before
    facts = DecisionFacts(
        iteration=inputs.number,
        classification=assessment.classification,
        alerts=assessment.counting,
        score=inputs.adjusted,
        best_score=best.adjusted,
        best_iteration=best.iteration or 0,
        verified=candidate.verified,
        evidence=inputs.score.evidence,
        trusted=inputs.integrity_alerts.verdict in {None, "PASS"},
        target_tests_hold=not inputs.basis.has_tests or (passing and inputs.metrics.tests_failed == 0),
        same_tree_cycle=assessment.same_tree_cycle,
        cost_usd=cost,
        elapsed_s=inputs.measurement.elapsed_s,
        rollbacks=inputs.state.rollbacks,
        blocked=inputs.measurement.blocked,
        scores={each.iteration: inputs.scorer.score(each) for each in inputs.state.frontier},
        met_target=inputs.state.met_target,
        open_tasks=None if inputs.measurement.plan is None else inputs.measurement.plan[1],
        working=ticked or (inputs.basis.has_tests and not inputs.scorer.seen.union),
    )
    return decide(facts, inputs.state.thresholds)


def _record(
    inputs: JudgementInputs, assessment: Assessment, candidate: Candidate, best: BestTracker, decision: Decision
) -> IterationRecord:
    baseline = {} if inputs.number == 0 else deltas(inputs.metrics, read(inputs.basis.baseline, 0))
    notes = []
    if inputs.number == 0 and inputs.state.met_target:
        target = plain_number(inputs.state.thresholds.loop.target_score or 0)
        notes.append(f"the baseline already meets the target of {target}, so the target does not stop this loop")
    given, used = inputs.measurement.metrics.error_count, inputs.metrics.error_count
    if given is not None and given != used:
        sums = "not recorded" if used is None else f"{used} is recorded"
        notes.append(f"error_count {given} was given; this loop sums it from its parts since the baseline: {sums}")
    return IterationRecord(
        loop_id=inputs.state.loop_id,
        iteration=inputs.number,
        previous=inputs.state.lineage.head,
        timestamp=inputs.measurement.timestamp,
        classification=assessment.classification,
        metrics=inputs.metrics,
        quality_score=inputs.score.value,
        adjusted_score=inputs.adjusted,
        adjusted_because=why_adjusted(
            inputs.basis,
            inputs.metrics,
            inputs.score.value,
            inputs.adjusted,
            inputs.point.adjusted_parts,
            inputs.scorer,
            inputs.measurement.integrity,
        ),
        score_given=inputs.basis.given_score,
        dimensions={} if inputs.basis.given_score else inputs.score.dimensions,
        weights={} if inputs.basis.given_score else inputs.basis.weights,
        components=inputs.score.components,
        evidence=inputs.score.evidence,
        verified=candidate.verified,
        tests_ever_seen=inputs.scorer.seen.union,
        best=best,
        decision=decision,
        message=message_of(decision, assessment.classification, assessment.counting),
        from_previous=deltas(inputs.metrics, inputs.state.lineage.readings),
        from_baseline=baseline,
        alerts=assessment.new,
        open_alerts=assessment.carried,
        closed_alerts=assessment.closed,
        accepted=assessment.accepted,
        usage=inputs.measurement.usage,
        blocked=inputs.measurement.blocked,
        tree=inputs.measurement.tree,
        integrity=integrity_record_of(inputs.integrity_alerts, inputs.scorer.seen, inputs.measurement),
        plan=inputs.measurement.plan,
        notes=(*notes, *inputs.measurement.notes),
    )


def _line_after(inputs: JudgementInputs, lasting: tuple[Alert, ...]) -> Lineage:
    line, point, thresholds, found = (
        inputs.state.lineage,
        inputs.point,
        inputs.state.thresholds,
        inputs.measurement.integrity,
    )
    after = Lineage(
        segments=extend_ranges(line.segments, point.iteration),
        readings=read(inputs.metrics, point.iteration, line.readings),
        points=(*line.points, point)[-max(thresholds.stall.window, 1) :],
        complete=line.complete,
        open_alerts=lasting,
        suppressions=line.suppressions if found is None else found.suppressions,
        references=line.references if found is None else found.references,
        not_loaded=frozenset(inputs.measurement.not_loaded),
    )
    if not point.has(after.parts()):
        return after
    return after._replace(complete=(*line.complete, point)[-thresholds.cycling.window :])


def acceptance(state: JudgeState, alert: Alert) -> JudgeState:
    """Return the state before the baseline from which the loop is judged again with that alert accepted.

    Tests that the alert names as removed are excluded from those ever seen; without names, as many as the count fell
    by.
    """
    removed = frozenset(alert.tests) if alert.type in REMOVAL_ALERTS else frozenset()
    seen = state.seen._replace(
        excluded=state.seen.excluded | removed,
        excluded_count=state.seen.excluded_count + (alert.count_drop if alert.type == "test_deletion" else 0),
    )
    return state._replace(
        accepted=state.accepted | {alert.id},
        accepted_findings=state.accepted_findings | {finding.stamp for finding in alert.findings},
        seen=seen,
    )
