"""Define a plan, its tasks and its progress, and the steps from one state to the next, also by a person's revision.

A person revises the remaining tasks as a list: they can be removed or reordered.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, NamedTuple, NotRequired, TypedDict, cast, get_args

from ralph_tracker.core.codec import encode
from ralph_tracker.errors import InputError

Trigger = Literal["scheduled", "test-failure", "budget-warning", "budget-critical"]
TRIGGERS: Final[tuple[Trigger, ...]] = get_args(Trigger)
Status = Literal["pending", "complete", "failed", "skipped"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
SKIP: Final = "skip"  # the word that marks a line of an edited plan
_ID: Final = re.compile(r"\w(?:[\w.-]*\w)?")
RAN: Final[frozenset[Status]] = frozenset({"complete", "failed"})
SCHEMA_VERSION: Final = 1
Ended = Literal["complete", "failed"]
_OUTCOMES: Final[tuple[Ended, ...]] = get_args(Ended)
_LISTS: Final = ("changed_files", "failing_tests", "open_alerts", "rolled_back")
_HEAD: Final = """\
# The remaining tasks, in the order in which they will run.
# Delete a line to drop its task, put `skip:` before it to skip it, move lines to change the order.
# A task is known by its id, before the colon. Nothing can be added, no text can be changed.
"""
_BULLET: Final = re.compile(r"^[-*]\s+")
_SKIPPED: Final = re.compile(r"^skip\s*:\s*", re.IGNORECASE)
_UNCHANGED: Final = "nothing was changed"


class Task(NamedTuple):
    """A task of a plan as a person wrote it.

    `id` identifies it and never changes. `checks` are commands, or names of configured checks, that must pass; () means
    those of the configuration.
    """

    id: str
    title: str
    description: str = ""
    checks: tuple[str, ...] = ()


class Plan(NamedTuple):
    """A plan as a person wrote it; `context` is part of every task's prompt, empty for none."""

    tasks: tuple[Task, ...]
    context: str = ""


class TaskOutcome(NamedTuple):
    """The outcome of a task.

    `status` is complete if its checks pass, failed if they were given up, stopped if the work was interrupted: then
    `reason` says why, and the task is still pending. `cost_usd` is for all work on it, None if unknown. `commit` is
    None if nothing was committed. `fix_cycles` counts the rounds after the first. `validation_failure` names what
    failed in the validation after it, None if nothing did. `failing_tests`, `open_alerts` and `rolled_back` are the
    tracker's findings.
    """

    status: Literal[Ended, "stopped"]
    cost_usd: float | None = None
    changed_files: tuple[str, ...] = ()
    commit: str | None = None
    fix_cycles: int = 0
    validation_failure: str | None = None
    failing_tests: tuple[str, ...] = ()
    open_alerts: tuple[str, ...] = ()
    rolled_back: tuple[str, ...] = ()
    reason: str = ""


class PlanTask(NamedTuple):
    """A task of a plan in progress; `outcome` is None before it ran.

    `loops` are the ids of its loops, the last one is current; those before were given up. `head` is the commit that it
    began on, None if unknown.
    """

    task: Task
    status: Status = "pending"
    outcome: TaskOutcome | None = None
    loops: tuple[str, ...] = ()
    head: str | None = None

    @property
    def id(self) -> str:
        """Return the task's id."""
        return self.task.id


class OpenCheckpoint(NamedTuple):
    """A checkpoint waiting for its answer; `failed` names what failed in validation, None if nothing."""

    trigger: Trigger
    failed: str | None = None


