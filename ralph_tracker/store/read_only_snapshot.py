"""Look at a tree as a keeper of a loop does, and leave the loop's folder as it is."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.keeping import MANIFEST, Keeper
from ralph_tracker.store.layout import BASE
from ralph_tracker.store.reading import read_json
from ralph_tracker.store.records import Committed

STORE: Final = "store.git"


@contextmanager
def lookout(purpose: str) -> Iterator[Path]:
    """Make an empty temporary folder to look at a tree from, and take it away again."""
    with tempfile.TemporaryDirectory(prefix=f"ralph-tracker-{purpose}-", ignore_cleanup_errors=True) as scratch:
        # Under a name that is neither kept nor counted, should the temporary folder be a part of the tree.
        folder = Path(scratch).resolve() / BASE
        folder.mkdir(parents=True)
        yield folder


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
