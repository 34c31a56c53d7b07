"""Where a loop is in a sentence, and the facts of an iteration in lines for people.

The facts are what passes, which tests were gained and lost, and what does not load. The sentence needs only the few
iterations that matter, so that it is fast in a long loop.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ralph_tracker.core.best import Candidate
from ralph_tracker.core.codec import decode
from ralph_tracker.core.findings import Integrity
from ralph_tracker.core.known_tests import HELD_BACK, belongs_to_any, names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, quantity
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.errors import NoSnapshotError, RecordError, StoreError
from ralph_tracker.iteration.remaining_problems import (
    RemainingProblems,
    build_lines,
    held_back_lines,
    not_loading_lines,
    remaining_problems,
    test_lines,
)
from ralph_tracker.report.sentences import Setback, loop_sentence, measured_in_words, point_of
from ralph_tracker.store.iteration_files import IterationFiles
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.loop_highlights import advice, kept_point, rolled_back, selected
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.records import LoopRecords


@dataclass(frozen=True, slots=True)
class Facts:
    """What an iteration brought since the one that it descends from.

    `counts` is a sentence part about tests, coverage and findings, with the values before where they differ. `lines`
    name tests and files; `tests` and `errors` are what they name, so that nothing has to be said twice. `before` is
    the score of the predecessor as recorded, None for a baseline.
    """

    counts: str
    lines: tuple[str, ...] = ()
    tests: frozenset[str] = frozenset()
    errors: tuple[str, ...] = ()
    before: float | None = None


def facts_of(committed: LoopRecords, number: int, previous: int | None) -> Facts:
    """Return the facts of a recorded iteration since `previous` (None: a baseline); what is damaged is left out."""
    now = kept_point(committed.paths, number)
    before = None if previous is None else kept_point(committed.paths, previous)
    counts = measured_in_words(now.values, None if before is None else before.values)
    score = None if before is None else before.score
    try:
        problems = remaining_problems(committed, number)
    except (RecordError, StoreError):
        problems = None
    if problems is None:
        return Facts(counts, before=score)
    moves = _moves(committed, number, previous, problems)
    lines = [*_lost(moves, problems), *_gained(moves), *not_loading_lines(problems), *_still_failing(moves, problems)]
    lines += [_NO_CHANGE] if previous is not None and _has_same_files(committed, previous, number) else []
    named = {*(test.name for test in problems.failing or ()), *moves.deleted, *moves.skipped, *moves.hidden}
    return Facts(counts, tuple(lines), frozenset(named), tuple(problems.not_loaded.values()), score)


_NO_CHANGE: Final = "no file changed"


@dataclass(frozen=True, slots=True)
class _Moves:
    """The names of tests whose outcome changed, without held-back ones.

    `deleted` passed before, `hidden` failed and are gone or skipped now.
    """

    broken: frozenset[str] = frozenset()
    deleted: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    uncollected: int = 0


def _moves(committed: LoopRecords, number: int, previous: int | None, problems: RemainingProblems) -> _Moves:
    """Compare by name with the predecessor; renamed and moved tests are neither deleted nor new."""
    now, old = committed.measurement(number), None if previous is None else committed.measurement(previous)
    if now is None or old is None or now[0].tests is None or old[0].tests is None:
        return _Moves()
    was = {name: how for name, how in old[0].tests.outcomes.items() if not name.startswith(HELD_BACK)}
    outcomes = {name: how for name, how in now[0].tests.outcomes.items() if not name.startswith(HELD_BACK)}
    matches = (now[0].integrity or Integrity()).matches
    origins = {later: was[gone] for gone, news in matches.items() if gone in was for later in news}
    gone = {name for name in was if name not in outcomes and name not in matches}
    uncollected = {name for name in gone if belongs_to_any(name, problems.not_loaded)}
    before = {name: was.get(name, origins.get(name)) for name in outcomes}
    passing = [name for name, how in outcomes.items() if how == PASSED]
    idle = {name for name, how in outcomes.items() if how not in {PASSED, FAILED}}
    return _Moves(
        broken=frozenset(name for name, how in outcomes.items() if how == FAILED and before[name] == PASSED),
        deleted=_sorted(name for name in gone - uncollected if was[name] == PASSED),
        hidden=_sorted(name for name in (gone - uncollected) | idle if was.get(name, origins.get(name)) == FAILED),
        skipped=_sorted(name for name in idle if before[name] == PASSED),
        fixed=_sorted(name for name in passing if before[name] not in {None, PASSED}),
        new=_sorted(name for name in passing if before[name] is None),
        uncollected=len(uncollected),
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _lost(moves: _Moves, problems: RemainingProblems) -> list[str]:
    lines = test_lines("lost", [test for test in problems.failing or () if test.name in moves.broken])
    lines += [f"lost: {names_in_short(moves.deleted)} (deleted)"] if moves.deleted else []
    lines += [f"lost: {names_in_short(moves.skipped)} (skipped)"] if moves.skipped else []
    lines += [f"deleted or skipped while failing: {names_in_short(moves.hidden)}"] if moves.hidden else []
    return lines + ([f"lost: {quantity(moves.uncollected, 'test')} (not collected)"] if moves.uncollected else [])


def _gained(moves: _Moves) -> list[str]:
    lines = [f"gained: {names_in_short(moves.fixed)}"] if moves.fixed else []
    return lines + ([f"gained: {names_in_short(moves.new)} (new)"] if moves.new else [])


def _still_failing(moves: _Moves, problems: RemainingProblems) -> list[str]:
    lines = test_lines("failing", [test for test in problems.failing or () if test.name not in moves.broken])
    return build_lines(problems) + lines + held_back_lines(problems)


def _has_same_files(committed: LoopRecords, previous: int, number: int) -> bool:
    try:
        return not IterationFiles(committed).file_changes(previous, number)
    except (NoSnapshotError, StoreError):
        return False


_POINTS: Final = 400


def state_sentence(summary: Summary, paths: LoopPaths) -> str:
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
        scorer = records.state(summary, Thresholds()).scorer
        rows, _ = records.rows()
    except RecordError:
        return []
    every = max(1, len(rows) // _POINTS)
    kept = [row for place, row in enumerate(rows) if place % every == 0 or place == len(rows) - 1]
    candidates = [decode(Candidate, row["candidate"]) for row in kept]
    return [(each.iteration, scorer.score(each)) for each in candidates]
