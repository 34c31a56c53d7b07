"""A plan of tasks in a project that is measured in no time, its agent, and who sits at the terminal."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ralph_tracker.runner.plan_run import PlanOutcome, open_plan_run
from ralph_tracker.runner.saved_plan import prompt_path, read_plan
from ralph_tracker.steering import Checkpoint, Person
from ralph_tracker.tracker import Tracker
from tests.runner.conftest import Project, shell_of, step

LOGIN = step(exit=1, prints="Invalid API key · Please run /login")
SPENT = {"cost_usd": 0.5, "input_tokens": 10, "output_tokens": 5, "turns": 1}


@dataclass
class Desk:
    """Answer checkpoints in turn, leave that text in the editor, and confirm."""

    answers: list[str | None] = field(default_factory=list)
    edit_to: str = ""
    asked: list[str] = field(default_factory=list)

    async def ask(self, checkpoint: Checkpoint) -> str | None:
        self.asked.append(checkpoint.text)
        return self.answers.pop(0)

    async def edit(self, _: str) -> str | None:
        return self.edit_to

    async def confirm(self, _: str) -> bool:
        return True

    @property
    def person(self) -> Person:
        return Person(self.ask, self.edit, self.confirm)


@dataclass
class Planned:
    """A project with a plan; `drive` is `ralph-tracker run --plan`."""

    project: Project

    @property
    def root(self) -> Path:
        return self.project.root

    @property
    def file(self) -> Path:
        return self.root.parent / "plan.yaml"

    @property
    def lines(self) -> list[str]:
        return self.project.screen.lines

    def write(self, *tasks: dict[str, Any], config: str = "", **more: Any) -> None:
        """Write the plan, each task with a title where it has none, and more of the configuration."""
        titled = [{"title": f"Do {task['id']}", **task} for task in tasks]
        self.file.write_text(yaml.safe_dump({"tasks": titled, **more}))
        if config:
            with (self.root / "ralph-tracker.yaml").open("a") as document:
                document.write(config)

    def scripted(self, **tasks: list[dict[str, Any]]) -> tuple[str, ...]:
        """Return the command of an agent that does these steps, one an iteration of the loop that is named.

        What it is told is left beside the steps: `told(LOOP, ITERATION)`.
        """
        folder = self.root.parent / "steps"
        folder.mkdir(exist_ok=True)
        for name, steps in tasks.items():
            for number, each in enumerate(steps, 1):
                (folder / f"plan-{name}-{number}").write_text(shell_of(each))
        script = (
            f"cat > {folder}/told-$RALPH_LOOP_ID-$RALPH_ITERATION; cd {folder}; . ./$RALPH_LOOP_ID-$RALPH_ITERATION"
        )
        return ("/bin/sh", "-c", f"root=$PWD; {script}")

    def told(self, loop_id: str, iteration: int) -> str:
        return (self.root.parent / "steps" / f"told-{loop_id}-{iteration}").read_text()

    def drive(
        self,
        command: tuple[str, ...],
        desk: Desk | None = None,
        change: Callable[[Any], None] | None = None,
        **more: Any,
    ) -> PlanOutcome:
        """Run the plan to its end; `change` gets what runs it before that."""
        asked = self.project.asked(command, **more)
        tracker = Tracker(self.root, environment=dict(os.environ))
        with open_plan_run(self.file, tracker, asked, self.project.screen, desk.person if desk else None) as run:
            if change is not None:
                change(run)
            return run.drive()

    def state(self) -> dict[str, Any]:
        return json.loads((self.file.parent / ".aiwg" / "plans" / "plan.yaml.json").read_text())

    def statuses(self) -> dict[str, str]:
        return {each.id: each.status for each in read_plan(self.file).state.tasks}

    def outcome(self, task_id: str) -> Any:
        return read_plan(self.file).state.task_named(task_id).outcome

    def prompt(self) -> str:
        return prompt_path(self.file).read_text()

    def records(self, loop_id: str) -> list[dict[str, Any]]:
        return self.project.records(loop_id)

    def loops(self) -> list[str]:
        return sorted(path.parent.parent.name for path in self.root.glob(".aiwg/ralph/*/iterations/iteration-000"))
