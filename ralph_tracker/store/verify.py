"""Examine everything that is kept of a loop, and rebuild what can be made again from the rest.

Each kept iteration is opened as a restore would open it: every content is read and compared with its hash.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeVar

import msgspec  # noqa: F401  # so that thousands of documents are parsed quickly

from ralph_tracker.config.yaml_io import dump_yaml, load_yaml
from ralph_tracker.errors import ConfigError, InputError, NoSnapshotError, StoreError
from ralph_tracker.safe_files import digest, read_own_file
from ralph_tracker.store.iteration_snapshots import SNAPSHOT, IterationSnapshots
from ralph_tracker.store.json_documents import parsed_json, read_json, read_lines
from ralph_tracker.store.layout import ARTIFACTS, MANIFEST, LoopPaths, document_name, record_name
from ralph_tracker.store.lock import holder_of
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.record_packs import kept_bytes, kept_json
from ralph_tracker.store.snapshots.index import SeenFile
from ralph_tracker.store.snapshots.snapshot_types import DIGITS, ITERATIONS, SAFETY, Note, SkippedPath
from ralph_tracker.store.snapshots.store import Changed, KeptSnapshot
from ralph_tracker.store.summary import interrupted_iteration, summary_from
from ralph_tracker.store.write import LoopStore, best_document, continuation_json

_IN_STORE: Final = "store/"
_T = TypeVar("_T")


class Examination(NamedTuple):
    """What is damaged or missing.

    `iterations` names the parts by iteration, `undo_ids` what restores have kept, `derived` files of the loop's folder
    that are made again from the others, `lost` those that cannot be. `interrupted` is the iteration that a killed call
    was recording (None: none): what the next command finishes of it is not damaged.
    """

    iterations: Mapping[int, tuple[str, ...]]
    undo_ids: tuple[str, ...]
    derived: tuple[str, ...]
    lost: tuple[str, ...] = ()
    interrupted: int | None = None

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is damaged."""
        return not (self.iterations or self.undo_ids or self.derived or self.lost)

    def rebuilt_in(self, now: "Examination") -> list[str]:
        """Return what is whole in a later examination: iterations, undo ids and files."""
        numbers = [f"iteration {number}" for number in self.iterations if number not in now.iterations]
        undo_ids = [undo_id for undo_id in self.undo_ids if undo_id not in now.undo_ids]
        return [*numbers, *undo_ids, *(name for name in self.derived if name not in now.derived)]


