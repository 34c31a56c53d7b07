"""Run the tasks of a plan, each as a loop of its own until its checks pass."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.feedback import known_problems
from ralph_tracker.config.load import Config, load_config
from ralph_tracker.core.integrity_alerts import raises_doubt
from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.core.metrics import Group
from ralph_tracker.errors import SHOWN, InputError, LoopError, nearest
from ralph_tracker.iteration.explain import checks_of
from ralph_tracker.iteration.measure_iteration import configured_by, with_detected_checks
from ralph_tracker.iteration.trust_listing import project_runs
from ralph_tracker.measure.installed_tools import command_of, is_there, last_words
from ralph_tracker.measure.report_totals import measured_kind
from ralph_tracker.measure.run_checks import Check, configured_checks, environment_for_checks
from ralph_tracker.records.iteration_record import IterationRecord
from ralph_tracker.runner.run import RunRequest, named_options, open_run, selected_loop_summary, still_running
from ralph_tracker.runner.saved_plan import SavedPlan, plan_held, read_plan, write_plan_prompt, write_plan_state
from ralph_tracker.runner.shared_terminal import Screen
from ralph_tracker.short_text import shorten
from ralph_tracker.steering.plan import LiveProgress, PlanState, PlanTask, Task, TaskOutcome
from ralph_tracker.steering.plan_driver import (
    Assignment,
    CheckpointRules,
    Person,
    PlanCalls,
    PlanEnded,
    checkpoint_rules,
    drive_plan,
)
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.layout import RESERVED
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.snapshots.snapshot_types import shown
from ralph_tracker.store.snapshots.user_repository import head_of
from ralph_tracker.tracker import Tracker

_NAME: Final = "plan-{}"
_UNKNOWN: Final = (
    "{plan}: task {task}: neither a check nor a command is named {word!r}{near}; fix it, or use --allow-missing"
)
_FROZEN: Final = "{names}: the limits of loop {loop} are frozen with it, these count from the next task on"


class TaskCheck(NamedTuple):
    """A check of a task as written in the plan, and the configured check it refers to."""

    word: str
    check: Check


def added_checks(task: Task, config: Config) -> dict[str, Any]:
    """Return the commands among a task's checks as sections of the configuration, each with an unused name.

    They have no kind: a failing build would leave the baseline unverified, with nothing to roll back to.
    """
    sections = config.document["checks"]
    commands = [word for word in dict.fromkeys(task.checks) if _configured_check(word, sections) is None]
    taken = {name.casefold() for name in sections}
    numbers = (number for number in range(1, len(commands) + len(taken) + 1) if _NAME.format(number) not in taken)
    return {_NAME.format(number): {"run": word} for number, word in zip(numbers, commands, strict=False)}


def _configured_check(word: str, sections: Mapping[str, Any]) -> str | None:
    """Return the name of the check that a word of a plan refers to, None if there is none."""
    if word in sections:
        return word
    return next((name for name, section in sections.items() if section["run"] == word), None)


def named_checks(task: Task, document: Mapping[str, Any]) -> tuple[TaskCheck, ...]:
    """Return the checks of a task according to its loop's frozen configuration; () means all."""
    checks = {check.name: check for check in configured_checks(document)}
    if not task.checks:
        return tuple(TaskCheck(name, check) for name, check in checks.items())
    names = {word: _configured_check(word, document["checks"]) for word in task.checks}
    return tuple(TaskCheck(word, checks[name]) for word, name in names.items() if name is not None)


def refuse_unknown(plan: Path, tasks: Sequence[Task], config: Config, root: Path, env: Mapping[str, str]) -> None:
    """Raise InputError if a check of a task is neither configured nor an existing command.

    A relative path may be a file that a task will create.
    """
    sections, environment = config.document["checks"], environment_for_checks(env, root)
    for task in tasks:
        for word in task.checks:
            check = Check(word, word)
            program = command_of(check)
            if _configured_check(word, sections) is not None or (
                program and "/" in program and not program.startswith("/")
            ):
                continue
            if not is_there(check, root, environment):
                near = nearest(word, list(sections))
                raise InputError(_UNKNOWN.format(plan=plan, task=task.id, word=shorten(word, SHOWN), near=near))


