"""Read the committed documents of a loop with their seals, without a lock: files are replaced atomically."""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, TypeGuard

from ralph_tracker.codec import decode
from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.judge import acceptance
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.lineage import Lineage
from ralph_tracker.core.metrics import Measurement, Metrics
from ralph_tracker.core.objective import Progress
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.core.walk import Kept, WalkedIteration
from ralph_tracker.errors import InputError, RecordError, StoreError
from ralph_tracker.safe_files import digest
from ralph_tracker.store import judge_state_json
from ralph_tracker.store.json_documents import parsed_json, parsed_quickly, read_lines, refuse_newer, to_json
from ralph_tracker.store.layout import LoopPaths, document_name, record_name
from ralph_tracker.store.record_packs import Documents, kept_json
from ralph_tracker.store.summary import (
    EVENTS,
    Summary,
    damaged_iteration,
    latest_iteration,
    state_after,
    summary_at,
)

_DOCUMENTS: Final = ("metrics.json", "measurement.json", "tests.json", "state.json")
Plain = dict[str, Any]
# What reading a damaged document can raise, whatever it contains.
_MISSHAPEN: Final = (KeyError, TypeError, ValueError, AttributeError)
_EVENTS: Final[Mapping[str, Mapping[str, type]]] = {
    "accept": {"id": str, "reason": str, "alert": dict},
    "rollback": EVENTS["rollback"],
    "gc": {"iterations": list},
    "selection": {},
    "strength": dict.fromkeys(
        ("iteration", "tried", "noticed", "unreached", "added", "added_tried", "added_noticed", "by_test"), int
    )
    | {"missed": list},
    "status": EVENTS["status"],
}
_ROW: Final = frozenset({"iteration", "timestamp", "metrics", "walked"})


class ListedRecord(NamedTuple):
    """One record as a document (None: unreadable) and what is wrong with it, if anything."""

    number: int
    document: Mapping[str, Any] | None
    problem: str | None = None

    def require(self) -> Mapping[str, Any]:
        """Return the document. Raises RecordError if it cannot be read at all."""
        if self.document is None:
            raise RecordError(self.problem or f"iteration {self.number} cannot be read")
        return self.document


class Seals:
    """The seals of a loop, to compare with its files; nothing is written."""

    def __init__(self, paths: LoopPaths) -> None:
        self.paths = paths
        # Those of an iteration are asked for several times, and with those of the one before it.
        self._seal = lru_cache(maxsize=2)(self._read_seal)
        self._documents = lru_cache(maxsize=2)(partial(Documents, paths))

    def broken_files(self, number: int) -> tuple[str, ...]:
        """Return the files of an iteration that are missing or differ from its seal, () if all agree."""
        seal, _ = self._seal(number)
        if not isinstance(seal.get("files"), dict):
            return ("seal.json",)
        sealed = seal["files"].items()
        return tuple(
            name for name, expected in sealed if not self._is_as_sealed(number, document_name(number, name), expected)
        )

    def altered_record(self, number: int) -> tuple[str, ...]:
        """Return the human-readable record if it is missing or differs from its seal, else ()."""
        seal, name = self._seal(number)[0], record_name(number)
        expected = seal.get("record")
        return () if expected is None or self._is_as_sealed(number, name, expected) else (name,)

    def edited_documents(self, number: int) -> tuple[str, ...]:
        """Return the documents of an iteration that differ from its seal, () if all agree.

        Paths are relative to the loop's folder; the snapshot's files are not checked.
        """
        seal, _ = self._seal(number)
        sealed = seal["files"] if isinstance(seal.get("files"), dict) else {}
        names = {document_name(number, name): sealed.get(name) for name in _DOCUMENTS}
        names[record_name(number)] = seal.get("record")
        return tuple(name for name, expected in names.items() if not self._is_as_sealed(number, name, expected))

    def edited_configuration(self) -> tuple[str, ...]:
        """Return the loop's own document if it differs from its seal, else (); a damaged seal says nothing."""
        name = self.paths.loop_file.name
        expected = self._seal(0)[0].get("loop")
        return () if expected is None or self._is_as_sealed(0, name, expected) else (name,)

    def broken_chain(self, number: int) -> tuple[str, ...]:
        """Return the seal if it differs from the digest in the next iteration's seal, else ()."""
        expected, found = self._seal(number + 1)[0].get("previous_seal"), self._seal(number)[1]
        return ("seal.json",) if expected is not None and found not in {None, expected} else ()

    def _is_as_sealed(self, number: int, name: str, expected: str | None) -> bool:
        """Return whether a document is what was sealed; a formatter that left its values alone did not edit it."""
        documents = self._documents(number)
        if documents.digest(name) == expected:
            return True
        try:
            data = documents.read(name)
            return data is not None and digest(_as_written(name, data)) == expected
        except (InputError, StoreError, *_MISSHAPEN):
            return False

    def _read_seal(self, number: int) -> tuple[Plain, str | None]:
        """Return a seal and its sha256; {} if it is missing or damaged."""
        name = document_name(number, "seal.json")
        data = self._documents(number).read(name)
        if data is None:
            return {}, None
        seal = refuse_newer(parsed_quickly(data), f"{self.paths.folder}/{name}")
        return seal if isinstance(seal, dict) else {}, digest(data)


