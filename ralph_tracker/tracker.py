"""The composition root: connects configuration, store, judge, clock and reports; with the four calls of a loop."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ralph_tracker.codec import decode, encode
from ralph_tracker.core.alert_types import same_event
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.judge import judge
from ralph_tracker.core.thresholds import SelectionMode
from ralph_tracker.errors import InputError, LoopError, UntrustedError, nearest
from ralph_tracker.iteration.measure_iteration import (
    Checkout,
    IterationMeasurer,
    MeasuredIteration,
    Source,
    configured_by,
    refuse_other_origin,
    utc_text,
)
from ralph_tracker.iteration.record_and_recover import (
    failure_marked,
    judge_or_refuse,
    record_iteration,
    recover_loop,
    repeated_record,
    write_report,
)
from ralph_tracker.iteration.restore_iteration import record_rollback, restore, undo_restore
from ralph_tracker.iteration.trust_listing import loop_runs
from ralph_tracker.records.iteration_record import IterationRecord
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.restore_mark import UndoIds
from ralph_tracker.store.summary import NEXT_LOOP, Summary, refuse_unrecorded, require_running, summary_at
from ralph_tracker.store.trust import Consent, Trust
from ralph_tracker.store.write import LoopStore, Project

# Imports that only the first or last call of a loop needs are inside it, to keep the other hooks fast.
if TYPE_CHECKING:
    from ralph_tracker.iteration.apply_iteration import Apply, Placement
    from ralph_tracker.loop.reports import FinishedLoop
    from ralph_tracker.records.output_selection import Selection
    from ralph_tracker.store.verify import Examination


class Clock(Protocol):
    """The source of time; tests pass their own."""

    def now(self) -> datetime:
        """Return the time with its zone."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)


class RecordedIteration(NamedTuple):
    """A record, and whether this call wrote it (False: it existed already).

    `problem` says what failed although the iteration is recorded, else None.
    """

    record: IterationRecord
    new: bool
    problem: str | None = None


class DecisionResult(NamedTuple):
    """A decision; `carried_out` says whether its rollback has been carried out, `undo` by which id this call did."""

    decision: Decision
    carried_out: bool
    undo: str | None = None


