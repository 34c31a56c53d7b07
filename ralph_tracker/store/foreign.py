"""The records that AIWG itself wrote, as documents, damaged ones named."""

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from ralph_tracker.config.problems import first_problem
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import InputError, LoopError
from ralph_tracker.store.history import Listed
from ralph_tracker.store.layout import LoopPaths, ProjectPaths

_SUFFIXES: Final = frozenset({".json", ".yaml", ".yml"})


class _Foreign(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _ForeignMetrics(_Foreign):
    iteration: int
    timestamp: str = ""
    classification: str = ""
    quality_score: float | None = None


class _ForeignDocument(_Foreign):
    """What a document of AIWG must have to be listed; everything else is shown where it is there."""

    iteration_metrics: _ForeignMetrics


def foreign_folder(project: ProjectPaths, loop_id: str) -> Path | None:
    """Return the folder of the records that AIWG wrote for a loop, None where there is none."""
    paths: LoopPaths = project.loop(loop_id)
    for folder in (paths.progress, project.base / "loops" / loop_id / "progress"):
        if any(path.suffix in _SUFFIXES for path in _files(folder)):
            return folder
    return None


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("iteration-*")) if folder.is_dir() else []


def foreign_records(folder: Path) -> list[Listed]:
    """Return AIWG's records in order; one that cannot be read is named, the others go on.

    They are JSON, or YAML under the name .json. Raises LoopError where the folder holds none.
    """
    listed = [_foreign(path) for path in _files(folder) if path.suffix in _SUFFIXES]
    if not listed:
        raise LoopError(f"{folder}: no record of an iteration")
    return sorted(listed, key=lambda record: record.number)


def _foreign(path: Path) -> Listed:
    number = int("".join(c for c in path.name.split("-")[1] if c.isdecimal()) or -1)
    try:
        document = load_yaml(path.read_text(encoding="utf-8-sig"), path.name)
        checked = _ForeignDocument.model_validate(document)
    except ValidationError as error:
        return Listed(number, None, f"{path.name}: {first_problem(error, _ForeignDocument)}")
    except (InputError, OSError, UnicodeDecodeError) as error:
        return Listed(number, None, f"{path.name}: cannot be read ({error})")
    return Listed(checked.iteration_metrics.iteration, document)
