"""The composition root: where configuration, store, judge, clock and reports meet."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ralph_tracker.closing import Closed, close
from ralph_tracker.config.load import Config, changed_keys, config_of, load_config
from ralph_tracker.config.problems import nearest
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.documents import SCHEMA_VERSION, record_document
from ralph_tracker.core.judge import Judgement, LoopState, judge, judge_baseline
from ralph_tracker.core.line import Yardstick
from ralph_tracker.core.metrics import Measurement, Metrics
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.core.rules import SelectionMode
from ralph_tracker.core.selection import Contender, select
from ralph_tracker.errors import InputError, LoopError, NoSnapshotError, RecordError, StoreError
from ralph_tracker.measure.environment import environment_facts
from ralph_tracker.measure.given import read_metrics, read_usage
from ralph_tracker.report.markdown import iteration_report
from ralph_tracker.store import codec
from ralph_tracker.store.lock import locked
from ralph_tracker.store.loop_store import Entry, LoopStore, fingerprint_of, summary_of
from ralph_tracker.store.project import Project
from ralph_tracker.store.replay import rebuild, replay
from ralph_tracker.store.standing import NEXT_LOOP, paths_of, refuse_unrecorded, running, summary_at
from ralph_tracker.store.summary import Summary

Source = Mapping[str, Any] | str | Path


class Clock(Protocol):
    """Tell the time; a test passes in its own."""

    def now(self) -> datetime:
        """Return the time with its zone."""
        ...


class SystemClock:
    """Tell the time of the machine."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Recorded:
    """Hold a record, and whether this call wrote it (False: it was on record already)."""

    record: IterationRecord
    new: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """Hold a decision; `carried_out` says that its rollback has been carried out, now or before."""

    decision: Decision
    carried_out: bool


