"""Select the first iteration that is good enough: it changes least."""

from collections.abc import Sequence

from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.core.walk import Choice, WalkedIteration


def choose(iterations: Sequence[WalkedIteration], thresholds: Thresholds) -> Choice:
    """Return the first verified iteration whose score reaches the acceptance threshold, else the baseline."""
    least = thresholds.score.acceptance
    for each in iterations[1:]:
        if each.verified and each.score >= least:
            return Choice(each.iteration, f"Iteration {each.iteration} is the first with a score of {least} or more")
    return Choice(0, f"No iteration has a score of {least} or more")
