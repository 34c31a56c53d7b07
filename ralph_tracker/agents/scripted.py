"""Provide a scripted fake agent for demos and tests: it follows a list of steps, one per iteration.

As a command, `python -m ralph_tracker.agents.scripted SCRIPT.yaml`, it can fail in every way that agents do.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import InputError
from ralph_tracker.safe_files import as_store_error


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Replacement(_Strict):
    """A replacement of a text that must occur in the file exactly once."""

    find: str = Field(min_length=1)
    put: str = Field(alias="with")


class StepCost(_Strict):
    """The cost that a step reports, as in Claude Code's result line."""

    cost_usd: float
    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 1


class Step(_Strict):
    """The edits of one iteration, and a description; paths are relative to the project's root.

    The rest is for the command: it `prints` (or `does` if that is None), writes to standard error, hangs after that, is
    killed by a signal, or exits with `exit`. `tries` are for its first runs in the iteration, one each; the step itself
    is for later ones.
    """

    does: str
    write: Mapping[str, str] = {}
    replace: Mapping[str, list[Replacement]] = {}
    delete: list[str] = []
    prints: str | None = None
    complains: str = ""
    spends: StepCost | None = None
    hangs: bool = False
    killed_by: str | None = None
    exit: int = 0
    tries: list["Step"] = []


@dataclass(frozen=True, slots=True)
class ScriptedAgent:
    """An agent that edits a project by its steps."""

    steps: tuple[Step, ...]

    @classmethod
    def from_yaml(cls, text: str, name: str) -> Self:
        """Read a list of steps; `name` is the file's name for errors. Raises InputError."""
        document: Any = load_yaml(text, name)
        try:
            return cls(tuple(TypeAdapter(list[Step]).validate_python(document)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{name}: {place or 'the document'}: {first['msg']}; fix the script") from None

    def act(self, number: int, root: Path) -> str | None:
        """Apply step `number` (from 1), and return its description; None if the script is over.

        Raises InputError, with the tree unchanged, for an edit that does not fit the tree; StoreError if the disk
        refuses.
        """
        if number > len(self.steps):
            return None
        step = self.steps[number - 1]
        self.edit(step, root)
        return step.does

    def edit(self, step: Step, root: Path) -> None:
        """Apply the edits of a step; raises as `act` does."""
        written = {**step.write, **{path: _replace_in_file(root, path, step.replace[path]) for path in step.replace}}
        targets = {path: _inside(root, path) for path in (*written, *step.delete)}
        for path, text in written.items():
            with as_store_error(targets[path]):
                targets[path].parent.mkdir(parents=True, exist_ok=True)
                targets[path].write_text(text, encoding="utf-8")
        for path in step.delete:
            with as_store_error(targets[path]):
                targets[path].unlink()

    def step(self, number: int, tried: int) -> Step | None:
        """Return the step for run `tried` of iteration `number`, both from 1; None if the script is over."""
        if number > len(self.steps):
            return None
        step = self.steps[number - 1]
        return step.tries[tried - 1] if tried <= len(step.tries) else step


def _replace_in_file(root: Path, path: str, replacements: list[Replacement]) -> str:
    target = _inside(root, path)
    with as_store_error(target):
        text = target.read_text(encoding="utf-8")
    for each in replacements:
        if text.count(each.find) != 1:
            raise InputError(
                f"{path}: {each.find.strip()[:60]!r} occurs {text.count(each.find)} times, not once; "
                "the script does not fit this tree"
            )
        text = text.replace(each.find, each.put)
    return text


def _inside(root: Path, path: str) -> Path:
    """Return the target of a step's path. Raises InputError if it is outside the project."""
    target = root / path
    if not target.resolve().is_relative_to(root.resolve()):
        raise InputError(f"{path}: outside the project; a step edits the project only")
    return target


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Perform the step that RALPH_ITERATION and RALPH_ATTEMPT name; return the exit code."""
    script = Path(arguments[0])
    agent = ScriptedAgent.from_yaml(script.read_text(encoding="utf-8"), script.name)
    step = agent.step(int(environment["RALPH_ITERATION"]), int(environment.get("RALPH_ATTEMPT", "1")))
    if step is None:
        print("nothing left to do")  # noqa: T201  # as agents do
        return 0
    agent.edit(step, Path.cwd())
    said = step.does if step.prints is None else step.prints
    if step.spends is not None:
        spent = step.spends
        result = {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "session_id": "scripted",
            "num_turns": spent.turns,
            "result": said,
            "total_cost_usd": spent.cost_usd,
            "usage": {"input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens},
        }
        said = json.dumps(result)
    print(said, end="\n" if said else "", flush=True)  # noqa: T201  # as agents do
    print(step.complains, end="\n" if step.complains else "", file=sys.stderr, flush=True)  # noqa: T201
    if step.killed_by is not None:
        os.kill(os.getpid(), signal.Signals[step.killed_by])
    while step.hangs:
        time.sleep(60)
    return step.exit


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
