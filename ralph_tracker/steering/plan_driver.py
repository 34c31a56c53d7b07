"""Drive a plan: one task after another, with a summary after each, and pauses at checkpoints.

The caller provides how a task runs, a person is asked and the state is saved. A person revises the remaining tasks as a
list, also between two runs: they can be removed, skipped or reordered.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.core.known_tests import without_held_back
from ralph_tracker.errors import InputError
from ralph_tracker.short_text import shorten
from ralph_tracker.steering.plan import (
    OpenCheckpoint,
    PlanDocument,
    PlanState,
    PlanTask,
    Task,
    TaskOutcome,
    TaskProgressSummary,
    Trigger,
    compute_progress_summary,
    finish_task,
    format_progress_summary,
    format_standing,
    state_to_plain,
    with_task,
)

Choice = Literal["continue", "adjust", "abort"]
BY_SEVERITY: Final[tuple[Trigger, ...]] = ("budget-critical", "test-failure", "budget-warning", "scheduled")
# Sums of costs are binary fractions: $0.10 plus $0.20 must reach $0.30.
_CENTS_OF_NOTHING: Final = 1e-9
_WORDS: Final[Mapping[str, Choice]] = {
    **dict.fromkeys(("continue", "c", "1", "yes", "go", "ok"), "continue"),
    **dict.fromkeys(("adjust", "adjust plan", "2", "edit"), "adjust"),
    **dict.fromkeys(("abort", "3", "stop", "cancel", "quit", "q"), "abort"),
}
PRIOR_TASKS: Final = 5
_FILES, _TESTS, _ALERTS, _TRIED = 30, 10, 5, 5
_HEAD: Final = """\
# The remaining tasks, in the order in which they will run.
# Delete a line to drop its task, put `skip:` before it to skip it, move lines to change the order.
# A task is known by its id, before the colon. Nothing can be added, no text can be changed.
"""
_BULLET: Final = re.compile(r"^[-*]\s+")
_SKIPPED: Final = re.compile(r"^skip\s*:\s*", re.IGNORECASE)
_UNCHANGED: Final = "nothing was changed"


class CheckpointRules(NamedTuple):
    """When a plan pauses.

    `every` is a number of tasks, None for never; `unattended` is the answer if nobody can be asked. `warn_at_usd` and
    `max_cost_usd` are USD for the whole plan, None is no limit.
    """

    every: int | None = None
    unattended: Literal["abort", "continue"] = "abort"
    warn_at_usd: float | None = None
    max_cost_usd: float | None = None


class Checkpoint(NamedTuple):
    """What a person is shown and asked; `failed` names what failed in validation, None if nothing did."""

    trigger: Trigger
    summary: TaskProgressSummary
    failed: str | None = None

    @property
    def text(self) -> str:
        """Return the three lines of a checkpoint: the plan's progress, the trigger, the choices."""
        return format_checkpoint(self)


def checkpoint_rules(document: Mapping[str, Any]) -> CheckpointRules:
    """Return the rules in a validated configuration, with defaults for missing keys."""
    budget = {name: document.get("loop", {}).get(name) for name in ("warn_at_usd", "max_cost_usd")}
    return CheckpointRules(**{**document.get("checkpoints", {}), **budget})


def checkpoint_triggers(state: PlanState, rules: CheckpointRules, failed: str | None = None) -> tuple[Trigger, ...]:
    """Return what triggers a pause after a task, most severe first; nothing if no task is left.

    `failed` names what failed in validation of that task. A budget trigger fires only once. Tasks of unknown cost are
    ignored.
    """
    if not state.pending:
        return ()
    spent = compute_progress_summary(state).cumulative_cost or 0.0
    limit = None if rules.max_cost_usd is None else 0.9 * rules.max_cost_usd
    holds: dict[Trigger, bool] = {
        "budget-critical": _is_reached(spent, limit),
        "test-failure": failed is not None,
        "budget-warning": _is_reached(spent, rules.warn_at_usd),
        "scheduled": rules.every is not None and len(state.ran) - state.scheduled_at >= rules.every,
    }
    return tuple(trigger for trigger in BY_SEVERITY if holds[trigger] and trigger not in state.fired)


