"""Drive a plan: one task after another, a summary after each, a pause where one is due (seed: checkpoints-and-ux).

What a task, a person and a file are is passed in: the driver folds their answers into the state of the plan.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple

from ralph_tracker.errors import InputError
from ralph_tracker.steering.checkpoints import (
    Checkpoint,
    CheckpointRules,
    Choice,
    checkpoint_of,
    choice_of,
    with_checkpoint,
)
from ralph_tracker.steering.forwarding import build_impl_prompt, prior_task_contexts
from ralph_tracker.steering.plan import PlanState, PlanTask, Task, TaskOutcome, finished, next_task, with_task
from ralph_tracker.steering.plan_document import state_to_plain
from ralph_tracker.steering.revision import (
    apply_plan_adjustment,
    format_adjustment,
    parse_plan_revision,
    plan_revision_text,
)
from ralph_tracker.steering.summary import (
    TaskProgressSummary,
    compute_progress_summary,
    format_progress_summary,
)

_UNCLEAR = "not understood; answer continue, adjust or abort"


class Assignment(NamedTuple):
    """Hold a task that is to run: its place in the plan (the first is 1), its prompt, and how the plan stands.

    `is_resumed` tells whether an earlier run ended while it was at work. `begun` is the task as `begin` left it.
    """

    task: Task
    position: int
    prompt: str
    summary: TaskProgressSummary
    is_resumed: bool
    begun: PlanTask


class Person(NamedTuple):
    """Hold how a person is asked.

    `ask` shows a checkpoint and returns the answer, None where the dialog was closed or the input has ended. `edit`
    lets them edit a text, None where that was cancelled; it may raise InputError. `confirm` asks a question of yes or
    no.
    """

    ask: Callable[[Checkpoint], Awaitable[str | None]]
    edit: Callable[[str], Awaitable[str | None]]
    confirm: Callable[[str], Awaitable[bool]]


class PlanCalls(NamedTuple):
    """Hold what a driver calls.

    `run_task` refines a task until its checks hold or it is given up. `save` keeps the state, a plain document, before
    it returns. `tell` shows a line. `person` is None where nobody can be asked. `begin` adds to a task what a later run
    has to know of it, and is told whether an earlier one ended in it; what it returns is saved before the task runs.
    """

    run_task: Callable[[Assignment], Awaitable[TaskOutcome]]
    save: Callable[[dict[str, Any]], None]
    tell: Callable[[str], None]
    person: Person | None = None
    begin: Callable[[PlanState, PlanTask, bool], PlanTask] | None = None


class PlanEnded(NamedTuple):
    """Hold how a plan ended: with all tasks `done`, `aborted` at a checkpoint, or `stopped` in a task, and why.

    The state is kept in each case, and a later run goes on from it; a checkpoint that was aborted is asked again then.
    """

    how: Literal["done", "aborted", "stopped"]
    reason: str
    state: PlanState


async def drive_plan(state: PlanState, rules: CheckpointRules, calls: PlanCalls) -> PlanEnded:
    """Run what is left of a plan, from wherever its state stands.

    Whatever `run_task` raises passes through; the state was saved before, and that task runs again in a later run.
    """
    while True:
        checkpoint = checkpoint_of(state)
        if checkpoint is not None:
            adjusted = await _paused(state, checkpoint, rules, calls)
            if adjusted is None:
                return PlanEnded("aborted", _abort_reason(checkpoint, calls.person), state)
            state = adjusted._replace(checkpoint=None)
            calls.save(state_to_plain(state))
        task = next_task(state)
        if task is None:
            return PlanEnded("done", format_progress_summary(compute_progress_summary(state)), state)
        is_resumed, state = state.current == task.id, state._replace(current=task.id)
        if calls.begin is not None:
            state = with_task(state, calls.begin(state, state.named(task.id), is_resumed))
        calls.save(state_to_plain(state))
        outcome = await calls.run_task(_assignment(state, task, is_resumed=is_resumed))
        state = _after(state, task, outcome, rules)
        calls.save(state_to_plain(state))
        calls.tell(format_progress_summary(compute_progress_summary(state)))
        if outcome.status == "stopped":
            return PlanEnded("stopped", outcome.reason, state)


def _assignment(state: PlanState, task: Task, *, is_resumed: bool) -> Assignment:
    prompt = build_impl_prompt(task, state.context, prior_task_contexts(state))
    position, summary = state.position(task.id), compute_progress_summary(state)
    return Assignment(task, position, prompt, summary, is_resumed, state.named(task.id))


def _after(state: PlanState, task: Task, outcome: TaskOutcome, rules: CheckpointRules) -> PlanState:
    """Return the state after a task, with the checkpoint that is due at this very one."""
    state = finished(state, task.id, outcome)
    if outcome.status == "stopped":
        return state
    failed = outcome.validation_failure
    if failed is None and outcome.status == "failed":
        failed = f"task {task.id}"
    return with_checkpoint(state, rules, failed)


def _abort_reason(checkpoint: Checkpoint, person: Person | None) -> str:
    trigger = checkpoint.trigger.replace("-", " ")
    if person is None:
        return f"a checkpoint ({trigger}), nobody to ask, and checkpoints.unattended is abort; the state is kept"
    return f"aborted at a checkpoint ({trigger}); the state is kept"


async def _paused(
    state: PlanState, checkpoint: Checkpoint, rules: CheckpointRules, calls: PlanCalls
) -> PlanState | None:
    """Return the state to go on with, None where the plan is aborted."""
    person = calls.person
    if person is None:
        for line in checkpoint.text.splitlines():
            calls.tell(line)
        return state if rules.unattended == "continue" else None
    draft: str | None = None
    while True:
        choice = await _asked(checkpoint, person, calls.tell)
        if choice == "abort":
            return None
        if choice == "continue":
            return state
        draft, adjusted = await _adjusted(state, draft, person, calls.tell)
        if adjusted is not None:
            return adjusted


async def _asked(checkpoint: Checkpoint, person: Person, tell: Callable[[str], None]) -> Choice:
    while True:
        try:
            answer = await person.ask(checkpoint)
        except Exception as error:  # noqa: BLE001  # a dialog of somebody else's: no work is lost for it
            tell(f"the checkpoint was not answered: {type(error).__name__}: {error}")
            answer = None
        choice = choice_of(answer)
        if choice is not None:
            return choice
        tell(_UNCLEAR)


async def _adjusted(
    state: PlanState, draft: str | None, person: Person, tell: Callable[[str], None]
) -> tuple[str | None, PlanState | None]:
    """Let a person revise what is left.

    Return their draft where it was not taken, so that nothing has to be typed twice, and the state where it was.
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
