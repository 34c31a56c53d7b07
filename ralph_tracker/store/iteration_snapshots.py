"""Keep the files of each iteration: the tree as the agent left it, in the store, and plain files beside the record."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

from ralph_tracker.errors import CollectedError, NoSnapshotError, StoreError
from ralph_tracker.safe_files import (
    AGAIN,
    as_store_error,
    refuse_link,
    sync_below,
    sync_folder,
    temporary_name,
    write_new,
    write_whole,
)
from ralph_tracker.scratch import temporary_folder
from ralph_tracker.store.json_documents import read_json, to_json
from ralph_tracker.store.layout import ARTIFACTS, BASE, MANIFEST, SCHEMA_VERSION, LoopPaths, document_name
from ralph_tracker.store.read import SealedRecords, Seals
from ralph_tracker.store.record_packs import Documents, kept_json
from ralph_tracker.store.restore_mark import BegunRestore, RestoreMark, UndoIds, interrupted_restore
from ralph_tracker.store.snapshots.file_changes import FileChange, file_changes
from ralph_tracker.store.snapshots.snapshot_types import (
    ITERATIONS,
    LOOP_FOLDER,
    SAFETY,
    UNDO_ID,
    Change,
    Snapshot,
    as_utf8,
    shown,
)
from ralph_tracker.store.snapshots.store import SnapshotStore
from ralph_tracker.store.snapshots.user_repository import Branch
from ralph_tracker.store.summary import is_recorded

CHECKS: Final = "checks.json"
# Of a longer output of a check as many bytes are kept.
OUTPUT_KEPT: Final = 1_000_000
_NO_RECORD: Final = (
    "iteration {}: the store is missing and the record is damaged; `ralph-tracker verify` lists what is left"
)
_LOST: Final = "iteration {}: its files were kept and {}; run `ralph-tracker verify --repair`, or bring {}/store back"
SNAPSHOT: Final = "the snapshot in store"
COLLECTED: Final = "iteration {} was deleted by gc; its record is kept"
# The parts of an iteration's folder that gc removes.
COLLECTABLE: Final = (ARTIFACTS, "reports")


class CheckDocument(TypedDict):
    """How a check ended; `exit_code` or `signal` is there, neither where it could not be started.

    `key` is the digest of what decides about its result, where that is known; `from_iteration` is where it ran last, if
    it was not run again.
    """

    name: str
    exit_code: int | None
    signal: str | None
    timed_out: bool
    problem: str | None
    duration_s: float
    summary: str
    key: NotRequired[str]
    from_iteration: NotRequired[int]


class UndoDocument(TypedDict):
    """`iteration` is the one that differs least, in `changed` files; they and `files` are null where that is lost."""

    undo: str
    at: str
    iteration: int | None
    changed: int | None
    files: int | None
    interrupted: bool


def manifest_document(
    number: int,
    snapshot: Snapshot,
    *,
    after_checks: str | None,
    since_baseline: Iterable[Change],
    since_previous: Iterable[Change],
) -> dict[str, Any]:
    """Return every changed path and what was skipped; `after_checks` is the tree that the checks left."""
    return {
        "schema_version": SCHEMA_VERSION,
        "iteration": number,
        "tree": snapshot.tree,
        "commit": snapshot.commit,
        "tree_after_checks": after_checks,
        "quiescent": snapshot.quiescent,
        "since_baseline": [_change(change) for change in since_baseline],
        "since_previous": [_change(change) for change in since_previous],
        "skipped": [{"path": as_utf8(path), "reason": reason} for path, reason in snapshot.skipped],
        "empty_directories": [as_utf8(path) for path in snapshot.empty_directories],
        **({"modes": {as_utf8(path): bits for path, bits in snapshot.modes.items()}} if snapshot.modes else {}),
        **({"commits": {as_utf8(path): each for path, each in snapshot.commits.items()}} if snapshot.commits else {}),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "path": as_utf8(change.path),
        "status": change.status,
        "mode": change.new_mode,
        "size": change.size,
        "sha256": change.new_id,
    }


class VisitCount(NamedTuple):
    """How often the lineage returned to a tree from a different one, and when last (its iteration, None: never)."""

    times: int
    last: int | None


class TreeVisits:
    """The iterations that had each tree, to count how often a lineage returned to it."""

    def __init__(self, paths: LoopPaths) -> None:
        self.paths = paths

    def remember(self, tree: str, number: int) -> None:
        """Add an iteration to those of a tree."""
        known = self.iterations(tree)
        if number not in known:
            path = self._index(tree)
            with as_store_error(path, AGAIN):
                refuse_link(path.parent)
                write_whole(path, to_json([*known, number]), self.paths.staging, durable=False)

    def _index(self, tree: str) -> Path:
        return self.paths.trees / tree[:2] / f"{tree}.json"

    def iterations(self, tree: str) -> list[int]:
        """Return the iterations that had a tree, in order."""
        plain = read_json(self._index(tree))
        return [number for number in plain if isinstance(number, int)] if isinstance(plain, list) else []

    def visits(self, tree: str, segments: Sequence[tuple[int, int]]) -> VisitCount:
        """Count the visits in a lineage; consecutive iterations with the same tree are one visit."""
        on_line = [n for n in self.iterations(tree) if any(first <= n <= last for first, last in segments)]
        follows = {last: following[0] for (_, last), following in pairwise(segments)}
        going_on = {follows.get(n, n + 1) for n in on_line}
        starts = [n for n in on_line if n not in going_on]
        return VisitCount(len(starts), on_line[-1] if on_line else None)


class KeptIteration(NamedTuple):
    """The files kept of one iteration before its checks ran.

    `changed` is relative to the previous iteration, `since_baseline` to iteration 0 (empty for the baseline itself).
    `after_checks` is the tree that the checks left, with the paths they changed. `note` is a message about the store
    for the user, for the baseline only.
    """

    snapshot: Snapshot
    changed: tuple[Change, ...]
    since_baseline: tuple[Change, ...]
    visits: VisitCount
    after_checks: str | None = None
    changed_by_checks: tuple[str, ...] = ()
    note: str | None = None

    @property
    def copies(self) -> dict[str, str]:
        """Return the sha256 of each plain file that `fill` writes from the store, by its path in the folder."""
        return {f"{ARTIFACTS}/{change.path}": change.new_id for change in self.changed if change.new_id}


class VerificationCache(NamedTuple):
    """What is read once where many iterations are examined: seals, what gc collected, contents found to be `whole`."""

    seals: Seals
    collected: frozenset[int]
    whole: set[str]


class IterationSnapshots:
    """The kept files of one loop's iterations; `root` is the tree to keep if that is not the project's own.

    `store` has their contents, `restoring` the mark of a restore that has begun.
    """

    def __init__(self, committed: SealedRecords, root: Path | None = None) -> None:
        self.paths = committed.paths
        self._root = root or committed.paths.root
        self._committed = committed
        self.restoring = RestoreMark(self.paths)
        self._trees = TreeVisits(self.paths)

    @cached_property
    def store(self) -> SnapshotStore:
        """Return the store of the loop."""
        store = SnapshotStore(self.paths.store, self._root)
        store.objects.grown = self._committed.grown
        return store

    @property
    def baseline_is_kept(self) -> bool:
        """Return whether the baseline's files were kept, and so those of every iteration are."""
        return (self.paths.iteration(0) / MANIFEST).exists()

    def keeps(self, number: int) -> bool:
        """Return whether an iteration's files were kept, according to its record; they may be unreadable now."""
        is_kept = Documents(self.paths, number).has(document_name(number, MANIFEST))
        return is_kept or self._committed.tree(number) is not None

    def prepare_keeping(self, keep: str) -> bool:
        """Return whether a new loop with metrics handed in keeps files, according to `codebase.keep`.

        If not, delete what a call that was killed before the baseline left behind.
        """
        if keep == "always" or (keep == "auto" and self.store.is_in_repository):
            return True
        shutil.rmtree(self.paths.store, ignore_errors=True)
        return False

    def create(self, include: Sequence[str] = (), exclude: Sequence[str] = (), tracked: Iterable[str] = ()) -> None:
        """Create the store and freeze the project's ignore rules, these patterns and `tracked` for the whole loop.

        What a call that was killed before the baseline left behind is deleted: its rules may differ.
        """
        if not self._committed.exists:
            shutil.rmtree(self.paths.store, ignore_errors=True)
        SnapshotStore(self.paths.store, self.paths.root).create(include, tracked, exclude)

    def capture(self, previous: int | None, segments: Sequence[tuple[int, int]]) -> KeptIteration:
        """Keep the tree as it is now. `previous` is the iteration it descends from, None for the baseline."""
        self._refuse_none(previous or 0)
        snapshot = self.store.snapshot()
        changed: tuple[Change, ...] = ()
        since_baseline: tuple[Change, ...] = ()
        if previous is not None:
            changed, since_baseline = (self.changes_since(number, snapshot.tree) for number in (previous, 0))
        return KeptIteration(
            snapshot=snapshot,
            changed=changed,
            since_baseline=since_baseline,
            visits=self._trees.visits(snapshot.tree, segments),
            note=self.store.note if previous is None else None,
        )

    def _content(self, number: int) -> str:
        """Return the id of an iteration's content in the store: its tree if known, else its name."""
        return self._committed.tree(number) or f"{ITERATIONS}{number}"

    def after_checks(self, kept: KeptIteration) -> KeptIteration:
        """Return `kept` with what the checks have changed in the tree."""
        now, changed = self.store.look(kept.snapshot.tree)
        return kept._replace(after_checks=now, changed_by_checks=changed)

    def is_in_place(self, number: int) -> bool:
        """Return whether the working tree is that iteration; False too if it cannot be read, which fails nothing."""
        tree = self._committed.tree(number)
        try:
            return tree is not None and not self.store.look(tree)[1]
        except StoreError:
            return False

    def changes_since(self, number: int, tree: str) -> tuple[Change, ...]:
        """Return every path in which a kept tree differs from an iteration."""
        return self.store.changes(self._content(number), tree)

    def edited_documents(self, number: int) -> tuple[str, ...]:
        """Return the shown paths of the tracker's own documents of an iteration that differ from the seal.

        Those of the baseline include the frozen configuration.
        """
        seals = self._committed.seals
        names = (*seals.edited_documents(number), *(() if number else seals.edited_configuration()))
        return tuple(f"{self.paths.shown}/{name}" for name in names)

    def fill(self, folder: Path, kept: KeptIteration, number: int) -> None:
        """Write the plain files of an iteration into its folder, before the folder is sealed."""
        if any(change.new_id for change in kept.changed):
            (folder / ARTIFACTS).mkdir(mode=0o700)
            self.store.write_changed(kept.changed, folder / ARTIFACTS)
        document = manifest_document(
            number,
            kept.snapshot,
            after_checks=kept.after_checks,
            since_baseline=kept.since_baseline,
            since_previous=kept.changed,
        )
        write_new(folder / MANIFEST, to_json(document), durable=False)

    def write_artifacts(self, number: int) -> None:
        """Copy the files that a recorded iteration changed from the store again; nothing if none is known."""
        measured = self._committed.measurement(number)
        if measured is None or measured[0].tree is None or measured[1] is None:
            return
        changed = self._changed(number, measured[1], measured[0].tree)
        if not any(change.new_id for change in changed):
            return
        folder, new = self.paths.iteration(number) / ARTIFACTS, self.paths.staging / temporary_name()
        with as_store_error(folder, AGAIN):
            new.mkdir(mode=0o700, parents=True)
            self.store.write_changed(changed, new)
            sync_below(new)
            if folder.is_symlink() or folder.is_file():
                folder.unlink()
            shutil.rmtree(folder, ignore_errors=True)
            folder.parent.mkdir(exist_ok=True)  # of a packed one
            new.rename(folder)
            sync_folder(folder.parent)

    def _changed(self, number: int, previous: int, tree: str) -> tuple[Change, ...]:
        """Return the paths that an iteration changed; those it has now, where gc took what they were before."""
        if self.store.has(self._content(previous)):
            return self.changes_since(previous, tree)
        manifest = kept_json(self.paths, number, MANIFEST)
        listed = {each["path"] for each in manifest["since_previous"]} if isinstance(manifest, dict) else set()
        return tuple(each for each in self.store.changes(None, tree) if as_utf8(each.path) in listed)

    def name(self, number: int, kept: KeptIteration) -> None:
        """Name the snapshot as that of a recorded iteration, and remember its tree."""
        self.store.keep(number, kept.snapshot.commit)
        self._trees.remember(kept.snapshot.tree, number)

    def repair(self, number: int) -> None:
        """Name the snapshot of a recorded iteration if a killed call did not get to it."""
        manifest = kept_json(self.paths, number, MANIFEST)
        if not self.store.exists or not isinstance(manifest, dict) or not {"commit", "tree"} <= manifest.keys():
            return
        if not self.store.has(manifest["commit"]):
            return  # damaged, as `verify` finds; what comes next may be kept all the same
        self.store.keep(number, manifest["commit"])
        self._trees.remember(manifest["tree"], number)

    def tree(self, number: int) -> str:
        """Return the tree of an iteration. Raises NoSnapshotError if none is kept."""
        return self._snapshot(number).tree

    def tree_equals(self, number: int, tree: str | None) -> bool:
        """Return whether the working tree equals that iteration, before or after its checks."""
        manifest = kept_json(self.paths, number, MANIFEST)
        left = manifest.get("tree_after_checks") if isinstance(manifest, dict) else None
        return self.store.snapshot().tree in {tree, left}

    def damage(self, number: int, examining: VerificationCache | None = None) -> tuple[str, ...]:
        """Return the parts of an iteration that are missing, damaged or not as sealed, () if all is intact.

        Every kept content is read and compared with its hash, but for those known to be `whole` when many iterations
        are examined.
        """
        seals, collected, whole = examining or self._examining_context()
        sealed = (*seals.broken_files(number), *seals.broken_chain(number))
        if number in collected:
            return tuple(name for name in sealed if name.partition("/")[0] not in COLLECTABLE)
        if not self.keeps(number):
            return sealed
        manifest = kept_json(self.paths, number, MANIFEST)
        named = manifest.get("commit") if isinstance(manifest, dict) else None
        try:
            snapshot = self.store.find(number)
            kept = self.store.verify(snapshot.commit, whole)
            is_other = named is not None and self.store.describe(named).commit != snapshot.commit
        except (NoSnapshotError, StoreError):
            return (*sealed, SNAPSHOT)
        kept = tuple("its list of files" if path == "/" else path for path in kept)
        return (*sealed, *kept, *((SNAPSHOT,) if is_other else ()))

    def _examining_context(self) -> VerificationCache:
        return VerificationCache(self._committed.seals, self._committed.collected_iterations(), set())

    def refuse_damaged(self, number: int) -> None:
        """Raise StoreError if an iteration differs from its seal, NoSnapshotError if nothing of it is kept.

        Its plain copies do not count: nothing is restored from them.
        """
        self._refuse_absent(number)
        damaged = [name for name in self.damage(number) if name.partition("/")[0] != ARTIFACTS]
        if damaged:
            names = ", ".join(shown(path) for path in damaged[:3])
            raise StoreError(
                f"iteration {number}: its stored files are damaged ({names}); nothing was changed, "
                "run `ralph-tracker verify` and take another iteration"
            )

    def restore(self, number: int) -> UndoIds:
        """Make the working tree exactly that iteration, and return the ids that undo it.

        An interrupted restore is finished or replaced. Raises as `refuse_damaged`.
        """
        self.refuse_damaged(number)
        return self.restoring.restore(self.store, self._snapshot(number).commit, number)

    def deletions(self, number: int) -> tuple[str, ...]:
        """Return the files that a restore of that iteration would delete. Raises as `restore` does before it begins."""
        self.refuse_damaged(number)
        return self.store.deletions(self._snapshot(number).commit)

    def undo_deletions(self, undo_id: str) -> tuple[str, ...]:
        """Return the files that `undo` would delete."""
        return self.store.deletions(self._safety(undo_id))

    def _safety(self, undo_id: str) -> str:
        """Return the name of what was kept under an undo id."""
        self._refuse_none(0)
        if not UNDO_ID.fullmatch(undo_id):
            raise NoSnapshotError(f"{shown(undo_id)} is no undo id: they look like undo-0123456789ab")
        return f"{SAFETY}{undo_id}"

    def undo(self, undo_id: str, to: int | None = None) -> UndoIds:
        """Bring back the files from before a restore, and return the ids that undo this.

        `to` is the iteration that the next one then descends from, None if the lineage is unchanged.
        """
        return self.restoring.restore(self.store, self._safety(undo_id), to)

    def undo_list(self) -> tuple[UndoDocument, ...]:
        """Return what restores have kept before they began, the newest first, so that a lost id can be found again.

        `files` counts all files that the id brings back, `at` is when they were kept. `interrupted` is whether the
        restore that kept them was interrupted. Raises StoreError if the store cannot be read.
        """
        self._refuse_none(0)
        names = self.store.references()
        marked = interrupted_restore(self.paths)
        ids = () if marked is None else marked.undo_ids
        trees = {
            int(name.removeprefix(ITERATIONS)): tree
            for name in names
            if name.startswith(ITERATIONS) and (tree := self._scope_of(name)) is not None
        }
        safeties = {name: self.store.named_at(name) for name in names if name.startswith(SAFETY)}
        newest_first = sorted(safeties, key=lambda name: (-safeties[name], name))
        found: list[UndoDocument] = []
        for name in newest_first:
            undo_id, scope = name.removeprefix(SAFETY), self._scope_of(name)
            time = datetime.fromtimestamp(safeties[name], UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            files = changed = number = None
            if scope is not None:
                files = len(self.store.paths(name))
                differing = {each: len(self.store.changes(tree, scope)) for each, tree in trees.items()}
                number = min(differing, key=lambda each: (differing[each], -each), default=None)
                changed = None if number is None else differing[number]
            found.append(
                {
                    "undo": undo_id,
                    "at": time,
                    "iteration": number,
                    "changed": changed,
                    "files": files,
                    "interrupted": undo_id in ids,
                }
            )
        return tuple(found)

    def _scope_of(self, name: str) -> str | None:
        try:
            found = self.store.describe(name)
        except (NoSnapshotError, StoreError):
            return None
        return (found.note and found.note.scope) or found.tree  # without what a safety snapshot has beside it

    def resume_restore(self) -> BegunRestore | None:
        """Finish an interrupted restore; return what must be recorded, None for nothing.

        Raises LoopError if files were edited since.
        """
        self._refuse_none(0)
        return self.restoring.resume(self.store)

    def pack_store(self, number: int) -> None:
        """Pack the store after every few iterations; a failure is ignored, since the next time will do."""
        if number % 25 == 0:
            with suppress(StoreError):
                self.store.pack()

    def branch(self, number: int, name: str) -> Branch:
        """Create a branch in the user's repository with that iteration's content."""
        return self.store.branch(self._snapshot(number).commit, name)

    def differs_from_baseline(self, number: int) -> tuple[Change, ...]:
        """Return every path in which an iteration differs from the baseline."""
        return self.store.changes(self.tree(0), self.tree(number))

    def file_changes(self, before: int, after: int) -> tuple[FileChange, ...]:
        """Compare two iterations file by file. Raises NoSnapshotError if one is not kept, StoreError if damaged."""
        return file_changes(self.store, self._snapshot(before).commit, self._snapshot(after).commit)

    def export(self, number: int, destination: Path) -> None:
        """Write the files and empty folders of an iteration into an empty folder."""
        self.store.export(self._snapshot(number).commit, destination)

    def _snapshot(self, number: int) -> Snapshot:
        self._refuse_none(number)
        try:
            return self.store.find(number)
        except NoSnapshotError:
            self._refuse_absent(number)  # checked only now, because it reads the whole log
            if self.keeps(number):
                raise self._lost_error(number, "its snapshot is missing") from None
            raise

    def _refuse_absent(self, number: int) -> None:
        self._refuse_none(number)
        if number in self._committed.collected_iterations():
            raise CollectedError(COLLECTED.format(number))

    def _refuse_none(self, number: int) -> None:
        if self.store.exists:
            return
        if self.keeps(number):
            raise self._lost_error(number, "the store is missing")
        # Then it is not known whether files were kept.
        if is_recorded(self.paths, number) and self._committed.seals.broken_files(number):
            raise StoreError(_NO_RECORD.format(number))
        raise NoSnapshotError(f"iteration {number} has no files: metrics were handed in; set codebase.keep: always")

    def _lost_error(self, number: int, what: str) -> StoreError:
        return StoreError(_LOST.format(number, what, self.paths.shown))


def leave_alone(paths: LoopPaths, file: Path) -> None:
    """Note a file that we wrote on the user's word: no iteration keeps it from now on, and no restore touches it.

    Nothing is noted where it lies outside of the project, no files are kept, or the loop cannot be written to.
    """
    store, place, root = SnapshotStore(paths.store, paths.root), file.resolve(), paths.root.resolve()
    if store.exists and place.is_relative_to(root) and place.parts[len(root.parts) :][:1] != (LOOP_FOLDER,):
        with suppress(StoreError):
            store.leave_alone(place.relative_to(root).as_posix())


@contextmanager
def folder_to_look() -> Iterator[Path]:
    """Create a temporary folder for looking at a tree, and remove it afterwards."""
    with temporary_folder() as scratch:
        # A name that is never kept, in case the temporary folder is inside the tree.
        folder = scratch / BASE
        folder.mkdir(parents=True)
        yield folder


class ReadOnlyFiles(IterationSnapshots):
    """The files of a loop, only read: what is written to identify the current tree goes to `folder`, which is created.

    Raises NoSnapshotError if the loop keeps no files.
    """

    def __init__(self, committed: SealedRecords, folder: Path) -> None:
        super().__init__(committed)
        if not self.store.exists and self.baseline_is_kept:
            raise self._lost_error(0, "the store is missing")
        if not self.store.exists:
            raise NoSnapshotError(f"nothing is kept in {self.paths.shown}: run `ralph-tracker hook pre-loop` first")
        self.store = self.store.read_only_copy(folder)

    def _content(self, number: int) -> str:
        """Return the id of an iteration's content if the store's names are not available."""
        manifest = kept_json(self.paths, number, MANIFEST)
        if not isinstance(manifest, dict) or not isinstance(manifest.get("tree"), str):
            raise StoreError(f"iteration {number}: {MANIFEST} is damaged; run `ralph-tracker verify`")
        tree: str = manifest["tree"]
        return tree
