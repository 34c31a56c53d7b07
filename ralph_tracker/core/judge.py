"""The judge: what one measurement means for a loop in a state, and the state after it.

Pure and repeatable: the same measurements in the same order give the same judgements. A damaged state is rebuilt, and a
person's acceptance applied, by judging again.
"""

from typing import NamedTuple

from ralph_tracker.core.adjusted_score import TestTally, adjusted_score, with_hidden_findings
from ralph_tracker.core.alert_rules import AlertFacts, raise_alerts, working_tests_failing
from ralph_tracker.core.alert_types import REMOVAL_ALERTS, Alert, in_order, open_questions
from ralph_tracker.core.classification import classify
from ralph_tracker.core.decision import BASELINE_DECISION, Decision, DecisionFacts, decide
from ralph_tracker.core.integrity_alerts import IntegrityAlerts, disbelieved_tests, integrity_alerts_of
from ralph_tracker.core.integrity_result import NOTHING_FOUND, is_clean
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import ChangedTests, IgnoredTests, compare, extend_ranges
from ralph_tracker.core.lineage import FLAT, Classification, Lineage, PastIteration, find_cycle
from ralph_tracker.core.metrics import (
    BUILD_FAILED,
    FAILED,
    KEY_METRICS,
    PASSED,
    Group,
    Measurement,
    read,
)
from ralph_tracker.core.objective import Progress, Weighed, weigh
from ralph_tracker.core.score import (
    Basis,
    Score,
    basis_of,
    quality_score,
    recorded_metrics,
)
from ralph_tracker.core.walk import (
    VERIFYING,
    Comparison,
    Kept,
    Step,
    WalkedIteration,
    after_step,
    are_few,
    compare_with_kept,
    why_unsound,
    why_worse,
)


class JudgementInputs(NamedTuple):
    """The inputs of one judgement.

    `against_kept` compares its tests with those of the kept iteration. `disbelieved` ones do not count, even if they
    pass.
    """

    facts: AlertFacts
    score: Score
    adjusted: float
    tally: TestTally | None
    point: PastIteration
    against_kept: Comparison
    disbelieved: frozenset[str]
    integrity_alerts: IntegrityAlerts
    weighed: Weighed | None = None

    @property
    def measured(self) -> bool:
        """Return whether tests were measured, if the loop has any."""
        known = self.facts.metrics
        return not self.facts.basis.has_tests or known.test_count is not None or known.pass_rate is not None


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
    facts, found = inputs.facts, inputs.integrity_alerts
    if facts.iteration == 0:
        new = raise_alerts(facts, "baseline", None)
        return Assessment("baseline", new, (), (), _accepted_alert_ids(new, facts.state), same_tree_cycle=False)
    built = facts.line.readings.get(BUILD_FAILED)  # a status has no delta: it fails and did not before
    build_failed = facts.metrics.build_status == "failure" and built is not None and not built.value
    failed = bool(facts.failing_runs) or build_failed
    broke = working_tests_failing(facts) is not None or facts.build_broke or failed
    classification: Classification = classify(facts, inputs.point, broke=broke)
    if classification in FLAT and inputs.weighed is not None and inputs.weighed.is_better:
        classification = "forward"
    cycle = find_cycle(inputs.point, facts.line, facts.measurement, facts.state.thresholds.cycling)
    gained = () if facts.tests is None else set(facts.tests.gained).intersection(inputs.against_kept.gained)
    if gained and cycle is not None and not cycle.same_tree and is_clean(found.verdict):
        cycle = None  # a test passes that passed neither just before nor in the kept one: numbers repeat by chance
    raised, kept = (*found.new, *raise_alerts(facts, classification, cycle)), facts.state.kept
    if kept is not None and kept.measured:
        raised = tuple(each._replace(rollback_to=kept.iteration, rollback_score=kept.score) for each in raised)
    new = in_order(raised)
    return Assessment(
        classification,
        new,
        found.carried,
        tuple(alert.id for alert in found.fixed),
        _accepted_alert_ids((*new, *found.carried), facts.state),
        same_tree_cycle=cycle is not None and cycle.same_tree,
    )