def unmet(committed: SealedRecords, named: Sequence[TaskCheck], record: IterationRecord) -> tuple[str, ...]:
    """Return what an iteration lacks to complete a task, one line each; () if nothing.

    Each check must have ended with 0 and been measured, without failing tests. An iteration with an open CRITICAL alert
    (as after tampering) or a HIGH one about tests (skipping a failing test is as bad as deleting it) does not complete
    a task, nor does one that needed a person.
    """
    ends = {each["name"]: each for each in checks_of(committed, record.iteration) or ()}
    measured = committed.measurement(record.iteration)
    missing = {} if measured is None else {str(group): why for group, why in measured[0].missing.items()}
    output = committed.paths.iteration(record.iteration) / "output"
    lacks = [why for each in named if (why := _check_failure(each, ends.get(each.check.name), missing, output, record))]
    lacks += [
        f"{alert.id}: {alert.message}"
        for alert in record.unaccepted_alerts
        if alert.severity is Severity.CRITICAL or (alert.severity is Severity.HIGH and raises_doubt(alert))
    ]
    if record.blocked is not None:
        lacks.append(record.blocked)
    return tuple(lacks)


def _check_failure(
    named: TaskCheck, end: Mapping[str, Any] | None, missing: Mapping[str, str], output: Path, record: IterationRecord
) -> str | None:
    """Return why a check does not pass, None if it does."""
    check, kind = named.check, measured_kind(named.check)
    if end is None:
        return f"{named.word}: not run"
    if end["exit_code"] != 0 or end["timed_out"] or end["problem"] is not None:
        said = last_words(output / f"{check.name}.stdout", output / f"{check.name}.stderr")
        return f"{named.word}: {end['summary']}" + (f"; {said}" if said else "")
    if kind is not None and kind in missing:
        return f"{named.word}: {missing[kind]}"
    failed = record.metrics.tests_failed
    if kind == Group.TESTS and failed:
        return f"{named.word}: {failed} {'test fails' if failed == 1 else 'tests fail'}"
    return None


def outcome_of(tracker: Tracker, begun: PlanTask) -> tuple[TaskOutcome, str]:
    """Return the outcome of a task whose loop has ended, and a line on which iteration's files are there and why.

    Raises as the tracker does.
    """
    store = tracker.store()
    loop, summary = ConfiguredLoop.read(store, configured_by), store.summary()
    records = [judgement.record for judgement in loop.judge_again()]
    # The files are those of the lineage's head: the last iteration, or the peak that was applied.
    kept = next(record for record in records if record.iteration == summary.head)
    named = named_checks(begun.task, loop.config.document)
    lacks = unmet(store, named, kept)
    is_complete = not (kept.is_baseline or lacks or kept.decision.action == "rollback")
    # The baseline may lack nothing; then what the last iteration lacked is the reason.
    lacks = unmet(store, named, records[-1]) if kept.is_baseline else lacks
    why = "" if is_complete else "; ".join((summary.decision["reason"], *lacks))
    head = head_of(tracker.root)
    problems = known_problems(store, kept.iteration, None)
    outcome = TaskOutcome(
        "complete" if is_complete else "failed",
        cost_usd=spent_on(tracker, begun.loops),
        changed_files=tuple(
            shown(change.path) for change in IterationSnapshots(store).differs_from_baseline(kept.iteration)
        ),
        commit=head if head != begun.head else None,
        fix_cycles=max(summary.iteration - 1, 0),
        failing_tests=() if problems is None else tuple(sorted(test.name for test in problems.failing or ())),
        open_alerts=tuple(f"{each.severity.name} {each.id}: {each.message}" for each in kept.unaccepted_alerts),
        rolled_back=tuple(
            f"iteration {record.iteration}: {record.decision.reason}"
            for record in records
            if record.decision.action == "rollback"
        ),
        reason=why,
    )
    said = f"task {begun.id}: {outcome.status}, the files are those of iteration {kept.iteration}"
    said += f" with a score of {kept.adjusted_score:.4g}"
    if summary.best_iteration is not None and summary.best_adjusted_score > kept.adjusted_score:
        said += f"; the peak by score was iteration {summary.best_iteration} with {summary.best_adjusted_score:.4g}"
    return outcome, f"{said}; {why}" if why else said


