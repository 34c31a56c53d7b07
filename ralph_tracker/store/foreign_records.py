"""Read the records of a loop that AIWG wrote: JSON or YAML of any version, of which what can be shown is checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import InputError, LoopError, first_problem
from ralph_tracker.safe_files import read_regular
from ralph_tracker.store.layout import LoopPaths, ProjectPaths
from ralph_tracker.store.read import ListedRecord

_SUFFIXES: Final = frozenset({".json", ".yaml", ".yml"})
Number = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]
Numbers = dict[str, Number | None]
_IterationNumber = Annotated[int, Field(ge=0, le=1_000_000)]


class _Shown(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Deltas(_Shown):
    from_previous: Numbers | None = None
    from_baseline: Numbers | None = None


class _Trust(_Shown):
    verdict: str | None = None
    findings: list[dict[str, Any]] | None = None
    findings_total: int = 0
    unread: dict[str, str] | None = None


class _Metrics(_Shown):
    iteration: _IterationNumber
    timestamp: str | None = None
    classification: str | None = None
    testing: Numbers | None = None
    quality: dict[str, Number | str | None] | None = None
    codebase: Numbers | None = None
    deltas: _Deltas | None = None
    quality_score: Number | None = None
    adjusted_score: Number | None = None
    adjusted_because: str | None = None
    breakdown: dict[str, Number] | None = None
    weights: dict[str, Number] | None = None
    components: Numbers | None = None
    evidence: Number | None = None
    verified: bool | None = None
    alerts: list[dict[str, Any]] | None = None
    open_alerts: list[dict[str, Any]] | None = None
    closed_alerts: list[str] | None = None
    usage: Numbers | None = None
    notes: list[str] | None = None
    integrity: _Trust | None = None


class _Tracker(_Shown):
    current_best: str | int | None = None
    best_quality_score: Number | None = None


class _Advice(_Shown):
    action: str | None = None
    reason: str | None = None
    confidence: Number | None = None
    alternatives: list[str] | None = None


class _Document(_Shown):
    iteration_metrics: _Metrics
    best_iteration_tracker: _Tracker | None = None
    recommendation: _Advice | None = None


class _Foreign(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _ForeignMetrics(_Foreign):
    iteration: _IterationNumber
    timestamp: str = ""
    classification: str = ""
    quality_score: float | None = None


class _ForeignDocument(_Foreign):
    """The parts that an AIWG document needs to be listed; all others are shown if present."""

    iteration_metrics: _ForeignMetrics


def aiwg_folder(project: ProjectPaths, loop_id: str) -> Path | None:
    """Return the folder of AIWG's records for a loop, None if there is none."""
    paths: LoopPaths = project.loop(loop_id)
    for folder in (paths.progress, project.base / "loops" / loop_id / "progress"):
        if any(path.suffix in _SUFFIXES for path in _files(folder)):
            return folder
    return None


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("iteration-*")) if folder.is_dir() else []


def aiwg_records(folder: Path) -> list[ListedRecord]:
    """Return AIWG's records in order, also unreadable ones, with the problem.

    They are JSON, or YAML in a file named .json. Raises LoopError if the folder holds none.
    """
    listed = []
    for path in _files(folder):
        if path.suffix not in _SUFFIXES:
            continue
        number = int("".join(c for c in path.name.split("-")[1] if c.isdecimal()) or -1)
        try:
            document = load_yaml(read_regular(path, inside=folder, name=path.name).decode("utf-8-sig"), path.name)
            checked = _ForeignDocument.model_validate(document)
        except ValidationError as error:
            listed.append(ListedRecord(number, None, f"{path.name}: {first_problem(error, _ForeignDocument)}"))
        except (InputError, OSError, UnicodeDecodeError) as error:
            listed.append(ListedRecord(number, None, f"{path.name}: cannot be read ({error})"))
        else:
            number, problem = checked.iteration_metrics.iteration, why_not_showable(document)
            if problem is None:
                listed.append(ListedRecord(number, document))
            else:
                listed.append(ListedRecord(number, None, f"iteration {number}: {problem}"))
    if not listed:
        raise LoopError(f"{folder}: no record of an iteration")
    return sorted(listed, key=lambda record: record.number)


def why_not_showable(document: Mapping[str, Any]) -> str | None:
    """Return in one line why a document cannot be shown, None if it can."""
    try:
        _Document.model_validate(document)
    except ValidationError as error:
        return first_problem(error, _Document)
    return None
