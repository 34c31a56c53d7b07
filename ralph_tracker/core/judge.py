"""The judge: computes the record and the next state from the state of a loop and one measurement.

Pure and repeatable: the same measurements in the same order give the same records. A damaged state is rebuilt, and a
person's acceptance applied, by judging again.
"""

from typing import NamedTuple

from ralph_tracker.core import alerts as raising
from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.best import Candidate, best_now, findings_of, kept
from ralph_tracker.core.classify import Verdicts, View, alert_facts_of, is_verified, verdicts_of
from ralph_tracker.core.decision import Decision, Facts, decide, first_decision, message_of
from ralph_tracker.core.deltas import deltas, read
from ralph_tracker.core.findings import NOTHING_FOUND, Integrity
from ralph_tracker.core.integrity import IntegrityAlerts, integrity_alerts_of, integrity_record_of
from ralph_tracker.core.known_tests import KnownTests, SeenTests
from ralph_tracker.core.lineage import Lineage, PastIteration, Scorer, signature_of
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import BY_NAME, Group, Measurement, Metrics
from ralph_tracker.core.records import BestTracker, IterationRecord
from ralph_tracker.core.rounding import half_up, plain_number, whole
from ralph_tracker.core.score import (
    COMPLEXITY_COST,
    ERROR_COST,
    LINT_ERROR_COST,
    WARNING_COST,
    AdjustedParts,
    Basis,
    Score,
    adjusted_parts_of,
    basis_of,
    code_growth,
    growth_percent,
    passing_growth,
    plain_components,
    quality_score,
    recorded_metrics,
    size_factor,
    starts_high,
    suppressed,
    test_weights,
)

_FINDINGS = (
    ("no_lint_errors", "lint_errors", LINT_ERROR_COST),
    ("error_count_inverted", "error_count", ERROR_COST),
    ("lint_warnings_inverted", "lint_warnings", WARNING_COST),
    ("complexity_reasonable", "complexity_score", COMPLEXITY_COST),
)


def difference(
    basis: Basis,
    now: Metrics,
    quality: float,
    adjusted: float,
    ground: AdjustedParts,
    scorer: Scorer,
    integrity: Integrity | None = None,
) -> str:
    """Explain in one line why the adjusted score differs; "" if both scores are equal."""
    if basis.given_score or quality == adjusted:
        return ""
    reasons = [
        *_tests(basis, now, ground, scorer),
        *_findings(basis, now),
        *_suppressions(basis, integrity),
        *_growth(basis, now),
    ]
    # What is left is rounding: a pass rate of 33.3 % is a third here.
    return "; ".join(reasons) or f"{ground.passes} of {scorer.seen.union} tests count unrounded"


def _tests(basis: Basis, now: Metrics, ground: AdjustedParts, scorer: Scorer) -> list[str]:
    union = scorer.seen.union
    if not union or now.test_count is None:
        return []
    passing, present = ground.passes / union * 100, min(100.0, ground.present / union * 100)
    grounded = {"all_tests_pass": passing, "pass_rate": passing, "test_count_vs_baseline": present}
    plain = plain_components(basis, now)
    if all(half_up(plain.get(name, value) or 0.0, 1) == half_up(value, 1) for name, value in grounded.items()):
        return []
    return [f"{ground.passes} of the {union} tests ever seen pass here"]


def _findings(basis: Basis, now: Metrics) -> list[str]:
    reasons = []
    measured = [row for row in _FINDINGS if row[0] in basis.components and now.number(row[1]) is not None]
    factor = size_factor(basis.baseline, now)
    if factor < 1 and any(now.number(row[1]) for row in measured if row[1] != "complexity_score"):
        size = f"{now.loc_total} lines of code count at the baseline's {basis.baseline.loc_total or 0}"
        reasons.append(f"findings in {size}")
    many = [BY_NAME[row[1]].label.lower() for row in measured if starts_high(basis.baseline, row[1], row[2])]
    if many:
        reasons.append(f"{', '.join(many)} measured against the many of the baseline")
    return reasons


def _suppressions(basis: Basis, integrity: Integrity | None) -> list[str]:
    more = max(suppressed(basis, integrity.suppressions).values()) if integrity is not None else 0
    return [f"{more} new suppressions count as findings"] if more else []


def _growth(basis: Basis, now: Metrics) -> list[str]:
    judged = code_growth(basis.baseline, now)
    if judged is None or now.loc_total is None or not basis.baseline.loc_total:
        return []
    plain = growth_percent(now.loc_total, basis.baseline.loc_total)
    if half_up(plain, 1) == half_up(judged, 1):
        return []
    tests = plain_number(half_up(passing_growth(basis.baseline, now), 1))
    return [f"code grew by {plain:.0f} %, counted as {judged:.0f} % beside {tests} times the passing tests"]


class Judgement(NamedTuple):
    """A record and the state after it; `candidate` is what later selections keep of the iteration."""

    record: IterationRecord
    state: LoopState
    candidate: Candidate


