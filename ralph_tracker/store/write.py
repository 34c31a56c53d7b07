"""Write one loop: what is committed, what is derived from it, in which order, and all that is derived anew.

Renaming the iteration's folder is the commit point. Everything outside `iterations/` and the event log can be rebuilt
from there, so a crash leaves garbage or an outdated derived file, never a record with missing data.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.codec import encode
from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.core.judge import judge, judge_baseline
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.lineage import Lineage
from ralph_tracker.core.metrics import Group, Measurement
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.core.walk import WalkedIteration
from ralph_tracker.errors import LoopError, RalphTrackerError, RecordError, StoreError
from ralph_tracker.records.iteration_record import (
    AlertDocument,
    Document,
    IterationRecord,
    RecordDocument,
    record_of,
)
from ralph_tracker.safe_files import (
    AGAIN,
    TEMPORARY,
    as_store_error,
    clear_staging,
    digest,
    file_digest,
    files_below,
    hide_from_tools,
    own_file,
    sync_below,
    sync_folder,
    temporary_name,
    write_new,
    write_whole,
)
from ralph_tracker.scratch import sweep_temporary_folders
from ralph_tracker.store.find import checked_root, current_loop, refuse_links, told_if_brought_back
from ralph_tracker.store.git_links import renew_links
from ralph_tracker.store.json_documents import append_line, read_json, to_json
from ralph_tracker.store.judge_state_json import after_plain, known_to_plain, measurement_to_plain
from ralph_tracker.store.layout import (
    ARTIFACTS,
    LOOP_ID,
    PACKED_TOGETHER,
    SCHEMA_VERSION,
    LoopPaths,
    ProjectPaths,
    document_name,
    record_name,
)
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.record_packs import kept_bytes, kept_json, packed_bytes
from ralph_tracker.store.summary import Status, Summary, damaged_iteration, is_recorded, summary_from, with_events

ON_RECORD: Final = "the iteration is on record; any next command finishes the rest"
_NOT_RECORDED: Final = "this iteration was NOT recorded"
DEFAULT_PREFIX: Final = "ralph-"


def row_of(document: Mapping[str, Any], walked: WalkedIteration) -> Document:
    """Return the trajectory's line for a record."""
    record = document["iteration_metrics"]
    kept = ("iteration", "previous_iteration", "timestamp", "classification", "quality_score", "adjusted_score")
    sections = ("testing", "quality", "codebase")
    return {
        "schema_version": SCHEMA_VERSION,
        **{key: record[key] for key in kept},
        "metrics": {key: value for section in sections for key, value in record.get(section, {}).items()},
        "decision": document["recommendation"]["action"],
        "usage": record["usage"],
        "walked": encode(walked),
    }


def summary_of(record: IterationRecord, state: JudgeState, started_at: str) -> Summary:
    """Return the status of a running loop after an iteration."""
    best = record.best
    return Summary(
        loop_id=record.loop_id,
        status="running",
        iteration=record.iteration,
        head=record.iteration,
        started_at=started_at,
        updated_at=record.timestamp,
        classification=record.classification,
        message=record.message,
        quality_score=record.quality_score,
        adjusted_score=record.adjusted_score,
        best_iteration=best.iteration,
        best_quality_score=best.score,
        best_adjusted_score=best.adjusted,
        verified=record.verified,
        decision=encode(record.decision),
        alerts=tuple(short_alerts(record)),
        accepted=tuple(sorted(state.accepted)),
        cost_usd=state.cost_usd,
        integrity=None if record.integrity is None else record.integrity.verdict,
    )


def short_alerts(record: IterationRecord) -> Iterator[AlertDocument]:
    """Yield the new and the open alerts that nobody accepted, in short."""
    for alert in record.alerts:
        if alert.id not in record.accepted:
            yield alert.to_dict("new")
    for alert in record.open_alerts:
        if alert.id not in record.accepted:
            yield alert.in_short("open")