class PlanState(NamedTuple):
    """The progress of a plan: everything that a later run needs to continue.

    `current` is the id of the current task, also after an interrupted run, None between tasks; it is still pending.
    `fired` are the budget triggers that have fired, `scheduled_at` is how many tasks had run at the last scheduled
    checkpoint. `checkpoint` is the one waiting for an answer, None if there is none. `dropped` are the ids of removed
    tasks. `digest` is that of the plan as it was begun, empty if unknown.
    """

    tasks: tuple[PlanTask, ...]
    current: str | None = None
    fired: tuple[Trigger, ...] = ()
    scheduled_at: int = 0
    checkpoint: OpenCheckpoint | None = None
    dropped: tuple[str, ...] = ()
    context: str = ""
    digest: str = ""

    @property
    def pending(self) -> tuple[Task, ...]:
        """Return the remaining tasks in the order in which they will run."""
        return tuple(each.task for each in self.tasks if each.status == "pending")

    @property
    def ran(self) -> tuple[PlanTask, ...]:
        """Return the tasks that ran to an end, in order."""
        return tuple(each for each in self.tasks if each.status in RAN)

    def task_named(self, task_id: str) -> PlanTask:
        """Return a task with its progress. Raises ValueError for an unknown id."""
        return self.tasks[self.position(task_id) - 1]

    def position(self, task_id: str) -> int:
        """Return the position of a task in the plan, from 1. Raises ValueError for an unknown id."""
        return [each.id for each in self.tasks].index(task_id) + 1


def is_usable_id(task_id: str) -> bool:
    """Return whether an id can be used in an edited list: one word, other than SKIP."""
    return _ID.fullmatch(task_id) is not None and task_id.casefold() != SKIP


def new_plan_state(plan: Plan, digest: str = "") -> PlanState:
    """Return the state of a plan before anything has run."""
    return PlanState(tuple(PlanTask(task) for task in plan.tasks), context=plan.context, digest=digest)


def with_task(state: PlanState, task: PlanTask) -> PlanState:
    """Return the state with one of its tasks replaced."""
    return state._replace(tasks=tuple(task if each.id == task.id else each for each in state.tasks))


def finish_task(state: PlanState, task_id: str, outcome: TaskOutcome) -> PlanState:
    """Return the state after a task has ended; a stopped one stays current."""
    if outcome.status == "stopped":
        return state
    done = state.task_named(task_id)._replace(status=outcome.status, outcome=outcome)
    return with_task(state, done)._replace(current=None)


def plan_digest(plan: Plan) -> str:
    """Return the sha256 of a plan's content, independent of its formatting."""
    return hashlib.sha256(json.dumps(plan).encode()).hexdigest()


class OutcomeDocument(TypedDict):
    """What came of a task; `rolled_back` is what was tried and taken back. Costs are in USD."""

    status: Ended
    cost_usd: NotRequired[float]
    changed_files: list[str]
    commit: NotRequired[str]
    fix_cycles: int
    validation_failure: NotRequired[str]
    failing_tests: list[str]
    open_alerts: list[str]
    rolled_back: list[str]
    reason: str


class TaskDocument(TypedDict):
    """`loops` work on the task, the last one is running; `head` is the commit that it was begun on."""

    id: str
    title: str
    description: str
    checks: list[str]
    status: Status
    outcome: NotRequired[OutcomeDocument]
    loops: NotRequired[list[str]]
    head: NotRequired[str]


class CheckpointDocument(TypedDict):
    trigger: Trigger
    failed: NotRequired[str]


class PlanDocument(TypedDict):
    """What is not known is left out."""

    schema_version: Literal[1]
    digest: str
    context: str
    current: NotRequired[str]
    fired: list[Trigger]
    scheduled_at: int
    checkpoint: NotRequired[CheckpointDocument]
    dropped: list[str]
    tasks: list[TaskDocument]