def _is_reached(spent: float, limit: float | None) -> bool:
    return limit is not None and spent >= limit - _CENTS_OF_NOTHING


def with_checkpoint(state: PlanState, rules: CheckpointRules, failed: str | None = None) -> PlanState:
    """Return the state with the checkpoint that is due after a task, unchanged if none is.

    The most severe trigger is shown; all count as fired.
    """
    triggers = checkpoint_triggers(state, rules, failed)
    if not triggers:
        return state
    return state._replace(
        checkpoint=OpenCheckpoint(triggers[0], failed),
        fired=(*state.fired, *(trigger for trigger in triggers if trigger in {"budget-critical", "budget-warning"})),
        scheduled_at=len(state.ran) if "scheduled" in triggers else state.scheduled_at,
    )


def checkpoint_of(state: PlanState) -> Checkpoint | None:
    """Return the checkpoint waiting for an answer, with current numbers; None if there is none.

    Without remaining tasks there is none.
    """
    if state.checkpoint is None or not state.pending:
        return None
    return Checkpoint(state.checkpoint.trigger, compute_progress_summary(state), state.checkpoint.failed)


def format_checkpoint(checkpoint: Checkpoint) -> str:
    """Return the plan's progress, the trigger and the choices, one line each, without a final line break."""
    trigger = checkpoint.trigger.replace("-", " ")
    if checkpoint.trigger == "test-failure" and checkpoint.failed:
        trigger += f" in {' '.join(checkpoint.failed.split())}"
    return f"Checkpoint: {format_standing(checkpoint.summary)}\nTrigger: {trigger}\n[Continue] [Adjust plan] [Abort]"


def choice_of(answer: str | None) -> Choice | None:
    """Return the meaning of an answer; None if it is unclear and must be asked again.

    No answer (a closed dialog, or the end of input) aborts, because nobody approved.
    """
    if answer is None:
        return "abort"
    return _WORDS.get(" ".join(answer.strip().strip("[].!").casefold().split()))


