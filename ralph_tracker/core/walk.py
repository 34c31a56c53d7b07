"""Walk through a loop: which iteration is kept, the latest that broke nothing and is not worse for nothing.

The kept iteration begins as the baseline; each recorded iteration takes its place unless one of four rules holds
(semantics § 8). The kept one is what later iterations are compared with, and what a rollback goes back to.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.integrity_result import EarlierTests, Verdict, is_clean
from ralph_tracker.core.known_tests import differences, names_in_short
from ralph_tracker.core.metrics import (
    FAILED,
    PASSED,
    Metrics,
    TestResults,
    deltas,
    half_up,
    plain_number,
    quantity,
    read,
)
from ralph_tracker.core.objective import Weighed
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.short_text import percent

_FEW: Final = 10  # one of so many, or a single one of half as many


class Kept(NamedTuple):
    """The kept iteration, as later ones are compared with it.

    `outcomes` are those of its tests; None where its report has no names. `disbelieved` pass in it, but not for the
    right reason. `metrics` are its counts. `score` is its adjusted score, `top_score` the highest since the last gain.
    `questions` are the keys of the findings open in it. `tainted` passed already in a TAMPERED iteration after it,
    which makes them no gain of a later one; `tainted_count` counts them, also where they have no names. `dropped` are
    how many tests went for nothing since the last gain. `measured` is False for a baseline whose tests were not
    measured though the loop has tests.
    """

    iteration: int
    outcomes: Mapping[str, str] | None
    metrics: Metrics
    score: float
    top_score: float
    disbelieved: frozenset[str] = frozenset()
    questions: frozenset[str] = frozenset()
    tainted: frozenset[str] = frozenset()
    tainted_count: int = 0
    dropped: int = 0
    measured: bool = True

    @property
    def believed(self) -> frozenset[str] | None:
        """Return the tests that pass in it and are believed; None where its report has no names."""
        if self.outcomes is None:
            return None
        return frozenset(name for name, how in self.outcomes.items() if how == PASSED) - self.disbelieved

    @property
    def passing(self) -> int:
        """Return how many believed tests it has."""
        if self.outcomes is None:
            return self.metrics.tests_passed or 0
        doubted = sum(self.outcomes.get(name) == PASSED for name in self.disbelieved)
        return list(self.outcomes.values()).count(PASSED) - doubted


class Comparison(NamedTuple):
    """How the tests of an iteration compare with those of the kept one; counts where either has no names.

    `broken` are believed tests that are there and fail; `dropped` are gone and nothing takes their place, all that are
    gone or skipped where nothing was run. `gained` are believed here and were not there. `fresh` counts those among
    them whose names are new.
    """

    broken: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    broken_count: int = 0
    dropped_count: int = 0
    gained_count: int = 0
    fresh: int = 0


def compare_with_kept(
    kept: Kept,
    metrics: Metrics,
    tests: TestResults | None,
    earlier: EarlierTests | None,
    *,
    flaky: frozenset[str] = frozenset(),
    disbelieved: frozenset[str] = frozenset(),
    not_collected: Collection[str] = (),
) -> Comparison:
    """Compare an iteration with the kept one, by what earlier tests showed where they could be run.

    `flaky` tests break nothing, `disbelieved` ones pass without being a gain, `not_collected` ones are not gone.
    """
    if tests is None or kept.outcomes is None:
        return _by_counts(kept, metrics, disbelieved)
    now, before = tests.outcomes, kept.outcomes
    changed, new = differences(now, before)
    was_believed = [name for name in changed if before[name] == PASSED and name not in kept.disbelieved]
    broken = [name for name in was_believed if now.get(name) == FAILED and name not in flaky]
    away = [name for name in was_believed if now.get(name) != FAILED and name not in not_collected]
    turned = [name for name in (*changed, *kept.disbelieved) if now.get(name) == PASSED]
    fresh = [name for name in new if now[name] == PASSED]
    if earlier is None:
        no_gain, met, dropped = disbelieved, frozenset[str](), away
    else:
        no_gain, met = disbelieved | earlier.no_gain, earlier.met
        gone = [name for name in away if name in earlier.held and name not in now]
        # Up to five tests may become one.
        dropped = gone if len(gone) > 5 * len(fresh) else []
        if len(fresh) <= len(gone):
            fresh = []  # renamed or merged
    no_gain |= kept.tainted
    fresh = [name for name in fresh if name not in no_gain]
    gained = {name for name in (*turned, *fresh, *met) if now.get(name) == PASSED and name not in no_gain}
    return Comparison(
        tuple(sorted(broken)),
        tuple(sorted(dropped)),
        tuple(sorted(gained)),
        len(broken),
        len(dropped),
        len(gained),
        len(fresh),
    )


def _by_counts(kept: Kept, now: Metrics, disbelieved: frozenset[str]) -> Comparison:
    """Compare counts: broken where fewer pass and more fail, dropped by the fall of all, gained by more that pass."""
    changes = deltas(now, read(kept.metrics, kept.iteration))
    passed, failed = (changes.get(f"{name}_delta", 0) for name in ("tests_passed", "tests_failed"))
    tests, before = _count(now), _count(kept.metrics)
    no_gain = len(disbelieved - kept.disbelieved) + kept.tainted_count
    return Comparison(
        broken_count=int(-passed) if passed < 0 < failed else 0,
        dropped_count=0 if tests is None or before is None else max(0, before - tests),
        gained_count=max(0, int(passed) - no_gain),
    )


def _count(metrics: Metrics) -> int | None:
    """Return how many tests there are, by their outcomes where they were not counted; None where nothing is known."""
    if metrics.test_count is not None:
        return metrics.test_count
    known = [each for each in (metrics.tests_passed, metrics.tests_failed, metrics.tests_skipped) if each is not None]
    return sum(known) if known else None


def are_few(dropped: int, passing: int) -> bool:
    """Return whether a single test of five or more, or at most a tenth, is dropped: a duplicate, or two in one."""
    return dropped <= max(passing // _FEW, passing >= _FEW // 2)


def are_too_many(dropped: int, passing: int) -> bool:
    """Return whether more than a third of the passing tests are dropped."""
    return 3 * dropped > passing


class Step(NamedTuple):
    """One iteration, as the walk sees it beside the kept one.

    `questions` maps the keys of the findings that are open in it to what they say. `verdict` is that of integrity
    (None: nobody looked). `by_tests` is False with a given score, or where the loop has no tests: then the score alone
    decides. With `refuse` an open question is a reason whatever was gained. `weighed` are the guards and objectives, of
    which the latter are asked in place of the score; None for a loop without both.
    """

    score: float
    tests: Comparison = Comparison()
    verdict: Verdict | None = None
    built: bool = True
    measured: bool = True
    questions: Mapping[str, str] = {}
    by_tests: bool = True
    refuse: bool = False
    weighed: Weighed | None = None


Rule = Callable[[Kept, Step], str | None]


def why_unsound(_: Kept, step: Step) -> str | None:
    """Rule 1: nothing of the iteration can be believed."""
    if not is_clean(step.verdict):
        return f"is {step.verdict}"
    if not step.built:
        return "does not build"
    return None if step.measured else "has no tests measured"


def _breaks(kept: Kept, step: Step) -> str | None:
    """Rule 2: a believed test of the kept iteration is there and fails."""
    if step.tests.broken:
        verb = "passes" if len(step.tests.broken) == 1 else "pass"
        return f"breaks {names_in_short(step.tests.broken)}, which {verb} in {kept.iteration}"
    if step.tests.broken_count:
        return f"breaks {quantity(step.tests.broken_count, 'test')} of {kept.iteration}"
    return None


def _drops(kept: Kept, step: Step) -> str | None:
    """Rule 3: more than a third of the believed tests are gone for nothing, net of gains."""
    lost = step.tests.dropped_count - step.tests.gained_count
    if lost <= 0 or not are_too_many(lost, kept.passing):
        return None
    return f"drops {step.tests.dropped_count} of the {quantity(kept.passing, 'passing test')} of {kept.iteration}"


def _is_worse_for_nothing(kept: Kept, step: Step) -> str | None:
    """Rule 4: nothing is gained, and something new is asked, or the score is below the highest since the last gain."""
    if step.weighed is not None and step.weighed.lost is not None:
        return step.weighed.lost
    # Of an alert with several findings one thing is asked.
    asked = list(dict.fromkeys(what for key, what in step.questions.items() if key not in kept.questions))
    gains = step.tests.gained_count if step.by_tests else step.score > kept.top_score
    if asked and (step.refuse or not gains):
        are = "is" if len(asked) == 1 else "are"
        return f"{_gains(step)}, and {quantity(len(asked), 'question')} {are} open: {asked[0]}"
    if step.weighed is not None and step.weighed.goals:
        return None if step.by_tests and gains else step.weighed.worse
    if not step.by_tests:
        score, other = _percents(step.score, kept.score)
        return f"scores {score}, {'just ' if score == other else ''}below {other}" if step.score < kept.score else None
    if gains or kept.top_score - step.score <= 0.005 + 1e-9:  # half a point, and the binary noise of a difference
        return None
    score, top = _percents(step.score, kept.top_score)
    return f"gains no test, and its score of {score} is below {top}"


def _gains(step: Step) -> str:
    if not step.by_tests:
        return f"scores {percent(step.score)}"
    return f"gains {quantity(step.tests.gained_count, 'test') if step.tests.gained_count else 'no test'}"


def _percents(score: float, other: float) -> tuple[str, str]:
    """Return two scores as every view shows them, with more decimals where they would look the same."""
    shown = percent(score), percent(other)
    if shown[0] != shown[1]:
        return shown
    return f"{plain_number(half_up(score * 100, 2))} %", f"{plain_number(half_up(other * 100, 2))} %"


RULES: Final[tuple[Rule, ...]] = (why_unsound, _breaks, _drops, _is_worse_for_nothing)


class Refusal(ValueObject):
    """Why an iteration did not take the place of the kept one: the rule (1 to 4), and the verb of a sentence on it."""

    rule: int
    why: str


def why_worse(kept: Kept, step: Step, rules: Iterable[Rule] = RULES) -> Refusal | None:
    """Return why an iteration does not take the place of the kept one, None where it takes it.

    One whose tests were not measured gives its place to any that can be believed.
    """
    found = (Refusal(RULES.index(rule) + 1, why) for rule in rules if (why := rule(kept, step)) is not None)
    refusal = next(found, None)
    return refusal if kept.measured or refusal is None or refusal.rule == 1 else None


class WalkedIteration(ValueObject, shown="iteration score verified verdict taken"):
    """An iteration as later choices see it.

    `score` is the adjusted one. `kept_before` is the iteration that was kept before it, None for the baseline;
    `refusal` is why it did not take that place, None where it did. `gained` counts tests against that one, `passing`
    the believed tests here. `measured` says that the loop's tests were.
    """

    iteration: int
    quality_score: float
    score: float
    verified: bool
    verdict: Verdict | None = None
    kept_before: int | None = None
    refusal: Refusal | None = None
    gained: int = 0
    passing: int = 0
    measured: bool = True

    @property
    def taken(self) -> bool:
        """Return whether it took the place of the iteration that was kept before it."""
        return self.refusal is None


def after_step(kept: Kept, here: Kept, step: Step, refusal: Refusal | None) -> Kept:
    """Return the kept iteration after one more: that one, where nothing refuses it.

    The highest score goes on where nothing was gained. What passes in a TAMPERED one is no gain of a later one, nor is
    its score where scores alone decide: an iteration that changes nothing must not launder it.
    """
    top = max(kept.top_score, here.score)
    if refusal is None:
        gained = step.tests.gained_count > 0 or not kept.measured
        lost = max(0, step.tests.dropped_count - step.tests.fresh)
        return here if gained else here._replace(top_score=top, dropped=kept.dropped + lost)
    if step.verdict != "TAMPERED":
        return kept
    return kept._replace(
        top_score=kept.top_score if step.by_tests else top,
        tainted=kept.tainted.union(step.tests.gained),
        tainted_count=kept.tainted_count + step.tests.gained_count,
    )


class Choice(ValueObject):
    """What a selection mode chose: the number of an iteration, and why in a sentence; None where the mode says it."""

    iteration: int
    reason: str | None = None


Mode = Callable[[Sequence[WalkedIteration], Thresholds], Choice]


def _kept_last(iterations: Sequence[WalkedIteration], thresholds: Thresholds) -> Choice:
    taken = [each for each in iterations if each.taken]
    if thresholds.selection.against == "baseline":
        most = max(taken or iterations, key=lambda each: (each.gained, each.score, each.iteration))
        return Choice(most.iteration)
    return Choice(taken[-1].iteration if taken else iterations[0].iteration)


def _highest_quality_verified(iterations: Sequence[WalkedIteration], thresholds: Thresholds) -> Choice:
    verified = [each for each in iterations if each.verified]
    return Choice(peak_by_quality(verified)) if verified else _kept_last(iterations, thresholds)


def _highest_quality(iterations: Sequence[WalkedIteration], _: Thresholds) -> Choice:
    return Choice(peak_by_quality(iterations))


def _most_recent_above_threshold(iterations: Sequence[WalkedIteration], thresholds: Thresholds) -> Choice:
    good = [each for each in iterations if each.verified and each.score >= thresholds.score.acceptance]
    return Choice(good[-1].iteration) if good else _kept_last(iterations, thresholds)


# Those of plug-ins are such functions too (docs/plugins.md).
MODES: Final[Mapping[str, Mode]] = {
    "walk": _kept_last,
    "highest_quality_verified": _highest_quality_verified,
    "highest_quality": _highest_quality,
    "most_recent_above_threshold": _most_recent_above_threshold,
}


def peak_by_quality(iterations: Iterable[WalkedIteration]) -> int:
    """Return the iteration with the highest quality_score, the earlier of equals."""
    return max(iterations, key=lambda each: (each.quality_score, -each.iteration)).iteration