def best_document(summary: Summary, paths: LoopPaths) -> Document:
    """Return the document of the best iteration, for people."""
    best = summary.best_iteration
    folder = None if best is None else f"{paths.shown}/iterations/{paths.iteration(best).name}/"
    return {
        "schema_version": SCHEMA_VERSION,
        "best_iteration_tracker": {
            "current_best": None if best is None else f"iteration_{best}",
            "best_quality_score": summary.best_quality_score,
            "adjusted_best_quality_score": summary.best_adjusted_score,
            "best_artifacts_path": folder,
        },
    }


def continuation_json(configuration: Mapping[str, Any]) -> bytes:
    """Return the copy of a configuration's `continuation`, for hooks too short-lived to load YAML."""
    return to_json({"schema_version": SCHEMA_VERSION, "continuation": configuration["continuation"]})


class Entry(NamedTuple):
    """What is written for one iteration: its document, its measurement, and the state after it.

    `fill` adds files to the iteration's folder before it is sealed; `copies` are the sha256 of those, by their path
    there, that are only copies of what the store of snapshots has.
    """

    document: RecordDocument
    measurement: Measurement
    state: JudgeState
    walked: WalkedIteration
    summary: Summary
    fill: Callable[[Path], None] | None = None
    copies: Mapping[str, str] = {}

    @property
    def number(self) -> int:
        """Return the iteration's number."""
        return self.state.iteration


