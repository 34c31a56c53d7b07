"""Read the records that a listing shows: ours, with current scores, or AIWG's."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ralph_tracker.config.load import config_of
from ralph_tracker.core.best import Candidate
from ralph_tracker.core.codec import decode
from ralph_tracker.errors import LoopError, RecordError
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.loop_status import checked_root, current_loop, paths_of
from ralph_tracker.store.record_listing import Listed, RecordHistory
from ralph_tracker.store.records import LoopRecords

_A_FEW: Final = 2


@dataclass(frozen=True, slots=True)
class Listing:
    """The records of a loop; for one that AIWG wrote `committed` is None and the records are `foreign`."""

    loop_id: str
    committed: LoopRecords | None
    foreign: tuple[Listed, ...] = ()

    def all(self) -> tuple[Listed, ...]:
        """Return every record, oldest first."""
        return self.foreign if self.committed is None else tuple(RecordHistory(self.committed).all())

    def one(self, number: int | None) -> Listed:
        """Return a record, by default the latest. Raises LoopError if it does not exist."""
        if self.committed is None:
            known = {record.number: record for record in self.foreign}
            first, last = min(known), max(known)
        else:
            first, last = 0, self.committed.summary().iteration
            known = {}
        wanted = last if number is None else number
        if wanted in known:
            return known[wanted]
        if self.committed is None or not first <= wanted <= last:
            raise LoopError(
                f"iteration {wanted} is not on record; loop {self.loop_id} has iterations {first} to {last}"
            )
        return RecordHistory(self.committed).one(wanted)


def listing(root: Path, loop_id: str | None) -> Listing:
    """Return the records of the loop that is meant. Raises LoopError if there is none."""
    project = ProjectPaths(checked_root(root))
    named = loop_id or os.environ.get("RALPH_LOOP_ID") or current_loop(project)
    if named is not None and not project.loop(named).iteration(0).is_dir():
        from ralph_tracker.store.foreign_records import (  # noqa: PLC0415  # their models take longer than a listing
            foreign_folder,
            foreign_records,
        )

        folder = foreign_folder(project, named)
        if folder is not None:
            return Listing(named, None, tuple(foreign_records(folder)))
    paths = paths_of(root, loop_id, os.environ)
    return Listing(paths.loop_id, LoopRecords(paths))


def as_of_now(found: Listing, records: Sequence[Listed]) -> tuple[Listed, ...]:
    """Return records with current adjusted scores and verdicts.

    Later tests count against earlier iterations, and acceptances change what they touch: `adjusted_score`, `verified`,
    the verdict and `is_best_iteration` are current, the recorded ones have the suffix `_recorded`.
    """
    if found.committed is None:
        return tuple(records)
    try:
        summary = found.committed.summary()
        scorer = found.committed.state(summary, config_of({}, None).thresholds).scorer
    except RecordError:
        return tuple(records)  # derived data is damaged; the next hook rebuilds it
    rows = _rows(found.committed, records)
    return tuple(_now(record, rows.get(record.number), scorer, summary.best_iteration) for record in records)


def _rows(committed: LoopRecords, records: Sequence[Listed]) -> dict[int, Mapping[str, Any]]:
    """Return the trajectory's line of each record; for a few they are read from the iterations themselves."""
    if len(records) > _A_FEW:
        return {row["iteration"]: row for row in committed.rows()[0]}
    kept = ((record.number, committed.after(record.number).get("row")) for record in records)
    return {number: row for number, row in kept if isinstance(row, dict) and "candidate" in row}


def _now(record: Listed, row: Mapping[str, Any] | None, scorer: Any, best: int | None) -> Listed:  # noqa: ANN401  # a Yardstick
    if record.document is None or row is None:
        return record
    candidate = decode(Candidate, row["candidate"])
    iteration = dict(record.document["iteration_metrics"])
    iteration |= {
        "adjusted_score": scorer.score(candidate),
        "adjusted_score_recorded": iteration["adjusted_score"],
        "verified": candidate.verified,
        "is_best_iteration": candidate.iteration == best,
    }
    if iteration.get("integrity") and candidate.verdict:
        recorded = iteration["integrity"]
        iteration["integrity"] = {**recorded, "verdict": candidate.verdict, "verdict_recorded": recorded["verdict"]}
    return record._replace(document={**record.document, "iteration_metrics": iteration})
