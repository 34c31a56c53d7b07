"""List the records of a loop as documents, with what is wrong with damaged ones."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec  # noqa: F401  # so that thousands of documents are parsed quickly

from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.store.files import digest
from ralph_tracker.store.layout import document_name, record_name
from ralph_tracker.store.loop_status import attempted
from ralph_tracker.store.packed import Documents
from ralph_tracker.store.reading import parsed_quickly, refuse_newer
from ralph_tracker.store.records import LoopRecords


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
        self._shown = committed.paths.shown

    def one(self, number: int) -> Listed:
        """Return a record; if one of its two copies differs from the seal, the other is used."""
        read = self._reader(number)
        sealed = document_name(number, "seal.json")
        seal = refuse_newer(parsed_quickly(read(sealed)), f"{self._shown}/{sealed}")
        shown = record_name(number)
        readable = read(shown)
        copy = read(document_name(number, "metrics.json"))
        document = _mapping(parsed_quickly(copy))
        unsealed = None in {_sealed(seal, "files", "metrics.json"), _sealed(seal, "record")}
        if unsealed and document is not None and document == _yaml(readable, shown):
            return Listed(number, document, f"iteration {number}: its seal is damaged; both copies of its record agree")
        copy_is_whole = _agrees(copy, _sealed(seal, "files", "metrics.json"))
        if _agrees(readable, _sealed(seal, "record")):
            return Listed(number, document if copy_is_whole else _yaml(readable, shown))
        if copy_is_whole:
            if readable is None and attempted(self.paths) == number:
                return Listed(number, document)  # it is being written right now
            if readable is None and _agrees(self._reader(number)(shown), _sealed(seal, "record")):
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

    def _reader(self, number: int) -> Callable[[str], bytes | None]:
        """Return a function that reads a document of an iteration, None if it is missing or cannot be read."""
        try:
            documents = Documents(self.paths, number)
        except StoreError:
            return lambda _: None

        def read(name: str) -> bytes | None:
            try:
                return documents.read(name)
            except StoreError:
                return None

        return read


def _sealed(seal: Any, *keys: str) -> Any:  # noqa: ANN401  # any JSON value
    for key in keys:
        seal = seal.get(key) if isinstance(seal, dict) else None
    return seal


def _agrees(data: bytes | None, expected: str | None) -> bool:
    return data is not None and digest(data) == expected


def _mapping(document: Any) -> dict[str, Any] | None:  # noqa: ANN401  # any JSON value
    return document if isinstance(document, dict) else None


def _yaml(data: bytes | None, name: str) -> dict[str, Any] | None:
    try:
        document = load_yaml(data.decode("utf-8", "replace"), name) if data else None
    except InputError:
        return None
    return _mapping(document)