class Tracker(NamedTuple):
    """The operations on one loop of one project.

    `trust` decides about commands that came with the project and that this user has neither started nor accepted:
    False refuses them, True accepts them, a function is asked. `checkout` is a commit to record instead of the working
    tree. A tracker that `measures_again` does so with the best numbers of an objective before it selects.
    """

    root: Path = Path()
    loop_id: str | None = None
    clock: Clock = SystemClock()
    environment: Mapping[str, str] = os.environ
    progress: Callable[[str], None] | None = None
    trust: Consent = False
    checkout: Checkout | None = None
    measures_again: bool = True
    tell: Callable[[str], None] | None = None

    @property
    def project(self) -> Project:
        """Return the project at the root. Raises StoreError if that is not a folder."""
        return Project(self.root)

    @property
    def named(self) -> str | None:
        """Return the loop that the caller or the environment names, None if neither does."""
        return self.loop_id or self.environment.get("RALPH_LOOP_ID") or None

    @property
    def trusting(self) -> Trust:
        """Return what the user trusts here. Raises StoreError if the root is not a folder."""
        return Trust(self.project.paths.root, self.trust, self.tell)

    def require_loop(self) -> None:
        """Raise UntrustedError if the selected loop would run what this user has neither started nor accepted."""
        store = self.store()
        self.trusting.require_loop(store.paths, lambda: loop_runs(store))

    def store(self) -> LoopStore:
        """Return the store of the selected loop. Raises LoopError if there is none."""
        return LoopStore(find_loop(self.root, self.loop_id, self.environment))

    def pre_loop(
        self,
        metrics: Source | None,
        *,
        new: bool = False,
        rebaseline: bool = False,
        allow_missing: bool = False,
        limits: Mapping[str, Any] | None = None,
        checks: Mapping[str, Any] | None = None,
    ) -> IterationRecord:
        """Capture the baseline and freeze the configuration.

        Without metrics the project's checks are run, and its files are kept. `limits` override keys of `loop` in the
        configuration; `checks` are run in addition to its own. Raises LoopError for a loop that exists or is
        unfinished, InputError and ConfigError for bad input, UntrustedError for commands that came with the project;
        `allow_missing` accepts missing commands, also of `checks`, and unmeasured tests.
        """
        from ralph_tracker.loop.start import LoopStart, TakenOver  # noqa: PLC0415  # as above

        taken_over: TakenOver | None = "rebaselined" if rebaseline else "abandoned" if new else None
        return LoopStart(
            self.project,
            self.trusting,
            IterationMeasurer(self.clock.now()),
            self.named,
            self.environment,
            taken_over=taken_over,
            allow_missing=allow_missing,
            progress=self.progress,
            limits=limits or {},
            checks=checks or {},
        ).baseline(metrics)

    def post_iteration(
        self,
        metrics: Source | None,
        *,
        usage: Source | None = None,
        blocked: str | None = None,
        iteration: int | None = None,
        notes: Sequence[str] = (),
        fresh: bool = False,
    ) -> RecordedIteration:
        """Measure or take the given metrics, judge, record and report the next iteration.

        A tree that was just measured with the same configuration and tools counts as that, unless `fresh`.
        `notes` are a runner's remarks on the agent's work, one line each. With `iteration` the call may be repeated:
        for the same state of work it does nothing, another one is refused. Raises LoopError if called out of order,
        InputError and RecordError for unusable input, UntrustedError for a loop of somebody else; nothing is recorded
        then.
        """
        if metrics is None:
            self.require_loop()
        store = self.store()
        with store.write_lock("post-iteration") as unfinished:
            with failure_marked(store):
                loop = ConfiguredLoop.read(store, configured_by)
                summary = require_running(recover_loop(loop, unfinished=unfinished))
                number = summary.iteration + 1
                measurer = IterationMeasurer(
                    self.clock.now(), loop, usage, blocked, tuple(notes), self.checkout, fresh=fresh
                )
                if iteration is not None and iteration != number:
                    return RecordedIteration(
                        repeated_record(loop, summary, iteration, _handed_in(measurer, loop, metrics)), new=False
                    )
                store.begin(number)  # from here on, whatever interrupts it, nobody decides on the iteration before
            given = _handed_in(measurer, loop, metrics)
            state, summary = loop.state(summary)
            if given is None:
                measured = measurer.measure(
                    store, loop.config, state, self.environment, allow_missing=True, progress=self.progress
                )
            else:
                measured = measurer.keep_tree_beside(given, store, loop.config, state)
            judgement = judge_or_refuse(lambda: judge(state, measured.measurement))
            record, document = record_iteration(store, judgement, measured, summary.started_at)
            store.done()
            problem = write_report(store, number, document)
        measured.pack_store(number)
        store.pack_old_records(number)
        _export(loop)
        return RecordedIteration(record, new=True, problem=problem)

    def loop_decision(self, *, apply: bool = False) -> DecisionResult:
        """Return the stored decision; with `apply`, carry out a rollback.

        Raises NotRecordedError if the last iteration was not recorded, NoSnapshotError if no files are kept to roll
        back to.
        """
        paths = find_loop(self.root, self.loop_id, self.environment)
        summary = require_running(summary_at(paths))
        refuse_unrecorded(paths, summary)
        decision = decode(Decision, summary.decision)
        target = decision.target_iteration
        if apply and decision.action == "rollback" and target is not None and summary.carried_out is None:
            store = LoopStore(paths)
            with store.write_lock("rollback") as unfinished:
                summary = recover_loop(ConfiguredLoop.read(store, configured_by), unfinished=unfinished)
                undo = None
                if summary.carried_out is None:  # a killed call may have been almost finished
                    undo = restore(store, summary, target, utc_text(self.clock.now())).undo
            return DecisionResult(decision, carried_out=True, undo=undo)
        return DecisionResult(decision, carried_out=summary.carried_out is not None)

    def notify(self, event: str, sentence: str, next_step: str) -> list[str]:
        """Tell a person of an event as the loop's `notify:` says; return what did not work, a line each.

        `event` is one of `notify.events`. Raises RecordError and StoreError.
        """
        from ralph_tracker.loop.notify import Notice, notify  # noqa: PLC0415  # only at the end of a loop

        store = self.store()
        section = ConfiguredLoop.read(store, configured_by).config.document.get("notify", {"events": ()})
        notice = Notice(event, store.paths.folder.name, store.summary().iteration, sentence, next_step)
        return notify(notice, section, self.root, self.environment)

    def restore(self, number: int, announce: Callable[[tuple[str, ...]], None] | None = None) -> UndoIds:
        """Make the working tree exactly that iteration, from which the next one descends; return what undoes it.

        `announce` gets the files that will be deleted, before anything is. An interrupted restore is finished or
        replaced. Raises LoopError for an iteration that is not on record, NoSnapshotError for one without files.
        """
        store = self.store()
        with store.write_lock("restore") as unfinished:
            summary = recover_loop(ConfiguredLoop.read(store, configured_by), unfinished=unfinished, resume=False)
            if not 0 <= number <= summary.iteration:
                raise _not_on_record(number, summary)
            if announce is not None:
                announce(IterationSnapshots(store).deletions(number))
            return restore(store, summary, number, utc_text(self.clock.now()))

    def undo(self, undo_id: str, announce: Callable[[tuple[str, ...]], None] | None = None) -> UndoIds:
        """Bring back the working tree from before a restore; return what undoes this.

        `announce` gets the files that will be deleted, before anything is.
        The next iteration descends from the lineage of that time. An interrupted restore is finished or replaced.
        """
        store = self.store()
        with store.write_lock("undo") as unfinished:
            summary = recover_loop(ConfiguredLoop.read(store, configured_by), unfinished=unfinished, resume=False)
            if announce is not None:
                announce(IterationSnapshots(store).undo_deletions(undo_id))
            return undo_restore(store, summary, undo_id, utc_text(self.clock.now()))

    def verify(self) -> "Examination":
        """Return what is damaged: seals, kept files, each opened as a restore would, and what is derived from them."""
        from ralph_tracker.store.verify import LoopVerification  # noqa: PLC0415  # as above

        return LoopVerification(self.store()).examine()

    def repair(self) -> bool:
        """Rebuild what is damaged and can be made again; return whether ignore rules of the store are those of today.

        Raises RecordError if the frozen configuration or the baseline's measurement is damaged.
        """
        from ralph_tracker.store.verify import LoopVerification, rewrite_copies  # noqa: PLC0415  # as above

        store = self.store()
        with store.write_lock("verify --repair", whole=True):
            today = LoopVerification(store).rebuild()
            loop = ConfiguredLoop.read(store, configured_by)
            recover_loop(loop, unfinished=True, resume=False)
            rewrite_copies(store)
        return today

    def select_output(
        self,
        *,
        mode: SelectionMode | None = None,
        iteration: int | None = None,
        reason: str | None = None,
        apply: "Apply" = "none",
        branch: str | None = None,
        finish: bool = True,
        verify: bool = False,
        approve: "Callable[[Placement], bool] | None" = None,
    ) -> "FinishedLoop":
        """Select the output and report the loop; `finish` ends it. A second call selects again.

        `approve` is shown what would change before the working tree is touched; where it returns False the iteration is
        selected and nothing applied.
        `verify` measures it again first. Raises LoopError for an abandoned loop or an iteration that is not on record,
        NothingMeasuredError where the checks have measured none and nobody names one, NotReproducedError if it now
        measures differently, UntrustedError for filters in the settings of a repository that the user has not accepted,
        where a branch is asked for; nothing is selected then.
        """
        from ralph_tracker.iteration.apply_iteration import apply_iteration, placement_of  # noqa: PLC0415  # as above
        from ralph_tracker.iteration.reproduce import verify_again  # noqa: PLC0415  # as above
        from ralph_tracker.iteration.unmeasured import refuse_nothing_measured  # noqa: PLC0415  # as above
        from ralph_tracker.loop.reports import selection_of, write_closing_reports  # noqa: PLC0415  # as above
        from ralph_tracker.store.snapshots.user_repository import repository_around  # noqa: PLC0415  # as above

        if (iteration is None) != (reason is None):
            raise InputError("--iteration N and --reason WHY need each other")
        if verify:
            self.require_loop()
        repository = repository_around(self.project.paths.root) if apply == "branch" else None
        if repository is not None:
            self.trusting.require_project(repository.filters())  # which take in the files of the branch
        store = self.store()
        with store.write_lock("post-loop") as unfinished:
            loop = ConfiguredLoop.read(store, configured_by)
            summary = recover_loop(loop, unfinished=unfinished)
            if summary.status not in {"running", "finished"}:
                raise LoopError(f"loop {summary.loop_id} is {summary.status}; {NEXT_LOOP}")
            _, summary = loop.state(summary)
            rows, lost = store.rows()
            if iteration is not None and iteration not in {row["iteration"] for row in rows}:
                raise _not_on_record(iteration, summary)
            if iteration is None:
                refuse_nothing_measured(store, summary.loop_id, rows)
            selecting = partial(selection_of, store, rows, loop.config.thresholds, mode=mode)
            selection = selecting(iteration=iteration, reason=reason)
            if self.measures_again and iteration is None and selection.mode == "walk":
                with suppress(UntrustedError):
                    selection = self._chosen_again(loop, selection, selecting)
            chosen = selection.selected.iteration
            if verify:
                verify_again(loop, chosen, self.environment, self.progress)
            files = IterationSnapshots(store)
            placement = placement_of(files, store, chosen, summary.head) if apply in {"output", "worktree"} else None
            if apply == "worktree" and placement is not None and approve is not None and not approve(placement):
                apply = "none"
            applied = apply_iteration(files, chosen, apply, branch).after(verifying=verify)
            if applied.undo is not None:
                summary = record_rollback(store, summary, chosen, UndoIds(applied.undo), utc_text(self.clock.now()))
            applied = applied._replace(placement=placement)
            closed = write_closing_reports(
                store, selection, rows, lost, summary, applied, utc_text(self.clock.now()), finish=finish
            )
            if finish:
                store.done()
        _export(loop)
        return closed

    def _chosen_again(
        self, loop: ConfiguredLoop, selection: "Selection", selecting: "Callable[..., Selection]"
    ) -> "Selection":
        """Return the selection by fresh numbers of the objective. Raises UntrustedError."""
        if not loop.config.document.get("objectives"):
            return selection
        from ralph_tracker.iteration.measure_again import choose_again  # noqa: PLC0415  # as above

        self.require_loop()
        walked = [each.walked for each in selection.contenders]
        choice = choose_again(loop, walked, selection.iteration, self.environment, self.progress)
        return selection if choice is None else selecting(choice=choice)

    def accept(self, alert_id: str, reason: str) -> Summary:
        """Record that a person accepts an alert, and judge the loop again; records are not changed.

        Alerts of the same iteration about the same removed tests are accepted with it. For one that is accepted already
        the first reason stays. Raises LoopError for an id that was never raised.
        """
        if not reason.strip():
            raise InputError("--reason must say why the alert is wrong")
        store = self.store()
        with store.write_lock("accept") as unfinished:
            loop = ConfiguredLoop.read(store, configured_by)
            summary = recover_loop(loop, unfinished=unfinished)
            if alert_id in summary.accepted:
                return summary
            alerts = {alert.id: alert for judgement in loop.judge_again() for alert in judgement.record.alerts}
            if not alerts:
                raise LoopError(f"no alert {alert_id!r}: this loop has raised none")
            if alert_id not in alerts:
                raise LoopError(f"no alert {alert_id!r} in this loop{nearest(alert_id, list(alerts))}")
            at = utc_text(self.clock.now())
            together = same_event(alerts[alert_id], alerts.values())
            for alert in sorted(
                together, key=lambda each: each.id == alert_id
            ):  # last, so that an interrupted call can be repeated
                if alert.id not in summary.accepted:
                    event = {"id": alert.id, "reason": reason, "at": at, "alert": encode(alert)}
                    beside = {} if alert.id == alert_id else {"with": alert_id}
                    store.append_event({"event": "accept", **event, **beside})
            return loop.rebuilt()


