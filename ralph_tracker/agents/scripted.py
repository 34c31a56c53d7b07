"""A scripted agent, a fake for demos and tests: it does what a list of steps says, one step an iteration."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import InputError
from ralph_tracker.store.files import told_plainly


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Replacement(_Strict):
    """Put a text in place of another, which has to stand in the file exactly once."""

    find: str = Field(min_length=1)
    put: str = Field(alias="with")


class Step(_Strict):
    """Hold the edits of one iteration, and in words what they do; paths are relative to the project's root."""

    does: str
    write: Mapping[str, str] = {}
    replace: Mapping[str, list[Replacement]] = {}
    delete: list[str] = []


@dataclass(frozen=True, slots=True)
class ScriptedAgent:
    """Edit a project as its steps say."""

    steps: tuple[Step, ...]

    @classmethod
    def from_yaml(cls, text: str, name: str) -> Self:
        """Read a list of steps; `name` is how an error calls the file. Raises InputError."""
        document: Any = load_yaml(text, name)
        try:
            return cls(tuple(TypeAdapter(list[Step]).validate_python(document)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{name}: {place or 'the document'}: {first['msg']}; mend the script") from None

    def act(self, number: int, root: Path) -> str | None:
        """Apply step `number`, the first is 1, and return what it does; None where the script is over.

        Raises InputError for an edit that does not fit the tree, and leaves the tree as it is then; StoreError where
        the disk refuses.
        """
        if number > len(self.steps):
            return None
        step = self.steps[number - 1]
        written = {**step.write, **{path: _replaced(root, path, step.replace[path]) for path in step.replace}}
        targets = {path: _inside(root, path) for path in (*written, *step.delete)}
        for path, text in written.items():
            with told_plainly(targets[path]):
                targets[path].parent.mkdir(parents=True, exist_ok=True)
                targets[path].write_text(text, encoding="utf-8")
        for path in step.delete:
            with told_plainly(targets[path]):
                targets[path].unlink()
        return step.does


def _replaced(root: Path, path: str, replacements: list[Replacement]) -> str:
    target = _inside(root, path)
    with told_plainly(target):
        text = target.read_text(encoding="utf-8")
    for each in replacements:
        if text.count(each.find) != 1:
            raise InputError(
                f"{path}: {each.find.strip()[:60]!r} stands there {text.count(each.find)} times, not once; "
                "the script does not fit this tree"
            )
        text = text.replace(each.find, each.put)
    return text


def _inside(root: Path, path: str) -> Path:
    """Return where a path of a step leads. Raises InputError where that is outside the project."""
    target = root / path
    if not target.resolve().is_relative_to(root.resolve()):
        raise InputError(f"{path}: outside the project; a step edits the project only")
    return target
