"""List the records of a loop as documents, with what is wrong with damaged ones."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError

from ralph_tracker.config.problems import first_problem
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import InputError, LoopError, StoreError
from ralph_tracker.store.files import digest
from ralph_tracker.store.layout import LoopPaths, ProjectPaths, document_name, record_name
from ralph_tracker.store.loop_status import attempted
from ralph_tracker.store.packed import kept_bytes
from ralph_tracker.store.reading import parsed_json, refuse_newer
from ralph_tracker.store.records import LoopRecords

_SUFFIXES: Final = frozenset({".json", ".yaml", ".yml"})


class Listed(NamedTuple):
    """One record as a document (None: unreadable) and what is wrong with it, if anything."""

    number: int
    document: Mapping[str, Any] | None
    problem: str | None = None


class RecordHistory:
    """The records of one of our loops."""

    def __init__(self, committed: LoopRecords) -> None:
        self.committed = committed
        self.paths = committed.paths

    def one(self, number: int) -> Listed:
        """Return a record; if one of its two copies differs from the seal, the other is used."""
        name = f"{self.paths.shown}/{document_name(number, 'seal.json')}"
        seal = refuse_newer(_json(self._bytes(number, document_name(number, "seal.json"))), name)
        shown = record_name(number)
        readable = self._bytes(number, shown)
        copy = self._bytes(number, document_name(number, "metrics.json"))
        document = _json(copy)
        unsealed = None in {_sealed(seal, "files", "metrics.json"), _sealed(seal, "record")}
        if unsealed and document is not None and document == _yaml(readable, shown):
            return Listed(number, document, f"iteration {number}: its seal is damaged; both copies of its record agree")
        copy_is_whole = _agrees(copy, _sealed(seal, "files", "metrics.json"))
        if _agrees(readable, _sealed(seal, "record")):
            return Listed(number, document if copy_is_whole else _yaml(readable, shown))
        if copy_is_whole:
            if readable is None and attempted(self.paths) == number:
                return Listed(number, document)  # it is being written right now
            if readable is None and _agrees(self._bytes(number, shown), _sealed(seal, "record")):
                return Listed(number, document)  # it has been written since
            state = "is missing" if readable is None else "is damaged (it differs from its seal)"
            note = f"iteration {number}: {shown} {state}; shown from iterations/, still whole"
            return Listed(number, document, note)
        problem = f"iteration {number}: both copies of its record are damaged; other iterations are not affected"
        return Listed(number, None, problem)

    def all(self) -> Iterator[Listed]:
        """Yield every record of the loop, oldest first."""
        for number in range(self.committed.summary().iteration + 1):
            yield self.one(number)

    def _bytes(self, number: int, name: str) -> bytes | None:
        try:
            return kept_bytes(self.paths, number, name)
        except StoreError:
            return None


def _sealed(seal: Any, *keys: str) -> Any:  # noqa: ANN401  # any JSON value
    for key in keys:
        seal = seal.get(key) if isinstance(seal, dict) else None
    return seal


def _agrees(data: bytes | None, expected: str | None) -> bool:
    return data is not None and digest(data) == expected


def _json(data: bytes | None) -> dict[str, Any] | None:
    if data is None:
        return None
    try:
        document = msgspec.json.decode(data)  # three times as fast, which a listing of thousands needs
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        document = parsed_json(data)  # lone surrogates are valid for us
    return document if isinstance(document, dict) else None


def _yaml(data: bytes | None, name: str) -> dict[str, Any] | None:
    try:
        document = load_yaml(data.decode("utf-8", "replace"), name) if data else None
    except InputError:
        return None
    return document if isinstance(document, dict) else None


class _Foreign(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _ForeignMetrics(_Foreign):
    iteration: int
    timestamp: str = ""
    classification: str = ""
    quality_score: float | None = None


class _ForeignDocument(_Foreign):
    """The parts that an AIWG document needs to be listed; all others are shown if present."""

    iteration_metrics: _ForeignMetrics


def foreign_folder(project: ProjectPaths, loop_id: str) -> Path | None:
    """Return the folder of AIWG's records for a loop, None if there is none."""
    paths: LoopPaths = project.loop(loop_id)
    for folder in (paths.progress, project.base / "loops" / loop_id / "progress"):
        if any(path.suffix in _SUFFIXES for path in _files(folder)):
            return folder
    return None


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("iteration-*")) if folder.is_dir() else []


def foreign_records(folder: Path) -> list[Listed]:
    """Return AIWG's records in order, also unreadable ones, with the problem.

    They are JSON, or YAML in a file named .json. Raises LoopError if the folder holds none.
    """
    listed = []
    for path in _files(folder):
        if path.suffix not in _SUFFIXES:
            continue
        number = int("".join(c for c in path.name.split("-")[1] if c.isdecimal()) or -1)
        try:
            document = load_yaml(path.read_text(encoding="utf-8-sig"), path.name)
            checked = _ForeignDocument.model_validate(document)
        except ValidationError as error:
            listed.append(Listed(number, None, f"{path.name}: {first_problem(error, _ForeignDocument)}"))
        except (InputError, OSError, UnicodeDecodeError) as error:
            listed.append(Listed(number, None, f"{path.name}: cannot be read ({error})"))
        else:
            listed.append(Listed(checked.iteration_metrics.iteration, document))
    if not listed:
        raise LoopError(f"{folder}: no record of an iteration")
    return sorted(listed, key=lambda record: record.number)
