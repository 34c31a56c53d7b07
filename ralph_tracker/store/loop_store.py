"""Write one loop: what is committed, what is derived from it, and in which order.

A rename of the iteration's folder is the commit point. Everything outside `iterations/` and the event log can be made
again from there, so a crash leaves garbage or a derived file that is behind, never a record that points nowhere.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.core.best import Candidate
from ralph_tracker.core.documents import Document, alert_document, carried_document
from ralph_tracker.core.judge import Judgement, LoopState
from ralph_tracker.core.metrics import Measurement
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.store import codec
from ralph_tracker.store.committed import Committed, after_plain
from ralph_tracker.store.files import (
    TEMPORARY,
    append_line,
    digest,
    remove_temporaries,
    sync_folder,
    to_json,
    told_plainly,
    write_new,
    write_whole,
)
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.lock import locked
from ralph_tracker.store.reading import read_json
from ralph_tracker.store.summary import SCHEMA_VERSION, Summary

_NOT_RECORDED: Final = "this iteration was NOT recorded"
_TAIL: Final = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Hold what is written for one iteration: its document, what was measured, and the state after it."""

    document: Document
    measurement: Measurement
    fingerprint: str
    state: LoopState
    candidate: Candidate
    summary: Summary
    seen_changed: bool
    seen_at: int

    @property
    def number(self) -> int:
        """Return the iteration's number."""
        return self.state.iteration

    @property
    def row(self) -> Document:
        """Return its line of the trajectory."""
        return row_of(self.document, self.candidate)


def row_of(document: Mapping[str, Any], candidate: Candidate) -> Document:
    """Return the line of the trajectory for a record."""
    record = document["iteration_metrics"]
    kept = ("iteration", "previous_iteration", "timestamp", "classification", "quality_score", "adjusted_score")
    sections = ("testing", "quality", "codebase")
    return {
        "schema_version": SCHEMA_VERSION,
        **{key: record[key] for key in kept},
        "metrics": {key: value for section in sections for key, value in record.get(section, {}).items()},
        "decision": document["recommendation"]["action"],
        "usage": record["usage"],
        "candidate": codec.candidate_to_plain(candidate),
    }


def fingerprint_of(measurement: Measurement) -> str:
    """Return what two calls for the same state of work have in common."""
    return digest(json.dumps(codec.state_of_work(measurement), sort_keys=True).encode())


def summary_of(judgement: Judgement, started_at: str) -> Summary:
    """Return where a running loop stands after a judgement."""
    record, best = judgement.record, judgement.record.best
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
        decision=decision_plain(record),
        alerts=tuple(short_alerts(record)),
        accepted=tuple(sorted(judgement.state.accepted)),
        cost_usd=judgement.state.cost_usd,
    )


def decision_plain(record: IterationRecord) -> Document:
    """Return the decision as state.json holds it."""
    decision = record.decision
    return {
        "action": decision.action,
        "reason": decision.reason,
        "confidence": decision.confidence,
        "target_iteration": decision.target_iteration,
        "alternatives": list(decision.alternatives),
        "rule": decision.rule,
    }


def short_alerts(record: IterationRecord) -> Iterator[Document]:
    """Yield the new and the open alerts that nobody accepted, in short."""
    for alert in record.alerts:
        if alert.id not in record.accepted:
            yield alert_document(alert, "new")
    for alert in record.open_alerts:
        if alert.id not in record.accepted:
            yield carried_document(alert, "open")


