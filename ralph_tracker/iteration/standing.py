"""Say in a sentence where a loop is, from the few iterations that matter: fast in a long loop."""

from ralph_tracker.report.standing import Setback, loop_sentence, point_of
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.loop_story import advice, kept_point, rolled_back, selected


def standing(summary: Summary, paths: LoopPaths) -> str:
    """Return the sentence that says where the loop stands."""
    numbers = {0, summary.iteration} | ({summary.best_iteration} - {None})
    points = {number: point_of(*kept_point(paths, number)) for number in numbers if number is not None}
    best = None if summary.best_iteration is None else points[summary.best_iteration]
    setbacks = [Setback(*each) for each in rolled_back(paths)]
    return loop_sentence(points[0], best, points[summary.iteration], setbacks, advice(summary, selected(paths)))