@dataclass(frozen=True, slots=True)
class Tracker:
    """Drive one loop of one project."""

    root: Path = field(default_factory=Path)
    loop_id: str | None = None
    clock: Clock = field(default_factory=SystemClock)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def project(self) -> Project:
        """Return the project at the root. Raises StoreError where that is no folder."""
        return Project(self.root)

    @property
    def named(self) -> str | None:
        """Return the loop that the caller or the environment names, None where neither does."""
        return self.loop_id or self.environment.get("RALPH_LOOP_ID") or None

    def store(self) -> LoopStore:
        """Return the store of the loop that is meant. Raises LoopError where there is none."""
        return LoopStore(paths_of(self.root, self.loop_id, self.environment))

    def pre_loop(self, metrics: Source | None, *, new: bool = False, rebaseline: bool = False) -> IterationRecord:
        """Capture the baseline and freeze the configuration.

        Raises LoopError for a loop that exists or is unfinished, InputError and ConfigError for bad input.
        """
        project = self.project
        config = load_config(project.paths.root)
        measurement = self._measurement(metrics)
        with locked(project.paths.lock, "pre-loop"):
            replaced = self._replaced(project, allowed=new or rebaseline)
            store = project.store(self.named or project.next_id())
            if store.exists:
                raise LoopError(f"loop {store.paths.loop_id} exists already; choose another id, or leave it out")
            state = LoopState(loop_id=store.paths.loop_id, rules=config.rules)
            judgement = _judged(judge_baseline, state, measurement)
            if replaced is not None:
                status = "rebaselined" if rebaseline else "abandoned"
                replaced.set_status(replaced.summary(), status, measurement.timestamp)
            linked = replaced.paths.loop_id if replaced is not None and rebaseline else None
            with store.writing("pre-loop"):
                store.create(_loop_document(store.paths.loop_id, config, measurement.timestamp, linked))
                self._write(
                    store, judgement, measurement, measurement.timestamp, LoopState(loop_id="", rules=config.rules)
                )
            project.set_current(store.paths.loop_id)
        return judgement.record

    def _replaced(self, project: Project, *, allowed: bool) -> LoopStore | None:
        """Return the unfinished loop that a new one takes the place of; refuse where nobody said so."""
        current = project.current()
        if current is None or not project.store(current).exists:
            return None
        store = project.store(current)
        if store.summary().status != "running" or (not allowed and self.named not in {None, current}):
            return None
        if allowed:
            return store
        raise LoopError(
            f"loop {current} is still running; end it with `ralph-tracker hook post-loop`, "
            "or say --new (abandon it) or --rebaseline (start a linked one)"
        )

    def post_iteration(
        self,
        metrics: Source | None,
        *,
        usage: Source | None = None,
        blocked: str | None = None,
        iteration: int | None = None,
    ) -> Recorded:
        """Measure or take the given metrics, judge, record and report the next iteration.

        With `iteration` the call may be repeated: the same state of work is a no-op, another one is refused. Raises
        LoopError out of order, InputError and RecordError for what cannot be used; nothing is recorded then.
        """
        store = self.store()
        with store.writing("post-iteration"):
            loop = _Loop.read(store)
            summary = running(loop.recovered())
            number = summary.iteration + 1
            if iteration is not None and iteration != number:
                return self._repeated(loop, summary, iteration, metrics, usage, blocked)
            store.begin(number)
            measurement = self._measurement(metrics, usage, blocked, loop)
            state, summary = loop.state(summary)
            judgement = _judged(judge, state, measurement)
            self._write(store, judgement, measurement, summary.started_at, state)
            store.done()
        return Recorded(judgement.record, new=True)

    def _repeated(
        self,
        loop: "_Loop",
        summary: Summary,
        iteration: int,
        metrics: Source | None,
        usage: Source | None,
        blocked: str | None,
    ) -> Recorded:
        if not 0 < iteration <= summary.iteration:
            raise LoopError(f"iteration {iteration} is not the next one; the next is {summary.iteration + 1}")
        measured = loop.store.measurement(iteration)
        if measured is None:
            raise loop.store.damaged(iteration)
        if fingerprint_of(self._measurement(metrics, usage, blocked, loop)) != measured[2]:
            raise LoopError(
                f"iteration {iteration} is on record with another state; leave --iteration out to record the next"
            )
        judgements = replay(loop.store, summary.loop_id, loop.config.rules).judgements
        record = next(j.record for j in judgements if j.record.iteration == iteration)
        return Recorded(record, new=False)

    def _write(
        self, store: LoopStore, judgement: Judgement, measurement: Measurement, started_at: str, before: LoopState
    ) -> None:
        """Commit an iteration, then render its report."""
        number = judgement.record.iteration
        document = record_document(judgement.record)
        changed = number == 0 or judgement.state.seen != before.seen
        entry = Entry(
            document=document,
            measurement=measurement,
            fingerprint=fingerprint_of(measurement),
            state=judgement.state,
            candidate=judgement.candidate,
            summary=summary_of(judgement, started_at),
            seen_changed=changed,
            seen_at=number if changed else store.after(number - 1)["seen_at"],
        )
        store.commit(entry)
        if number:
            store.write_text(store.paths.report(number), iteration_report(document, store.paths.root))

    def _measurement(
        self,
        metrics: Source | None,
        usage: Source | None = None,
        blocked: str | None = None,
        loop: "_Loop | None" = None,
    ) -> Measurement:
        if metrics is None:
            raise InputError(
                "running the project's own checks is not built yet; hand in what was measured with --metrics FILE"
            )
        values, score, tests = read_metrics(metrics)
        now = self.clock.now()
        return Measurement(
            metrics=values,
            timestamp=_stamp(now),
            quality_score=score,
            tests=tests,
            usage=None if usage is None else read_usage(usage),
            blocked=blocked,
            elapsed_s=None if loop is None else (now - loop.started).total_seconds(),
            config_changed=() if loop is None else loop.changed_keys(),
        )

    def loop_decision(self, *, apply: bool = False) -> Decided:
        """Return the stored decision; with `apply`, carry out a rollback.

        Raises NotRecordedError after an iteration that failed to be recorded, NoSnapshotError where a rollback has
        nothing to restore.
        """
        paths = paths_of(self.root, self.loop_id, self.environment)
        summary = running(summary_at(paths))
        refuse_unrecorded(paths, summary)
        decision = codec.decision_from_plain(summary.decision)
        if apply and decision.action == "rollback" and summary.carried_out is None:
            raise NoSnapshotError(
                f"iteration {decision.target_iteration} has no snapshot; restore its files yourself, then go on"
            )
        return Decided(decision, carried_out=summary.carried_out is not None)

    def select_output(
        self,
        *,
        mode: SelectionMode | None = None,
        iteration: int | None = None,
        reason: str | None = None,
        finish: bool = True,
    ) -> Closed:
        """Select the output and report the loop; `finish` ends it. A second call selects again.

        Raises LoopError for a loop that was abandoned, or an iteration that is not on record.
        """
        if (iteration is None) != (reason is None):
            raise InputError("an override needs both: --iteration N and --reason WHY")
        store = self.store()
        with store.writing("post-loop"):
            loop = _Loop.read(store)
            summary = loop.recovered()
            if summary.status not in {"running", "finished"}:
                raise LoopError(f"loop {summary.loop_id} is {summary.status}; {NEXT_LOOP}")
            state, summary = loop.state(summary)
            rows, _ = store.rows()
            if iteration is not None and iteration not in {row["iteration"] for row in rows}:
                raise LoopError(f"iteration {iteration} is not on record; there are 0 to {summary.iteration}")
            yardstick = state.yardstick
            contenders = [_contender(row, yardstick) for row in rows]
            rules = loop.config.rules
            selection = select(
                summary.loop_id, contenders, yardstick, rules, mode=mode, iteration=iteration, reason=reason
            )
            closed = close(store, selection, rows, summary, _stamp(self.clock.now()), finish=finish)
            store.done()
        return closed

    def accept(self, alert_id: str, reason: str) -> Summary:
        """Record that a person accepts an alert, and judge the loop again; records stay as written.

        Raises LoopError for an id that the loop never raised, or that is accepted already.
        """
        if not reason.strip():
            raise InputError("accepting needs a reason: --reason WHY")
        store = self.store()
        with store.writing("accept"):
            loop = _Loop.read(store)
            summary = loop.recovered()
            if alert_id in summary.accepted:
                raise LoopError(f"{alert_id} is accepted already")
            judgements = replay(store, summary.loop_id, loop.config.rules).judgements
            alerts = {alert.id: alert for judgement in judgements for alert in judgement.record.alerts}
            if alert_id not in alerts:
                raise LoopError(f"alert {alert_id!r} was never raised{nearest(alert_id, list(alerts))}")
            at = _stamp(self.clock.now())
            plain = codec.alert_to_plain(alerts[alert_id])
            store.append_event({"event": "accept", "id": alert_id, "reason": reason, "at": at, "alert": plain})
            return rebuild(store, loop.config.rules, summary.started_at)