def _not_on_record(number: int, summary: Summary) -> LoopError:
    return LoopError(f"iteration {number} is not on record; the loop has iterations 0 to {summary.iteration}")


def _handed_in(measurer: IterationMeasurer, loop: ConfiguredLoop, metrics: Source | None) -> MeasuredIteration | None:
    """Return the metrics that were handed in, None if the checks measure. Raises InputError for the other."""
    refuse_other_origin(loop, metrics)
    return None if metrics is None else measurer.take_metrics(metrics, loop.config)


def _export(loop: ConfiguredLoop) -> None:
    """Have what was recorded sent beside the loop, where its configuration says so."""
    destinations = loop.config.document.get("export", {}).get("after_each", ())
    if destinations:
        from ralph_tracker.store.export_queue import send_beside  # noqa: PLC0415  # as above

        send_beside(loop.store.paths, destinations)


def pre_loop(
    *,
    root: str | Path = ".",
    loop_id: str | None = None,
    metrics: Source | None = None,
    new: bool = False,
    rebaseline: bool = False,
    allow_missing: bool = False,
    trust: bool = False,
) -> IterationRecord:
    """Capture the baseline, iteration 0, and freeze the configuration of the loop.

    `metrics` is a mapping, or a YAML or JSON file; without it the project's checks are run and its files are kept. An
    unfinished loop is an error unless `new` abandons it or `rebaseline` starts one linked to it, and so is a baseline
    whose tests cannot be measured unless `allow_missing`. `trust` accepts checks that came with the project. Raises
    LoopError, InputError, ConfigError, StoreError, and UntrustedError for such checks.
    """
    tracker = Tracker(Path(root), loop_id, trust=trust)
    return tracker.pre_loop(metrics, new=new, rebaseline=rebaseline, allow_missing=allow_missing)