def _as_written(name: str, data: bytes) -> bytes:
    """Return a document in the layout in which it was written. Raises InputError or ValueError if it cannot be read."""
    if name.endswith(".json"):
        return to_json(parsed_json(data))
    from ralph_tracker.config.yaml_io import dump_yaml, load_yaml  # noqa: PLC0415  # only for one that differs

    return dump_yaml(load_yaml(data.decode(), name)).encode("utf-8", "surrogatepass")


class SealedRecords:
    """The committed documents of a loop; `grown` are the folders of its store that loose contents were added to."""

    def __init__(self, paths: LoopPaths) -> None:
        self.paths = paths
        self.grown: set[str] = set()

    @property
    def exists(self) -> bool:
        """Return whether the loop has a committed baseline."""
        return self.paths.iteration(0).is_dir()

    def summary(self) -> Summary:
        """Return the status of the loop. Raises RecordError as `summary_at` does."""
        return summary_at(self.paths)

    def latest(self) -> int:
        """Return the number of the last committed iteration. Raises RecordError if there is none."""
        return latest_iteration(self.paths)

    def after(self, number: int) -> Plain:
        """Return the state after an iteration, as amended by acceptances; {} if it is damaged."""
        return state_after(self.paths, number)

    def events(self) -> list[Plain]:
        """Return the event log, oldest first, without damaged events."""
        return [event for event in read_lines(self.paths.events) if _is_event(event)]

    def start(self, thresholds: Thresholds) -> JudgeState:
        """Return the state before the baseline, with all acceptances."""
        state = JudgeState(loop_id=self.paths.loop_id, thresholds=thresholds)
        for event in self.acceptances():
            state = acceptance(state, decode(Alert, event["alert"]))
        return state

    def acceptances(self) -> list[Plain]:
        """Return the acceptances, only the first for each alert."""
        found = {event["id"]: event for event in reversed(self.events()) if event["event"] == "accept"}
        return list(reversed(found.values()))

    def collected_iterations(self) -> frozenset[int]:
        """Return the iterations whose files gc removed, or began to; their records stay."""
        found = (event["iterations"] for event in self.events() if event["event"] == "gc")
        return frozenset(number for numbers in found for number in numbers if isinstance(number, int))

    def state(self, summary: Summary, thresholds: Thresholds) -> JudgeState:
        """Return what the judge needs for the next iteration, in time that does not depend on the loop's length.

        Raises RecordError if a part of it is damaged or outdated.
        """
        latest = self.after(summary.iteration)
        line, known = self.line(summary.head, latest if summary.head == summary.iteration else None)
        try:
            return JudgeState(
                loop_id=summary.loop_id,
                thresholds=thresholds,
                basis=judge_state_json.basis_from_plain(latest["basis"]),
                iteration=summary.iteration,
                lineage=line,
                known=known,
                kept=self._kept(latest["kept"], summary.head, known),
                best=decode(WalkedIteration, latest["best"]),
                flaky=frozenset(latest["flaky"]),
                rollbacks=latest["rollbacks"],
                cost_usd=latest["cost_usd"],
                met_target=latest["met_target"],
                accepted=frozenset(latest["accepted"]),
                accepted_findings=frozenset(latest["accepted_findings"]),
                progress=decode(Progress, latest.get("progress", {})),
                highest=latest.get("highest"),
            )
        except _MISSHAPEN:
            raise damaged_iteration(self.paths, summary.iteration) from None

    def line(self, number: int, after: Plain | None = None) -> tuple[Lineage, KnownTests]:
        """Return the lineage that ends with that iteration; `after` is the state after it, if already read.

        Raises RecordError if it is damaged.
        """
        after = self.after(number) if after is None else after
        known = self._known(number)
        try:
            return decode(Lineage, after["line"]), known
        except _MISSHAPEN:
            raise damaged_iteration(self.paths, number) from None

    def _kept(self, plain: Plain, head: int, known: KnownTests) -> Kept:
        """Return the kept iteration with its outcomes. Raises as decoding does, and RecordError if they are damaged."""
        outcomes = None
        if plain["named"]:
            number = plain["iteration"]
            outcomes = (known if number == head else self._known(number)).present
        return judge_state_json.kept_from_plain(plain, outcomes)

    def _known(self, number: int) -> KnownTests:
        try:
            return judge_state_json.known_from_plain(kept_json(self.paths, number, "tests.json"))
        except _MISSHAPEN:
            raise damaged_iteration(self.paths, number) from None

    def measurement(self, number: int) -> tuple[Measurement, int | None] | None:
        """Return the measurement and the iteration it descends from; None if either is damaged."""
        plain = kept_json(self.paths, number, "measurement.json")
        tests = kept_json(self.paths, number, "tests.json")
        try:
            results = judge_state_json.results_from_plain(tests, plain["measurement"]["flaky"])
            measured = judge_state_json.measurement_from_plain(plain["measurement"], results)
            return measured, plain["previous"]
        except _MISSHAPEN:
            return None

    def tree(self, number: int) -> str | None:
        """Return the tree of an iteration, None if none is kept or its measurement cannot be read."""
        plain = kept_json(self.paths, number, "measurement.json")
        try:
            tree = plain["measurement"]["tree"]
        except (KeyError, TypeError):
            return None
        return tree if isinstance(tree, str) else None

    @property
    def seals(self) -> Seals:
        """Return the seals of the loop."""
        return Seals(self.paths)

    def strength(self, number: int) -> Plain | None:
        """Return what the tests of an iteration were last found to notice of small errors; None if nobody asked."""
        asked = (each for each in reversed(self.events()) if each["event"] == "strength")
        return next((each for each in asked if each["iteration"] == number), None)

    def has_unknown_costs(self) -> bool:
        """Return whether the cost of an iteration after the baseline is unknown: then a sum is a lower bound."""
        rows = (row for row in read_lines(self.paths.trajectory) if is_row(row) and row["iteration"])
        return any(not isinstance(row.get("usage"), dict) or row["usage"].get("cost_usd") is None for row in rows)

    def rows(self) -> tuple[list[Plain], list[int]]:
        """Return one row per iteration, as amended, and the numbers of the unreadable ones."""
        found = {row["iteration"]: row for row in read_lines(self.paths.trajectory) if is_row(row)}
        rows, lost = [], []
        for number in range(self.summary().iteration + 1):
            row: Any = found.get(number) or self.after(number).get("row")
            if number in found or is_row(row):
                rows.append(row)
            else:
                lost.append(number)
        return rows, lost


def _is_event(plain: Any) -> bool:  # noqa: ANN401  # any JSON value
    kind = plain.get("event") if isinstance(plain, dict) else None
    if not isinstance(kind, str) or kind not in _EVENTS:
        return False
    if not all(isinstance(plain.get(key), wanted) for key, wanted in _EVENTS[kind].items()):
        return False
    try:
        return kind != "accept" or decode(Alert, plain["alert"]).id == plain["id"]
    except _MISSHAPEN:
        return False


def is_row(plain: Any) -> TypeGuard[Plain]:  # noqa: ANN401  # any JSON value
    if not isinstance(plain, dict) or not plain.keys() >= _ROW or not isinstance(plain["iteration"], int):
        return False
    try:
        return decode(WalkedIteration, plain["walked"]).iteration >= 0 and Metrics(**plain["metrics"]) is not None
    except _MISSHAPEN:
        return False
