"""Read a tree into a store until it holds still."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots import Limits, Skipped
from ralph_tracker.store.tree.view import Prints

_TRIES: Final = 3
_WHILE_MOVING: Final = 30


class Scan(NamedTuple):
    """Hold what has to happen to a store's index so that it is the tree.

    `folders` are those of which the index has nothing so far, `prints` tell whether what was seen has changed since.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    folders: tuple[str, ...]
    prints: Prints

    @property
    def paths(self) -> tuple[str, ...]:
        return self.added + self.removed


class Captured(NamedTuple):
    """Hold the tree that the index now is, and what of the working tree is not in it."""

    tree: str
    skipped: tuple[Skipped, ...]
    empty_directories: tuple[str, ...]
    quiescent: bool


class Scanner(Protocol):
    """Compare a tree with a store's index."""

    def scan(self) -> Scan:
        """List what changed; raise StoreError for more files than the limit allows."""
        ...

    def prints(self, paths: Collection[str]) -> Prints:
        """Return what tells whether paths have changed since, as they are now."""
        ...

    def empty_folders(self, scan: Scan) -> tuple[str, ...]:
        """Return the folders that hold nothing at all, innermost ones, sorted; the scan must be in the index by now."""
        ...


def capture(scanner: Scanner, take_in: Callable[[Scan], None], write: Callable[[], str]) -> Captured:
    """Bring an index up to the tree; try again, three times in all, where what is read changes meanwhile.

    A file that is cut short under the reader's eyes is tried more often: an agent that never rests costs no iteration.
    `take_in` does to the index what a scan found, `write` returns the tree that it is then. That is the tree as the
    scan saw it: what changes later in a file that the scan found unchanged belongs to the next snapshot.
    """
    restless: tuple[str, ...] = ()
    tries = failures = 0
    quiescent = moving = False
    while not quiescent and tries < _TRIES:
        before = scanner.prints(restless)
        scan = scanner.scan()
        try:
            take_in(scan)
        except StoreError:  # what was read has changed its kind, was cut short or is gone, or there is a real trouble
            failures += 1
            moving = moving or scanner.prints(scan.paths) != scan.prints
            if failures >= (_WHILE_MOVING if moving else _TRIES):
                raise
            continue
        tries += 1
        quiescent = scanner.prints(scan.paths) == scan.prints and scanner.prints(restless) == before
        restless += () if quiescent else scan.paths
    return Captured(write(), scan.skipped, scanner.empty_folders(scan), quiescent)


def refuse_too_many(root: Path, count: int, limits: Limits) -> None:
    """Raise StoreError where a tree holds more files than the limit allows."""
    if count > limits.max_files:
        raise StoreError(
            f"{root} holds {count} files to keep, over the limit of {limits.max_files}: "
            "ignore what need not be kept, or raise the limit"
        )