def judge_baseline(state: LoopState, measurement: Measurement, configured: frozenset[Group] = frozenset()) -> Judgement:
    """Judge iteration 0, which fixes what belongs to the loop.

    Raises ValueError if there is neither a score nor a component to judge by.
    """
    given = measurement.quality_score
    basis = basis_of(measurement.metrics, state.rules, given_score=given is not None, configured=configured)
    if given is None and not basis.components:
        msg = "the baseline has neither a quality_score nor anything to compute one from"
        raise ValueError(msg)
    return _judge(state._replace(basis=basis), measurement, basis)


def judge(state: LoopState, measurement: Measurement) -> Judgement:
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


def excluded_tests(state: LoopState, measurement: Measurement) -> frozenset[str]:
    """Return the tests that a measurement removes from those ever seen; earlier iterations are judged without them."""
    found = measurement.integrity or NOTHING_FOUND
    return state.seen.aliases.roots(found.no_tests) & state.seen.ran


def rolled_back(state: LoopState, line: Lineage, known: KnownTests) -> LoopState:
    """Return the state after a rollback: lineage and tests are those of the target."""
    return state._replace(lineage=line, known=known)


def _judge(state: LoopState, measurement: Measurement, basis: Basis) -> Judgement:
    number = state.iteration + 1
    metrics = recorded_metrics(measurement.metrics, basis.error_parts)
    score = quality_score(basis, metrics, measurement.quality_score)
    found = measurement.integrity or NOTHING_FOUND
    known = state.seen.renamed(found.matches, found.no_tests).noticed(measurement.tests)
    before, state = state.seen, state._replace(seen=known)
    at = alert_facts_of(state, basis, metrics, measurement, score)
    doubts = integrity_alerts_of(state, basis, at, metrics, measurement)
    seen = known.after(number, metrics.test_count, measurement.tests) if doubts.clean else known
    scorer = Scorer(test_weights(basis), seen)
    point, candidate = _placed(number, basis, metrics, measurement, score, seen, doubts)
    view = View(state, basis, metrics, measurement, score, scorer, point, at, doubts)
    verdicts = verdicts_of(view)
    candidate = candidate._replace(verified=is_verified(view, verdicts))
    point = point._replace(classification=verdicts.classification)
    view = view._replace(point=point)
    frontier = kept(state.frontier, candidate, scorer)
    best = _tracker(frontier, scorer, number)
    if not number:
        state = state._replace(met_target=_meets_target(view))
        view = view._replace(state=state)
    cost = _total_cost(state.cost_usd, measurement)
    decision = _decision(view, verdicts, candidate, best, cost)
    record = _record(view, verdicts, candidate, best, decision)
    after = state._replace(
        basis=basis,
        iteration=number,
        lineage=_line_after(view, verdicts.lasting),
        known=state.known.after(measurement.tests),
        seen=seen,
        seen_at=state.seen_at if seen == before else number,
        frontier=frontier,
        rollbacks=state.rollbacks + 1 if decision.counts_as_rollback else 0,
        cost_usd=cost,
    )
    return Judgement(record, after, candidate)


def _placed(
    number: int,
    basis: Basis,
    metrics: Metrics,
    measurement: Measurement,
    score: Score,
    seen: SeenTests,
    doubts: IntegrityAlerts,
) -> tuple[PastIteration, Candidate]:
    standing = seen.standing(_passes(metrics), metrics.test_count, measurement.tests, doubts.disbelieved)
    ground = adjusted_parts_of(
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
        key_metrics=signature_of(metrics),
        loc=metrics.loc_total,
        tree=measurement.tree,
        adjusted_parts=ground,
        tasks_done=None if plan is None else plan[0],
    )
    candidate = Candidate(
        iteration=number,
        quality_score=score.value,
        adjusted_parts=ground,
        verified=False,
        findings=findings_of(basis.baseline, metrics),
        verdict=doubts.verdict,
        given=basis.given_score,
    )
    return point, candidate


def _meets_target(view: View) -> bool:
    target = view.state.rules.loop.target_score
    return target is not None and view.adjusted >= target


def _passes(metrics: Metrics) -> int | None:
    """Return how many tests passed; if only the rate is known, computed from it."""
    if metrics.tests_passed is not None or metrics.pass_rate is None or metrics.test_count is None:
        return metrics.tests_passed
    return whole(metrics.pass_rate * metrics.test_count / 100)


def _tracker(frontier: tuple[Candidate, ...], scorer: Scorer, number: int) -> BestTracker:
    best = best_now(frontier, scorer) if number else None
    if best is None:
        return BestTracker()
    return BestTracker(
        iteration=best.iteration,
        score=best.quality_score,
        adjusted=scorer.score(best.iteration, best.adjusted_parts),
        verified=best.verified,
    )


def _total_cost(before: float | None, measurement: Measurement) -> float | None:
    cost = measurement.usage.cost_usd if measurement.usage else None
    return before if cost is None else (before or 0.0) + cost


