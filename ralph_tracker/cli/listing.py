"""The records that a listing shows: ours, as of now, or those that AIWG wrote."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ralph_tracker.config.load import config_of
from ralph_tracker.errors import LoopError, RecordError
from ralph_tracker.report.shape import unshowable
from ralph_tracker.store import codec
from ralph_tracker.store.committed import Committed
from ralph_tracker.store.history import Listed, Records, foreign_folder, foreign_records
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.standing import checked_root, current_loop, paths_of


@dataclass(frozen=True, slots=True)
class Listing:
    """Hold the records of a loop, oldest first; `committed` is None for a loop that AIWG wrote."""

    loop_id: str
    records: tuple[Listed, ...]
    committed: Committed | None

    @property
    def problems(self) -> list[str]:
        """Return what could not be read, each in a line."""
        return [record.problem for record in self.records if record.problem is not None]

    def one(self, number: int | None) -> Listed:
        """Return a record, the latest where no number is given. Raises LoopError where it is not there."""
        if number is None:
            return self.records[-1]
        for record in self.records:
            if record.number == number:
                return record
        numbers = [record.number for record in self.records]
        raise LoopError(
            f"iteration {number} is not on record; loop {self.loop_id} has {min(numbers)} to {max(numbers)}"
        )


def listing(root: Path, loop_id: str | None) -> Listing:
    """Return the records of the loop that is meant. Raises LoopError where there is none."""
    project = ProjectPaths(checked_root(root))
    named = loop_id or os.environ.get("RALPH_LOOP_ID") or current_loop(project)
    if named is not None and not project.loop(named).iteration(0).is_dir():
        folder = foreign_folder(project, named)
        if folder is not None:
            return Listing(named, tuple(_showable(record) for record in foreign_records(folder)), None)
    paths = paths_of(root, loop_id, os.environ)
    committed = Committed(paths)
    return Listing(paths.loop_id, tuple(Records(committed).all()), committed)


def _showable(record: Listed) -> Listed:
    """Name a record whose values are of the wrong kind, so that it breaks no list."""
    problem = None if record.document is None else unshowable(record.document)
    return record if problem is None else Listed(record.number, None, f"iteration {record.number}: {problem}")


def as_of_now(found: Listing) -> tuple[Listed, ...]:
    """Return the records with the adjusted score and the verdicts of now.

    Tests that came later are work that an earlier iteration had not done, and an acceptance changes what it touches:
    `adjusted_score`, `verified` and `is_best_iteration` are those of now, `adjusted_score_recorded` the one written.
    """
    if found.committed is None:
        return found.records
    try:
        summary = found.committed.summary()
        yardstick = found.committed.state(summary, config_of({}, None).rules).yardstick
    except RecordError:
        return found.records  # what is derived is damaged: the next hook makes it again, the list goes on
    rows = {row["iteration"]: row for row in found.committed.rows()[0]}
    best = summary.best_iteration
    return tuple(_now(record, rows.get(record.number), yardstick, best) for record in found.records)


def _now(record: Listed, row: Mapping[str, Any] | None, yardstick: Any, best: int | None) -> Listed:  # noqa: ANN401  # a Yardstick
    if record.document is None or row is None:
        return record
    candidate = codec.candidate_from_plain(row["candidate"])
    iteration = dict(record.document["iteration_metrics"])
    iteration |= {
        "adjusted_score": yardstick.score(candidate.iteration, candidate.ground),
        "adjusted_score_recorded": iteration["adjusted_score"],
        "verified": candidate.verified,
        "is_best_iteration": candidate.iteration == best,
    }
    return replace(record, document={**record.document, "iteration_metrics": iteration})