def spent_on(tracker: Tracker, loops: Sequence[str]) -> float | None:
    """Return the known cost of loops together in USD; None if none is known."""
    known = []
    for loop_id in loops:
        with suppress(LoopError):  # never begun
            cost = tracker._replace(loop_id=loop_id).store().summary().cost_usd
            if cost is not None:
                known.append(cost)
    return sum(known) if known else None


class PlanOutcome(NamedTuple):
    """How a plan ended, and whether Ctrl-C stopped it."""

    ended: PlanEnded
    was_asked: bool = False


def loop_id_of(plan: Path, task_id: str, is_taken: Callable[[str], bool]) -> str:
    """Return a new loop's id from the names of the plan and the task, with a number if it is taken."""
    words = re.sub(r"[^a-z0-9._-]+", "-", f"{plan.stem}-{task_id}".lower())
    # the limit of LOOP_ID, without the number after it
    base = re.sub(r"\.{2,}", ".", words).strip("._-")[:56].rstrip("._-") or "plan"
    number, name = 1, base
    while name in RESERVED or is_taken(name):
        number += 1
        name = f"{base}-{number}"
    return name


@contextmanager
def open_plan_run(
    file: Path, tracker: Tracker, asked: RunRequest, screen: Screen, person: Person | None
) -> Iterator["PlanRun"]:
    """Hold a plan's lock while the body runs it.

    Raises StoreError if another process holds it, InputError and ConfigError for unusable input, UntrustedError for
    checks, also of tasks, that came with the project.
    """
    root = tracker.root.resolve()
    config = load_config(root)

    def read() -> SavedPlan:
        saved = read_plan(file)
        tasks = [f"task {task.id}: {word}" for task in saved.state.pending for word in task.checks]
        if saved.state.pending:
            tracker.trusting.require_project(project_runs(root, config.document) + tasks)
        return saved

    read()  # nothing is written for a plan that the user does not trust
    with plan_held(file, "run"):
        saved = read()
        if saved.state.pending and not asked.allow_missing:
            found = with_detected_checks(config, root, tracker.environment)
            refuse_unknown(file, saved.state.pending, found, root, tracker.environment)
        rules = checkpoint_rules(config.document)
        budget = asked.limits.get("max_cost_usd", rules.max_cost_usd)
        yield PlanRun(file, saved.state, tracker, asked, screen, person, rules._replace(max_cost_usd=budget))