def _decision(view: View, verdicts: Verdicts, candidate: Candidate, best: BestTracker, cost: float | None) -> Decision:
    if view.number == 0:
        return first_decision()
    facts = Facts(
        iteration=view.number,
        classification=verdicts.classification,
        alerts=verdicts.counting,
        score=view.adjusted,
        best_score=best.adjusted,
        best_iteration=best.iteration or 0,
        verified=candidate.verified,
        evidence=view.score.evidence,
        trusted=view.doubts.verdict in {None, "PASS"},
        target_tests_hold=not view.basis.has_tests or raising.none_fails(view.metrics),
        same_tree_cycle=verdicts.same_tree_cycle,
        cost_usd=cost,
        elapsed_s=view.measurement.elapsed_s,
        rollbacks=view.state.rollbacks,
        blocked=view.measurement.blocked,
        scores={each.iteration: view.scorer.score(each.iteration, each.adjusted_parts) for each in view.state.frontier},
        met_target=view.state.met_target,
        open_tasks=None if view.measurement.plan is None else view.measurement.plan[1],
        working=_ticked(view) or (view.basis.has_tests and not view.scorer.seen.union),
    )
    return decide(facts, view.state.rules)


def _ticked(view: View) -> bool:
    """Return whether a task of the plan was done since just before the window of a stall."""
    window = view.state.lineage.points[-view.state.rules.stall.window :]
    before = next((point.tasks_done for point in window if point.tasks_done is not None), None)
    now = view.point.tasks_done
    return now is not None and before is not None and now > before


def _record(
    view: View, verdicts: Verdicts, candidate: Candidate, best: BestTracker, decision: Decision
) -> IterationRecord:
    baseline = {} if view.number == 0 else deltas(view.metrics, read(view.basis.baseline, 0))
    return IterationRecord(
        loop_id=view.state.loop_id,
        iteration=view.number,
        previous=view.state.lineage.head,
        timestamp=view.measurement.timestamp,
        classification=verdicts.classification,
        metrics=view.metrics,
        quality_score=view.score.value,
        adjusted_score=view.adjusted,
        adjusted_because=difference(
            view.basis,
            view.metrics,
            view.score.value,
            view.adjusted,
            view.point.adjusted_parts,
            view.scorer,
            view.measurement.integrity,
        ),
        score_given=view.basis.given_score,
        dimensions={} if view.basis.given_score else view.score.dimensions,
        weights={} if view.basis.given_score else view.basis.weights,
        components=view.score.components,
        evidence=view.score.evidence,
        verified=candidate.verified,
        tests_ever_seen=view.scorer.seen.union,
        best=best,
        decision=decision,
        message=message_of(decision, verdicts.classification, verdicts.counting),
        from_previous=deltas(view.metrics, view.state.lineage.readings),
        from_baseline=baseline,
        alerts=verdicts.new,
        open_alerts=verdicts.carried,
        closed_alerts=verdicts.closed,
        accepted=verdicts.accepted,
        usage=view.measurement.usage,
        blocked=view.measurement.blocked,
        tree=view.measurement.tree,
        integrity=integrity_record_of(view.doubts, view.scorer.seen, view.measurement),
        plan=view.measurement.plan,
        notes=(*_notes(view), *view.measurement.notes),
    )


def _notes(view: View) -> tuple[str, ...]:
    if view.number == 0 and view.state.met_target:
        target = plain_number(view.state.rules.loop.target_score or 0)
        return (
            f"the baseline already meets the target of {target}, so the target does not stop this loop",
            *_error_counts(view),
        )
    return _error_counts(view)


def _error_counts(view: View) -> tuple[str, ...]:
    given, used = view.measurement.metrics.error_count, view.metrics.error_count
    if given is None or given == used:
        return ()
    sums = "not recorded" if used is None else f"{used} is recorded"
    return (f"error_count {given} was given; this loop sums it from its parts since the baseline: {sums}",)


def _line_after(view: View, lasting: tuple[Alert, ...]) -> Lineage:
    line, point, rules, found = view.state.lineage, view.point, view.state.rules, view.measurement.integrity
    after = Lineage(
        segments=line.extended(point.iteration),
        readings=read(view.metrics, point.iteration, line.readings),
        points=(*line.points, point)[-max(rules.stall.window, 1) :],
        complete=line.complete,
        open_alerts=lasting,
        suppressions=line.suppressions if found is None else found.suppressions,
        references=line.references if found is None else found.references,
        not_loaded=frozenset(view.measurement.not_loaded),
    )
    if not point.has(after.parts()):
        return after
    return after._replace(complete=(*line.complete, point)[-rules.cycling.window :])


def acceptance(state: LoopState, alert: Alert) -> LoopState:
    """Return the state before the baseline from which the loop is judged again with that alert accepted.

    Tests that the alert names as removed are excluded from those ever seen; without names, as many as the count fell
    by.
    """
    seen = state.seen._replace(
        excluded=state.seen.excluded | raising.removed_tests(alert),
        excluded_count=state.seen.excluded_count + (alert.count_drop if alert.type == "test_deletion" else 0),
    )
    return state._replace(
        accepted=state.accepted | {alert.id},
        accepted_findings=state.accepted_findings | {finding.stamp for finding in alert.findings},
        seen=seen,
    )