def _accepted_alert_ids(alerts: tuple[Alert, ...], state: JudgeState) -> tuple[str, ...]:
    return tuple(alert.id for alert in alerts if alert.id in state.accepted)


def _compared(state: JudgeState, measurement: Measurement, disbelieved: frozenset[str]) -> ChangedTests | None:
    line, earlier = state.lineage, (measurement.integrity or NOTHING_FOUND).earlier
    ignored = IgnoredTests(
        not_loaded=frozenset(measurement.not_loaded),
        no_gain=disbelieved if earlier is None else disbelieved | earlier.no_gain,
        not_collected_before=line.not_collected_before,
        not_loaded_before=line.not_loaded,
    )
    return compare(state.known, measurement.tests, state.flaky, ignored)


class Judgement(NamedTuple):
    """What is judged of one iteration on its inputs; `state` is the one after it.

    `walked` is what later selections keep of the iteration.
    """

    inputs: JudgementInputs
    assessment: Assessment
    decision: Decision
    state: JudgeState
    walked: WalkedIteration


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


def _judge(state: JudgeState, measurement: Measurement, basis: Basis) -> Judgement:
    number = state.iteration + 1
    metrics = recorded_metrics(measurement.metrics, basis.error_parts)
    score = quality_score(basis, metrics, measurement.quality_score)
    if measurement.tests is not None and measurement.tests.flaky:
        state = state._replace(flaky=state.flaky | measurement.tests.flaky)
    if measurement.integrity is not None:
        priced = with_hidden_findings(measurement.integrity, state.lineage.readings, metrics)
        measurement = measurement._replace(integrity=priced)
    found = measurement.integrity or NOTHING_FOUND
    disbelieved = disbelieved_tests(found, state.accepted_findings)
    tests = _compared(state, measurement, disbelieved)
    facts = AlertFacts(state, basis, metrics, measurement, score.components, tests)
    against_kept = _against_kept(facts, disbelieved)
    facts = facts._replace(dropped=against_kept.dropped)
    integrity_alerts = integrity_alerts_of(facts)
    tally = _tally(facts, against_kept, disbelieved)
    adjusted = adjusted_score(basis, metrics, measurement.quality_score, tally, found.suppressions)
    point = PastIteration(
        iteration=number,
        classification="baseline",
        key_metrics=tuple(metrics.number(name) for name in KEY_METRICS),
        loc=metrics.loc_total,
        tree=measurement.tree,
        score=adjusted,
        tasks_done=None if measurement.plan is None else measurement.plan[0],
        moved=bool(found.retired),
    )
    inputs = JudgementInputs(
        facts,
        score,
        adjusted,
        tally,
        point,
        against_kept,
        disbelieved,
        integrity_alerts,
        weigh(state.progress, number, measurement.further),
    )
    assessment = assess(inputs)
    inputs = inputs._replace(point=point._replace(classification=assessment.classification))
    walked, kept, progress = _walk(inputs, assessment)
    best = walked if _is_best(walked, state) or state.best is None else state.best
    if not number:
        target = state.thresholds.loop.target_score
        state = state._replace(met_target=target is not None and adjusted >= target)
    cost = state.cost_usd
    if measurement.usage is not None and measurement.usage.cost_usd is not None:
        cost = (cost or 0.0) + measurement.usage.cost_usd
    decision = _decision(inputs, assessment, walked, best, cost)
    after = state._replace(
        basis=basis,
        iteration=number,
        lineage=_line_after(inputs, assessment.lasting),
        known=state.known.after(measurement.tests),
        kept=kept,
        best=best,
        rollbacks=state.rollbacks + 1 if decision.counts_as_rollback else 0,
        cost_usd=cost,
        progress=progress,
        highest=adjusted if state.highest is None else max(state.highest, adjusted),
    )
    return Judgement(inputs, assessment, decision, after, walked)


def _against_kept(facts: AlertFacts, disbelieved: frozenset[str]) -> Comparison:
    state, measurement = facts.state, facts.measurement
    if state.kept is None:
        return Comparison()
    against = compare_with_kept(
        state.kept,
        facts.metrics,
        measurement.tests,
        (measurement.integrity or NOTHING_FOUND).earlier,
        flaky=state.flaky,
        disbelieved=disbelieved,
        not_collected=() if facts.tests is None else facts.tests.not_collected,
    )
    of_this = {alert.partition("-")[2] for alert in state.accepted if alert.startswith(f"it{state.iteration + 1}-")}
    if not of_this.isdisjoint(REMOVAL_ALERTS):
        against = against._replace(dropped=(), dropped_count=0)
    if "working_tests_failing" in of_this:
        against = against._replace(broken=(), broken_count=0)
    return against


