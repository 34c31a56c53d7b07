"""A plan as people write it: tasks of id, title, description and checks; unknown keys refused."""

from typing import Annotated, Any, Literal, Self

from pydantic import StringConstraints, ValidationError, model_validator

from ralph_tracker.config.problems import first_problem
from ralph_tracker.config.sections import Section
from ralph_tracker.config.wording import shortened
from ralph_tracker.errors import InputError
from ralph_tracker.steering.plan import Plan, Task, is_usable_id

_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class TaskSection(Section):
    """One task: its checks are commands, or names of checks of the configuration."""

    id: str | int
    title: _Words
    description: str = ""
    checks: list[_Words] = []

    @model_validator(mode="after")
    def _id_is_one_word(self) -> Self:
        if not is_usable_id(str(self.id)):
            msg = f"id {shortened(self.id)}: use letters, digits, `_`, and `-` or `.` between them; `skip` is taken"
            raise ValueError(msg)
        return self


class PlanDocument(Section):
    """The whole of a plan file."""

    version: Literal[1] = 1
    context: str = ""
    tasks: list[TaskSection]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        if not self.tasks:
            msg = "tasks: none; name at least one, with id and title"
            raise ValueError(msg)
        seen: set[str] = set()
        for task in self.tasks:
            if str(task.id) in seen:
                msg = f"tasks: id {task.id} stands twice; each needs its own"
                raise ValueError(msg)
            seen.add(str(task.id))
        return self


def plan_of(raw: Any, name: str) -> Plan:  # noqa: ANN401  # as parsed
    """Return the plan that a parsed document holds; `name` is how an error calls it.

    Raises InputError, in one line, for what is no plan.
    """
    try:
        document = PlanDocument.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error, PlanDocument)}") from None
    return Plan(
        tuple(
            Task(str(task.id), " ".join(task.title.split()), task.description, tuple(task.checks))
            for task in document.tasks
        ),
        document.context,
    )
