"""Define a plan, its tasks and its state, the steps from one state to the next, its progress and its cost."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, NotRequired, TypedDict, cast, get_args

from ralph_tracker.codec import document_of, encode
from ralph_tracker.core.metrics import quantity
from ralph_tracker.steering.session_events import Event, TurnEnded

Trigger = Literal["scheduled", "test-failure", "budget-warning", "budget-critical"]
TRIGGERS: Final[tuple[Trigger, ...]] = get_args(Trigger)
Status = Literal["pending", "complete", "failed", "skipped"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
SKIP: Final = "skip"  # the word that marks a line of an edited plan
RAN: Final[frozenset[Status]] = frozenset({"complete", "failed"})
SCHEMA_VERSION: Final = 1
Ended = Literal["complete", "failed"]
_OUTCOMES: Final[tuple[Ended, ...]] = get_args(Ended)


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
    return re.fullmatch(r"\w(?:[\w.-]*\w)?", task_id) is not None and task_id.casefold() != SKIP


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


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    OutcomeDocument = dict[str, Any]
    CheckpointDocument = dict[str, Any]
    SummaryDocument = dict[str, Any]
else:
    OutcomeDocument = document_of(TaskOutcome, {"status": Ended}, without_none=True)
    CheckpointDocument = document_of(OpenCheckpoint, without_none=True)


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
    lists = {name: _texts(plain, name) for name in ("changed_files", "failing_tests", "open_alerts", "rolled_back")}
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


UNKNOWN = "unknown"


class TaskProgressSummary(NamedTuple):
    """The progress of a plan.

    Costs are USD. `cumulative_cost` is None if tasks have run and no cost is known; `cost_is_partial` is whether some
    are unknown, so that it is a lower bound. `estimated_remaining_cost` is cost / completed × remaining, None before
    the first completion and if a cost is missing. `current_task_title` is the current task, or else the next one; None
    if none is left. Skipped and failed tasks are neither completed nor remaining.
    """

    tasks_completed: int
    tasks_remaining: int
    tasks_skipped: int
    tasks_failed: int
    cumulative_cost: float | None
    cost_is_partial: bool
    estimated_remaining_cost: float | None
    changed_files_so_far: tuple[str, ...]
    fix_cycles_so_far: int
    current_task_title: str | None

    @property
    def tasks_total(self) -> int:
        """Return how many tasks the plan has, without dropped ones."""
        return self.tasks_completed + self.tasks_remaining + self.tasks_skipped + self.tasks_failed


if not TYPE_CHECKING:
    SummaryDocument = document_of(TaskProgressSummary)


class ShownPlanDocument(PlanDocument):
    summary: SummaryDocument


def plan_document(state: PlanState, summary: TaskProgressSummary) -> ShownPlanDocument:
    """Return the state of a plan and how far it has come."""
    return {**state_to_plain(state), "summary": encode(summary)}


def compute_progress_summary(state: PlanState) -> TaskProgressSummary:
    """Return the progress of a plan, from its state alone."""
    count = dict.fromkeys(STATUSES, 0)
    for each in state.tasks:
        count[each.status] += 1
    outcomes = [each.outcome for each in state.ran]
    costs = [outcome.cost_usd if outcome else None for outcome in outcomes]
    known = [cost for cost in costs if cost is not None]
    cost = sum(known) if known or not costs else None
    is_partial = len(known) < len(costs)
    estimate = None
    if cost is not None and count["complete"] and not is_partial:
        estimate = cost / count["complete"] * count["pending"]
    pending = state.pending
    first = pending[0].title if pending else None
    return TaskProgressSummary(
        tasks_completed=count["complete"],
        tasks_remaining=count["pending"],
        tasks_skipped=count["skipped"],
        tasks_failed=count["failed"],
        cumulative_cost=cost,
        cost_is_partial=is_partial,
        estimated_remaining_cost=estimate,
        changed_files_so_far=tuple(dict.fromkeys(path for done in outcomes if done for path in done.changed_files)),
        fix_cycles_so_far=sum(done.fix_cycles for done in outcomes if done),
        current_task_title=next((task.title for task in pending if task.id == state.current), first),
    )


def format_standing(summary: TaskProgressSummary) -> str:
    """Return tasks done, cost, and estimated cost in one line, for a checkpoint."""
    done = f"{summary.tasks_completed}/{summary.tasks_total} tasks done"
    remaining = _usd(summary.estimated_remaining_cost)
    return f"{done} | {_spent_text(summary)} | ~{remaining} remaining"


def format_progress_summary(summary: TaskProgressSummary) -> str:
    """Return the line shown after every task."""
    parts = [format_standing(summary), f"{summary.tasks_remaining} to do"]
    parts += [
        f"{count} {word}"
        for count, word in ((summary.tasks_skipped, "skipped"), (summary.tasks_failed, "failed"))
        if count
    ]
    parts += [
        quantity(len(summary.changed_files_so_far), "changed file"),
        quantity(summary.fix_cycles_so_far, "fix cycle"),
    ]
    if summary.current_task_title is not None:
        parts.append(f"next: {summary.current_task_title}")
    return f"Progress: {' | '.join(parts)}"


def _spent_text(summary: TaskProgressSummary) -> str:
    at_least = "at least " if summary.cost_is_partial and summary.cumulative_cost is not None else ""
    return f"{at_least}{_usd(summary.cumulative_cost)} spent"


def _usd(amount: float | None) -> str:
    return UNKNOWN if amount is None else f"${amount:.2f}"


class LiveProgress:
    """The cost of a plan while one of its tasks runs; memory is constant.

    `task_cost` (USD) is the cost that the turns of this task reported so far, None if none did; `turns` counts them.
    """

    def __init__(self, before: TaskProgressSummary) -> None:
        self._before = before
        self.task_cost: float | None = None
        self.turns = 0

    def fold(self, event: Event) -> None:
        """Handle the next event of the session."""
        if isinstance(event, TurnEnded):
            self.turns += 1
            if event.cost_usd is not None:
                self.task_cost = (self.task_cost or 0.0) + event.cost_usd

    @property
    def percent(self) -> int:
        """Return the percentage of tasks that need no more work: completed, failed or skipped."""
        total = self._before.tasks_total
        return 100 * (total - self._before.tasks_remaining) // total if total else 100

    def line(self) -> str:
        """Return percentage, tasks, cost and the current task in one line."""
        before = self._before
        is_partial = before.cost_is_partial or (bool(self.turns) and self.task_cost is None)
        known = [cost for cost in (before.cumulative_cost, self.task_cost) if cost is not None]
        now = before._replace(cumulative_cost=sum(known) if known else None, cost_is_partial=is_partial)
        if is_partial and not now.cumulative_cost:
            now = now._replace(cumulative_cost=None)
        done = f"{before.tasks_completed}/{before.tasks_total} tasks done"
        title = f" | now: {before.current_task_title}" if before.current_task_title is not None else ""
        return f"{self.percent}% | {done} | {_spent_text(now)}{title}"
