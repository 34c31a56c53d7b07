"""The index of a git store: brought up to what a scan saw, and written as a tree."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.store.git.verbs import Runner, path_list, removals
from ralph_tracker.store.tree.capture import Scan

_MANY: Final = 10  # files; fewer are as quick one by one, and leave no pack of their own
_CHECKSUM_BYTES: Final = 20


class IndexTree:
    """Write the index as a git tree; while its content stays the same, git is asked once."""

    def __init__(self, git: Runner, index: Path) -> None:
        self._git = git
        self._index = index
        self._known: tuple[bytes, str] | None = None

    def write(self) -> str:
        """Return the id of the tree."""
        if self._known is None or self._known[0] != self._checksum():
            tree = self._git.run("write-tree").decode().strip()  # which may write the index too
            self._known = self._checksum(), tree
        return self._known[1]

    def _checksum(self) -> bytes:
        """Return the hash of its content that an index ends with, nothing where there is no index."""
        try:
            with self._index.open("rb") as file:
                file.seek(-_CHECKSUM_BYTES, os.SEEK_END)
                return file.read()
        except FileNotFoundError:
            return b""


class Adders(NamedTuple):
    """Hold the gits that take files in.

    `many` puts new content into one pack, where git can do that: half the cost of a file for each. `ahead` writes very
    many at once, before the others look.
    """

    few: Runner
    many: Runner
    ahead: Runner


def take_in(git: Adders, store: Path, root: Path, scan: Scan, *, very_many: int, is_first: bool) -> None:
    """Take removals in first, so that a file can take the place of a folder and the other way round.

    `is_first` says that the index holds nothing so far. Raises StoreError where git refuses, or where what it has
    written is not whole.
    """
    if scan.removed:
        git.few.run("update-index", "-z", "--index-info", stdin=removals(scan.removed))
    if scan.added:
        adder = git.many if len(scan.added) > _MANY else git.few
        if len(scan.added) > very_many and _pack_ahead(git.ahead, root, scan.added, is_first=is_first):
            adder = git.few
        # What lay below a folder that is a link to itself now is not seen to be gone, and would be in the way.
        add = partial(adder.run, "update-index", "--add", "--replace", "-z", "--stdin", stdin=path_list(scan.added))
        if adder is git.few:
            add()
            return
        from ralph_tracker.store.git.packs import new_packs_checked  # noqa: PLC0415  # few iterations change so much

        with new_packs_checked(store / "objects" / "pack", store / "index"):
            add()


def _pack_ahead(git: Runner, root: Path, paths: Sequence[str], *, is_first: bool) -> bool:
    from ralph_tracker.store.git.ahead import pack_ahead  # noqa: PLC0415  # few iterations change so much

    return pack_ahead(git, root, paths, trees=is_first)
