"""The files of an iteration: the tree as the agent left it, kept in git, and beside it as plain files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.committed import Committed
from ralph_tracker.store.files import to_json, told_plainly, write_new, write_whole
from ralph_tracker.store.git import GitStore
from ralph_tracker.store.reading import read_json
from ralph_tracker.store.snapshots import Change, Snapshot
from ralph_tracker.store.summary import SCHEMA_VERSION

ARTIFACTS: Final = "artifacts"
MANIFEST: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class Visits:
    """Say how often the line came to a content before, from another one, and when last (None: never)."""

    count: int
    last: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Hold what was kept of one iteration before its checks ran.

    `changed` is against the iteration before, `since_baseline` against iteration 0 (empty for the baseline itself).
    """

    snapshot: Snapshot
    changed: tuple[Change, ...]
    since_baseline: tuple[Change, ...]
    visits: Visits


class Keeper:
    """Keep and bring back the files of one loop's iterations."""

    def __init__(self, committed: Committed) -> None:
        self.paths = committed.paths
        self._committed = committed
        self._git = GitStore(self.paths.folder / "store.git", self.paths.root)

    @property
    def exists(self) -> bool:
        """Tell whether the loop keeps files."""
        return self._git.exists

    def create(self) -> None:
        """Make the store; the ignore rules of now are those of the whole loop."""
        self._git.create()

    def capture(self, previous: int | None, segments: Sequence[tuple[int, int]]) -> Kept:
        """Keep the tree as it is now. `previous` is the iteration it descends from, None for the baseline."""
        before = None if previous is None else self.tree(previous)
        baseline = None if previous is None else self.tree(0)
        snapshot = self._git.snapshot(previous=before)
        return Kept(
            snapshot=snapshot,
            changed=self._git.changes(before, snapshot.tree) if before else (),
            since_baseline=self._git.changes(baseline, snapshot.tree) if baseline else (),
            visits=self._visits(snapshot.tree, segments),
        )

    def changed_since(self, snapshot: Snapshot) -> tuple[str, ...]:
        """Name what differs in the tree now from a snapshot: what the checks wrote."""
        return self._git.snapshot(previous=snapshot.tree).changed

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
        if not self.exists or not isinstance(manifest, dict):
            return
        self._git.keep(number, manifest["commit"])
        self._remember(manifest["tree"], number)

    def tree(self, number: int) -> str:
        """Return the content of an iteration. Raises NoSnapshotError where none is kept."""
        return self._snapshot(number).tree

    def content_now(self) -> str:
        """Return the content of the tree as it is now."""
        return self._git.snapshot().tree

    def damage(self, number: int) -> tuple[str, ...]:
        """Return what of an iteration's files is missing or damaged, () where all is intact or none is kept."""
        return self.verify(number) if self.exists else ()

    def restore(self, number: int) -> str:
        """Make the working tree exactly that iteration, and return the id that undoes it."""
        snapshot = self._snapshot(number)
        damaged = self._git.verify(snapshot.commit)
        if damaged:
            names = ", ".join(damaged[:3])
            raise StoreError(f"iteration {number}: kept files are damaged ({names}); nothing was changed")
        return self._git.restore(snapshot.commit)

    def undo(self, undo_id: str) -> str:
        """Bring back what stood there before a restore, and return the id that undoes this."""
        return self._git.undo(undo_id)

    def branch(self, number: int, name: str) -> str:
        """Make a branch of the user's repository with that iteration's content, and return its commit."""
        return self._git.branch(self._snapshot(number).commit, name)

    def differs_from_baseline(self, number: int) -> tuple[Change, ...]:
        """Return every path in which an iteration differs from the baseline."""
        return self._git.changes(self.tree(0), self.tree(number))

    def export(self, number: int, destination: Path, paths: Sequence[str]) -> None:
        """Write those files of an iteration into an empty folder."""
        self._git.export(self.tree(number), destination, paths)

    def verify(self, number: int) -> tuple[str, ...]:
        """Return the paths of an iteration whose content is missing or damaged."""
        return self._git.verify(self._snapshot(number).commit)

    def _snapshot(self, number: int) -> Snapshot:
        if not self.exists:
            raise NoSnapshotError(f"iteration {number} has no snapshot; this loop keeps no files")
        return self._git.find(number)

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


def _manifest(kept: Kept, number: int) -> dict[str, Any]:
    snapshot = kept.snapshot
    return {
        "schema_version": SCHEMA_VERSION,
        "iteration": number,
        "tree": snapshot.tree,
        "commit": snapshot.commit,
        "quiescent": snapshot.quiescent,
        "since_baseline": [_change(change) for change in kept.since_baseline],
        "since_previous": [_change(change) for change in kept.changed],
        "skipped": [{"path": _shown(path), "reason": reason} for path, reason in snapshot.skipped],
        "empty_directories": [_shown(path) for path in snapshot.empty_directories],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "path": _shown(change.path),
        "status": change.status,
        "mode": change.new_mode,
        "size": change.size,
        "sha256": change.sha256,
    }


def _shown(path: str) -> str:
    """Write a path as UTF-8; bytes that are none stay readable by their numbers."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
