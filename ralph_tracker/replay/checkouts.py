"""Check commits out, each into a folder that nobody else uses meanwhile.

A checkout is moved from commit to commit, so that only what differs between two commits is written; before that,
whatever the checks of the earlier commit made or changed there is removed.
"""

import os
import stat
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from ralph_tracker.measure.scratch import remove_folder
from ralph_tracker.replay.history import Commit, History

# The mode of a folder; of all else also what changes with its content, its owner or its links.
_State = tuple[int, ...]


class Checkouts:
    """The checkouts of a history in a `folder` of ours; several threads may use one each.

    `builds` is the folder of what compilers share between commits.
    """

    def __init__(self, history: History, folder: Path) -> None:
        self.folder, self.builds = folder, folder / "builds"
        self._history = history
        self._idle: deque[tuple[Path, Mapping[str, _State]]] = deque()
        self._numbers = count()

    @contextmanager
    def of(self, commit: Commit) -> Iterator[Path]:
        """Yield a folder with exactly the files of a commit, which nobody else uses until the block ends."""
        place = self._place()
        copy = place / self._history.top.name  # some tools use the folder's name
        self._history.lay_out(commit, copy)
        laid_out = dict(_states(str(place)))
        yield copy
        self._idle.append((place, laid_out))

    def _place(self) -> Path:
        """Return the place of an idle checkout, cleaned, else of a new one."""
        while True:
            try:
                place, laid_out = self._idle.pop()
            except IndexError:
                return self.folder / f"checkout-{next(self._numbers)}"
            if _clean(str(place), laid_out):
                return place


def _clean(place: str, laid_out: Mapping[str, _State]) -> bool:
    """Remove all that is not as it was laid out, so that git writes it again; return False if that is impossible."""
    for path, state in _states(place):
        if laid_out.get(path) == state:
            continue
        if path in laid_out and os.path.dirname(path) == place:  # noqa: PTH120  # the checkout or its index itself
            return False
        remove_folder(Path(path)) if stat.S_ISDIR(state[0]) else os.unlink(path)  # noqa: PTH108  # as in _states
        if os.path.lexists(path):  # as in _states
            return False
    return True


def _states(folder: str) -> Iterator[tuple[str, _State]]:
    """Yield the path and state of all that is in a folder; a folder's content after it, if it is still there."""
    with os.scandir(folder) as entries:
        listed = [(entry.path, entry.stat(follow_symlinks=False)) for entry in entries]
    for path, found in listed:  # plain strings: a checkout has thousands of files
        if not stat.S_ISDIR(found.st_mode):
            yield path, (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            continue
        yield path, (found.st_mode,)
        if os.path.lexists(path):  # as above
            yield from _states(path)
