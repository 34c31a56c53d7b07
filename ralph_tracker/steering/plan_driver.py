"""Drive a plan: one task after another, with a summary after each, and pauses at checkpoints.

The caller provides how a task runs, a person is asked and the state is saved.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.core.known_tests import without_held_back
from ralph_tracker.errors import InputError
from ralph_tracker.steering.plan import (
    OpenCheckpoint,
    PlanDocument,
    PlanState,
    PlanTask,
    Task,
    TaskOutcome,
    Trigger,
    apply_plan_adjustment,
    finish_task,
    format_adjustment,
    parse_plan_revision,
    plan_revision_text,
    state_to_plain,
    with_task,
)
from ralph_tracker.steering.progress import (
    TaskProgressSummary,
    compute_progress_summary,
    format_progress_summary,
    format_standing,
)

Choice = Literal["continue", "adjust", "abort"]
BY_SEVERITY: Final[tuple[Trigger, ...]] = ("budget-critical", "test-failure", "budget-warning", "scheduled")
CHOICES: Final = "[Continue] [Adjust plan] [Abort]"
CRITICAL_SHARE: Final = 0.9
_ONCE: Final[frozenset[Trigger]] = frozenset({"budget-critical", "budget-warning"})
# Sums of costs are binary fractions: $0.10 plus $0.20 must reach $0.30.
_CENTS_OF_NOTHING: Final = 1e-9
_WORDS: Final[Mapping[str, Choice]] = {
    **dict.fromkeys(("continue", "c", "1", "yes", "go", "ok"), "continue"),
    **dict.fromkeys(("adjust", "adjust plan", "2", "edit"), "adjust"),
    **dict.fromkeys(("abort", "3", "stop", "cancel", "quit", "q"), "abort"),
}
PRIOR_TASKS: Final = 5
_FILES, _TESTS, _ALERTS, _TRIED = 30, 10, 5, 5
_ROOM: Final = 200
_UNCLEAR = "not understood; answer continue, adjust or abort"


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
    limit = None if rules.max_cost_usd is None else CRITICAL_SHARE * rules.max_cost_usd
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
        fired=(*state.fired, *(trigger for trigger in triggers if trigger in _ONCE)),
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
    return f"Checkpoint: {format_standing(checkpoint.summary)}\nTrigger: {trigger}\n{CHOICES}"


def choice_of(answer: str | None) -> Choice | None:
    """Return the meaning of an answer; None if it is unclear and must be asked again.

    No answer (a closed dialog, or the end of input) aborts, because nobody approved.
    """
    if answer is None:
        return "abort"
    return _WORDS.get(" ".join(answer.strip().strip("[].!").casefold().split()))


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
    found = []
    for each in state.ran[-PRIOR_TASKS:]:
        outcome = each.outcome
        if outcome is None:
            found.append(PriorTaskContext(each.task.title, each.status))
            continue
        found.append(
            PriorTaskContext(
                each.task.title,
                each.status,
                outcome.changed_files,
                outcome.commit,
                outcome.failing_tests,
                outcome.open_alerts,
                outcome.rolled_back,
            )
        )
    return tuple(found)


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
    plain = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    return plain if len(plain) <= _ROOM else f"{plain[: _ROOM - 1]}…"


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
        tell(_UNCLEAR)


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