def _tally(facts: AlertFacts, against_kept: Comparison, disbelieved: frozenset[str]) -> TestTally | None:
    """Return the tests that the adjusted score counts (semantics § 2), None where only a rate is known."""
    state, measurement, tests = facts.state, facts.measurement, facts.measurement.tests
    if tests is None:
        passed, failed = facts.metrics.tests_passed, facts.metrics.tests_failed
    else:
        outcomes = list(tests.outcomes.values())
        passed, failed = outcomes.count(PASSED), outcomes.count(FAILED)
    if passed is None or failed is None:
        return None
    believed, count = passed, facts.metrics.test_count
    missing = max(0, against_kept.dropped_count - against_kept.fresh)
    if facts.earlier is not None and state.kept is not None:
        since_gain = state.kept.dropped + missing
        missing = 0 if are_few(since_gain, state.kept.passing + state.kept.dropped) else since_gain
    if facts.tests is not None:
        missing += len(facts.tests.not_collected)
    if tests is not None:
        believed -= sum(tests.outcomes.get(name) == PASSED for name in disbelieved)
        found = (measurement.integrity or NOTHING_FOUND).findings
        hidden = {
            test
            for each in found
            if each.rule == "failure_hidden" and each.stamp not in state.accepted_findings
            for test in each.tests
        }
        missing += sum(tests.outcomes.get(name) not in {PASSED, FAILED} for name in hidden)
    named = tests is not None and state.kept is not None and state.kept.outcomes is not None
    return TestTally(believed=believed, ran=passed + failed, missing=missing, reported=count if named else None)


def _walk(inputs: JudgementInputs, assessment: Assessment) -> tuple[WalkedIteration, Kept, Progress]:
    """Return the iteration as later choices see it, and the kept iteration and the progress after it."""
    state, metrics, tests = inputs.facts.state, inputs.facts.metrics, inputs.facts.measurement.tests
    asked = open_questions(assessment.counting)
    step = Step(
        score=inputs.adjusted,
        tests=inputs.against_kept,
        verdict=inputs.integrity_alerts.verdict,
        built=metrics.build_status != "failure" and not (inputs.facts.not_collected or inputs.facts.failing_runs),
        measured=inputs.measured,
        questions=asked,
        by_tests=inputs.facts.basis.has_tests and not inputs.facts.basis.given_score,
        refuse=state.thresholds.selection.questions == "refuse",
        weighed=inputs.weighed,
    )
    here = Kept(
        iteration=inputs.facts.iteration,
        outcomes=None if tests is None else tests.outcomes,
        metrics=metrics,
        score=inputs.adjusted,
        top_score=inputs.adjusted,
        disbelieved=inputs.disbelieved,
        questions=frozenset(asked),
        measured=inputs.measured,
    )
    kept = state.kept
    refusal = None if kept is None else why_worse(kept, step)
    walked = WalkedIteration(
        iteration=inputs.facts.iteration,
        quality_score=inputs.score.value,
        score=inputs.adjusted,
        verified=refusal is None or refusal.rule not in VERIFYING,
        verdict=step.verdict,
        kept_before=None if kept is None else kept.iteration,
        refusal=refusal,
        gained=inputs.against_kept.gained_count if kept is not None else 0,
        passing=here.passing,
        measured=inputs.measured,
    )
    progress = state.progress
    if inputs.weighed is not None:
        rule = None if refusal is None else refusal.rule
        progress = inputs.weighed.progress(inputs.facts.iteration, progress, rule, gained=walked.gained > 0)
    if kept is None:
        return walked._replace(verified=why_unsound(here, step) is None), here, progress
    if state.thresholds.selection.against == "baseline":
        return walked, kept, progress
    return walked, after_step(kept, here, step, refusal), progress