class LoopVerification(IterationSnapshots):
    """The files of one loop's iterations, to examine and rebuild them."""

    def __init__(self, committed: SealedRecords) -> None:
        super().__init__(committed)
        self._numbers = range(committed.latest() + 1)

    def examine(self) -> Examination:
        """Return what is damaged; of what gc collected only the records count. Raises StoreError for an OSError."""
        examining = self._examining_context()
        altered, whole = examining.seals.altered_record, examining.whole
        found = {number: (*self.damage(number, examining), *altered(number)) for number in self._numbers}
        interrupted = interrupted_iteration(self.paths)
        if interrupted in found:
            found[interrupted] = tuple(self._not_finished_by_the_next(interrupted, found[interrupted], whole))
        at_work = holder_of(self.paths.lock) is not None
        unsettled = at_work or interrupted is not None
        return Examination(
            iterations={number: parts for number, parts in found.items() if parts},
            undo_ids=tuple(self._damaged_undo_ids(whole)),
            derived=() if unsettled else (*self._derived_of_store(), *derived_of_records(self._committed)),
            lost=() if at_work else tuple(_lost_files(self._committed)),
            interrupted=interrupted,
        )

    def _not_finished_by_the_next(self, number: int, parts: Iterable[str], whole: set[str]) -> Iterator[str]:
        """Yield the damaged parts of an interrupted iteration but for what is written after its commit."""
        for part in parts:
            commit = self._manifest(number).get("commit")
            is_kept = part == SNAPSHOT and isinstance(commit, str) and not self.store.verify(commit, whole)
            if part != record_name(number) and not is_kept:
                yield part

    def rebuild(self) -> bool:
        """Rebuild contents, trees, names and indexes of the store; return whether its ignore rules are those of today.

        The caller holds the loop's lock. Raises StoreError for an OSError.
        """
        if not self.keeps(0):
            return False
        kept = [
            snapshot for number in self._kept_iterations() if (snapshot := self._manifest_snapshot(number)) is not None
        ]
        today = self.store.rebuild(kept, self._known_undo_ids())
        for number in self._kept_iterations():
            self.repair(number)
            with suppress(StoreError, NoSnapshotError):  # then `verify` still names them
                self._rewrite_artifacts(number)
        return today

    def _rewrite_artifacts(self, number: int) -> None:
        """Copy the changed files of an iteration from the store again if they are not as sealed."""
        if any(name.partition("/")[0] == ARTIFACTS for name in self._committed.seals.broken_files(number)):
            self.write_artifacts(number)

    def _kept_iterations(self) -> Iterator[int]:
        """Yield the iterations whose files are to be there."""
        collected = self._committed.collected_iterations()
        yield from (number for number in self._numbers if number not in collected and self.keeps(number))

    def _known_undo_ids(self) -> set[str]:
        events = (event for event in self._committed.events() if event["event"] == "rollback")
        found = {event.get(key) for event in events for key in ("undo", "edits")}
        marked = self.restoring.read()
        return {each for each in (*found, *(marked.undo_ids if marked else ())) if isinstance(each, str)}

    def _damaged_undo_ids(self, whole: set[str]) -> Iterator[str]:
        """Yield what cannot be brought back, also what an interrupted restore needs."""
        if not self.store.exists:
            return
        names = {name.removeprefix(SAFETY) for name in self.store.references() if name.startswith(SAFETY)}
        marked = self.restoring.read()
        for undo_id in sorted({*names, *(each for each in (marked.undo_ids if marked else ()) if each)}):
            try:
                if self.store.verify(f"{SAFETY}{undo_id}", whole):
                    yield undo_id
            except (NoSnapshotError, StoreError):
                yield undo_id

    def _derived_of_store(self) -> Iterator[str]:
        if not self.keeps(0):
            return
        if self.store.exists:
            yield from (f"{_IN_STORE}{name}" for name in self.store.damaged_parts(f"{ITERATIONS}0"))
            yield from (
                f"{_IN_STORE}{SAFETY}{name}" for name in self.store.unnamed_safety_snapshots(self._known_undo_ids())
            )
        else:
            yield _IN_STORE
        for number in self._kept_iterations():
            manifest = self._manifest(number)
            tree = manifest.get("tree")
            if isinstance(tree, str) and self.store.exists and number not in self._trees.iterations(tree):
                yield f"trees/{tree[:2]}/{tree}.json"

    def _manifest(self, number: int) -> Mapping[str, Any]:
        """Return the manifest of an iteration, {} if it is not as sealed."""
        data = kept_bytes(self.paths, number, document_name(number, MANIFEST))
        seal = kept_json(self.paths, number, "seal.json")
        try:
            plain = parsed_json(data) if data is not None and seal["files"][MANIFEST] == digest(data) else None
        except (KeyError, TypeError):
            return {}
        return plain if isinstance(plain, dict) else {}

    def _manifest_snapshot(self, number: int) -> KeptSnapshot | None:
        """Return the snapshot as its manifest describes it, None if that is damaged."""
        manifest = self._manifest(number)
        if len(manifest.get("commit", "")) != DIGITS:
            return None
        measured = self._committed.measurement(number)
        previous = None if measured is None or measured[1] is None else self._manifest(measured[1]).get("tree")
        since_previous = _changed(manifest["since_previous"])
        folder = self.paths.iteration(number) / ARTIFACTS
        return KeptSnapshot(
            number=number,
            tree=manifest["tree"],
            commit=manifest["commit"],
            note=Note(
                skipped=tuple(SkippedPath(each["path"], each["reason"]) for each in manifest["skipped"]),
                empty_directories=tuple(manifest["empty_directories"]),
                quiescent=manifest["quiescent"],
                modes=manifest.get("modes", {}),
                commits=manifest.get("commits", {}),
            ),
            since_baseline=_changed(manifest["since_baseline"]),
            added=frozenset(each["path"] for each in manifest["since_baseline"] if each["status"] == "A"),
            previous=previous,
            since_previous=since_previous,
            copies={seen.object_id: folder / path for path, seen in since_previous.items() if seen is not None},
        )


