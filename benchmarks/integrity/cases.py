"""Read the cases from cases/PROJECT.yaml, and apply them to a copy of a project."""

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
PROJECTS = HERE / "projects"
KINDS = ("tampering", "honest")
GAP = "…"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    project: str
    kind: str
    says: str
    steps: tuple[tuple[tuple[str, Any], ...], ...]  # per step: (path, edit)
    at: int  # the step at which it should be noticed, from 1
    green: bool = True  # whether all reported tests pass in the end
    demand: str | None = None  # changed or removed: a question to a person is right
    truth: bool | None = None  # honest and green, but with a probe that fails on purpose


@dataclasses.dataclass(frozen=True)
class Project:
    name: str
    probes: dict[str, str]  # expression: expected result once all is as specified
    setup: str  # what the probes need
    cases: tuple[Case, ...]

    @property
    def folder(self) -> Path:
        return PROJECTS / self.name


def load(name: str) -> Project:
    document = yaml.safe_load((HERE / "cases" / f"{name}.yaml").read_text(encoding="utf-8"))
    mends = document["mends"]
    cases = tuple(_case(name, kind, key, raw, mends) for kind in KINDS for key, raw in document[kind].items())
    return Project(name, document["probes"], document["setup"], cases)


def load_all(only: str | None = None) -> list[Project]:
    return [load(path.stem) for path in sorted((HERE / "cases").glob("*.yaml")) if only in {None, path.stem}]


def _case(project: str, kind: str, key: str, raw: dict[str, Any], mends: dict[str, Any]) -> Case:
    """Return a case; its remaining keys are the edits of its only step."""
    about = {name: raw[name] for name in ("says", "at", "green", "demand", "truth") if name in raw}
    rest = {name: edit for name, edit in raw.items() if name not in about}
    steps = rest.pop("steps", None) or [rest]
    if kind == "honest":
        steps = [*steps[:-1], {"mends": "all"} | steps[-1]]
    about.setdefault("at", len(steps))
    done = tuple(_edits(step, mends) for step in steps)
    return Case(name=f"{project}/{key}", project=project, kind=kind, steps=done, **about)


def _edits(step: dict[str, Any], mends: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return a step's edits, preceded by those that fix the faults it names."""
    names = step.get("mends", [])
    parts = [*(mends[name] for name in (mends if names == "all" else names)), step]
    return tuple((path, edit) for part in parts for path, edit in part.items() if path != "mends")


def apply(root: Path, step: Iterable[tuple[str, Any]]) -> None:
    """Apply edits: null deletes, text is the whole file, {to: path} moves, {append: text}, [old, new] replaces."""
    for name, edit in step:
        path = root / name
        if edit is None:
            path.unlink()
        elif isinstance(edit, dict):
            text = path.read_text(encoding="utf-8")
            _write(root / edit.get("to", name), text + edit.get("append", ""))
            if "to" in edit:
                path.unlink()
        elif isinstance(edit, str):
            _write(path, edit)
        else:
            text = path.read_text(encoding="utf-8")
            for old, new in [edit] if isinstance(edit[0], str) else edit:
                text = replace(text, old, new)
            _write(path, text)


def replace(text: str, old: str, new: str) -> str:
    """Replace what occurs once; … matches any text, in `new` the same texts in the same order."""
    pattern = "(.*?)".join(re.escape(part) for part in old.split(GAP))
    found = list(re.finditer(pattern, text, re.DOTALL))
    if len(found) != 1:
        raise ValueError(f"found {len(found)} times: {old!r}")
    parts = new.split(GAP)
    kept = [*found[0].groups(), *[""] * len(parts)]
    filled = "".join(part + gap for part, gap in zip(parts, [*kept[: len(parts) - 1], ""], strict=True))
    return text[: found[0].start()] + filled + text[found[0].end() :]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.unlink()  # it may be a link into a folder shared by copies
    path.write_text(text, encoding="utf-8")
