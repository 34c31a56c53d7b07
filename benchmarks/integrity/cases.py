"""Read the cases from cases/ and choices/, and apply them to a copy of a project."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
PROJECTS = HERE / "projects"
SETS = ("cases", "choices")  # the folders with the cases of the first and of the second set
KINDS = ("tampering", "honest")
GAP = "…"
COMPANY = "+company"  # how the names of accompanied cases end
ABOUT = ("says", "at", "green", "demand", "truth", "way", "lint", "taken", "renamed")  # keys that are no path
Edits = tuple[tuple[str, Any], ...]  # (path, edit)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    project: str
    set: str
    kind: str
    says: str
    steps: tuple[Edits, ...]
    at: int  # the step at which it should be noticed, from 1
    green: bool = True  # whether all reported tests pass in the end
    demand: str | None = None  # changed or removed: a question to a person is right
    truth: bool | None = None  # honest and green, but with a probe that fails on purpose
    way: str | None = None  # what the change does, in a word
    lint: bool = False  # the claim is that the lint check finds nothing
    taken: bool = True  # honest: right to take, as what does not even build is not
    renamed: tuple[str, str] | None = None  # a name in the probes, and what it is now
    mixed: bool = False  # a tampering that also mends something
    company: bool = False  # with a new test and a harmless line of source beside it


@dataclasses.dataclass(frozen=True)
class Project:
    name: str
    set: str
    probes: dict[str, str]  # expression: expected result once all is as specified
    setup: str  # what the probes need
    cases: tuple[Case, ...]
    installed: dict[str, str]  # packages in the environment: path below it, text

    @property
    def folder(self) -> Path:
        return PROJECTS / self.name


def load(name: str, folder: str = SETS[0]) -> Project:
    """Read the cases of a project; what a file of the second set leaves out stands in the first's."""
    document: dict[str, Any] = {}
    for each in SETS[: SETS.index(folder) + 1]:
        path = HERE / each / f"{name}.yaml"
        if path.exists():
            document |= yaml.safe_load(path.read_text(encoding="utf-8"))
    named = {**document["mends"], **document.get("breaks", {})}
    cases: list[Case] = []
    for kind in KINDS:
        for key, raw in document[kind].items():
            case = _case((name, folder, kind), key, raw, (document["mends"], named))
            cases += [case]
            company = raw.get("company", document.get("company"))
            if kind == KINDS[0] and len(case.steps) == 1 and company:
                cases += [_accompanied(case, company)]
    return Project(name, folder, document["probes"], document["setup"], tuple(cases), document.get("installed", {}))


def load_all(only: str | None = None, sets: Iterable[str] = SETS) -> list[Project]:
    found = [(path.stem, each) for each in sets for path in sorted((HERE / each).glob("*.yaml"))]
    return [load(name, each) for name, each in found if only in {None, name}]


def _case(where: tuple[str, str, str], key: str, raw: dict[str, Any], named: tuple[dict[str, Any], ...]) -> Case:
    """Return a case; its remaining keys are the edits of its only step."""
    project, folder, kind = where
    about = {name: raw[name] for name in ABOUT if name in raw}
    rest = {name: edit for name, edit in raw.items() if name not in {*about, "company"}}
    steps = rest.pop("steps", None) or [rest]
    if kind == "honest":
        steps = [*steps[:-1], {"mends": "all"} | steps[-1]]
    about.setdefault("at", len(steps))
    about["mixed"] = kind == "tampering" and any("mends" in step for step in steps)
    done = tuple(_edits(step, *named) for step in steps)
    return Case(name=f"{project}/{key}", project=project, set=folder, kind=kind, steps=done, **about)


def _edits(step: dict[str, Any], mends: dict[str, Any], named: dict[str, Any]) -> Edits:
    """Return a step's edits, preceded by those that fix or break what it names."""
    fixed = step.get("mends", [])
    names = [*(mends if fixed == "all" else fixed), *step.get("breaks", [])]
    parts = [*(named[name] for name in names), step]
    return tuple((path, edit) for part in parts for path, edit in part.items() if path not in {"mends", "breaks"})


def _accompanied(case: Case, company: Mapping[str, Any]) -> Case:
    """Return a one-step tampering with a new test that passes anywhere and a harmless line of source."""
    steps = ((*case.steps[0], *company.items()),)
    return dataclasses.replace(case, name=f"{case.name}{COMPANY}", steps=steps, company=True)


def apply(root: Path, step: Iterable[tuple[str, Any]]) -> None:
    """Apply edits: null deletes, text is the whole file, {to: path} moves, {append: text}, [old, new] replaces.

    A list of edits is applied in its order.
    A `*` in a path stands for what matches it, which exists once; below a folder, a file may be new.
    """
    for name, edit in step:
        path = _found(root, name)
        if edit is None:
            path.unlink()
        elif isinstance(edit, dict):
            text = path.read_text(encoding="utf-8")
            _write(root / edit.get("to", name) if "to" in edit else path, text + edit.get("append", ""))
            if "to" in edit:
                path.unlink()
        elif isinstance(edit, str):
            _write(path, edit)
        elif isinstance(edit[0], str):
            _write(path, replace(path.read_text(encoding="utf-8"), *edit))
        else:
            apply(root, ((name, each) for each in edit))


def _found(root: Path, name: str) -> Path:
    if "*" not in name:
        return root / name
    end = name.rindex("*") + 1
    end = len(name) if "/" not in name[end:] else name.index("/", end)
    if not (found := list(root.glob(name[:end]))):
        return root / name  # in a copy without an environment
    return found[0] / name[end:].lstrip("/")


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