class LoopStore(Committed):
    """Write one loop, as its only writer while `writing()` is held."""

    def __init__(self, paths: LoopPaths) -> None:
        super().__init__(paths)

    @contextmanager
    def writing(self, purpose: str) -> Iterator[None]:
        """Be the only writer, with what a killed one left behind cleared away."""
        with locked(self.paths.lock, purpose):
            with told_plainly(self.paths.folder):
                for folder in (self.paths.folder, self.paths.iterations, self.paths.progress, self.paths.reports):
                    remove_temporaries(folder)
            yield

    def create(self, document: Document) -> None:
        """Write the loop's own document: id, frozen configuration, versions."""
        self.write_text(self.paths.loop_file, dump_yaml(document))

    def begin(self, number: int) -> None:
        """Mark that an iteration is being recorded, so that a death before the commit point is known."""
        with told_plainly(self.paths.attempt, _NOT_RECORDED):
            write_whole(self.paths.attempt, to_json({"iteration": number}))

    def done(self) -> None:
        """Take the mark away: the iteration is on record."""
        with told_plainly(self.paths.attempt):
            self.paths.attempt.unlink(missing_ok=True)

    def commit(self, entry: Entry) -> None:
        """Write an iteration: its folder in one rename, then all that is derived from it.

        Raises StoreError where the disk refuses; before the commit point nothing of the iteration stays.
        """
        record = dump_yaml(entry.document).encode("utf-8", "surrogatepass")
        with told_plainly(self.paths.folder, _NOT_RECORDED):
            self._publish_folder(entry, record)
        with told_plainly(self.paths.folder, "the iteration is on record; any next command finishes the rest"):
            write_whole(self.paths.record(entry.number), record)
            if self._last_row() < entry.number:
                append_line(self.paths.trajectory, entry.row)
            if entry.seen_changed:
                self.write_seen(entry.state, entry.seen_at)
            self.write_summary(entry.summary)

    def _publish_folder(self, entry: Entry, record: bytes) -> None:
        self.paths.iterations.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=self.paths.iterations))
        try:
            temporary.chmod(0o755)
            for name, data in self._files(entry, record).items():
                write_new(temporary / name, data)
            sync_folder(temporary)
            temporary.rename(self.paths.iteration(entry.number))
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        sync_folder(self.paths.iterations)

    def _files(self, entry: Entry, record: bytes) -> dict[str, bytes]:
        measurement = {
            "schema_version": SCHEMA_VERSION,
            "previous": entry.document["iteration_metrics"]["previous_iteration"],
            "fingerprint": entry.fingerprint,
            "measurement": codec.measurement_to_plain(entry.measurement),
        }
        after = after_plain(entry.state, entry.candidate, entry.row, entry.summary, entry.seen_at)
        files = {
            "metrics.json": to_json(entry.document),
            "measurement.json": to_json(measurement),
            "tests.json": to_json(codec.known_to_plain(entry.state.known, entry.measurement.tests)),
            "state.json": to_json(after),
        }
        seal = {
            "schema_version": SCHEMA_VERSION,
            "iteration": entry.number,
            "files": {name: digest(data) for name, data in files.items()},
            "record": digest(record),
            "previous_seal": self._seal_digest(entry.number - 1),
        }
        return {**files, "seal.json": to_json(seal)}

    def _seal_digest(self, number: int) -> str | None:
        try:
            return digest((self.paths.iteration(number) / "seal.json").read_bytes())
        except OSError:
            return None

    def _last_row(self) -> int:
        """Return the iteration of the last whole line; a torn one is cut off by the next append."""
        try:
            with self.paths.trajectory.open("rb") as file:
                file.seek(max(0, file.seek(0, 2) - _TAIL))
                lines = file.read().split(b"\n")[:-1]
        except FileNotFoundError:
            return -1
        for line in reversed(lines):
            try:
                return int(json.loads(line)["iteration"])
            except (ValueError, KeyError, TypeError):
                continue
        return -1

    def write_seen(self, state: LoopState, seen_at: int) -> None:
        """Write every test ever seen, as of the iteration that changed it last."""
        with told_plainly(self.paths.seen):
            write_whole(self.paths.seen, to_json({"iteration": seen_at, **codec.seen_to_plain(state.seen)}))

    def write_summary(self, summary: Summary) -> None:
        """Write state.json, and the best tracker that people read."""
        with told_plainly(self.paths.state):
            write_whole(self.paths.best, dump_yaml(best_document(summary, self.paths)).encode())
            write_whole(self.paths.state, to_json(summary.plain()))

    def write_trajectory(self, rows: list[Document]) -> None:
        """Write the whole trajectory again."""
        with told_plainly(self.paths.trajectory):
            write_whole(self.paths.trajectory, b"".join(to_json(row) + b"\n" for row in rows))

    def append_event(self, event: Mapping[str, Any]) -> None:
        """Record a rollback, an acceptance, a selection or a change of status."""
        with told_plainly(self.paths.events):
            append_line(self.paths.events, {"schema_version": SCHEMA_VERSION, **event})

    def set_status(self, summary: Summary, status: Any, at: str) -> Summary:  # noqa: ANN401  # a Status
        """Record a change of status, and return the summary with it."""
        changed = replace(summary, status=status)
        self.append_event({"event": "status", "status": status, "at": at})
        self.write_summary(changed)
        return changed

    def write_text(self, path: Path, text: str) -> None:
        """Write a report or a document for people."""
        with told_plainly(path):
            write_whole(path, text.encode("utf-8", "replace"))

    def repair_record(self, number: int) -> None:
        """Write the record of an iteration again where a killed call did not come to it."""
        document = read_json(self.paths.iteration(number) / "metrics.json")
        if not self.paths.record(number).exists() and isinstance(document, dict):
            self.write_text(self.paths.record(number), dump_yaml(document))


def best_document(summary: Summary, paths: LoopPaths) -> Document:
    """Return the best tracker in the seed's shape."""
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
