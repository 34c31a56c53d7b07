"""Find and remove kept files of a loop that are no longer needed; records always stay."""

import os
import re
import shutil
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypedDict

from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.errors import StoreError
from ralph_tracker.iteration.measure_iteration import configured_by, utc_text
from ralph_tracker.iteration.record_and_recover import recover_loop
from ralph_tracker.safe_files import as_store_error
from ralph_tracker.scratch import sweep_temporary_folders
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.git_links import forget_removed_loops, renew_links
from ralph_tracker.store.iteration_snapshots import COLLECTABLE, IterationSnapshots
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.snapshots.objects import STAGING
from ralph_tracker.store.snapshots.snapshot_types import ITERATIONS, SAFETY
from ralph_tracker.store.summary import Summary, summary_at
from ralph_tracker.store.write import LoopStore

# Left only by killed writers; those in the store are removed by its sweep.
_LEFTOVERS: Final = (
    *("tmp/*", ".tmp-*", "*/.tmp-*"),
    *("store.new", f"store/{STAGING}/*"),
)
_AGAIN: Final = "run `ralph-tracker gc --yes` again"
KEEP_LAST: Final = 10
UNDOS_KEPT: Final = 10
_OF_ALERT: Final = re.compile(r"it(\d+)-")


class Collector(IterationSnapshots):
    """The files of a loop for clean-up; the caller holds the loop's lock."""

    def held(self) -> Mapping[int, int]:
        """Return the iterations whose files are kept, with the size of their plain files in bytes."""
        names = (name for name in self.store.references() if name.startswith(ITERATIONS))
        named = {int(name.removeprefix(ITERATIONS)) for name in names}
        plain = {
            number for number in range(self._committed.latest() + 1) if any(map(os.path.lexists, self._plain(number)))
        }
        return {number: sum(map(occupied_bytes, self._plain(number))) for number in sorted(named | plain)}

    def undos(self) -> tuple[str, ...]:
        """Return the undo ids of the safety snapshots, oldest first; those that no event names come first."""
        kept = {name.removeprefix(SAFETY) for name in self.store.references() if name.startswith(SAFETY)}
        events = self._committed.events()
        latest_first = (event.get("undo") for event in reversed(events) if event["event"] == "rollback")
        known = tuple(dict.fromkeys(undo for undo in latest_first if undo in kept))
        return (*sorted(kept.difference(known)), *reversed(known))

    def leftovers(self) -> tuple[str, ...]:
        """Return what killed writers left, relative to the loop's folder."""
        folder = self.paths.folder
        with as_store_error(folder, _AGAIN):
            found = {path for pattern in _LEFTOVERS for path in folder.glob(pattern)}
        return tuple(sorted(path.relative_to(folder).as_posix() for path in found))

    def take_away(self, numbers: Iterable[int], undos: Iterable[str], leftovers: Iterable[str]) -> None:
        """Delete the names and plain files of iterations, safety snapshots and leftovers.

        What is already gone is not an error, so that the next call can finish a killed one.
        """
        numbers = tuple(numbers)
        named = set(self.store.references())
        gone = [*(f"{ITERATIONS}{number}" for number in numbers), *(f"{SAFETY}{undo}" for undo in undos)]
        self.store.forget([name for name in gone if name in named])
        with as_store_error(self.paths.folder, _AGAIN):
            for number in numbers:
                plain = self._plain(number)
                for path in plain:
                    _remove(path)
                folder = self.paths.iteration(number)
                if plain and folder.is_dir() and not any(folder.iterdir()):  # its records are in a pack
                    folder.rmdir()
            for name in leftovers:
                if not name.startswith("store/"):
                    _remove(self.paths.folder / name)

    def _plain(self, number: int) -> tuple[Path, ...]:
        folder = self.paths.iteration(number)
        return () if folder.is_symlink() else tuple(folder / name for name in COLLECTABLE)


