"""Walk a loop by the outcomes of its tests, and by what its labels tell of those that are gone."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from labelled import Fact, Loop

from ralph_tracker.core.adjusted_score import TestTally, adjusted_score
from ralph_tracker.core.integrity_result import EarlierTests, Finding, Integrity
from ralph_tracker.core.judge import Judgement, judge, judge_baseline
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.metrics import Measurement, Metrics
from ralph_tracker.core.score import basis_of, recorded_metrics
from ralph_tracker.core.thresholds import LoopLimits, Thresholds
from ralph_tracker.core.walk import RULES, Comparison, Kept, Rule, Step, after_step, compare_with_kept, why_worse
from ralph_tracker.measure.handed_in import read_metrics

# No limits, since they would end a loop before its history does.
_THRESHOLDS: Final = Thresholds(loop=LoopLimits(max_iterations=None))


class Evidence(NamedTuple):
    """What outcomes do not show of an iteration, and running earlier tests and reading the change would.

    Of the tests that are gone, `retired` went with what they called, the earlier form of the `questioned` fails on the
    new source, and that of all others passes. `no_gain` pass on the kept iteration's source too, or for a wrong reason.
    `findings` are those that hold.
    """

    retired: frozenset[str] = frozenset()
    questioned: frozenset[str] = frozenset()
    no_gain: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()

    def integrity(self, kept: Kept, fact: Fact) -> Integrity:
        """Return what is found in an iteration against the kept one."""
        gone = (kept.believed or frozenset()) - fact.passing - fact.failing
        earlier = EarlierTests(
            against=kept.iteration,
            held=gone - self.retired - self.questioned,
            retired=gone & self.retired,
            no_gain=self.no_gain,
        )
        return Integrity(findings=self.findings, earlier=earlier)


def evidence_of(loop: Loop) -> list[Evidence]:
    """Return what the labels tell of each iteration: which tests went together with their code."""
    return [Evidence(retired=loop.retired)] * len(loop.facts)


def judged(facts: Sequence[Fact], evidence: Sequence[Evidence], after: Judgement | None = None) -> list[Judgement]:
    """Return what the tracker says of each iteration where such evidence is found; `after` is the one before them."""
    found: list[Judgement] = []
    for fact, shown in zip(facts, evidence, strict=True):
        given = read_metrics(fact.given)
        measurement = Measurement(given.metrics, timestamp="", tests=given.tests)
        if after is None:
            after = judge_baseline(JudgeState("judgement", _THRESHOLDS), measurement)
        else:
            if after.state.kept is not None:
                measurement = measurement._replace(integrity=shown.integrity(after.state.kept, fact))
            after = judge(after.state, measurement)
        found.append(after)
    return found


def taken(judgements: Sequence[Judgement]) -> int:
    """Return the iteration that the tracker would take at the end."""
    best = judgements[-1].state.best
    return best.iteration if best is not None else 0


def walked(loop: Loop, rules: Sequence[Rule] = RULES, *, with_evidence: bool) -> int:
    """Return the iteration that is kept at the end by these rules; without evidence, what is gone counts as dropped."""
    given = [read_metrics(fact.given) for fact in loop.facts]
    basis = basis_of(given[0].metrics, _THRESHOLDS, given_score=False)
    kept: Kept | None = None
    for fact, measured, shown in zip(loop.facts, given, evidence_of(loop), strict=True):
        metrics, tests = recorded_metrics(measured.metrics, basis.error_parts), measured.tests
        earlier = shown.integrity(kept, fact).earlier if with_evidence and kept is not None else None
        compared = compare_with_kept(kept, metrics, tests, earlier) if kept is not None else Comparison()
        tally = _tally(metrics, compared, named=kept is not None and tests is not None)
        score = adjusted_score(basis, metrics, None, tally)
        here = Kept(fact.iteration, None if tests is None else tests.outcomes, metrics, score, score)
        if kept is None:
            kept = here
        else:
            step = Step(score, compared)
            kept = after_step(kept, here, step, why_worse(kept, step, rules))
    return kept.iteration if kept is not None else 0


def _tally(metrics: Metrics, compared: Comparison, *, named: bool) -> TestTally:
    passed, failed = metrics.tests_passed or 0, metrics.tests_failed or 0
    missing = max(0, compared.dropped_count - compared.fresh)
    return TestTally(passed, passed + failed, missing, metrics.test_count if named else None)
