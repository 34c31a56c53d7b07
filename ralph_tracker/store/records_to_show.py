"""Read the records of a loop to show them: the copy that is whole, with its scores as of now, or what is damaged."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec  # noqa: F401  # so that thousands of documents are parsed quickly

from ralph_tracker.codec import decode
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.core.walk import WalkedIteration
from ralph_tracker.errors import InputError, LoopError, RecordError, StoreError
from ralph_tracker.safe_files import digest
from ralph_tracker.store.find import checked_root, current_loop, find_loop
from ralph_tracker.store.json_documents import parsed_quickly, refuse_newer
from ralph_tracker.store.layout import ProjectPaths, document_name, record_name
from ralph_tracker.store.read import ListedRecord, SealedRecords, is_row
from ralph_tracker.store.record_packs import Documents
from ralph_tracker.store.summary import attempted_iteration


class RecordHistory:
    """The records of one of our loops."""

    def __init__(self, committed: SealedRecords) -> None:
        self.committed = committed
        self.paths = committed.paths
        self._shown = committed.paths.shown

    def one(self, number: int) -> ListedRecord:
        """Return a record; if one of its two copies differs from the seal, the other is used."""
        read = self._reader(number)
        sealed = document_name(number, "seal.json")
        seal = refuse_newer(parsed_quickly(read(sealed)), f"{self._shown}/{sealed}")
        shown = record_name(number)
        readable = read(shown)
        copy = read(document_name(number, "metrics.json"))
        document = _mapping(parsed_quickly(copy))
        unsealed = None in {_seal_value(seal, "files", "metrics.json"), _seal_value(seal, "record")}
        if unsealed and document is not None and document == _yaml(readable, shown):
            return ListedRecord(
                number, document, f"iteration {number}: its seal is damaged; both copies of its record agree"
            )
        copy_is_whole = _agrees(copy, _seal_value(seal, "files", "metrics.json"))
        if _agrees(readable, _seal_value(seal, "record")):
            return ListedRecord(number, document if copy_is_whole else _yaml(readable, shown))
        if copy_is_whole:
            if readable is None and attempted_iteration(self.paths) == number:
                return ListedRecord(number, document)  # it is being written right now
            if readable is None and _agrees(self._reader(number)(shown), _seal_value(seal, "record")):
                return ListedRecord(number, document)  # it has been written since
            state = "is missing" if readable is None else "is damaged (it differs from its seal)"
            note = f"iteration {number}: {shown} {state}; shown from iterations/, still whole"
            return ListedRecord(number, document, note)
        problem = f"iteration {number}: both copies of its record are damaged; other iterations are not affected"
        return ListedRecord(number, None, problem)

    def all(self) -> Iterator[ListedRecord]:
        """Yield every record of the loop, oldest first."""
        for number in range(self.committed.summary().iteration + 1):
            yield self.one(number)

    def _reader(self, number: int) -> Callable[[str], bytes | None]:
        """Return a function that reads a document of an iteration, None if it is missing or cannot be read."""
        try:
            documents = Documents(self.paths, number)
        except StoreError:
            return lambda _: None

        def read(name: str) -> bytes | None:
            try:
                return documents.read(name)
            except StoreError:
                return None

        return read


def _seal_value(seal: Any, *keys: str) -> Any:  # noqa: ANN401  # any JSON value
    for key in keys:
        seal = seal.get(key) if isinstance(seal, dict) else None
    return seal


def _agrees(data: bytes | None, expected: str | None) -> bool:
    return data is not None and digest(data) == expected


def _mapping(document: Any) -> dict[str, Any] | None:  # noqa: ANN401  # any JSON value
    return document if isinstance(document, dict) else None


def _yaml(data: bytes | None, name: str) -> dict[str, Any] | None:
    try:
        document = load_yaml(data.decode("utf-8", "replace"), name) if data else None
    except InputError:
        return None
    return _mapping(document)


@dataclass(frozen=True, slots=True)
class Listing:
    """The records of a loop; for one that AIWG wrote `committed` is None and the records are `foreign`."""

    loop_id: str
    committed: SealedRecords | None
    foreign: tuple[ListedRecord, ...] = ()

    def all(self) -> tuple[ListedRecord, ...]:
        """Return every record, oldest first."""
        return self.foreign if self.committed is None else tuple(RecordHistory(self.committed).all())

    def one(self, number: int | None) -> ListedRecord:
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
            aiwg_folder,
            aiwg_records,
        )

        folder = aiwg_folder(project, named)
        if folder is not None:
            return Listing(named, None, tuple(aiwg_records(folder)))
    paths = find_loop(root, loop_id, os.environ)
    return Listing(paths.loop_id, SealedRecords(paths))


def as_of_now(found: Listing, records: Sequence[ListedRecord]) -> tuple[ListedRecord, ...]:
    """Return records with what acceptances changed: score, verdict, and what was kept; and with the best of now."""
    if found.committed is None:
        return tuple(records)
    try:
        best = found.committed.summary().best_iteration
    except RecordError:
        return tuple(records)  # derived data is damaged; the next hook rebuilds it
    rows: dict[int, Mapping[str, Any]]  # the trajectory's line of each record
    if len(records) > 2:
        rows = {row["iteration"]: row for row in found.committed.rows()[0]}
    else:
        kept = ((record.number, found.committed.after(record.number).get("row")) for record in records)
        rows = {number: row for number, row in kept if is_row(row)}
    return tuple(_now(record, rows.get(record.number), best) for record in records)


def _now(record: ListedRecord, row: Mapping[str, Any] | None, best: int | None) -> ListedRecord:
    if record.document is None or row is None:
        return record
    walked = decode(WalkedIteration, row["walked"])
    iteration = dict(record.document["iteration_metrics"])
    iteration |= {
        "adjusted_score": walked.score,
        "verified": walked.verified,
        "kept_before": walked.kept_before,
        "not_kept": None if walked.refusal is None else walked.refusal.why,
        "is_best_iteration": walked.iteration == best,
    }
    if iteration.get("integrity") and walked.verdict:
        iteration["integrity"] = {**iteration["integrity"], "verdict": walked.verdict}
    return record._replace(document={**record.document, "iteration_metrics": iteration})
