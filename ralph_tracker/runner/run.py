"""Drive a loop with an agent; Ctrl-C once finishes the iteration, twice stops now."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType, MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

from ralph_tracker.agents.feedback import ITERATIONS_AFTER_WARNING, feedback_of
from ralph_tracker.agents.hosts.hook_dispatch import DRIVEN
from ralph_tracker.agents.output.run_report import RunReport
from ralph_tracker.codec import decode
from ralph_tracker.core.decision import BLOCKED_RULE, Decision
from ralph_tracker.core.metrics import Usage, plain_number, quantity
from ralph_tracker.core.thresholds import LoopLimits
from ralph_tracker.errors import InputError, LoopError, NoSnapshotError, RecordError
from ralph_tracker.iteration.explain import facts_of
from ralph_tracker.iteration.measure_iteration import configured_by
from ralph_tracker.iteration.trust_listing import loop_runs
from ralph_tracker.loop.notify import event_of, question_words
from ralph_tracker.records.iteration_record import IterationRecord, target_note
from ralph_tracker.records.questions import questions_of
from ralph_tracker.report.wording import known_money
from ralph_tracker.runner.agent_commands import BACKENDS, Backend, prepare_command, within_budget
from ralph_tracker.runner.attempt import (
    AttemptLimits,
    RetryLimits,
    Step,
    describe_run,
    logs_of,
    report_from_logs,
    run_agent,
    session_after,
    step_after,
    verdict_of,
)
from ralph_tracker.runner.model_prices import Price, add_cost, prices_of
from ralph_tracker.runner.saved_run import (
    RunProgress,
    RunSettings,
    add_usages,
    less,
    read_progress,
    tells_sums,
)
from ralph_tracker.runner.shared_terminal import Screen
from ralph_tracker.safe_files import as_store_error, read_regular
from ralph_tracker.short_text import percent
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.git_links import bring_back
from ralph_tracker.store.iteration_snapshots import ReadOnlyFiles, folder_to_look
from ralph_tracker.store.layout import RUN_LOCK, LoopPaths, ProjectPaths
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.summary import NEXT_LOOP, Summary, summary_at
from ralph_tracker.store.write import LoopStore
from ralph_tracker.tracker import DecisionResult, Tracker

if TYPE_CHECKING:
    from ralph_tracker.loop.reports import FinishedLoop

_MINUTE_S = 60
_RUNS: Final = "The run before this one in the same iteration: {why}. What it left in the files is still there."
_NO_COST: Final = (
    "the cost of iteration {number} is unknown: the agent does not report it, so the cost limit cannot count it"
)
_NO_TIME: Final = "Time limit reached: {limit} minutes are over before the agent can run again{pause}"
_FIRST_CTRL_C: Final = "Ctrl-C: this iteration is finished first; press it again to stop now; {resume} continues later"


class Interrupts:
    """Handling of Ctrl-C while the body runs: the first sets `asked` and calls `on_interrupt`, the second raises.

    `asked` is whether the run should end after this iteration. Raises KeyboardInterrupt at the second one, wherever the
    body is.
    """

    def __init__(self, on_interrupt: Callable[[], None]) -> None:
        self.asked, self._on_interrupt = False, on_interrupt
        # An Event's lock would be waited for by a handler that interrupts its own holder; this has none.
        self._wakes: SimpleQueue[None] = SimpleQueue()
        self._before: Any = None

    def wait(self, seconds: float) -> bool:
        """Wait for that time or Ctrl-C; return whether the whole time has passed."""
        if not self.asked:
            with suppress(Empty):
                self._wakes.get(timeout=seconds)
        return not self.asked

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self._wakes.put(None)
        self._on_interrupt()


def tree_of_now(paths: LoopPaths) -> str | None:
    """Return the id of the project's current tree, None if the loop keeps no files.

    Nothing of the loop is written. Raises StoreError if the tree cannot be read.
    """
    with folder_to_look() as folder:
        try:
            return ReadOnlyFiles(SealedRecords(paths), folder / "store").store.snapshot().tree
        except NoSnapshotError:
            return None


def status_line(summary: Summary, iteration: int, now: float, *, is_partial: bool = False) -> str:
    """Return iteration, score, best, cost (if known) and time of a loop in one line.

    The score is that of the last record, which is named while `iteration` is still at work. `now` is epoch seconds,
    `is_partial` whether parts of the cost are unknown.
    """
    recorded = "baseline" if summary.iteration == 0 else f"iteration {summary.iteration}"
    score = percent(summary.adjusted_score) + ("" if iteration == summary.iteration else f" ({recorded})")
    best = ""
    if summary.best_iteration is not None:
        best = f" · best {percent(summary.best_adjusted_score)} (iteration {summary.best_iteration})"
    cost = "" if summary.cost_usd is None else f" · cost {known_money(summary.cost_usd, is_partial=is_partial)}"
    spent = max(now - datetime.fromisoformat(summary.started_at).timestamp(), 0.0)
    minutes, seconds = divmod(int(spent), _MINUTE_S)
    hours, minutes = divmod(minutes, _MINUTE_S)
    took = f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds:02d} s"
    return f"[ralph {summary.loop_id}] iteration {iteration} · score {score}{best}{cost} · {took}"


def user_prompt(path: str | None, root: Path) -> str:
    """Return the user's prompt, read again for each iteration as people edit it; empty without a file.

    Raises InputError if it cannot be read.
    """
    if path is None:
        return ""
    file = root / path
    try:
        return read_regular(file, name=path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name the prompt with --prompt-file") from None


def prompt_of(user: str, found: str, number: int, before: Sequence[str]) -> str:
    """Return the whole prompt of an iteration; `before` says how earlier runs for it ended."""
    lines = [f"What ralph-tracker measured before this iteration, the number {number}:", found]
    if before:
        lines.append(_RUNS.format(why=before[-1]))
    own = user.rstrip("\n")
    return "\n".join([own, "", *lines, ""] if own else [*lines, ""])


class RunResult(NamedTuple):
    """How a run ended: with `stop` (then `closed` is its selection), `escalate`, or Ctrl-C (`asked`)."""

    how: Literal["stop", "escalate", "asked"]
    reason: str
    closed: "FinishedLoop | None" = None


@dataclass(slots=True)
class Run:
    """The run of one loop whose baseline is recorded.

    `unmet` says what an iteration still lacks; if nothing, it is kept and the loop ends. None leaves the end to the
    decisions. `prices` are those of models. `prefix` is put before the status
    while the agent works. `over` is the limit that ended the run while the agent was to be run again, None if none did.
    """

    tracker: Tracker
    paths: LoopPaths
    limits: LoopLimits
    progress: RunProgress
    screen: Screen
    interrupts: Interrupts
    now: Callable[[], float] = field(default=time.time)
    record: IterationRecord | None = None
    decided: DecisionResult | None = None
    unmet: Callable[[IterationRecord], Sequence[str]] | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    prefix: str = ""
    over: str | None = field(default=None, init=False)

    def drive(self) -> RunResult:
        """Continue from the progress, to the end of the loop or until a person is needed.

        Raises as the tracker does; all records are kept, and a later run continues.
        """
        self._settle()
        self.screen.line(self._status())
        target, score = self.limits.target_score, self.tracker.store().summary().adjusted_score
        if self.progress.iteration == 1 and target is not None and score >= target:
            self.screen.line(target_note(target, score))
        while True:
            match self.progress.phase:
                case "agent":
                    if not self._run_agent():
                        return RunResult("asked", f"as asked, before iteration {self.progress.iteration} was done")
                case "measure":
                    self._measure()
                case "decide":
                    outcome = self._decide()
                    if outcome is not None:
                        return outcome
                case _:
                    apply: Any = "none" if self._is_done() else self.progress.settings.apply
                    closed = self.tracker.select_output(apply=apply)
                    self._go(phase="ended")
                    reason = self.over or self.tracker.store().summary().decision["reason"]
                    return RunResult("stop", reason, closed)

    def notify(self, outcome: RunResult, next_step: str) -> None:
        """Tell the person how the run ended, unless they ended it; what did not work is printed."""
        if outcome.how == "asked":
            return
        event = "limit" if self.over else event_of(decode(Decision, self.tracker.store().summary().decision))
        words = f"{'A person is needed' if outcome.how == 'escalate' else 'Stopped'}: {outcome.reason}"
        if outcome.closed is not None:
            words = f"{words}. {outcome.closed.selection.message}"
        self._notify(event or "done", words, next_step)

    def _notify(self, event: str, words: str, next_step: str) -> None:
        for problem in self.tracker.notify(event, words, next_step):
            self.screen.line(problem)

    def _settle(self) -> None:
        """Take over the cost that a killed run reported, and note that it was killed."""
        progress = self.progress
        if not progress.at_work:
            return
        report = report_from_logs(logs_of(self.paths, progress.iteration, progress.tried))
        usage = add_usages(progress.usage, self._usage_of(report))
        self._go(at_work=False, usage=usage, notes=(*progress.notes, "interrupted: the run was stopped from outside"))

    def _run_agent(self) -> bool:
        """Run the agent until there is something to measure; return False after Ctrl-C."""
        step = Step("again", "")
        while step.do == "again":
            most, pause_s = self.progress.settings.calls_per_hour, step.pause_s
            latest = () if most is None else self.progress.starts[-most:]
            if most is not None and len(latest) == most:
                pause_s = max(pause_s, latest[0] + 3600.0 - self.now())
            self.over = self._limit_before(pause_s)
            if self.over is not None:
                self.screen.line(self.over)
                break
            if (pause_s or step.why) and not self._pause(pause_s, step.pause_s):
                return False
            step = self._try_once()
        if self.over is not None and not self.progress.tried:
            self._go(phase="select")  # there is nothing to measure
            return True
        notes = self.progress.notes if self.over is None else (*self.progress.notes, self.over)
        self._go(phase="measure", blocked=step.why if step.do == "block" else None, notes=notes)
        return True

    def _limit_before(self, pause_s: float) -> str | None:
        """Return which limit of the loop another run of the agent would break after a pause, None if none."""
        limits, summary = self.limits, self.tracker.store().summary()
        if limits.max_minutes is not None:
            minutes = (self.now() + pause_s - datetime.fromisoformat(summary.started_at).timestamp()) / _MINUTE_S
            if minutes >= limits.max_minutes:
                pause = f", in {quantity(round(pause_s), 'second')}" if pause_s else ""
                return _NO_TIME.format(limit=plain_number(limits.max_minutes), pause=pause)
        if limits.max_cost_usd is not None:
            spent = self._spent()
            if spent >= limits.max_cost_usd:
                return f"Cost limit reached: ${spent:.2f} of ${limits.max_cost_usd:.2f}, before the agent runs again"
        return None

    def _spent(self) -> float:
        """Return the known cost of the loop so far, with the runs of this iteration, in USD."""
        return (self.tracker.store().summary().cost_usd or 0.0) + (self.progress.usage.cost_usd or 0.0)

    def _try_once(self) -> Step:
        """Run the agent with the prompt of now, keep how that ended, and return what to do next."""
        progress, settings = self.progress, self.progress.settings
        text = self._prompt()
        file = self.paths.folder / "prompt.md"
        with as_store_error(file):
            file.write_bytes(text.encode("utf-8", "surrogateescape"))
        client, command = self._client, settings.command
        if client is not None and progress.session is not None:
            command = client.continue_session(command, progress.session)  # whose budget may be that of all its runs
        elif self.limits.max_cost_usd is not None:
            command = within_budget(command, self.limits.max_cost_usd - self._spent())
        ready = prepare_command(command, text, file.resolve())
        before = tree_of_now(self.paths)
        starts = (*progress.starts, self.now())[-(settings.calls_per_hour or 0) :] if settings.calls_per_hour else ()
        progress = self._go(tried=progress.tried + 1, at_work=True, starts=starts)
        environment = {
            **self.tracker.environment,
            "RALPH_LOOP_ID": progress.loop_id,
            "RALPH_ITERATION": str(progress.iteration),
            "RALPH_ATTEMPT": str(progress.tried),
            DRIVEN: "1",
        }
        logs = logs_of(self.paths, progress.iteration, progress.tried)
        limits = AttemptLimits(self._time_left(), settings.silence_s)
        root = self.tracker.root.resolve()
        ran = run_agent(ready, root, environment, limits, logs, self.screen, lambda: f"{self.prefix}{self._status()}")
        told = self._brought_back()
        ran = ran._replace(changed=tree_of_now(self.paths) != before)
        verdict = verdict_of(ran)
        patience = RetryLimits(settings.retries, settings.pause_s)
        if self.limits.max_minutes is not None:
            patience = patience._replace(limits_s=inf)  # the loop's own limit ends a wait that is too long
        step = step_after(verdict, ran, progress.tried, progress.waited_s, patience, self.now())
        said = f"agent: {describe_run(verdict, ran)}"
        self.screen.line(f"iteration {progress.iteration}: {said}")
        plain = verdict == "done" and progress.tried == 1
        session = session_after(verdict, progress.session, ran.report.session)
        self._go(
            at_work=False,
            usage=add_usages(progress.usage, self._usage_of(ran.report)),
            notes=(*progress.notes, *told, *(() if plain else (said,))),
            session=session,
            models=tuple(sorted({*progress.models, *(each.name for each in ran.report.models if each.name)})),
            told=self._priced(ran.report) if session == ran.report.session else progress.told,
        )
        return step

    def _brought_back(self) -> tuple[str, ...]:
        """Bring the loop back if the agent has removed it; return what is said of that. Raises LoopError if lost."""
        if self.paths.iteration(0).is_dir():
            return ()
        told = bring_back(ProjectPaths(self.paths.root))
        if told is None:
            raise LoopError(
                f"loop {self.paths.loop_id}: removed from {self.paths.shown} while the agent worked, and lost with "
                f"its iterations 0 to {self.progress.iteration - 1}: git's folder has no links of it; your files are "
                "as the agent left them, start anew with `ralph-tracker run`"
            )
        self.screen.line(told)
        return (told,)

    def _time_left(self) -> float | None:
        """Return the time limit of an agent's run: its own, or what is left of the loop's."""
        limit = self.progress.settings.agent_timeout_s
        if self.limits.max_minutes is None:
            return limit
        started = datetime.fromisoformat(self.tracker.store().summary().started_at).timestamp()
        left = max(self.limits.max_minutes * 60 - (self.now() - started), 1.0)
        return left if limit is None else min(limit, left)

    def _usage_of(self, report: RunReport) -> Usage:
        """Return what a run took, with its price; of a session that was continued only what is new."""
        usage, told = self._priced(report), self.progress.told
        if self._client is None or report.session != self.progress.session:
            return usage
        return less(usage, told) if self._client.tells_sums or tells_sums(report, told) else usage

    def _priced(self, report: RunReport) -> Usage:
        return add_cost(report.usage, self.progress.settings.command, self.prices, report.models)

    @property
    def _client(self) -> Backend | None:
        """Return the client whose sessions are continued, None if they are not."""
        return BACKENDS.get(self.progress.settings.backend or "")

    def _pause(self, pause_s: float, for_agent_s: float) -> bool:
        """Wait before the next run of the agent; return False after Ctrl-C. `for_agent_s` counts as its patience."""
        if self.interrupts.asked:
            return False
        self._go(waited_s=self.progress.waited_s + for_agent_s)
        if pause_s:
            until = datetime.fromtimestamp(self.now() + pause_s, UTC).astimezone()
            again = "trying again" if self.progress.tried else "the agent runs"
            self.screen.line(f"{again} in {pause_s:.0f} s, at {until:%H:%M:%S}")
        return self.interrupts.wait(pause_s) and not self.interrupts.asked

    def _measure(self) -> None:
        recorded_by_now = self.tracker.store().summary().iteration
        if recorded_by_now >= self.progress.iteration and self._is_of_another():
            said = f"recorded by another driver while the agent worked; what it did is iteration {recorded_by_now + 1}"
            said = f"iteration {self.progress.iteration}: {said}"
            self.screen.line(said)
            self._go(iteration=recorded_by_now + 1, notes=(*self.progress.notes, said))
        progress = self.progress
        if recorded_by_now < progress.iteration:  # else a killed run has recorded it
            usage = progress.usage
            self.screen.line(f"iteration {progress.iteration}: measuring")
            recorded = self.tracker.post_iteration(
                None,
                usage=usage.known_values() or None,
                blocked=progress.blocked,
                iteration=progress.iteration,
                notes=progress.notes,
            )
            self.record = recorded.record
            if recorded.problem is not None:
                self.screen.line(recorded.problem)
            if usage.cost_usd is None and self.limits.max_cost_usd is not None:
                self.screen.line(_NO_COST.format(number=progress.iteration))
        else:
            self.record = None  # the agent may have recorded it, with a question for a person
        self._go(phase="decide")

    def _is_of_another(self) -> bool:
        """Return whether the latest record is neither this run's nor its agent's own question."""
        self.record = None
        record, taken = self._record(), self.progress.usage.known_values()
        recorded = {} if record.usage is None else record.usage.known_values()
        return bool(taken) and recorded != taken and record.decision.rule != BLOCKED_RULE

    def _decide(self) -> RunResult | None:
        self.decided = self.tracker.loop_decision(apply=True)
        decision, done = self.decided.decision, self.progress
        record = self._record()
        self.screen.line(self._status())
        self.screen.line(f"  {record.classification}: {record.message}")
        facts = facts_of(self.tracker.store(), record.iteration, record.previous)
        for line in filter(None, (facts.counts, *facts.lines, record.objective_note)):
            self.screen.line(f"  {line}")
        if decision.action == "continue" and (asked := questions_of(record.alerts)):
            self._notify("question", *question_words(asked, record.iteration))
        if self.decided.carried_out:
            self.screen.line(f"  rolled back to iteration {decision.target_iteration}")
        # A task of a plan ends when its own checks hold, whatever the tests of the project say.
        stalls = done.stalls + 1 if decision.is_stall or (decision.is_done and self.unmet is not None) else 0
        if (decision.action == "stop" and not 0 < stalls <= ITERATIONS_AFTER_WARNING) or self._is_done() or self.over:
            self._go(phase="select")
            return None
        if stalls:
            left = quantity(ITERATIONS_AFTER_WARNING + 1 - stalls, "more iteration")
            self.screen.line(f"  the agent is warned; the loop ends after {left} without progress")
        self.progress = done._replace(stalls=stalls).next_iteration().write(self.paths)
        if decision.action == "escalate":
            return RunResult("escalate", decision.reason)
        if self.interrupts.asked:
            return RunResult("asked", f"as asked, after iteration {done.iteration}")
        return None

    def _is_done(self) -> bool:
        record = self._record()
        goes_on = record.decision.action in {"continue", "stop"}
        return self.unmet is not None and not record.is_baseline and goes_on and not self.unmet(record)

    def _prompt(self) -> str:
        progress = self.progress
        record = self._record()
        loop = ConfiguredLoop.read(self.tracker.store(), configured_by)
        # What a rolled-back iteration lacked does not apply to the current files.
        is_current = loop.store.summary().head == record.iteration
        text = feedback_of(
            loop,
            self.tracker.root,
            lacks=self.unmet(record) if self.unmet is not None and is_current else (),
            iterations_left=ITERATIONS_AFTER_WARNING + 1 - progress.stalls if progress.stalls else 0,
            with_rules=self._client is None or progress.session is None,
        )
        user = user_prompt(progress.settings.prompt_file, self.tracker.root)
        return prompt_of(user, text, progress.iteration, progress.notes)

    def _record(self) -> IterationRecord:
        """Return the latest record of the loop, with current judgement. Raises as the tracker does."""
        if self.record is None:
            loop = ConfiguredLoop.read(self.tracker.store(), configured_by)
            self.record = loop.record(loop.store.summary().iteration)
        return self.record

    def _status(self) -> str:
        try:
            store = self.tracker.store()
        except LoopError:  # removed while the agent works, which is told when it has ended
            return f"[ralph {self.paths.loop_id}] iteration {self.progress.iteration}"
        is_partial = store.has_unknown_costs()
        return status_line(store.summary(), self.progress.iteration, self.now(), is_partial=is_partial)

    def _go(self, **changes: Any) -> RunProgress:  # noqa: ANN401  # as the fields of a progress
        self.progress = self.progress._replace(**changes).write(self.paths)
        return self.progress


class RunRequest(NamedTuple):
    """The request of a command line.

    `command` is the agent's, empty to keep the earlier one. `settings` are the other given settings of the run,
    `limits` override keys of `loop` in the configuration, `checks` are added for this loop.
    """

    command: tuple[str, ...]
    settings: Mapping[str, Any]
    limits: Mapping[str, Any]
    new: bool = False
    allow_missing: bool = False
    resume: bool = False
    checks: Mapping[str, Any] = MappingProxyType({})


@contextmanager
def open_run(
    tracker: Tracker, asked: RunRequest, screen: Screen, resume: str = "`ralph-tracker run --resume`"
) -> Iterator[Run]:
    """Begin or continue a loop, as its only run while the body runs; `resume` is what continues it after Ctrl-C.

    Raises StoreError if another run drives it, else as `begin` and `take_up` do.
    """
    progress = take_up(tracker, asked) if asked.resume else begin(tracker, asked)
    tracker = tracker._replace(loop_id=progress.loop_id)
    store = tracker.store()
    with hold_lock(store.paths.folder / RUN_LOCK, "run", patience_s=0):
        tracker.trusting.mark_agent(progress.loop_id, progress.settings.command, progress.settings.prompt_file)
        progress.write(store.paths)
        config = ConfiguredLoop.read(store, configured_by).config
        limits, prices = config.thresholds.loop, prices_of(config.document.get("prices", {}))
        interrupts = Interrupts(lambda: screen.line(_FIRST_CTRL_C.format(resume=resume)))
        with interrupts:
            yield Run(tracker, store.paths, limits, progress, screen, interrupts, prices=prices)


def begin(tracker: Tracker, asked: RunRequest) -> RunProgress:
    """Record the baseline of a new loop.

    Raises LoopError if one is running, InputError for an unusable command or prompt.
    """
    settings = RunSettings(asked.command)._replace(**asked.settings)
    _refuse_unusable(tracker, settings)
    summary = selected_loop_summary(tracker)
    if summary is not None and summary.status == "running" and not asked.new:
        raise still_running(summary)
    record = tracker.pre_loop(
        None, new=asked.new, allow_missing=asked.allow_missing, limits=asked.limits, checks=asked.checks
    )
    return RunProgress(record.loop_id, settings)


def still_running(summary: Summary) -> LoopError:
    """Return the error for starting a run while a loop is still running."""
    return LoopError(
        f"loop {summary.loop_id} is still running; continue it with `ralph-tracker run --resume`, end it with "
        "`ralph-tracker hook post-loop`, or use --new to abandon it"
    )


def take_up(tracker: Tracker, asked: RunRequest) -> RunProgress:
    """Return the progress of an earlier run of the loop; with a command and no loop yet, begin one.

    Raises LoopError if there is nothing to continue, InputError for limits, which are frozen with their loop, and
    UntrustedError for a loop, or an agent on record, of somebody else.
    """
    summary = selected_loop_summary(tracker)
    if summary is None:
        if not asked.command:
            raise LoopError(
                f"no loop in {tracker.root.resolve()}, nothing to resume; "
                "start with `ralph-tracker run -- AGENT COMMAND`"
            )
        return begin(tracker, asked)
    if asked.limits:
        names = named_options(asked.limits)
        raise InputError(f"{names}: the limits are frozen with loop {summary.loop_id}; leave that out")
    paths = find_loop(tracker.root, summary.loop_id, {})
    progress = _progress_of(paths, summary, asked.command)
    tracker.trusting.require_loop(paths, lambda: loop_runs(LoopStore(paths)))
    if not asked.command:
        tracker.trusting.require_agent(progress.loop_id, progress.settings.command, progress.settings.prompt_file)
    progress = progress._replace(settings=progress.settings._replace(**asked.settings))
    _refuse_unusable(tracker, progress.settings)
    following = summary.iteration + 1  # somebody may have recorded by hand
    behind = progress.phase == "agent" and progress.iteration < following
    if behind or progress.iteration > following:
        return RunProgress(progress.loop_id, progress.settings, following)
    return progress


def named_options(limits: Mapping[str, Any]) -> str:
    """Return limits as command-line options."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in limits)