def _is_best(walked: WalkedIteration, state: JudgeState) -> bool:
    """Return whether an iteration is the one to take so far: it took the place, or is the best alternative."""
    if not walked.taken or state.best is None or state.thresholds.selection.against == "kept":
        return walked.taken
    best = state.best
    return (walked.gained, walked.score) >= (best.gained, best.score)


def _decision(
    inputs: JudgementInputs, assessment: Assessment, walked: WalkedIteration, best: WalkedIteration, cost: float | None
) -> Decision:
    if inputs.facts.iteration == 0:
        return BASELINE_DECISION
    # A loop that works off its plan makes progress: a task was done since just before the window of a stall.
    window = inputs.facts.state.lineage.points[-inputs.facts.state.thresholds.stall.window :]
    before = next((point.tasks_done for point in window if point.tasks_done is not None), None)
    latest = max((level.best for level in inputs.facts.state.progress.levels.values()), default=None)
    improving = latest is not None and inputs.facts.iteration - latest <= inputs.facts.state.thresholds.stall.window
    now, passing = inputs.point.tasks_done, bool(inputs.facts.metrics.tests_passed)
    ticked = now is not None and before is not None and now > before
    holds = passing and inputs.facts.metrics.tests_failed == 0
    before_it, tree = inputs.facts.state.lineage.points[-1], inputs.facts.measurement.tree
    facts = DecisionFacts(
        iteration=inputs.facts.iteration,
        classification=assessment.classification,
        alerts=assessment.counting,
        score=inputs.adjusted,
        best_score=best.score,
        best_iteration=best.iteration,
        verified=walked.verified,
        evidence=inputs.score.evidence,
        trusted=inputs.integrity_alerts.verdict in {None, "PASS"},
        target_tests_hold=not inputs.facts.basis.has_tests or holds,
        same_tree_cycle=assessment.same_tree_cycle,
        cost_usd=cost,
        elapsed_s=inputs.facts.measurement.elapsed_s,
        rollbacks=inputs.facts.state.rollbacks,
        blocked=inputs.facts.measurement.blocked,
        questions=len(set(open_questions(assessment.counting).values())),
        met_target=inputs.facts.state.met_target,
        open_tasks=None if inputs.facts.measurement.plan is None else inputs.facts.measurement.plan[1],
        working=ticked or improving or (inputs.facts.basis.has_tests and not _has_run_tests(inputs)),
        green=holds and not inputs.facts.measurement.not_loaded and inputs.facts.metrics.build_status != "failure",
        unchanged=tree is not None and tree == before_it.tree,
        gained=walked.gained > 0,
    )
    return decide(facts, inputs.facts.state.thresholds)


def _has_run_tests(inputs: JudgementInputs) -> bool:
    """Return whether a test of the loop ran in this iteration or any before it."""
    counts = (inputs.facts.metrics.tests_passed, inputs.facts.metrics.tests_failed)
    before = (inputs.facts.state.lineage.readings.get(name) for name in ("tests_passed", "tests_failed"))
    return any(counts) or any(each is not None and each.value for each in before)


def _line_after(inputs: JudgementInputs, lasting: tuple[Alert, ...]) -> Lineage:
    line, point, thresholds = inputs.facts.line, inputs.point, inputs.facts.state.thresholds
    found = inputs.facts.measurement.integrity
    after = Lineage(
        segments=extend_ranges(line.segments, point.iteration),
        readings=read(inputs.facts.metrics, point.iteration, line.readings),
        points=(*line.points, point)[-max(thresholds.stall.window, 1) :],
        complete=line.complete,
        open_alerts=lasting,
        suppressions=line.suppressions if found is None else found.suppressions,
        references=line.references if found is None else found.references,
        not_loaded=frozenset(inputs.facts.measurement.not_loaded),
        failing_runs=inputs.facts.failing_runs,
    )
    if not point.has(after.parts()):
        return after
    return after._replace(complete=(*line.complete, point)[-thresholds.cycling.window :])


def acceptance(state: JudgeState, alert: Alert) -> JudgeState:
    """Return the state before the baseline from which the loop is judged again with that alert accepted."""
    return state._replace(
        accepted=state.accepted | {alert.id},
        accepted_findings=state.accepted_findings | {finding.stamp for finding in alert.findings},
    )
