"""Read a tree into the store's index until it holds still, and write it as a git tree."""

from dataclasses import dataclass
from typing import Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git_verbs import Runner, path_list, removals
from ralph_tracker.store.snapshots import Skipped
from ralph_tracker.store.tree_scan import Scan, TreeScanner

_TRIES: Final = 3
_MANY: Final = 10  # files; fewer are as quick one by one, and leave no pack of their own


@dataclass(frozen=True, slots=True)
class Captured:
    """Hold the tree that the index now is, and what of the working tree is not in it."""

    tree: str
    skipped: tuple[Skipped, ...]
    empty_directories: tuple[str, ...]
    quiescent: bool


def capture(git: Runner, bulk: Runner, scanner: TreeScanner) -> Captured:
    """Bring the index up to the tree; try again, three times in all, where what is read changes meanwhile.

    `bulk` puts new content into one pack, where git can do that: half the cost of a file for each. The tree is as
    the scan saw it: what changes later in a file that the scan found unchanged belongs to the next snapshot.
    """
    restless: tuple[str, ...] = ()
    for attempt in range(1, _TRIES + 1):
        before = scanner.prints(restless)
        scan = scanner.scan()
        try:
            _take_in(git, bulk, scan)
        except StoreError:  # what was read has changed its kind or is gone, or there is a real trouble
            if attempt == _TRIES:
                raise
            continue
        quiescent = scanner.prints(scan.paths) == scan.prints and scanner.prints(restless) == before
        if quiescent:
            break
        restless += scan.paths
    tree = git.run("write-tree").decode().strip()
    return Captured(tree, scan.skipped, scanner.empty_folders(scan), quiescent)


def _take_in(git: Runner, bulk: Runner, scan: Scan) -> None:
    """Take removals in first, so that a file can take the place of a folder and the other way round."""
    if scan.removed:
        git.run("update-index", "-z", "--index-info", stdin=removals(scan.removed))
    if scan.added:
        adder = bulk if len(scan.added) > _MANY else git
        adder.run("update-index", "--add", "-z", "--stdin", stdin=path_list(scan.added))