@dataclass(slots=True)
class PlanRun:
    """The run of one plan from its stored state; `rules` have the cost limit of the whole plan."""

    file: Path
    state: PlanState
    tracker: Tracker
    asked: RunRequest
    screen: Screen
    person: Person | None
    rules: CheckpointRules
    _is_new: bool = field(init=False)
    _was_asked: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._is_new = self.asked.new

    def drive(self) -> PlanOutcome:
        """Run the rest of the plan. Raises as the tracker does; a later run continues within the current task."""
        save = partial(write_plan_state, self.file)
        calls = PlanCalls(self._run_task, save, self.screen.line, self.person, self._begin)
        # `asyncio.run` would take the first Ctrl-C, which a prompt to the person needs.
        with closing(asyncio.new_event_loop()) as loop:
            ended = loop.run_until_complete(drive_plan(self.state, self.rules, calls))
        return PlanOutcome(ended, self._was_asked)

    def _begin(self, state: PlanState, task: PlanTask, is_resumed: bool) -> PlanTask:  # noqa: FBT001  # as called
        """Return a task with the loop to work on it: an earlier run's, or a new one.

        An earlier loop is continued only if no other task has changed the files since.
        """
        self.state, is_new, self._is_new = state, self._is_new, False
        status = None if not task.loops else self._status(task.loops[-1])
        is_over = status in {"abandoned", "rebaselined"} or (is_new and status == "running")
        if is_resumed and task.loops and not is_over:
            return task
        # A loop that was never begun keeps its id free.
        given_up = task.loops if status is not None else task.loops[:-1]
        name = loop_id_of(self.file, task.id, lambda name: name in given_up or self.tracker.project.is_taken(name))
        head = task.head if is_resumed and task.loops else head_of(self.tracker.root)
        return task._replace(loops=(*given_up, name), head=head)

    async def _run_task(self, assignment: Assignment) -> TaskOutcome:
        begun = assignment.begun
        if self._was_asked:
            return TaskOutcome("stopped", reason=f"as asked, before task {begun.id}")
        tracker = self.tracker._replace(loop_id=begun.loops[-1])
        status = self._status(begun.loops[-1])
        title = f"task {assignment.position} of {assignment.summary.tasks_total}, {begun.id}: {begun.task.title}"
        self.screen.line(f"{title}; {'begins' if status is None else 'continues'} as loop {begun.loops[-1]}")
        if status != "finished":
            left = None
            if self.rules.max_cost_usd is not None:
                before = assignment.summary.cumulative_cost or 0.0
                left = self.rules.max_cost_usd - before - (spent_on(self.tracker, begun.loops) or 0.0)
            if status is None and left is not None and left <= 1e-9:
                return TaskOutcome("stopped", reason=f"nothing is left of the budget of ${self.rules.max_cost_usd:.2f}")
            stopped = self._refine_task(tracker, assignment, self._asked_for(tracker, assignment, begun, left))
            if stopped is not None:
                return stopped
        outcome, said = outcome_of(tracker, begun)
        self.screen.line(said)
        return outcome

    def _refine_task(self, tracker: Tracker, assignment: Assignment, asked: RunRequest) -> TaskOutcome | None:
        """Run the loop of a task; return its outcome if it was interrupted, None if the loop has ended."""
        at, plan = assignment.position, assignment.summary
        with open_run(tracker, asked, self.screen, "the same command again") as run:
            run.prefix = f"[plan {at}/{plan.tasks_total} · {LiveProgress(plan).percent}%] "
            store = tracker.store()
            named = named_checks(assignment.task, ConfiguredLoop.read(store, configured_by).config.document)
            run.unmet = lambda record: unmet(store, named, record)
            outcome = run.drive()
            self._was_asked = run.interrupts.asked
        if outcome.how == "stop":
            return None
        return TaskOutcome("stopped", reason=outcome.reason)

    def _asked_for(self, tracker: Tracker, assignment: Assignment, begun: PlanTask, left: float | None) -> RunRequest:
        """Return the request for a task's loop: to continue, or else to begin."""
        prompt = write_plan_prompt(self.file, assignment.prompt).resolve()
        settings = {**self.asked.settings, "prompt_file": str(prompt), "apply": "worktree"}
        asked = self.asked._replace(settings=settings, limits={}, new=False)
        current = tracker.project.current_loop_id()
        if self._status(begun.loops[-1]) is not None:
            if current != begun.loops[-1]:  # killed before it was named
                tracker.project.set_current(begun.loops[-1])
            if self.asked.limits:
                self.screen.line(_FROZEN.format(loop=begun.loops[-1], names=named_options(self.asked.limits)))
            return asked._replace(resume=True)
        # Checks decide when a task is done, not a score.
        limits = {"target_score": None, **self.asked.limits, **({} if left is None else {"max_cost_usd": left})}
        root = self.tracker.root.resolve()
        config = with_detected_checks(load_config(root), root, self.tracker.environment)
        return asked._replace(
            resume=False, limits=limits, new=self._takes_over(current), checks=added_checks(assignment.task, config)
        )

    def _takes_over(self, current: str | None) -> bool:
        """Return whether the current loop must be given up. Raises LoopError if it is not ours."""
        summary = None if current is None else selected_loop_summary(self.tracker._replace(loop_id=current))
        if summary is None or summary.status != "running":
            return False
        ours = any(current in each.loops for each in self.state.tasks)
        if not (ours or self.asked.new):
            raise still_running(summary)
        return True

    def _status(self, loop_id: str) -> str | None:
        summary = selected_loop_summary(self.tracker._replace(loop_id=loop_id))
        return None if summary is None else summary.status
