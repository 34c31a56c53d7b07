"""Plans at any stage, and the calls of a driver that remember what they were asked."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ralph_tracker.steering import (
    Assignment,
    Checkpoint,
    CheckpointRules,
    Person,
    Plan,
    PlanCalls,
    PlanEnded,
    PlanState,
    PlanTask,
    Task,
    TaskOutcome,
    drive_plan,
    new_plan_state,
    state_from_plain,
)

NEVER = CheckpointRules()


def task(number: int) -> Task:
    return Task(f"t{number}", f"Title {number}", f"Do {number}", (f"check {number}",))


def planned(*statuses: str, cost: float | None = 1.0, **more: Any) -> PlanState:
    """Return a plan with a task for each status; those that ran cost `cost` each."""
    tasks = []
    for number, status in enumerate(statuses, 1):
        ran = status in {"complete", "failed"}
        outcome: Any = TaskOutcome(status, cost, (f"{number}.py", "all.py"), f"sha{number}", 1) if ran else None  # type: ignore[arg-type]
        tasks.append(PlanTask(task(number), status, outcome))  # type: ignore[arg-type]
    return PlanState(tuple(tasks), **more)


@dataclass
class Desk:
    """Sit in for agent, person and disk; answers are taken in turn, an exception among them is raised."""

    outcomes: dict[str, Any] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    edits: list[Any] = field(default_factory=list)
    confirms: list[bool] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    assigned: list[Assignment] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    saved: list[dict[str, Any]] = field(default_factory=list)

    async def run_task(self, assignment: Assignment) -> TaskOutcome:
        self.assigned.append(assignment)
        self.ran.append(assignment.task.id)
        outcome = self.outcomes.get(assignment.task.id, TaskOutcome("complete", 1.0))
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def ask(self, checkpoint: Checkpoint) -> str | None:
        self.asked.append(checkpoint.text)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def edit(self, text: str) -> str | None:
        self.edited.append(text)
        change = self.edits.pop(0)
        if isinstance(change, Exception):
            raise change
        return change(text) if callable(change) else change

    async def confirm(self, question: str) -> bool:
        self.questions.append(question)
        return self.confirms.pop(0)

    def drive(
        self,
        state: PlanState | Iterable[Task],
        rules: CheckpointRules = NEVER,
        *,
        alone: bool = False,
        begin: Callable[[PlanState, PlanTask, bool], PlanTask] | None = None,
    ) -> PlanEnded:
        start = state if isinstance(state, PlanState) else new_plan_state(Plan(tuple(state)))
        person = None if alone else Person(self.ask, self.edit, self.confirm)
        calls = PlanCalls(self.run_task, self.saved.append, self.told.append, person, begin)
        return asyncio.run(drive_plan(start, rules, calls))

    @property
    def kept(self) -> PlanState:
        """Return the state as a later run would find it."""
        return state_from_plain(self.saved[-1])


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture(name="planned")
def _planned() -> Callable[..., PlanState]:
    return planned


@pytest.fixture
def tasks() -> tuple[Task, ...]:
    return tuple(task(number) for number in range(1, 5))
