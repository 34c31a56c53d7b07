"""Say in a sentence where a loop is, from the few iterations that matter: fast in a long loop."""

from typing import Final

from ralph_tracker.core.best import Candidate
from ralph_tracker.core.codec import decode
from ralph_tracker.core.rules import Rules
from ralph_tracker.errors import RecordError
from ralph_tracker.report.standing import Setback, loop_sentence, point_of
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.loop_story import advice, kept_point, rolled_back, selected
from ralph_tracker.store.records import LoopRecords

_POINTS: Final = 400


def standing(summary: Summary, paths: LoopPaths) -> str:
    """Return the sentence that says where the loop stands."""
    numbers = {0, summary.iteration} | ({summary.best_iteration} - {None})
    points = {number: point_of(*kept_point(paths, number)) for number in numbers if number is not None}
    best = None if summary.best_iteration is None else points[summary.best_iteration]
    setbacks = [Setback(*each) for each in rolled_back(paths)]
    return loop_sentence(points[0], best, points[summary.iteration], setbacks, advice(summary, selected(paths)))


def scores_of(records: LoopRecords) -> list[tuple[int, float]]:
    """Return the scores of a loop as of now by iteration, thinned to a few hundred; [] if they cannot be read."""
    try:
        summary = records.summary()
        scorer = records.state(summary, Rules()).scorer
        rows, _ = records.rows()
    except RecordError:
        return []
    every = max(1, len(rows) // _POINTS)
    kept = [row for place, row in enumerate(rows) if place % every == 0 or place == len(rows) - 1]
    candidates = [decode(Candidate, row["candidate"]) for row in kept]
    return [(each.iteration, scorer.score(each)) for each in candidates]