class LoopStore(SealedRecords):
    """The writable store of one loop; only the holder of `write_lock()` may write."""

    @contextmanager
    def write_lock(self, purpose: str, *, whole: bool = False) -> Iterator[bool]:
        """Lock the loop, and yield whether the last writer was killed or failed, so that derived files need a rebuild.

        The sign is the staging folder: a writer that ends well, or refuses before writing, removes it. With `whole`,
        every file is linked below git's folder again: those of earlier calls may have been replaced.
        """
        if not self.exists:
            told_if_brought_back(ProjectPaths(self.paths.root))
        with hold_lock(self.paths.lock, purpose):
            with as_store_error(self.paths.folder):
                unfinished = clear_staging(self.paths.staging)
            if unfinished:
                sweep_temporary_folders()
            ends_well = False
            try:
                yield unfinished
                ends_well = True
            except RalphTrackerError as error:
                ends_well = not unfinished and not isinstance(error, StoreError)
                raise
            finally:
                if ends_well and renew_links(self.paths, None if unfinished else self.grown, whole=whole):
                    self.grown.clear()
                    with suppress(OSError):  # the next writer rebuilds once more, which changes nothing
                        self.paths.staging.rmdir()

    def state(self, summary: Summary, thresholds: Thresholds) -> JudgeState:
        """Return what the judge needs. Raises RecordError if a part of it is damaged or outdated."""
        state = super().state(summary, thresholds)
        if state.accepted != frozenset(summary.accepted):
            raise damaged_iteration(self.paths, summary.iteration)
        return state

    def current_summary(self) -> Summary | None:
        """Return the summary in state.json, None if it or the trajectory is not of the latest iteration."""
        plain = read_json(self.paths.state)
        summary = summary_from(plain)
        if summary is None or not is_recorded(self.paths, summary.iteration):
            return None
        if is_recorded(self.paths, summary.iteration + 1):
            return None
        with as_store_error(self.paths.trajectory):
            try:  # the trajectory's last whole line
                with open(self.paths.trajectory, "rb", opener=own_file) as file:  # pathlib's takes none
                    file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
                    last = int(json.loads(file.read().split(b"\n")[-2])["iteration"])
            except (FileNotFoundError, IndexError, ValueError, KeyError, TypeError):
                return None
            return summary if last == summary.iteration else None

    def write(self, path: Path, data: bytes, consequence: str = AGAIN, *, durable: bool = True) -> None:
        """Replace a file of the loop; one that is made again need not be `durable`. Raises StoreError."""
        with as_store_error(path, consequence):
            write_whole(path, data, self.paths.staging, durable=durable)

    def begin(self, number: int) -> None:
        """Mark that an iteration is being recorded, so that a crash before the commit point is noticed."""
        mark = to_json({"schema_version": SCHEMA_VERSION, "iteration": number})
        self.write(self.paths.attempt, mark, _NOT_RECORDED, durable=False)

    def done(self) -> None:
        """Remove the mark: the iteration is recorded."""
        with as_store_error(self.paths.attempt, ON_RECORD):
            self.paths.attempt.unlink(missing_ok=True)

    def commit(self, entry: Entry) -> None:
        """Write an iteration: its folder in one rename, then all derived files.

        Raises StoreError if the disk refuses; before the commit point nothing of the iteration remains.
        """
        record = dump_yaml(entry.document).encode("utf-8", "surrogatepass")
        row = row_of(entry.document, entry.walked)
        with as_store_error(self.paths.folder, _NOT_RECORDED):
            self._publish_folder(entry, record, row)
        with as_store_error(self.paths.folder, ON_RECORD):
            sync_folder(self.paths.iterations)
            write_whole(self.paths.record(entry.number), record, self.paths.staging, durable=False)
            append_line(self.paths.trajectory, row, durable=False)
            self.write_summary(entry.summary)

    def _publish_folder(self, entry: Entry, record: bytes, row: Document) -> None:
        self.paths.iterations.mkdir(parents=True, exist_ok=True)
        temporary = self.paths.staging / temporary_name()
        try:
            temporary.mkdir(mode=0o700)
            temporary.chmod(0o755)
            if entry.fill is not None:
                entry.fill(temporary)
            attached = {
                name: entry.copies.get(name) or file_digest(temporary / name) for name in files_below(temporary)
            }
            for name, data in self._files(entry, record, row, attached).items():
                write_new(temporary / name, data, durable=False)
            sync_below(temporary, without=ARTIFACTS)  # copied again from the store where a power cut takes them
            place = self.paths.iteration(entry.number)
            if os.path.lexists(place):  # a check or an agent has put it there meanwhile
                damaged = self.paths.store / "damaged"
                damaged.mkdir(parents=True, exist_ok=True)
                place.rename(damaged / f"{place.name}-{temporary_name()}")
            temporary.rename(place)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    def _files(self, entry: Entry, record: bytes, row: Document, attached: Mapping[str, str]) -> dict[str, bytes]:
        measurement = {
            "schema_version": SCHEMA_VERSION,
            "previous": entry.document["iteration_metrics"]["previous_iteration"],
            "measurement": measurement_to_plain(entry.measurement),
        }
        tests = known_to_plain(entry.state.known, entry.measurement.tests)
        after = after_plain(entry.state, entry.walked, row, entry.summary)
        files = {
            "metrics.json": to_json(entry.document),
            "measurement.json": to_json(measurement),
            "tests.json": to_json({"schema_version": SCHEMA_VERSION, **tests}),
            "state.json": to_json(after),
        }
        # None before the baseline; a lost seal leaves a gap in the chain.
        previous_seal = kept_bytes(self.paths, entry.number - 1, document_name(entry.number - 1, "seal.json"))
        seal = {
            "schema_version": SCHEMA_VERSION,
            "iteration": entry.number,
            "files": {name: digest(data) for name, data in files.items()} | dict(attached),
            "record": digest(record),
            "loop": file_digest(self.paths.loop_file),
            "previous_seal": None if previous_seal is None else digest(previous_seal),
        }
        return {**files, "seal.json": to_json(seal)}

    def write_summary(self, summary: Summary) -> None:
        """Write state.json and the document of the best iteration."""
        self.write(self.paths.best, dump_yaml(best_document(summary, self.paths)).encode(), durable=False)
        self.write(self.paths.state, to_json(summary.plain()), durable=False)

    def append_event(self, event: Mapping[str, Any]) -> None:
        """Record a rollback, an acceptance, a selection, a change of status, or what tests notice."""
        with as_store_error(self.paths.events, AGAIN):
            append_line(self.paths.events, {"schema_version": SCHEMA_VERSION, **event})

    def set_status(self, summary: Summary, status: Status, at: str) -> Summary:
        """Record a change of status, and return the summary with it."""
        changed = summary._replace(status=status)
        if with_events(summary, self.events()).status != status:
            self.append_event({"event": "status", "status": status, "at": at})
        self.write_summary(changed)
        return changed

    def status(self) -> Status:
        """Return the loop's status; a damaged loop counts as running until it is given up."""
        try:
            return self.summary().status
        except RecordError:
            return next((e["status"] for e in reversed(self.events()) if e["event"] == "status"), "running")

    def give_up(self, status: Status, at: str) -> None:
        """Record that a loop ends without a selection; for a damaged loop, only in the event log."""
        try:
            self.set_status(self.summary(), status, at)
        except RecordError:
            self.append_event({"event": "status", "status": status, "at": at})

    def pack_old_records(self, number: int) -> None:
        """Pack the records of older iterations after every few; a failure is ignored, since the next time will do."""
        if number and number % PACKED_TOGETHER == 0:
            from ralph_tracker.store.record_packs import pack_records  # noqa: PLC0415  # for a long loop only

            with suppress(StoreError), hold_lock(self.paths.lock, "packing records", 0):
                pack_records(self.paths, number)
                renew_links(self.paths, whole=True)

    def repair_record(self, number: int) -> None:
        """Write the human-readable record of an iteration if a killed call did not get to it."""
        document = kept_json(self.paths, number, "metrics.json")
        if isinstance(document, dict) and not (
            os.path.lexists(self.paths.record(number))
            or packed_bytes(self.paths, number, record_name(number)) is not None
        ):
            self.write(self.paths.record(number), dump_yaml(document).encode("utf-8", "replace"))