@dataclass(frozen=True, slots=True)
class _Loop:
    """Hold a loop's store with its frozen configuration."""

    store: LoopStore
    config: Config
    started: datetime

    @classmethod
    def read(cls, store: LoopStore) -> "_Loop":
        """Read the loop's own document. Raises RecordError where it cannot be used."""
        name = f"{store.paths.shown}/loop.yaml"
        try:
            document = load_yaml(store.paths.loop_file.read_text(encoding="utf-8"), name)
            config = config_of(document["configuration"], name, document["configuration_digest"])
            return cls(store, config, datetime.fromisoformat(document["created_at"]))
        except (OSError, UnicodeDecodeError, InputError, StoreError, KeyError, TypeError, ValueError) as error:
            raise RecordError(f"{name}: damaged ({error}); restore it from a copy, or start with --new") from None

    def changed_keys(self) -> tuple[str, ...]:
        """Name what differs now from the frozen configuration."""
        return changed_keys(self.store.paths.root, self.config.document, self.config.digest)

    def recovered(self) -> Summary:
        """Return where the loop stands, with what a killed call left half-written made whole."""
        summary = self.store.summary()
        if self.store.paths.iteration(summary.iteration + 1).is_dir():
            return rebuild(self.store, self.config.rules, summary.started_at)
        return summary

    def state(self, summary: Summary) -> tuple[LoopState, Summary]:
        """Return what the judge needs; what is damaged or behind is made again from the measurements."""
        try:
            return self.store.state(summary, self.config.rules), summary
        except RecordError:
            summary = rebuild(self.store, self.config.rules, summary.started_at)
            return self.store.state(summary, self.config.rules), summary


def _judged(how: Any, state: LoopState, measurement: Measurement) -> Judgement:  # noqa: ANN401  # judge or judge_baseline
    try:
        judgement: Judgement = how(state, measurement)
    except ValueError as error:
        raise InputError(f"metrics: {error}") from None
    return judgement


def _contender(row: Mapping[str, Any], yardstick: Yardstick) -> Contender:
    candidate = codec.candidate_from_plain(row["candidate"])
    adjusted = yardstick.score(candidate.iteration, candidate.ground)
    return Contender(candidate, row["timestamp"], Metrics(**row["metrics"]), adjusted)


def _loop_document(loop_id: str, config: Config, at: str, linked_to: str | None) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "loop_id": loop_id,
        "created_at": at,
        "linked_to": linked_to,
        "configuration_source": config.source,
        "configuration_digest": config.digest,
        "configuration": dict(config.document),
        "environment": environment_facts(),
    }


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