def _changed(changes: list[dict[str, Any]]) -> Changed:
    return {
        each["path"]: None if each["mode"] is None else SeenFile(each["mode"], each["sha256"], each["size"], None)
        for each in changes
    }


def derived_of_records(committed: SealedRecords) -> Iterator[str]:
    """Yield the files, made from the records, that are missing, damaged, outdated or replaced by something else."""
    paths, latest = committed.paths, committed.latest()
    summary = _or_none(lambda: summary_from(read_json(paths.state)))
    if summary is None or summary.iteration != latest:
        yield _shown_path(paths, paths.state)
    else:
        best = dump_yaml(best_document(summary, paths)).encode()
        if _or_none(lambda: read_own_file(paths.best)) != best:
            yield _shown_path(paths, paths.best)
    rows = _or_none(lambda: read_lines(paths.trajectory)) or [None]
    listed = {row.get("iteration") for row in rows if isinstance(row, dict)}
    unlisted = (number for number in range(latest + 1) if number not in listed)
    if None in rows or any(committed.measurement(number) is not None for number in unlisted):
        yield _shown_path(paths, paths.trajectory)
    section = _frozen_continuation(paths)
    if section is not None and _or_none(lambda: read_own_file(paths.continuation)) != section:
        yield _shown_path(paths, paths.continuation)


def _lost_files(committed: SealedRecords) -> Iterator[str]:
    """Yield the files that are in no record, if they are missing, damaged or edited."""
    paths = committed.paths
    yield from committed.seals.edited_configuration()
    summary = _or_none(lambda: summary_from(read_json(paths.state)))
    is_wanted = summary is not None and bool(summary.status != "running" or summary.carried_out or summary.accepted)
    is_there = os.path.lexists(paths.events)
    if (is_there and (not paths.events.is_file() or None in read_lines(paths.events))) or (is_wanted and not is_there):
        yield _shown_path(paths, paths.events)


def _frozen_continuation(paths: LoopPaths) -> bytes | None:
    """Return continuation.json as the frozen configuration has it, None if that is damaged."""
    name = str(paths.loop_file)
    try:
        return continuation_json(load_yaml((read_own_file(paths.loop_file) or b"").decode(), name)["configuration"])
    except (InputError, ConfigError, StoreError, KeyError, TypeError, ValueError):
        return None


def _or_none(read: Callable[[], _T]) -> _T | None:
    """Return what is read, None for a link, a pipe or a huge file in its place."""
    try:
        return read()
    except StoreError:
        return None


def _shown_path(paths: LoopPaths, path: Any) -> str:  # noqa: ANN401  # a Path
    return str(path.relative_to(paths.folder))


def rewrite_copies(store: LoopStore) -> None:
    """Write the copies of what is sealed again: continuation.json, and readable records that are not as sealed.

    A record is written only if that gives what was sealed.
    """
    section = _frozen_continuation(store.paths)
    if section is not None:
        store.write(store.paths.continuation, section)
    for number in range(store.latest() + 1):
        if not store.seals.altered_record(number):
            continue
        seal = kept_json(store.paths, number, "seal.json")
        document = kept_json(store.paths, number, "metrics.json")
        if isinstance(seal, dict) and isinstance(document, dict):
            record = dump_yaml(document).encode("utf-8", "surrogatepass")
            if digest(record) == seal.get("record"):
                store.write(store.paths.record(number), record)