def _progress_of(paths: LoopPaths, summary: Summary, command: tuple[str, ...]) -> RunProgress:
    try:
        progress = read_progress(paths)
    except RecordError:
        if not command:
            raise
        progress = None  # damaged, but a new command was given
    selecting = summary.status == "finished" and progress is not None and progress.phase == "select"
    if summary.status != "running" and not selecting:
        raise LoopError(f"loop {summary.loop_id} is {summary.status}, nothing to resume; {NEXT_LOOP}")
    if progress is not None:
        if not command:
            return progress
        return progress._replace(settings=progress.settings._replace(command=command, backend=None), session=None)
    if not command:
        raise LoopError(f"loop {summary.loop_id} was not driven by `run`; give the agent's command after `--`")
    return RunProgress(summary.loop_id, RunSettings(command), summary.iteration + 1)


def selected_loop_summary(tracker: Tracker) -> Summary | None:
    """Return the status of the loop that is meant, None if there is none."""
    try:
        return summary_at(find_loop(tracker.root, tracker.loop_id, tracker.environment))
    except LoopError:
        return None


def _refuse_unusable(tracker: Tracker, settings: RunSettings) -> None:
    """Raise InputError for a prompt that cannot be read, or a command that the system would not find."""
    root, program = tracker.root.resolve(), settings.command[0]
    user_prompt(settings.prompt_file, root)
    if os.sep in program:
        is_there = os.access(root / program, os.X_OK)
    else:
        is_there = shutil.which(program, path=tracker.environment.get("PATH")) is not None
    if not is_there:
        raise InputError(f"{program}: command not found; give the agent's command after `--`, or check PATH")
