"""Read the status of a loop fast: only state.json and the mark of an attempt."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast, get_args

from ralph_tracker.errors import LoopError, NotRecordedError, RecordError
from ralph_tracker.store.json_documents import read_json, read_lines
from ralph_tracker.store.layout import SCHEMA_VERSION, LoopPaths, iteration_name
from ralph_tracker.store.lock import holder_of

if TYPE_CHECKING:  # reading where a loop stands needs nothing of the core
    from ralph_tracker.core.integrity_result import Verdict
    from ralph_tracker.records.iteration_record import AlertDocument, DecisionDocument, StoredDecisionDocument

Status = Literal["running", "finished", "abandoned", "rebaselined"]
_DECISION: Final = frozenset({"action", "reason", "confidence", "target_iteration", "alternatives", "rule"})
_ACTIONS: Final = frozenset({"continue", "stop", "rollback", "escalate"})
# The keys of each event that a summary is made from.
EVENTS: Final[Mapping[str, Mapping[str, type]]] = {"rollback": {"to": int, "after": int}, "status": {"status": str}}
START_ANEW = "copy it back from a backup, or start anew with `ralph-tracker hook pre-loop --new`"
# A loop of any length keeps within these bounds.
_NUMBERS_AT_LEAST: Final = 10_000
INTERRUPTED = "iteration {} was interrupted; the next command finishes or redoes it"
NEXT_LOOP = "start another one with `ralph-tracker hook pre-loop`"


class Summary(NamedTuple):
    """The status of a loop.

    `iteration` is the latest one, `head` the one that the next descends from (a different one after a rollback).
    `decision` is the stored decision as a plain mapping. `alerts` are the new and open ones in short. `carried_out`
    holds `target` and `after` once this decision's rollback was carried out. Costs are in USD, None if unknown.
    `integrity` is the verdict, None if files and tests were not compared.
    """

    loop_id: str
    status: Status
    iteration: int
    head: int
    started_at: str
    updated_at: str
    classification: str
    message: str
    quality_score: float
    adjusted_score: float
    best_iteration: int | None
    best_quality_score: float
    best_adjusted_score: float
    verified: bool
    decision: "StoredDecisionDocument"
    alerts: "tuple[AlertDocument, ...]" = ()
    accepted: tuple[str, ...] = ()
    cost_usd: float | None = None
    carried_out: Mapping[str, int] | None = None
    integrity: "Verdict | None" = None

    @property
    def recommendation(self) -> "DecisionDocument":
        """Return the decision in the words of the hook for orchestrators."""
        # Its keys stay in the order in which they are stored.
        return cast("DecisionDocument", {key: value for key, value in self.decision.items() if key != "rule"})

    def plain(self) -> dict[str, Any]:
        """Return it as a plain mapping, as it is stored."""
        return {"schema_version": SCHEMA_VERSION, **self._asdict()}


def summary_from(plain: Any) -> Summary | None:  # noqa: ANN401  # any JSON value
    """Return the summary, None if the document is damaged."""
    if not isinstance(plain, dict) or plain.get("schema_version") != SCHEMA_VERSION:
        return None
    values = {key: value for key, value in plain.items() if key != "schema_version"}
    try:
        summary = Summary(**{**values, "alerts": tuple(values["alerts"]), "accepted": tuple(values["accepted"])})
        decision = summary.decision
        known = summary.status in get_args(Status) and decision["action"] in _ACTIONS
        whole = isinstance(summary.iteration, int) and isinstance(summary.head, int)
        decided = decision.keys() == _DECISION and isinstance(decision["confidence"], int | float)
        alerted = all(alert.keys() >= {"id", "type", "severity", "message"} for alert in summary.alerts)
    except (KeyError, TypeError, AttributeError):
        return None
    return summary if known and whole and decided and alerted else None


def version_of(loops: Sequence[LoopPaths], others: Iterable[Path] = ()) -> str:
    """Return a mark that differs once a record, an event or a selection of these loops or another file was written."""
    seen = blake2b(digest_size=8)
    for file in (*(file for paths in loops for file in (paths.state, paths.events, paths.selection)), *others):
        try:
            found = file.stat()
            seen.update(f"{file.name} {found.st_mtime_ns} {found.st_size} {found.st_ino}\n".encode())
        except OSError:
            seen.update(b"-\n")
    return seen.hexdigest()


def summary_at(paths: LoopPaths) -> Summary:
    """Return the status of a loop, rebuilt from the committed records if state.json is damaged or outdated.

    Raises RecordError if neither can be read, NewerSchemaError if a newer version wrote it.
    """
    plain = read_json(paths.state)
    summary = summary_from(plain)
    is_latest = summary is not None and not is_recorded(paths, summary.iteration + 1)
    if summary is not None and is_latest and not _is_far_off(paths, summary.iteration):
        return summary
    latest = latest_iteration(paths)
    summary = summary_from(state_after(paths, latest).get("summary"))
    if summary is None:
        raise damaged_iteration(paths, latest)
    return with_events(summary, read_lines(paths.events))


def with_events(summary: Summary, events: Iterable[Any]) -> Summary:
    """Return the summary with what happened since the last record: rollbacks and changes of status."""
    for event in events:
        kind = event.get("event") if isinstance(event, dict) else None
        wanted = EVENTS.get(kind) if isinstance(kind, str) else None
        if wanted is None or not all(isinstance(event.get(key), type_) for key, type_ in wanted.items()):
            continue  # it adds nothing to the records
        if event["event"] == "status":
            summary = summary._replace(status=event["status"])
        elif event["after"] == summary.iteration:
            # A restore to the iteration itself undoes a rollback.
            undone = event["to"] == summary.iteration
            carried = None if undone else {"target": event["to"], "after": summary.iteration}
            summary = summary._replace(head=event["to"], carried_out=carried)
    return summary


def is_recorded(paths: LoopPaths, number: int) -> bool:
    """Return whether an iteration is on record, as a folder or in a pack; a damaged one is."""
    return paths.iteration(number).is_dir() or paths.pack(number).is_file()


def latest_iteration(paths: LoopPaths) -> int:
    """Return the number of the last committed iteration. Raises RecordError if there is none."""
    named = _named_iterations(paths)
    numbers = [number for number in named if number <= _highest(len(named))]
    if not numbers:
        raise RecordError(f"{paths.shown}: no iteration is on record; run `ralph-tracker hook pre-loop` first")
    return max(numbers)


def _named_iterations(paths: LoopPaths) -> list[int]:
    """Return the numbers that the folders of iterations, and the last ones that packs, are named by."""
    folders = [path.name.removeprefix("iteration-") for path in paths.iterations.glob("iteration-*")]
    packs = [path.stem.rpartition("-")[2] for path in paths.packs.glob("iterations-*.zip")]
    return [int(number) for number in (*folders, *packs) if number.isdecimal()]


def _highest(names: int) -> int:
    """Return the highest number that an iteration can have where so many folders and packs are there.

    Each iteration has a folder, or a 25th of a pack. A clone can bring one with any number, and every number up to the
    latest is looked at.
    """
    return _NUMBERS_AT_LEAST + 100 * names


def _is_far_off(paths: LoopPaths, number: int) -> bool:
    return number > _NUMBERS_AT_LEAST and number > _highest(len(_named_iterations(paths)))


def state_after(paths: LoopPaths, number: int) -> dict[str, Any]:
    """Return the state after an iteration, as amended by acceptances; {} if it is damaged."""
    for path in (paths.amendments_file(number), paths.iteration(number) / "state.json"):
        plain = read_json(path)
        if isinstance(plain, dict):
            return plain
    from ralph_tracker.store.record_packs import kept_json  # noqa: PLC0415  # only for an older iteration

    packed = kept_json(paths, number, "state.json")
    return packed if isinstance(packed, dict) else {}


def damaged_iteration(paths: LoopPaths, number: int) -> RecordError:
    """Return the error for a damaged iteration."""
    folder = f"{paths.shown}/iterations/{iteration_name(number)}"
    return RecordError(f"iteration {number}: {folder} is damaged; {START_ANEW}")


def require_running(summary: Summary) -> Summary:
    """Return the summary of a running loop. Raises LoopError for one that has ended."""
    if summary.status != "running":
        raise LoopError(f"loop {summary.loop_id} is {summary.status}; {NEXT_LOOP}")
    return summary


def refuse_unrecorded(paths: LoopPaths, summary: Summary) -> None:
    """Raise NotRecordedError if an iteration was begun and is not recorded."""
    number = unrecorded_iteration(paths, summary)
    if number is not None:
        raise NotRecordedError(f"iteration {number} was not recorded; run `ralph-tracker hook post-iteration` again")


def unrecorded_iteration(paths: LoopPaths, summary: Summary) -> int | None:
    """Return the iteration that was begun after the latest one and not recorded, None if there is none."""
    number = attempted_iteration(paths)
    if number is None or number <= summary.iteration or is_recorded(paths, number):
        return None
    return number


def interrupted_iteration(paths: LoopPaths) -> int | None:
    """Return the iteration that a killed call was recording, None if there is none or a writer is at work.

    The next writer finishes it, and its mark goes, or it is recorded anew.
    """
    if not paths.staging.is_dir() or holder_of(paths.lock) is not None:
        return None
    return attempted_iteration(paths)


def attempted_iteration(paths: LoopPaths) -> int | None:
    """Return the iteration whose attempt mark is there, None if there is no mark."""
    plain = read_json(paths.attempt)
    number = plain.get("iteration") if isinstance(plain, dict) else None
    return number if isinstance(number, int) else None