class PlanAdjustment(NamedTuple):
    """The changes to the remaining tasks, by id.

    `reordered` is the new order; tasks that it does not contain come after it in their old order. None keeps the order.
    """

    dropped: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    reordered: tuple[str, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is changed."""
        return self == PlanAdjustment()


class Revision(NamedTuple):
    """The meaning of an edited list: the adjustment, and a note for each ignored edit."""

    adjustment: PlanAdjustment
    notes: tuple[str, ...] = ()


def plan_revision_text(state: PlanState) -> str:
    """Return the remaining tasks as a list to edit, one per line."""
    return _HEAD + "".join(f"{task.id}: {_one_line(task.title)}\n" for task in state.pending)


def parse_plan_revision(state: PlanState, text: str) -> Revision:
    """Return the meaning of an edited list.

    Raises InputError, with the line number, for an id that is not a remaining task's, or is repeated.
    """
    titles = {task.id: _one_line(task.title) for task in state.pending}
    lines: dict[str, int] = {}
    skipped, notes = [], []
    for number, line in enumerate(text.splitlines(), 1):
        entry = _BULLET.sub("", line.strip())
        if not entry or entry.startswith("#"):
            continue
        entry, is_skipped = _SKIPPED.subn("", entry)
        task_id, told = _known_in(entry, titles, state, number)
        if task_id in lines:
            raise _line_error(
                number, f"task {task_id} is given twice, first in line {lines[task_id]}; keep one of them"
            )
        lines[task_id] = number
        if is_skipped:
            skipped.append(task_id)
        if told and _one_line(told) != titles[task_id]:
            notes.append(f"line {number}: the text of task {task_id} cannot be changed here; that edit is ignored")
    dropped = tuple(task_id for task_id in titles if task_id not in lines)
    kept = tuple(task_id for task_id in titles if task_id in lines)
    reordered = None if kept == tuple(lines) else tuple(lines)
    return Revision(PlanAdjustment(dropped, tuple(skipped), reordered), tuple(notes))


def _known_in(entry: str, titles: Collection[str], state: PlanState, number: int) -> tuple[str, str]:
    """Return the id at the start of a line, and the text after it."""
    head, _, told = entry.partition(":")
    task_id = head.strip()
    if task_id in titles:
        return task_id, told.strip()
    status = next((each.status for each in state.tasks if each.id == task_id), None)
    if status is not None:
        raise _line_error(number, f"task {task_id} is {status} and stays as it is; delete the line")
    raise _line_error(
        number, f"no remaining task {shorten(task_id, 40)!r}; tasks cannot be added, and ids stay as they are"
    )


def _line_error(number: int, why: str) -> InputError:
    return InputError(f"line {number}: {why}; {_UNCHANGED}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def format_adjustment(state: PlanState, adjustment: PlanAdjustment) -> str:
    """Return the question to confirm an adjustment."""
    after = apply_plan_adjustment(state, adjustment)
    told = []
    if adjustment.dropped:
        told.append(f"Dropping {_task_names(adjustment.dropped)}.")
    if adjustment.skipped:
        told.append(f"Skipping {_task_names(adjustment.skipped)}.")
    if adjustment.reordered is not None and after.pending:
        told.append(f"New order: {', '.join(task.id for task in after.pending)}.")
    if not after.pending:
        told.append("No task is left: the plan ends here.")
    return " ".join([*told, "Confirm?"])


def _task_names(ids: Collection[str]) -> str:
    return f"{'task' if len(ids) == 1 else 'tasks'} {', '.join(ids)}"


def apply_plan_adjustment(state: PlanState, adjustment: PlanAdjustment) -> PlanState:
    """Return a new state with an adjustment applied.

    Tasks that ran or were skipped keep their places, the pending ones share the other places in the new order, so that
    each kept one runs once. Raises InputError for an id that is unknown, repeated, or not pending.
    """
    status = {each.id: each.status for each in state.tasks}
    changed = (*adjustment.dropped, *adjustment.skipped)
    for ids in (changed, adjustment.reordered or ()):
        for task_id in ids:
            if task_id not in status:
                raise InputError(f"no task {shorten(task_id, 40)!r} in the plan; {_UNCHANGED}")
            if status[task_id] != "pending":
                raise InputError(f"task {task_id} is {status[task_id]} and stays as it is; {_UNCHANGED}")
        doubled = next((each for at, each in enumerate(ids) if each in ids[:at]), None)
        if doubled is not None:
            raise InputError(f"task {doubled} is named twice; {_UNCHANGED}")
    dropped, skipped = frozenset(adjustment.dropped), frozenset(adjustment.skipped)
    pending = {each.id: each for each in state.tasks if each.status == "pending"}
    order = dict.fromkeys((*(adjustment.reordered or ()), *pending))
    pending |= {each: pending[each]._replace(status="skipped") for each in skipped}
    kept = iter([pending[each] for each in order if each not in dropped])
    placed = [next(kept, None) if each.status == "pending" else each for each in state.tasks]
    return state._replace(
        tasks=tuple(each for each in placed if each is not None),
        current=None if state.current in dropped | skipped else state.current,
        dropped=(*state.dropped, *adjustment.dropped),
    )


class PriorTaskContext(NamedTuple):
    """What the prompts of later tasks say about a task that has ended: its changes and findings, no output.

    `commit_sha` is None if nothing was committed. `failing_tests` and `open_alerts` are those after it, `rolled_back`
    is what was tried and undone.
    """

    title: str
    status: str
    changed_files: tuple[str, ...] = ()
    commit_sha: str | None = None
    failing_tests: tuple[str, ...] = ()
    open_alerts: tuple[str, ...] = ()
    rolled_back: tuple[str, ...] = ()


def prior_task_contexts(state: PlanState) -> tuple[PriorTaskContext, ...]:
    """Return the context of the last five tasks that ran, oldest first; skipped ones changed nothing."""
    ended = ((each, each.outcome or TaskOutcome("complete")) for each in state.ran[-PRIOR_TASKS:])
    return tuple(
        PriorTaskContext(
            each.task.title,
            each.status,
            outcome.changed_files,
            outcome.commit,
            outcome.failing_tests,
            outcome.open_alerts,
            outcome.rolled_back,
        )
        for each, outcome in ended
    )


def build_impl_prompt(task: Task, plan_context: str = "", prior_tasks: Sequence[PriorTaskContext] = ()) -> str:
    """Return the prompt of a task: its goal, its checks, and what the last five tasks before it did.

    Failing tests and open alerts are those after the last of them, because earlier ones may be fixed.
    """
    return without_held_back("\n".join(_lines(task, plan_context, prior_tasks[-PRIOR_TASKS:])) + "\n")


def _lines(task: Task, plan_context: str, prior: Sequence[PriorTaskContext]) -> Iterator[str]:
    yield f"# Task: {_cut(task.title)}"
    if task.description.strip():
        yield from ("", task.description.strip())
    yield from _list_lines("## These checks have to hold", task.checks, len(task.checks))
    if plan_context.strip():
        yield from ("", "## The plan it is part of", plan_context.strip())
    if prior:
        yield from ("", "## Done before this task")
        for each in prior:
            commit = f", commit {_cut(each.commit_sha)}" if each.commit_sha else ""
            yield f"- {_cut(each.title)} ({each.status}{commit})"
            yield f"  changed files: {', '.join(_some(each.changed_files, _FILES)) or 'none'}"
            if each.rolled_back:
                yield f"  tried and rolled back: {'; '.join(_some(each.rolled_back, _TRIED))}"
        yield from _list_lines("## Tests that fail now", prior[-1].failing_tests, _TESTS)
        yield from _list_lines("## Alerts that are open now", prior[-1].open_alerts, _ALERTS)


def _list_lines(title: str, items: Sequence[str], most: int) -> Iterator[str]:
    if items:
        yield from ("", title)
        yield from (f"- {item}" for item in _some(items, most))


def _some(items: Sequence[str], most: int) -> list[str]:
    """Return the first items, one per line, and how many more there are."""
    rest = len(items) - most
    return [*map(_cut, items[:most]), *([f"and {rest} more"] if rest > 0 else [])]


def _cut(text: str) -> str:
    """Return a text in one line, without terminal control characters, cut if too long."""
    return shorten("".join(char if char.isprintable() else "?" for char in _one_line(text)), 200)


class Assignment(NamedTuple):
    """A task to run: its position in the plan (from 1), its prompt, and the plan's progress.

    `is_resumed` is whether an earlier run was interrupted in it. `begun` is the task as `begin` returned it.
    """

    task: Task
    position: int
    prompt: str
    summary: TaskProgressSummary
    is_resumed: bool
    begun: PlanTask


class Person(NamedTuple):
    """The ways to ask a person.

    `ask` shows a checkpoint and returns the answer, None if the dialog was closed or the input has ended. `edit` lets
    them edit a text, None if cancelled; it may raise InputError. `confirm` asks a yes-or-no question.
    """

    ask: Callable[[Checkpoint], Awaitable[str | None]]
    edit: Callable[[str], Awaitable[str | None]]
    confirm: Callable[[str], Awaitable[bool]]


class PlanCalls(NamedTuple):
    """The callbacks of a driver.

    `run_task` refines a task until its checks pass or it is given up. `save` stores the state, a plain document. `tell`
    shows a line. `person` is None if nobody can be asked. `begin` adds to a task what a later run has to know, given
    whether an earlier one was interrupted in it; the result is saved before the task runs.
    """

    run_task: Callable[[Assignment], Awaitable[TaskOutcome]]
    save: Callable[[PlanDocument], None]
    tell: Callable[[str], None]
    person: Person | None = None
    begin: Callable[[PlanState, PlanTask, bool], PlanTask] | None = None


class PlanEnded(NamedTuple):
    """How a plan ended: with all tasks `done`, `aborted` at a checkpoint, or `stopped` in a task, and why.

    The state is saved in each case, so that a later run continues; it asks an aborted checkpoint again.
    """

    how: Literal["done", "aborted", "stopped"]
    reason: str
    state: PlanState


async def drive_plan(state: PlanState, rules: CheckpointRules, calls: PlanCalls) -> PlanEnded:
    """Run the rest of a plan from its state.

    Errors of `run_task` are raised; the state was saved before, and a later run repeats that task.
    """
    while True:
        checkpoint = checkpoint_of(state)
        if checkpoint is not None:
            adjusted = await _pause_at_checkpoint(state, checkpoint, rules, calls)
            if adjusted is None:
                at = f"a checkpoint ({checkpoint.trigger.replace('-', ' ')})"
                reason = f"aborted at {at}; the state is kept"
                if calls.person is None:
                    reason = f"{at}, nobody to ask, and checkpoints.unattended is abort; the state is kept"
                return PlanEnded("aborted", reason, state)
            state = adjusted._replace(checkpoint=None)
            calls.save(state_to_plain(state))
        if not state.pending:
            return PlanEnded("done", format_progress_summary(compute_progress_summary(state)), state)
        task = state.pending[0]  # found by status, not by a stored position: reordering cannot skip one
        is_resumed, state = state.current == task.id, state._replace(current=task.id)
        if calls.begin is not None:
            state = with_task(state, calls.begin(state, state.task_named(task.id), is_resumed))
        calls.save(state_to_plain(state))
        prompt = build_impl_prompt(task, state.context, prior_task_contexts(state))
        position, summary = state.position(task.id), compute_progress_summary(state)
        outcome = await calls.run_task(
            Assignment(task, position, prompt, summary, is_resumed, state.task_named(task.id))
        )
        state = finish_task(state, task.id, outcome)
        if outcome.status != "stopped":
            failed = outcome.validation_failure
            if failed is None and outcome.status == "failed":
                failed = f"task {task.id}"
            state = with_checkpoint(state, rules, failed)
        calls.save(state_to_plain(state))
        calls.tell(format_progress_summary(compute_progress_summary(state)))
        if outcome.status == "stopped":
            return PlanEnded("stopped", outcome.reason, state)


async def _pause_at_checkpoint(
    state: PlanState, checkpoint: Checkpoint, rules: CheckpointRules, calls: PlanCalls
) -> PlanState | None:
    """Return the state to continue with, None if the plan is aborted."""
    person = calls.person
    if person is None:
        for line in checkpoint.text.splitlines():
            calls.tell(line)
        return state if rules.unattended == "continue" else None
    draft: str | None = None
    while True:
        choice = await _ask_person(checkpoint, person, calls.tell)
        if choice == "abort":
            return None
        if choice == "continue":
            return state
        draft, adjusted = await _adjust_plan(state, draft, person, calls.tell)
        if adjusted is not None:
            return adjusted


async def _ask_person(checkpoint: Checkpoint, person: Person, tell: Callable[[str], None]) -> Choice:
    while True:
        try:
            answer = await person.ask(checkpoint)
        except Exception as error:  # noqa: BLE001  # no error of a dialog may lose work
            tell(f"the checkpoint was not answered: {type(error).__name__}: {error}")
            answer = None
        choice = choice_of(answer)
        if choice is not None:
            return choice
        tell("not understood; answer continue, adjust or abort")


async def _adjust_plan(
    state: PlanState, draft: str | None, person: Person, tell: Callable[[str], None]
) -> tuple[str | None, PlanState | None]:
    """Let a person revise the remaining tasks.

    Return the draft if it was rejected, so that it can be corrected, and the new state if it was accepted.
    """
    try:
        edited = await person.edit(plan_revision_text(state) if draft is None else draft)
        if edited is None:
            return None, None
        draft = edited
        revision = parse_plan_revision(state, edited)
    except InputError as error:
        tell(str(error))
        return draft, None
    for note in revision.notes:
        tell(note)
    if revision.adjustment.is_empty:
        tell("nothing was changed")
        return None, None
    if not await person.confirm(format_adjustment(state, revision.adjustment)):
        return draft, None
    return None, apply_plan_adjustment(state, revision.adjustment)
