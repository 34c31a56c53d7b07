"""The files of an iteration: the tree as the agent left it, kept in git, and beside it as plain files."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from ralph_tracker.errors import CollectedError, NoSnapshotError, StoreError
from ralph_tracker.store.committed import Committed
from ralph_tracker.store.files import to_json, told_plainly, write_new, write_whole
from ralph_tracker.store.git import GitStore
from ralph_tracker.store.git_patch import FileChange
from ralph_tracker.store.reading import read_json
from ralph_tracker.store.restoring import RestoreMark, Restoring
from ralph_tracker.store.snapshots import ITERATIONS, SAFETY, Change, Snapshot, as_utf8, shown
from ralph_tracker.store.summary import SCHEMA_VERSION

ARTIFACTS: Final = "artifacts"
MANIFEST: Final = "manifest.json"
CHECKS: Final = "checks.json"
_NO_FILES: Final = "iteration {} has no files: metrics were handed in; set codebase.keep: always"
SNAPSHOT: Final = "the snapshot in store.git"
COLLECTED: Final = "iteration {} was collected by gc; its record stays"
# What gc takes away of an iteration's folder.
COLLECTABLE: Final = (ARTIFACTS, "reports")
_PACKED_EVERY: Final = 25


@dataclass(frozen=True, slots=True)
class Visits:
    """Say how often the line came to a content before, from another one, and when last (None: never)."""

    count: int
    last: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Hold what was kept of one iteration before its checks ran.

    `changed` is against the iteration before, `since_baseline` against iteration 0 (empty for the baseline itself).
    `after_checks` is the content that the checks left behind, with the paths that they changed.
    """

    snapshot: Snapshot
    changed: tuple[Change, ...]
    since_baseline: tuple[Change, ...]
    visits: Visits
    after_checks: str | None = None
    changed_by_checks: tuple[str, ...] = ()


