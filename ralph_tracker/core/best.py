"""The best iteration: only those that may still become it are kept (semantics § 2 "Cost", § 8)."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ralph_tracker.core.adjusted import Ground, size_factor
from ralph_tracker.core.findings import Verdict, is_clean
from ralph_tracker.core.line import Yardstick
from ralph_tracker.core.metrics import Metrics

# Two scores at least this far apart stay apart when rounded to four decimals.
_STEP: Final = 0.0001
_NOISE: Final = 1e-9


class Candidate(NamedTuple):
    """Hold what the choice of the best needs of one iteration.

    `findings` is error_count at the baseline's size, which decides a tie; None (unknown) loses it. `verdict` is that of
    integrity, None where nobody looked.
    """

    iteration: int
    quality_score: float
    ground: Ground
    verified: bool
    findings: float | None
    verdict: Verdict | None = None

    @property
    def clean(self) -> bool:
        """Tell whether nothing is held against it."""
        return is_clean(self.verdict)

    @property
    def believed(self) -> bool:
        """Tell whether its score can be believed: neither tampered with nor unproven."""
        return self.verdict not in {"TAMPERED", "UNPROVEN"}

    @property
    def rank(self) -> int:
        """Order the pools that the best is taken from: verified and believed ones, believed ones, the others."""
        return 2 if not self.believed else 0 if self.verified else 1

    @property
    def tie(self) -> tuple[bool, float, int]:
        """Order equals: nothing found against them, fewer findings of the linters, then the earlier."""
        return (self.verdict == "SUSPECT", float("inf") if self.findings is None else self.findings, self.iteration)


def findings_of(baseline: Metrics, now: Metrics) -> float | None:
    """Return error_count at the baseline's size, None where it is unknown."""
    return None if now.error_count is None else now.error_count * size_factor(baseline, now)


def best_of(candidates: Iterable[Candidate], yardstick: Yardstick, *, verified_only: bool) -> Candidate | None:
    """Return the highest adjusted score as of now among the believed and verified ones (or all that are believed).

    A tie goes to one that is not suspect, to fewer findings, then to the earlier. None where there is no such one.
    """
    return _highest((c for c in candidates if c.rank <= (0 if verified_only else 1)), yardstick)


def _highest(pool: Iterable[Candidate], yardstick: Yardstick) -> Candidate | None:
    return min(pool, key=lambda c: (-yardstick.score(c.iteration, c.ground), c.tie), default=None)


def best_now(candidates: Iterable[Candidate], yardstick: Yardstick) -> Candidate | None:
    """Return what `highest_quality_verified` selects now: the best of the best pool that holds any."""
    pool = tuple(candidates)
    rank = min((c.rank for c in pool), default=0)
    return _highest((c for c in pool if c.rank == rank), yardstick)


def kept(frontier: tuple[Candidate, ...], new: Candidate, yardstick: Yardstick) -> tuple[Candidate, ...]:
    """Return the candidates that may still be the best at some later time, the new one among them."""
    if any(_dominates(old, new, yardstick) for old in frontier):
        return frontier
    return (*(old for old in frontier if not _dominates(new, old, yardstick)), new)


def _dominates(one: Candidate, other: Candidate, yardstick: Yardstick) -> bool:
    """Tell whether `other` can never again be chosen before `one`, however many tests are still to come."""
    if other.rank < one.rank:
        return False
    lead = one.ground.fixed - other.ground.fixed
    if yardstick.seen.union == 0:
        lead = min(lead, one.ground.alone - other.ground.alone)
    if lead < 0 or not _tests_hold(one, other, yardstick):
        return False
    return lead >= _STEP + _NOISE or one.tie < other.tie


def _tests_hold(one: Candidate, other: Candidate, yardstick: Yardstick) -> bool:
    """Tell whether the tests of `other` can never be worth more than those of `one`.

    Passing tests may stand in for present ones, except where some are beyond |U| (their removal was accepted): those
    count for nothing.
    """
    ours, theirs, weights = one.ground, other.ground, yardstick.weights
    present, at_most = ours.present + yardstick.seen.credit(one.iteration), theirs.present + theirs.unseen
    if max(ours.passes, ours.present, theirs.passes, theirs.present) > yardstick.seen.union:
        return ours.passes >= theirs.passes and present >= at_most
    lead = weights.passing * (ours.passes - theirs.passes) + weights.present * (present - at_most)
    return lead >= 0
