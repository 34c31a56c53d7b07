"""Where kept files are written outside of the tree that they are kept of."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots import Change, Entry
from ralph_tracker.store.tree.writer import TreeWriter

# Yields the content of each object in chunks.
Read = Callable[[Sequence[str]], Iterator[Iterator[bytes]]]


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


def write_files(each: Read, entries: Sequence[Entry], writer: TreeWriter) -> None:
    """Write kept files below the root of the writer."""
    for entry, chunks in zip(entries, each([entry.object_id for entry in entries]), strict=True):
        writer.write(entry.path, entry.mode, chunks)


def write_changed(each: Read, changes: Iterable[Change], destination: Path) -> None:
    """Write what changed files hold now into an empty folder; those that are gone are passed over."""
    now = [Entry(each.path, each.new_mode, each.new_id) for each in changes if each.new_mode and each.new_id]
    with into_empty_folder(destination) as writer:
        write_files(each, now, writer)