def post_iteration(
    *,
    root: str | Path = ".",
    loop_id: str | None = None,
    metrics: Source | None = None,
    usage: Source | None = None,
    blocked: str | None = None,
    iteration: int | None = None,
    trust: bool = False,
) -> IterationRecord:
    """Record and judge the next iteration; `.message` is a one-line summary for an orchestrator.

    `usage` has cost_usd, input_tokens, output_tokens, turns and duration_s (seconds), each optional. `blocked` says why
    a person is needed. With `iteration` the call may be repeated. `trust` accepts a loop that this user did not start.
    Raises LoopError, InputError, RecordError, StoreError, and UntrustedError for such a loop; nothing is recorded then.
    Warns if the iteration is recorded, but the report's template cannot be used.
    """
    tracker = Tracker(Path(root), loop_id, trust=trust)
    recorded = tracker.post_iteration(metrics, usage=usage, blocked=blocked, iteration=iteration)
    if recorded.problem is not None:
        warnings.warn(recorded.problem, stacklevel=2)
    return recorded.record


def loop_decision(*, root: str | Path = ".", loop_id: str | None = None, apply: bool = False) -> Decision:
    """Return what the loop should do next; calling it again returns the same decision.

    `apply` carries a rollback out. Raises NotRecordedError if the last iteration was not recorded, and NoSnapshotError
    if no files are kept to roll back to.
    """
    return Tracker(Path(root), loop_id).loop_decision(apply=apply).decision


def post_loop(
    *,
    root: str | Path = ".",
    loop_id: str | None = None,
    mode: SelectionMode | None = None,
    iteration: int | None = None,
    reason: str | None = None,
    apply: "Apply" = "output",
    branch: str | None = None,
) -> "Selection":
    """Select the peak as the loop's output, report it, apply it, and finish the loop.

    A person may override with `iteration` and a `reason`. `apply` says where its files go: to `.aiwg/output/`, into the
    working tree (which can be undone), to the branch `branch`, or nowhere. A loop whose metrics were handed in keeps no
    files, so nothing is applied. Raises LoopError, InputError, RecordError and StoreError.
    """
    tracker = Tracker(Path(root), loop_id)
    return tracker.select_output(mode=mode, iteration=iteration, reason=reason, apply=apply, branch=branch).selection
