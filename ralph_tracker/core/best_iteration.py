"""Choose the best iteration, and keep those that may still become it (semantics § 8).

The best is the verified iteration in which most tests can be believed; among equals the one with the better score;
among nearly equal scores the latest.
"""

from collections.abc import Iterable
from typing import Annotated, Final, NamedTuple

from ralph_tracker.core.comparable_score import AdjustedParts, Scorer
from ralph_tracker.core.integrity_result import Verdict, is_clean
from ralph_tracker.core.thresholds import OtherNames

# Scores this close are nearly equal: the later iteration is taken.
NEARLY_EQUAL: Final = 0.005
# Scores are rounded to four decimals: a difference of one step is real.
_STEP: Final = 0.0001
_NOISE: Final = 1e-9


class Candidate(NamedTuple):
    """An iteration as the choice of the best sees it.

    `findings` is error_count at the baseline's size, which decides between equal scores while no test is known; None
    (unknown) loses. `verdict` is that of integrity, None if nobody looked. `given` says that the score was handed in.
    """

    iteration: int
    quality_score: float
    adjusted_parts: Annotated[AdjustedParts, OtherNames(("ground",))]
    verified: bool
    findings: float | None
    verdict: Verdict | None = None
    given: bool = False

    @property
    def clean(self) -> bool:
        """Return whether its own verdict is neither TAMPERED nor UNPROVEN."""
        return is_clean(self.verdict)

    @property
    def believed(self) -> int:
        """Return how many tests pass in it and are named by no open finding."""
        return self.adjusted_parts.passes

    @property
    def rank(self) -> int:
        """Return the pool it belongs to: 0 verified and clean, 1 clean, 2 the rest."""
        return 2 if not self.clean else 0 if self.verified else 1

    @property
    def tie(self) -> tuple[float, int]:
        """Return the sort key for equal scores while no test is known: fewer findings, then the later."""
        return (float("inf") if self.findings is None else self.findings, -self.iteration)


def best_of(candidates: Iterable[Candidate], scorer: Scorer) -> Candidate | None:
    """Return what mode `believed` selects among the verified and clean ones, None if there is none."""
    return _most_believed([each for each in candidates if each.rank == 0], scorer)


def best_now(candidates: Iterable[Candidate], scorer: Scorer) -> Candidate | None:
    """Return what mode `believed` selects now, from the best pool that is not empty."""
    return _most_believed(_best_pool(candidates), scorer)


def _best_pool(candidates: Iterable[Candidate]) -> list[Candidate]:
    pool = tuple(candidates)
    rank = min((each.rank for each in pool), default=0)
    return [each for each in pool if each.rank == rank]


def why_best(candidates: Iterable[Candidate], scorer: Scorer) -> tuple[str, ...]:
    """Explain in up to three sentences what mode `believed` selects; () without a candidate."""
    pool = _best_pool(candidates)
    best = _most_believed(pool, scorer)
    if best is None:
        return ()
    said = [] if best.rank == 0 else ["No iteration is verified and clean."]
    if best.given or not scorer.seen.union:
        tied = any(each is not best and scorer.score(each) == scorer.score(best) for each in pool)
        tie = "; of those with this score it has the fewest findings, or is the latest" if tied else ""
        return (*said, f"It has the highest score{tie}.")
    tests = _believed_now(best, scorer)
    equals = [each for each in pool if _believed_now(each, scorer) == tests]
    others = len(equals) - 1
    most = f"It has the most passing tests that can be believed ({tests})"
    if not others:
        return (*said, f"{most}.")
    top = max(scorer.score(each) for each in equals)
    return (
        *said,
        f"{most}; {others} other{' has' if others == 1 else 's have'} as many.",
        f"It is the latest of those whose score is within {NEARLY_EQUAL:g} of their best, {top:.4f}.",
    )


def _most_believed(pool: list[Candidate], scorer: Scorer) -> Candidate | None:
    if not pool:
        return None
    if pool[0].given or not scorer.seen.union:
        return min(pool, key=lambda each: (-scorer.score(each), each.tie))
    most = max(_believed_now(each, scorer) for each in pool)
    pool = [each for each in pool if _believed_now(each, scorer) == most]
    scored = [(scorer.score(each), each) for each in pool]
    top = max(score for score, _ in scored)
    near = (each for score, each in scored if top - score <= NEARLY_EQUAL + _NOISE)
    return max(near, key=lambda each: each.iteration)


def _believed_now(candidate: Candidate, scorer: Scorer) -> int:
    """Return its believed tests as of now; without names at most |U|, which excludes accepted removals."""
    return min(candidate.believed, scorer.seen.union)


def extend_frontier(frontier: tuple[Candidate, ...], new: Candidate, scorer: Scorer) -> tuple[Candidate, ...]:
    """Return the candidates that may still become the best, including the new one."""
    if any(_dominates(old, new, scorer) for old in frontier):
        return frontier
    return (*(old for old in frontier if not _dominates(new, old, scorer)), new)


def _dominates(one: Candidate, other: Candidate, scorer: Scorer) -> bool:
    """Return whether `other` can never be chosen before `one` again, however many tests are added."""
    if other.rank < one.rank:
        return False
    if one.given:
        lead = one.adjusted_parts.fixed - other.adjusted_parts.fixed
        return lead >= _STEP + _NOISE or (lead >= 0 and one.tie < other.tie)
    if scorer.seen.union and _believed_now(one, scorer) != _believed_now(other, scorer):
        return one.believed > other.believed
    if one.believed < other.believed:
        return False
    lead = _least_lead(one, other, scorer)
    if not scorer.seen.union and lead <= _STEP and one.tie > other.tie:
        return False  # while no test is known, findings decide between equal scores
    return lead >= NEARLY_EQUAL + _STEP + _NOISE or (lead >= 0 and one.iteration > other.iteration)


def _least_lead(one: Candidate, other: Candidate, scorer: Scorer) -> float:
    """Return the smallest lead of `one` from now on; the lead changes in one direction as |U| grows."""
    ours, theirs = one.adjusted_parts, other.adjusted_parts
    lead = ours.fixed - theirs.fixed
    union = scorer.seen.union
    if not union:
        # Tests that were only skipped in the other may run later, and may then be all that there are.
        later = lead - (scorer.weights.present if theirs.unseen else 0)
        return min(later, ours.alone - theirs.alone)
    present = ours.present + scorer.seen.credit(one.iteration) - theirs.present - theirs.unseen
    present -= scorer.seen.credit(other.iteration)
    return min(lead, lead + scorer.weights.present * present / union)
