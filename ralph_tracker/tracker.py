"""The composition root: where configuration, store, judge, clock and reports meet."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ralph_tracker.applying import Apply, apply_iteration
from ralph_tracker.closing import Closed, close
from ralph_tracker.config.load import Config, load_config
from ralph_tracker.config.problems import nearest
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.documents import Document, record_document
from ralph_tracker.core.judge import Judgement, judge, judge_baseline
from ralph_tracker.core.line import Yardstick
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import Group, Metrics
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.core.rules import SelectionMode
from ralph_tracker.core.selection import Contender, select
from ralph_tracker.errors import ConfigError, InputError, LoopError
from ralph_tracker.measure.environment import environment_facts
from ralph_tracker.report.markdown import iteration_report
from ralph_tracker.store import codec
from ralph_tracker.store.derived import summary_of
from ralph_tracker.store.files import told_plainly
from ralph_tracker.store.history import Records
from ralph_tracker.store.keeping import Keeper
from ralph_tracker.store.lock import locked
from ralph_tracker.store.loop_store import ON_RECORD, Entry, LoopStore
from ralph_tracker.store.opened import OpenLoop, Origin, loop_document
from ralph_tracker.store.project import Project
from ralph_tracker.store.standing import (
    NEXT_LOOP,
    attempted,
    paths_of,
    refuse_unrecorded,
    running,
    summary_at,
)
from ralph_tracker.store.summary import Summary
from ralph_tracker.taking import Source, Taken, Taking, configured_by, refuse_other_origin, stamp, with_detected_checks


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
    progress: Callable[[str], None] | None = None

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

    def pre_loop(
        self, metrics: Source | None, *, new: bool = False, rebaseline: bool = False, allow_missing: bool = False
    ) -> IterationRecord:
        """Capture the baseline and freeze the configuration.

        Without metrics the project's checks are run, and its files are kept. Raises LoopError for a loop that exists
        or is unfinished, InputError and ConfigError for bad input; `allow_missing` lets a command be absent.
        """
        project = self.project
        config = load_config(project.paths.root)
        taking = Taking(self.clock.now())
        given = None if metrics is None else taking.given(metrics)
        if metrics is None:
            config = with_detected_checks(config, project.paths.root, self.environment)
        with locked(project.paths.lock, "pre-loop"):
            project.clear()
            store = self._begun(project, given)
            replaced = self._replaced(project, store, allowed=new or rebaseline)
            if store is not None:
                record = self._resume(store)
            else:
                store = project.unused(self.named)
                linked = replaced.paths.loop_id if replaced is not None and rebaseline else None
                record = self._begin(store, config, taking, given, linked, allow_missing=allow_missing)
            if replaced is not None:
                with replaced.writing("pre-loop"):
                    replaced.give_up("rebaselined" if rebaseline else "abandoned", stamp(taking.now))
            project.set_current(store.paths.loop_id)
            store.done()
        return record

    def _begin(
        self,
        store: LoopStore,
        config: Config,
        taking: Taking,
        given: Taken | None,
        linked: str | None,
        *,
        allow_missing: bool,
    ) -> IterationRecord:
        origin: Origin = "measured" if given is None else "given"
        with store.writing("pre-loop"):
            state = LoopState(loop_id=store.paths.loop_id, rules=config.rules)
            taken = given or taking.observed(
                store, config, state, self.environment, allow_missing=allow_missing, progress=self.progress
            )
            configured = configured_by(config.document) if given is None else frozenset[Group]()
            judgement = _judged(lambda: judge_baseline(state, taken.measurement, configured))
            at = taken.measurement.timestamp
            store.begin(0)
            facts = environment_facts()
            store.create(loop_document(store.paths.loop_id, config, at, linked_to=linked, origin=origin, facts=facts))
            self._write(store, judgement, taken, at, state)
        return judgement.record

    def _begun(self, project: Project, given: Taken | None) -> LoopStore | None:
        """Return the loop that a killed call for the same baseline has begun, None where there is none."""
        loop_id = self.named or project.last_id()
        store = None if loop_id is None else project.store(loop_id)
        if store is None or attempted(store.paths) != 0:
            return None
        stored = store.measurement(0)
        if stored is None:
            return None
        if given is None:
            keeper = Keeper(store)
            same = keeper.exists and keeper.stands_at(0, stored[0].tree)
        else:
            same = codec.state_of_work(stored[0]) == codec.state_of_work(given.measurement)
        return store if same else None

    def _resume(self, store: LoopStore) -> IterationRecord:
        with store.writing("pre-loop"):
            loop = OpenLoop.read(store, configured_by)
            self._recovered(loop, unfinished=True)
            return loop.record(0)

    def _replaced(self, project: Project, begun: LoopStore | None, *, allowed: bool) -> LoopStore | None:
        """Return the unfinished loop that a new one takes the place of; refuse where nobody said so."""
        current = project.current()
        if current is None or not project.store(current).exists:
            return None
        store = project.store(current)
        if begun is not None and begun.paths == store.paths:
            return None
        if store.status() != "running" or (not allowed and self.named not in {None, current}):
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
        with store.writing("post-iteration") as unfinished:
            loop = OpenLoop.read(store, configured_by)
            summary = running(self._recovered(loop, unfinished=unfinished))
            number = summary.iteration + 1
            if iteration is not None and iteration != number:
                return self._repeated(loop, summary, iteration, metrics, usage, blocked)
            store.begin(number)
            refuse_other_origin(loop, metrics)
            state, summary = loop.state(summary)
            taking = Taking(self.clock.now(), loop, usage, blocked)
            if metrics is None:
                taken = taking.observed(
                    store, loop.config, state, self.environment, allow_missing=True, progress=self.progress
                )
            else:
                taken = taking.given(metrics)
            judgement = _judged(lambda: judge(state, taken.measurement))
            document = self._write(store, judgement, taken, summary.started_at, state)
            store.done()
            self._report(store, number, document)
        return Recorded(judgement.record, new=True)

    def _repeated(
        self,
        loop: OpenLoop,
        summary: Summary,
        iteration: int,
        metrics: Source | None,
        usage: Source | None,
        blocked: str | None,
    ) -> Recorded:
        if not 0 < iteration <= summary.iteration:
            raise LoopError(f"iteration {iteration} is not the next one; the next is {summary.iteration + 1}")
        refuse_other_origin(loop, metrics)
        measured = loop.store.measurement(iteration)
        if measured is None:
            raise loop.store.damaged(iteration)
        if metrics is None:
            same = Keeper(loop.store).stands_at(iteration, measured[0].tree)
        else:
            now = Taking(self.clock.now(), loop, usage, blocked).given(metrics).measurement
            same = codec.state_of_work(now) == codec.state_of_work(measured[0])
        if not same:
            raise LoopError(
                f"iteration {iteration} is on record with another state; leave --iteration out to record the next"
            )
        return Recorded(loop.record(iteration), new=False)

    def _write(
        self, store: LoopStore, judgement: Judgement, taken: Taken, started_at: str, before: LoopState
    ) -> Document:
        """Commit an iteration with its files."""
        number = judgement.record.iteration
        changed = number == 0 or judgement.state.seen != before.seen
        entry = Entry(
            document=record_document(judgement.record),
            measurement=taken.measurement,
            state=judgement.state,
            candidate=judgement.candidate,
            summary=summary_of(judgement, started_at),
            seen_changed=changed,
            seen_at=number if changed else store.after(number - 1)["seen_at"],
            fill=taken.fill(number),
        )
        store.commit(entry)
        taken.name(number)
        return entry.document

    def _report(self, store: LoopStore, number: int, document: Mapping[str, Any]) -> None:
        """Render the report of an iteration that is on record."""
        path = store.paths.report(number)
        try:
            with told_plainly(path, ON_RECORD):
                text = iteration_report(document, store.paths.root)
        except ConfigError as error:
            raise ConfigError(f"{error}; {ON_RECORD}") from None
        store.write_text(path, text, ON_RECORD)

    def _recovered(self, loop: OpenLoop, *, unfinished: bool) -> Summary:
        """Return where the loop stands; where a call was killed, what it left half-written is made whole."""
        store, summary = loop.store, loop.recovered(unfinished=unfinished)
        if unfinished and loop.origin == "measured":
            Keeper(store).repair(summary.iteration)
        if unfinished and 0 < (attempted(store.paths) or 0) <= summary.iteration:
            store.done()  # but for the baseline's: that pre_loop has more to do
        if unfinished and summary.iteration and not store.paths.report(summary.iteration).exists():
            document = Records(store).one(summary.iteration).document
            if document is not None:
                self._report(store, summary.iteration, document)
        return summary

    def loop_decision(self, *, apply: bool = False) -> Decided:
        """Return the stored decision; with `apply`, carry out a rollback.

        Raises NotRecordedError after an iteration that failed to be recorded, NoSnapshotError where a rollback has
        nothing to restore.
        """
        paths = paths_of(self.root, self.loop_id, self.environment)
        summary = running(summary_at(paths))
        refuse_unrecorded(paths, summary)
        decision = codec.decision_from_plain(summary.decision)
        target = decision.target_iteration
        if apply and decision.action == "rollback" and target is not None and summary.carried_out is None:
            store = LoopStore(paths)
            with store.writing("rollback") as unfinished:
                summary = self._recovered(OpenLoop.read(store, configured_by), unfinished=unfinished)
                self._restored(store, summary, target)
            return Decided(decision, carried_out=True)
        return Decided(decision, carried_out=summary.carried_out is not None)

    def restore(self, number: int) -> str:
        """Make the working tree exactly that iteration, from which the next one descends; return the undo id.

        Raises LoopError for an iteration that is not on record, NoSnapshotError for one without files.
        """
        store = self.store()
        with store.writing("restore") as unfinished:
            summary = self._recovered(OpenLoop.read(store, configured_by), unfinished=unfinished)
            if not 0 <= number <= summary.iteration:
                raise LoopError(f"iteration {number} is not on record; there are 0 to {summary.iteration}")
            return self._restored(store, summary, number)

    def undo(self, undo_id: str) -> str:
        """Bring back what stood in the working tree before a restore; return the id that undoes this.

        The next iteration descends from where the line was then.
        """
        store = self.store()
        with store.writing("undo") as unfinished:
            summary = self._recovered(OpenLoop.read(store, configured_by), unfinished=unfinished)
            undone = Keeper(store).undo(undo_id)
            restores = (e for e in reversed(store.events()) if e["event"] == "rollback" and e.get("undo") == undo_id)
            came_from = next((e.get("from") for e in restores), None)
            if isinstance(came_from, int):
                self._follow(store, summary, came_from, undone)
            return undone

    def _restored(self, store: LoopStore, summary: Summary, number: int) -> str:
        undo = Keeper(store).restore(number)
        self._follow(store, summary, number, undo)
        return undo

    def _follow(self, store: LoopStore, summary: Summary, number: int, undo: str) -> Summary:
        """Record that the tree is an earlier iteration again: the line follows."""
        at = stamp(self.clock.now())
        moved = {"to": number, "from": summary.head, "after": summary.iteration, "undo": undo}
        store.append_event({"event": "rollback", **moved, "at": at})
        followed = store.with_events(summary)
        store.write_summary(followed)
        return followed

    def verify(self) -> dict[int, tuple[str, ...]]:
        """Return, for each iteration with damage, what of it is missing or not what was sealed."""
        store = self.store()
        keeper = Keeper(store)
        numbers = range(store.summary().iteration + 1)
        found = {number: (*keeper.damage(number), *keeper.altered_record(number)) for number in numbers}
        return {number: problems for number, problems in found.items() if problems}

    def select_output(
        self,
        *,
        mode: SelectionMode | None = None,
        iteration: int | None = None,
        reason: str | None = None,
        apply: Apply = "none",
        branch: str | None = None,
        finish: bool = True,
    ) -> Closed:
        """Select the output and report the loop; `finish` ends it. A second call selects again.

        Raises LoopError for a loop that was abandoned, or an iteration that is not on record.
        """
        if (iteration is None) != (reason is None):
            raise InputError("an override needs both: --iteration N and --reason WHY")
        store = self.store()
        with store.writing("post-loop") as unfinished:
            loop = OpenLoop.read(store, configured_by)
            summary = self._recovered(loop, unfinished=unfinished)
            if summary.status not in {"running", "finished"}:
                raise LoopError(f"loop {summary.loop_id} is {summary.status}; {NEXT_LOOP}")
            state, summary = loop.state(summary)
            rows, lost = store.rows()
            if iteration is not None and iteration not in {row["iteration"] for row in rows}:
                raise LoopError(f"iteration {iteration} is not on record; there are 0 to {summary.iteration}")
            yardstick = state.yardstick
            contenders = [_contender(row, yardstick) for row in rows]
            rules = loop.config.rules
            selection = select(
                summary.loop_id, contenders, yardstick, rules, mode=mode, iteration=iteration, reason=reason
            )
            chosen = selection.selected.iteration
            applied = apply_iteration(Keeper(store), chosen, apply, branch)
            if applied.undo is not None:
                summary = self._follow(store, summary, chosen, applied.undo)
            closed = close(store, selection, rows, lost, summary, applied, stamp(self.clock.now()), finish=finish)
            if finish:
                store.done()
        return closed

    def accept(self, alert_id: str, reason: str) -> Summary:
        """Record that a person accepts an alert, and judge the loop again; records stay as written.

        Raises LoopError for an id that the loop never raised, or that is accepted already.
        """
        if not reason.strip():
            raise InputError("accepting needs a reason: --reason WHY")
        store = self.store()
        with store.writing("accept") as unfinished:
            loop = OpenLoop.read(store, configured_by)
            summary = self._recovered(loop, unfinished=unfinished)
            if alert_id in summary.accepted:
                raise LoopError(f"{alert_id} is accepted already")
            alerts = {alert.id: alert for judgement in loop.judged() for alert in judgement.record.alerts}
            if alert_id not in alerts:
                raise LoopError(f"alert {alert_id!r} was never raised{nearest(alert_id, list(alerts))}")
            at = stamp(self.clock.now())
            plain = codec.alert_to_plain(alerts[alert_id])
            store.append_event({"event": "accept", "id": alert_id, "reason": reason, "at": at, "alert": plain})
            return loop.rebuilt()


def _judged(how: Callable[[], Judgement]) -> Judgement:
    try:
        return how()
    except ValueError as error:
        raise InputError(f"metrics: {error}") from None


def _contender(row: Mapping[str, Any], yardstick: Yardstick) -> Contender:
    candidate = codec.candidate_from_plain(row["candidate"])
    adjusted = yardstick.score(candidate.iteration, candidate.ground)
    return Contender(candidate, row["timestamp"], Metrics(**row["metrics"]), adjusted)
