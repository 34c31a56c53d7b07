"""Compute the progress of a session and of a plan, for evaluators and people (steering.md § 1)."""

from collections import deque
from typing import Final, NamedTuple, Protocol, TypedDict, cast

from ralph_tracker.core.codec import encode
from ralph_tracker.core.metrics import quantity
from ralph_tracker.steering.plan import STATUSES, PlanDocument, PlanState, state_to_plain
from ralph_tracker.steering.session_events import Event, TurnEnded

EVALUATION_INTERVAL: Final = 5
"""The number of turns between evaluations."""
_OUTPUTS: Final = 3
_RECENT_CHARACTERS: Final = 500


class ProgressInfo(NamedTuple):
    """The progress of a session.

    `total_turns` is the limit of turns, None if there is none. `tokens_generated` is None if a turn did not report it.
    `cost_so_far` (USD) is the known cost, a lower bound; None if no turn reported any. `recent_output` are the last 500
    characters of the last 3 outputs; turns without text are ignored.
    """

    turns_completed: int
    total_turns: int | None
    tokens_generated: int | None
    time_elapsed_ms: int
    recent_output: str
    cost_so_far: float | None


class ProgressEvaluator(Protocol):
    """An evaluator that decides whether a session continues.

    An attribute `timeout_s` limits its time in seconds; None is no limit, as for a person.
    """

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether the session continues, and why."""
        ...


class SessionProgress:
    """The progress of a session, from its events; memory is constant."""

    __slots__ = ("_cost_usd", "_outputs", "_tokens", "turns_completed")

    def __init__(self) -> None:
        self.turns_completed = 0
        self._tokens: int | None = 0
        self._cost_usd: float | None = 0.0
        self._outputs: deque[str] = deque(maxlen=_OUTPUTS)

    def fold(self, event: Event) -> None:
        """Handle an event; only ends of turns matter."""
        if not isinstance(event, TurnEnded):
            return
        told, tokens = event.cost_usd, self._tokens
        self._tokens = None if tokens is None or event.output_tokens is None else tokens + event.output_tokens
        if told is not None:
            self._cost_usd = (self._cost_usd or 0.0) + told
        elif not self.turns_completed:
            self._cost_usd = None
        self.turns_completed += 1
        if event.text:
            self._outputs.append(event.text[-_RECENT_CHARACTERS:])

    def settle(self, cost_usd: float | None = None, tokens_generated: int | None = None) -> None:
        """Replace the sums over turns by the host's values for the whole session; None leaves a sum."""
        self._cost_usd = self._cost_usd if cost_usd is None else cost_usd
        self._tokens = self._tokens if tokens_generated is None else tokens_generated

    def info(self, time_elapsed_ms: int, total_turns: int | None = None) -> ProgressInfo:
        """Return the progress after that many milliseconds; `total_turns` is None if there is no limit."""
        return ProgressInfo(
            turns_completed=self.turns_completed,
            total_turns=total_turns,
            tokens_generated=self._tokens,
            time_elapsed_ms=time_elapsed_ms,
            recent_output="".join(self._outputs)[-_RECENT_CHARACTERS:],
            cost_so_far=self._cost_usd,
        )


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


class SummaryDocument(TypedDict):
    """Costs are USD; `cost_is_partial` says that some tasks reported none, so it is a lower bound."""

    tasks_completed: int
    tasks_remaining: int
    tasks_skipped: int
    tasks_failed: int
    cumulative_cost: float | None
    cost_is_partial: bool
    estimated_remaining_cost: float | None
    changed_files_so_far: list[str]
    fix_cycles_so_far: int
    current_task_title: str | None


class ShownPlanDocument(PlanDocument):
    summary: SummaryDocument


def plan_document(state: PlanState, summary: TaskProgressSummary) -> ShownPlanDocument:
    """Return the state of a plan and how far it has come."""
    return {**state_to_plain(state), "summary": cast("SummaryDocument", encode(summary))}


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

    __slots__ = ("_before", "task_cost", "turns")

    def __init__(self, before: TaskProgressSummary) -> None:
        self._before = before
        self.task_cost: float | None = None
        self.turns = 0

    def hear(self, event: Event) -> None:
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