class Project:
    """The loops of one project."""

    def __init__(self, root: Path) -> None:
        self.paths = ProjectPaths(checked_root(root))

    def current_loop_id(self) -> str | None:
        """Return the id of the current loop, None if there is none yet."""
        return current_loop(self.paths)

    def set_current(self, loop_id: str) -> None:
        """Make a loop the current one."""
        with as_store_error(self.paths.current, "the loop is on record; run the same command again"):
            write_whole(self.paths.current, f"{loop_id}\n".encode())
            hide_from_tools(self.paths.base)

    def store(self, loop_id: str) -> LoopStore:
        """Return the store of a loop, which may not exist yet. Raises StoreError for links in its place."""
        paths = self.paths.loop(loop_id)
        refuse_links(paths)
        return LoopStore(paths)

    def clear(self) -> None:
        """Remove what a killed call left behind."""
        with as_store_error(self.paths.base):
            for path in self.paths.base.glob(f"{TEMPORARY}*"):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def is_taken(self, loop_id: str) -> bool:
        """Return whether a loop of that id has a baseline, ours or AIWG's."""
        paths = self.paths.loop(loop_id)
        return paths.iteration(0).is_dir() or any(paths.progress.glob("iteration-*"))

    def last_id(self) -> str | None:
        """Return the highest default id in use, None if there is none."""
        names = [path.name for path in self.paths.base.glob(f"{DEFAULT_PREFIX}*") if LOOP_ID.match(path.name)]
        numbers = {name: name.removeprefix(DEFAULT_PREFIX) for name in names if self.is_taken(name)}
        taken = {int(number): name for name, number in numbers.items() if number.isdecimal()}
        return taken[max(taken)] if taken else None

    def new_loop_store(self, loop_id: str | None) -> LoopStore:
        """Return the store for a new loop, with the next default id if none is given. Raises LoopError."""
        if loop_id is not None and self.is_taken(loop_id):
            raise LoopError(f"loop {loop_id} exists already; choose another id, or leave it out")
        last = self.last_id()
        following = f"{DEFAULT_PREFIX}{1 if last is None else int(last.removeprefix(DEFAULT_PREFIX)) + 1:03d}"
        return self.store(loop_id or following)


class RejudgedIteration(NamedTuple):
    """An iteration judged again: its record, the state after it, and what later selections keep of it."""

    record: IterationRecord
    state: JudgeState
    walked: WalkedIteration


