"""Look at a tree as a keeper of a loop does, and leave the loop's folder as it is."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ralph_tracker.errors import NoSnapshotError
from ralph_tracker.store.committed import Committed
from ralph_tracker.store.files import told_plainly
from ralph_tracker.store.git import GitStore
from ralph_tracker.store.keeping import Keeper, Kept

STORE: Final = "store.git"
# What a store is beside its objects and names: the scope, the settings, and the tree as it was last seen.
_LENT: Final = ("HEAD", "config", "index")


class Onlooker(Keeper):
    """Read the tree of now and name its content. What git writes for that goes to `folder`, which is made here.

    Raises NoSnapshotError where the loop keeps no files.
    """

    def __init__(self, committed: Committed, folder: Path) -> None:
        super().__init__(committed)
        if not self.exists:
            raise NoSnapshotError(f"nothing is kept in {self._folder}: run `ralph-tracker hook pre-loop` first")
        with told_plainly(self._folder):
            _borrow(self._folder, folder)
        self._git = GitStore(folder, self.paths.root)

    def capture(self, previous: int | None, segments: Sequence[tuple[int, int]]) -> Kept:
        """Return the tree as it is now; it is compared with no other."""
        del previous
        snapshot = self._git.snapshot()
        return Kept(snapshot=snapshot, changed=(), since_baseline=(), visits=self._visits(snapshot.tree, segments))


def _borrow(store: Path, folder: Path) -> None:
    """Make a git directory that begins as a store stands, and reads that one's objects where they lie."""
    for name in ("objects/info", "refs"):
        (folder / name).mkdir(parents=True)
    for name in _LENT:
        if (store / name).exists():
            shutil.copy2(store / name, folder / name)  # git trusts what is older than its index: times go along
    shutil.copytree(store / "info", folder / "info")
    (folder / "objects" / "info" / "alternates").write_bytes(_quoted(store.absolute() / "objects") + b"\n")


def _quoted(path: Path) -> bytes:
    """Write a path as git does where a name could be mistaken for something else, or for two."""
    escaped = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'