class Keeper:
    """Keep and bring back the files of one loop's iterations."""

    def __init__(self, committed: Committed) -> None:
        self.paths = committed.paths
        self._committed = committed
        self._folder = self.paths.folder / "store.git"
        self._git = GitStore(self._folder, self.paths.root)
        self._restoring = RestoreMark(self.paths)

    @property
    def exists(self) -> bool:
        """Tell whether the loop keeps files."""
        return self._git.exists

    @property
    def goes_on(self) -> bool:
        """Tell whether the files of the baseline were kept, and so those of every iteration are."""
        return (self.paths.iteration(0) / MANIFEST).exists()

    def begins(self, keep: str) -> bool:
        """Tell whether a new loop with metrics handed in keeps files, as `codebase.keep` says it.

        Where it does not, what a call that never came to a baseline has left behind goes.
        """
        if keep == "always" or (keep == "auto" and self._git.is_in_repository):
            return True
        self._clear()
        return False

    def create(self) -> None:
        """Make the store anew; the ignore rules of now are those of the whole loop.

        What a call that never came to a baseline has left behind goes: its rules may be others.
        """
        if not self._committed.exists:
            self._clear()
        self._git.create()

    def _clear(self) -> None:
        with told_plainly(self._folder):
            shutil.rmtree(self._folder, ignore_errors=True)

    def capture(self, previous: int | None, segments: Sequence[tuple[int, int]]) -> Kept:
        """Keep the tree as it is now. `previous` is the iteration it descends from, None for the baseline."""
        self._refuse_none(previous or 0)
        snapshot = self._git.snapshot()
        befores = () if previous is None else (_ref(previous), _ref(0))
        changed, since_baseline = self._git.changes_since(befores, snapshot.tree) or ((), ())
        return Kept(
            snapshot=snapshot,
            changed=changed,
            since_baseline=since_baseline,
            visits=self._visits(snapshot.tree, segments),
        )

    def after_checks(self, kept: Kept) -> Kept:
        """Look at the tree once more and add what the checks have changed in it."""
        now, changed = self._git.look(kept.snapshot.tree)
        return replace(kept, after_checks=now, changed_by_checks=changed)

    def files_of(self, tree: str) -> tuple[str, ...]:
        """Return the paths of a kept tree."""
        return self._git.paths(tree)

    def fill(self, folder: Path, kept: Kept, number: int) -> None:
        """Write the plain files of an iteration into its folder, before the folder is sealed."""
        present = [change.path for change in kept.changed if change.status != "D"]
        if present:
            self._git.export(kept.snapshot.tree, folder / ARTIFACTS, present)
        write_new(folder / MANIFEST, to_json(_manifest(kept, number)))

    def name(self, number: int, kept: Kept) -> None:
        """Name the snapshot as that of an iteration that is on record, and remember its content."""
        self._git.keep(number, kept.snapshot.commit)
        self._remember(kept.snapshot.tree, number)

    def _remember(self, tree: str, number: int) -> None:
        known = self._iterations(tree)
        if number not in known:
            path = self._index(tree)
            with told_plainly(path):
                write_whole(path, to_json([*known, number]), self.paths.staging)

    def repair(self, number: int) -> None:
        """Name the snapshot of an iteration on record where a killed call did not come to it."""
        manifest = read_json(self.paths.iteration(number) / MANIFEST)
        if not self.exists or not isinstance(manifest, dict) or not {"commit", "tree"} <= manifest.keys():
            return
        self._git.keep(number, manifest["commit"])
        self._remember(manifest["tree"], number)

    def tree(self, number: int) -> str:
        """Return the content of an iteration. Raises NoSnapshotError where none is kept."""
        return self._snapshot(number).tree

    def stands_at(self, number: int, tree: str | None) -> bool:
        """Tell whether the tree is as that iteration found it, or as its checks left it."""
        manifest = read_json(self.paths.iteration(number) / MANIFEST)
        left = manifest.get("tree_after_checks") if isinstance(manifest, dict) else None
        return self._git.snapshot().tree in {tree, left}

    def damage(self, number: int) -> tuple[str, ...]:
        """Return what of an iteration is missing, damaged or not what was sealed, () where all is intact."""
        sealed = (*self._committed.broken_seals(number), *self._committed.broken_chain(number))
        if number in self._committed.collected():
            return tuple(name for name in sealed if name.partition("/")[0] not in COLLECTABLE)
        if not self.exists:
            return sealed
        try:
            snapshot = self._git.find(number)
            kept = self._git.verify(snapshot.commit)
        except (NoSnapshotError, StoreError):
            return (*sealed, SNAPSHOT)
        manifest = read_json(self.paths.iteration(number) / MANIFEST)
        named = manifest.get("commit") if isinstance(manifest, dict) else None
        return (*sealed, *kept, *(() if named in {None, snapshot.commit} else (SNAPSHOT,)))

    def refuse_damaged(self, number: int) -> None:
        """Raise StoreError where an iteration is not what was sealed, NoSnapshotError where nothing of it is kept."""
        self._refuse_absent(number)
        damaged = self.damage(number)
        if damaged:
            names = ", ".join(shown(path) for path in damaged[:3])
            raise StoreError(
                f"iteration {number}: what is kept is damaged ({names}); nothing was changed, "
                "run `ralph-tracker verify` and take another iteration"
            )

    def restore(self, number: int) -> str:
        """Make the working tree exactly that iteration, and return the id that undoes it.

        Raises as `refuse_damaged`.
        """
        self.refuse_damaged(number)
        commit = self._snapshot(number).commit
        with self._restoring.marked(commit, number) as begun:
            return self._git.restore(commit, begun)

    def undo(self, undo_id: str, to: int | None = None) -> str:
        """Bring back what stood there before a restore, and return the id that undoes this.

        `to` is the iteration from which the next one descends then, None where the line stays.
        """
        with self._restoring.marked(f"{SAFETY}{undo_id}", to) as begun:
            return self._git.undo(undo_id, begun)

    def resumed(self) -> Restoring | None:
        """End a restore whose call was killed; return what has to go on record, None for nothing."""
        return self._restoring.resumed(self._git)

    def settle(self) -> None:
        """Take the mark of a restore away, once that is on record."""
        self._restoring.clear()

    def tidy(self, number: int) -> None:
        """Pack what is kept, after every so many iterations; where that fails, the next time is early enough."""
        if number % _PACKED_EVERY == 0:
            with suppress(StoreError):
                self._git.pack()

    def branch(self, number: int, name: str) -> str:
        """Make a branch of the user's repository with that iteration's content, and return its commit."""
        return self._git.branch(self._snapshot(number).commit, name)

    def differs_from_baseline(self, number: int) -> tuple[Change, ...]:
        """Return every path in which an iteration differs from the baseline."""
        return self._git.changes(self.tree(0), self.tree(number))

    def file_changes(self, before: int, after: int) -> tuple[FileChange, ...]:
        """Compare two iterations file by file. Raises NoSnapshotError where one is not kept, StoreError for damage."""
        for number in (before, after):
            self._refuse_absent(number)
        return self._git.file_changes(_ref(before), _ref(after))

    def export(self, number: int, destination: Path, paths: Sequence[str] | None = None) -> None:
        """Write those files of an iteration into an empty folder; None: all, and its empty folders."""
        self._git.export(self._snapshot(number).commit, destination, paths)

    def _snapshot(self, number: int) -> Snapshot:
        self._refuse_none(number)
        try:
            return self._git.find(number)
        except NoSnapshotError:
            self._refuse_absent(number)  # asked only now: it reads the whole log
            raise

    def _refuse_absent(self, number: int) -> None:
        self._refuse_none(number)
        if number in self._committed.collected():
            raise CollectedError(COLLECTED.format(number))

    def _refuse_none(self, number: int) -> None:
        if not self.exists:
            raise NoSnapshotError(_NO_FILES.format(number))

    def _index(self, tree: str) -> Path:
        return self.paths.folder / "trees" / tree[:2] / f"{tree}.json"

    def _iterations(self, tree: str) -> list[int]:
        plain = read_json(self._index(tree))
        return [number for number in plain if isinstance(number, int)] if isinstance(plain, list) else []

    def _visits(self, tree: str, segments: Sequence[tuple[int, int]]) -> Visits:
        """Count the visits on the line: iterations in a row with one content are a single visit."""
        on_line = [n for n in self._iterations(tree) if any(first <= n <= last for first, last in segments)]
        follows = {last: following[0] for (_, last), following in pairwise(segments)}
        going_on = {follows.get(n, n + 1) for n in on_line}
        starts = [n for n in on_line if n not in going_on]
        return Visits(len(starts), on_line[-1] if on_line else None)


def _ref(number: int) -> str:
    return f"{ITERATIONS}{number}"


def _manifest(kept: Kept, number: int) -> dict[str, Any]:
    snapshot = kept.snapshot
    return {
        "schema_version": SCHEMA_VERSION,
        "iteration": number,
        "tree": snapshot.tree,
        "commit": snapshot.commit,
        "tree_after_checks": kept.after_checks,
        "quiescent": snapshot.quiescent,
        "since_baseline": [_change(change) for change in kept.since_baseline],
        "since_previous": [_change(change) for change in kept.changed],
        "skipped": [{"path": as_utf8(path), "reason": reason} for path, reason in snapshot.skipped],
        "empty_directories": [as_utf8(path) for path in snapshot.empty_directories],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "path": as_utf8(change.path),
        "status": change.status,
        "mode": change.new_mode,
        "size": change.size,
        "sha256": change.sha256,
    }
