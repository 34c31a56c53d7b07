"""Look at a tree as a keeper of a loop does, and leave the loop's folder as it is."""

from pathlib import Path
from typing import Final

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.committed import Committed
from ralph_tracker.store.keeping import MANIFEST, Keeper
from ralph_tracker.store.reading import read_json

STORE: Final = "store.git"


class Onlooker(Keeper):
    """Read the tree of now and name its content. What is written for that goes to `folder`, which is made here.

    Raises NoSnapshotError where the loop keeps no files.
    """

    def __init__(self, committed: Committed, folder: Path) -> None:
        super().__init__(committed)
        if not self.exists:
            raise NoSnapshotError(f"nothing is kept in {self.paths.shown}: run `ralph-tracker hook pre-loop` first")
        self._store = self._store.lend(folder)

    def _content(self, number: int) -> str:
        """Return what an iteration is called where the names of the store are not at hand."""
        manifest = read_json(self.paths.iteration(number) / MANIFEST)
        if not isinstance(manifest, dict) or not isinstance(manifest.get("tree"), str):
            raise StoreError(f"iteration {number}: {MANIFEST} is damaged; run `ralph-tracker verify`")
        tree: str = manifest["tree"]
        return tree