class RejudgedLoop(NamedTuple):
    """A loop judged again: the iterations that can be read, the numbers of the others, and the final state."""

    judgements: tuple[RejudgedIteration, ...]
    lost: tuple[int, ...]
    state: JudgeState


def judge_again(
    store: LoopStore,
    thresholds: Thresholds,
    configured: frozenset[Group] = frozenset(),
) -> RejudgedLoop:
    """Judge every committed iteration again, in order, with all acceptances.

    A damaged iteration is listed and left out of the lineage. Raises RecordError if the baseline itself cannot be read.
    """
    state = store.start(thresholds)._replace(loop_id=store.paths.loop_id)
    lines: dict[int, tuple[Lineage, KnownTests]] = {}
    judgements, lost = [], []
    for number in range(store.latest() + 1):
        measured = store.measurement(number)
        if measured is None:
            if number == 0:
                raise damaged_iteration(store.paths, 0)
            lost.append(number)
            state = state._replace(iteration=number)
            continue
        measurement, previous = measured
        if previous is not None and previous != state.lineage.head and previous in lines:
            lineage, known = lines[previous]
            state = state._replace(lineage=lineage, known=known)
        judgement = judge(state, measurement) if number else judge_baseline(state, measurement, configured)
        state = judgement.state
        lines[number] = (state.lineage, state.known)
        judgements.append(RejudgedIteration(record_of(judgement), state, judgement.walked))
    return RejudgedLoop(tuple(judgements), tuple(lost), state)


def rebuild(
    store: LoopStore, thresholds: Thresholds, started_at: str, configured: frozenset[Group] = frozenset()
) -> Summary:
    """Write everything derived from the committed iterations again, and return the status of the loop.

    What acceptances, damage or repairs changed about an iteration is stored beside its record, which is never changed.
    An iteration whose measurement is damaged is left out of listings and of the choice of the best.
    """
    rejudged = judge_again(store, thresholds, configured)
    # From the first iteration with an accepted alert on, verdicts may differ.
    accepted = [event["alert"]["iteration"] for event in store.acceptances()]
    touched = min((*rejudged.lost, *accepted), default=rejudged.state.iteration + 1)
    rows = []
    for judgement in rejudged.judgements:
        number = judgement.record.iteration
        row = row_of(judgement.record.to_dict(), judgement.walked)
        rows.append(row)
        if number >= touched or not _is_as_written(store, judgement):
            summary = summary_of(judgement.record, judgement.state, started_at)
            _keep(store, judgement.state, judgement.walked, row, summary)
        store.repair_record(number)
    for number in rejudged.lost:
        # An unreadable iteration has the state of the previous one, and no row for listings.
        before = rejudged.judgements[sum(each.record.iteration < number for each in rejudged.judgements) - 1]
        summary = summary_of(before.record, before.state, started_at)._replace(iteration=number)
        _keep(store, before.state._replace(iteration=number), before.walked, {}, summary)
    store.write(store.paths.trajectory, b"".join(to_json(row) + b"\n" for row in rows))
    last = rejudged.judgements[-1]
    summary = summary_of(last.record, last.state, started_at)._replace(iteration=rejudged.state.iteration)
    summary = with_events(summary, store.events())
    store.write_summary(summary)
    return summary


def _is_as_written(store: LoopStore, judgement: RejudgedIteration) -> bool:
    """Return whether the state after an iteration was not amended, and iterations are still compared by its facts."""
    number = judgement.record.iteration
    written = kept_json(store.paths, number, "state.json")
    if not isinstance(written, dict) or store.paths.amendments_file(number).exists():
        return False
    now = [encode(judgement.state.lineage), encode(judgement.walked)]
    return to_json([written.get("line"), written.get("walked")]) == to_json(now)


def _keep(store: LoopStore, state: JudgeState, walked: WalkedIteration, row: Document, summary: Summary) -> None:
    """Store the state after an iteration beside its record, unless it is there already."""
    after = after_plain(state, walked, row, summary)
    if to_json(after) != to_json(store.after(state.iteration)):
        store.write(store.paths.amendments_file(state.iteration), to_json(after))
