"""Where kept files are written outside of the tree that they are kept of."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ralph_tracker.errors import StoreError
from ralph_tracker.store.tree.writer import TreeWriter


@contextmanager
def into_empty_folder(destination: Path) -> Iterator[TreeWriter]:
    """Yield what writes into a folder, which is made where it is missing; raise StoreError for one that holds anything.

    What fails then may leave a part behind.
    """
    destination.mkdir(parents=True, exist_ok=True)
    if any(destination.iterdir()):
        raise StoreError(f"{destination} is not empty: name an empty folder")
    with TreeWriter(destination) as writer:
        yield writer