def occupied_bytes(path: Path) -> int:
    """Return the bytes used by the files below a folder; files with more hard links than ours below git count as 0."""
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            status = os.lstat(f"{place}/{name}")
            total += status.st_size if stat.S_ISREG(status.st_mode) and status.st_nlink <= 2 else 0
    return total


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """The kept files to remove, or removed if `freed` (bytes saved) is not None.

    `going` are iterations with the bytes of their plain files, `staying` the others with the reasons; `undos` are ids
    of safety snapshots, `leftovers` of killed writers are relative to the loop's folder. `keeps_files` is False for a
    loop that keeps none.
    """

    loop_id: str
    keeps_files: bool
    going: Mapping[int, int] = field(default_factory=dict)
    staying: Mapping[int, Sequence[str]] = field(default_factory=dict)
    undos: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    freed: int | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to remove."""
        return not (self.going or self.undos or self.leftovers)


def collect(
    root: Path,
    loop_id: str | None,
    *,
    now: datetime,
    environment: Mapping[str, str],
    carry_out: bool = False,
    keep_last: int = KEEP_LAST,
) -> Collection:
    """Return which kept files of a loop are no longer needed; with `carry_out`, remove them.

    Raises LoopError if there is no loop, RecordError if it cannot be read, StoreError if the disk refuses, or if the
    store is lost, since the plain files are then all that is left.
    """
    store = LoopStore(find_loop(root, loop_id, environment))
    collector = Collector(store)
    if not collector.store.exists:
        if collector.baseline_is_kept:
            raise StoreError(
                f"{store.paths.shown}: the store is missing; nothing was changed, bring it back from a copy"
            )
        return Collection(loop_id=store.paths.loop_id, keeps_files=False)
    with hold_lock(store.paths.lock, "gc"):
        leftovers = collector.leftovers()
        if not carry_out:
            loop, summary = ConfiguredLoop.read(store, configured_by), summary_at(store.paths)
            state = SealedRecords(store.paths).state(summary, loop.config.thresholds)  # nothing is repaired
            return _collectable_iterations(collector, store, summary, state, keep_last, leftovers)
    with store.write_lock("gc") as unfinished:
        loop = ConfiguredLoop.read(store, configured_by)
        state, summary = loop.state(recover_loop(loop, unfinished=unfinished))
        found = _collectable_iterations(collector, store, summary, state, keep_last, leftovers)
        # What is to be removed is recorded first, so that the next call can finish a killed one.
        before = occupied_bytes(store.paths.folder)
        new = sorted(found.going.keys() - store.collected_iterations())
        if new:
            store.append_event({"event": "gc", "iterations": new, "at": utc_text(now)})
        sweep_temporary_folders()
        collector.take_away(found.going, found.undos, found.leftovers)
        collector.store.sweep()  # deletes what nothing refers to any more
        renew_links(store.paths, whole=True)
        forget_removed_loops(ProjectPaths(store.paths.root))
        return replace(found, freed=max(0, before - occupied_bytes(store.paths.folder)))


def _collectable_iterations(
    collector: Collector,
    store: SealedRecords,
    summary: Summary,
    state: JudgeState,
    keep_last: int,
    leftovers: tuple[str, ...],
) -> Collection:
    undos, held, collected = collector.undos(), collector.held(), store.collected_iterations()
    reasons: defaultdict[int, list[str]] = defaultdict(list)
    for number, why in _needed_iterations(summary, state, keep_last, store.events(), undos[-UNDOS_KEPT:]):
        if number not in collected and why not in reasons[number]:
            reasons[number].append(why)
    return Collection(
        loop_id=summary.loop_id,
        keeps_files=True,
        going={number: size for number, size in held.items() if not reasons.get(number)},
        staying={number: tuple(reasons[number]) for number in held if reasons.get(number)},
        undos=undos[:-UNDOS_KEPT],
        leftovers=leftovers,
    )


def _needed_iterations(
    summary: Summary,
    state: JudgeState,
    keep_last: int,
    events: Sequence[Mapping[str, Any]],
    undos: Sequence[str],
) -> Iterator[tuple[int, str]]:
    """Yield the iterations that the loop or one of the `undos` may return to, with the reason; one may have several."""
    yield 0, "the baseline"
    target = summary.decision["target_iteration"]
    for number, why in (
        (summary.best_iteration, "the best"),
        (summary.head, "the next iteration continues from it"),
        (target, "the decision's target"),
    ):
        if number is not None:
            yield number, why
    if state.kept is not None:
        yield state.kept.iteration, "later iterations are compared with it"
    for number in sorted(set(state.lineage.references.values())):
        yield number, "its tests are still run"
    for number in range(max(0, summary.iteration - keep_last + 1), summary.iteration + 1):
        yield number, "one of the last"
    for found in (_OF_ALERT.match(alert["id"]) for alert in summary.alerts):
        if found is not None:
            yield int(found[1]), f"{found.string} is open"
    for open_alert in state.lineage.open_alerts:
        if open_alert.rollback_to is not None and open_alert.id not in summary.accepted:
            yield open_alert.rollback_to, f"{open_alert.id} leads back to it"
    for event in events:
        if event["event"] == "selection" and isinstance(event.get("iteration"), int):
            yield event["iteration"], "it was selected"
        if event["event"] == "rollback" and event.get("undo") in undos and isinstance(event.get("from"), int):
            yield event["from"], f"{event['undo']} leads back to it"


class CollectedDocument(TypedDict):
    iteration: int
    bytes: int


class KeptDocument(TypedDict):
    iteration: int
    reasons: list[str]


class CollectionDocument(TypedDict):
    """`freed_bytes` is null where nothing was carried out."""

    loop_id: str
    keeps_files: bool
    collected: list[CollectedDocument]
    kept: list[KeptDocument]
    undo: list[str]
    leftovers: list[str]
    carried_out: bool
    freed_bytes: int | None


def collection_document(found: Collection) -> CollectionDocument:
    """Return it as a document."""
    return {
        "loop_id": found.loop_id,
        "keeps_files": found.keeps_files,
        "collected": [{"iteration": number, "bytes": size} for number, size in found.going.items()],
        "kept": [{"iteration": number, "reasons": list(why)} for number, why in found.staying.items()],
        "undo": list(found.undos),
        "leftovers": list(found.leftovers),
        "carried_out": found.freed is not None,
        "freed_bytes": found.freed,
    }