def state_to_plain(state: PlanState) -> PlanDocument:
    """Return the state as a document of plain values; what is not known is left out."""
    document = _known(
        {
            "schema_version": SCHEMA_VERSION,
            "digest": state.digest,
            "context": state.context,
            "current": state.current,
            "fired": list(state.fired),
            "scheduled_at": state.scheduled_at,
            "checkpoint": None if state.checkpoint is None else _known(state.checkpoint._asdict()),
            "dropped": list(state.dropped),
            "tasks": [
                _known(
                    {
                        **encode(each.task),
                        "status": each.status,
                        "outcome": None if each.outcome is None else _known(encode(each.outcome)),
                        "loops": list(each.loops) or None,
                        "head": each.head,
                    }
                )
                for each in state.tasks
            ],
        }
    )
    return cast("PlanDocument", document)


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def state_from_plain(plain: Any) -> PlanState:  # noqa: ANN401  # any document
    """Return the state in a document.

    All but a task's id and title may be missing, as in older versions. Raises ValueError, in a few words, for an
    invalid document.
    """
    _demand(isinstance(plain, dict) and isinstance(plain.get("tasks"), list), "no list of tasks")
    tasks = tuple(_task_from_plain(each) for each in plain["tasks"])
    ids = [each.id for each in tasks]
    _demand(len(set(ids)) == len(ids), "a task is listed twice")
    fired = _texts(plain, "fired")
    open_one, checkpoint = plain.get("checkpoint"), None
    if open_one is not None:
        _demand(isinstance(open_one, dict) and open_one.get("trigger") in TRIGGERS, "a checkpoint without a trigger")
        checkpoint = OpenCheckpoint(open_one["trigger"], _text_or_none(open_one, "failed"))
    return PlanState(
        tasks,
        current=_text_or_none(plain, "current"),
        fired=tuple(trigger for trigger in TRIGGERS if trigger in fired),
        scheduled_at=_count(plain, "scheduled_at"),
        checkpoint=checkpoint,
        dropped=_texts(plain, "dropped"),
        context=_text_or_none(plain, "context") or "",
        digest=_text_or_none(plain, "digest") or "",
    )


def _task_from_plain(plain: Any) -> PlanTask:  # noqa: ANN401  # as above
    _demand(isinstance(plain, dict), "a task is no mapping")
    task_id, title, status = plain.get("id"), plain.get("title"), plain.get("status", "pending")
    _demand(isinstance(task_id, str | int) and not isinstance(task_id, bool), "a task without an id")
    _demand(isinstance(title, str), f"task {task_id}: no title")
    _demand(status in STATUSES, f"task {task_id}: no status {status!r}")
    task = Task(str(task_id), title, _text_or_none(plain, "description") or "", _texts(plain, "checks"))
    outcome = plain.get("outcome")
    return PlanTask(
        task,
        status,
        None if outcome is None else _outcome(outcome),
        loops=_texts(plain, "loops"),
        head=_text_or_none(plain, "head"),
    )


def _outcome(plain: Any) -> TaskOutcome:  # noqa: ANN401  # as above
    _demand(isinstance(plain, dict) and plain.get("status") in _OUTCOMES, "an outcome without a status")
    cost = plain.get("cost_usd")
    _demand(cost is None or (isinstance(cost, int | float) and not isinstance(cost, bool)), "a cost that is no number")
    lists = {name: _texts(plain, name) for name in _LISTS}
    return TaskOutcome(
        plain["status"],
        cost_usd=cost,
        commit=_text_or_none(plain, "commit"),
        fix_cycles=_count(plain, "fix_cycles"),
        validation_failure=_text_or_none(plain, "validation_failure"),
        reason=_text_or_none(plain, "reason") or "",
        **lists,
    )


def _texts(plain: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = plain.get(name, [])
    _demand(isinstance(values, list) and all(isinstance(value, str) for value in values), f"{name}: no list of texts")
    return tuple(values)


def _text_or_none(plain: Mapping[str, Any], name: str) -> str | None:
    value = plain.get(name)
    _demand(value is None or isinstance(value, str), f"{name}: no text")
    return value


def _count(plain: Mapping[str, Any], name: str) -> int:
    value = plain.get(name, 0)
    _demand(isinstance(value, int) and not isinstance(value, bool) and value >= 0, f"{name}: no count")
    return int(value)


def _demand(holds: bool, otherwise: str) -> None:  # noqa: FBT001  # a condition
    if not holds:
        raise ValueError(otherwise)


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
    raise _line_error(number, f"no remaining task {_cut(task_id)!r}; tasks cannot be added, and ids stay as they are")


def _line_error(number: int, why: str) -> InputError:
    return InputError(f"line {number}: {why}; {_UNCHANGED}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, room: int = 40) -> str:
    return text if len(text) <= room else f"{text[:room]}…"


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
                raise InputError(f"no task {_cut(task_id)!r} in the plan; {_UNCHANGED}")
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
