"""One writer at a time in a git store, and nothing left of a git that was killed or that the disk refused."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from ralph_tracker.store.lock import hold

# In the way of every later git: whoever holds the lock of the store knows that none works here any more.
_IN_THE_WAY: Final = ("index.lock", "safety.index", "safety.index.lock", "packed-refs.lock")
# What no later git of another name or content takes away; it takes long to look for, as objects are many.
_BEGUN: Final = (
    "refs/*/*.lock",
    "objects/??/tmp_obj_*",
    "objects/pack/tmp_*",
    "objects/pack/.tmp-*",
    "objects/pack/*.keep",
    "fast_import_crash_*",
)
# Lies in the store from the beginning of a work to its good end.
MARK: Final = "at-work"


@contextlib.contextmanager
def at_work(folder: Path, is_troubled: Callable[[], bool]) -> Iterator[int]:
    """Hold the store's lock as `hold` does, and yield its descriptor; what an earlier work has left behind goes first.

    Only after one that was killed or failed, or in which a git `is_troubled`, something is looked for: in the
    ordinary case the work does not grow with what is kept.
    """
    with hold(folder, _IN_THE_WAY) as descriptor:
        mark = folder / MARK
        if mark.exists():
            clear_begun(folder)
            _clear_half_packs(folder / "objects" / "pack")
        mark.touch()
        yield descriptor
        if not is_troubled():
            with contextlib.suppress(OSError):  # the next one looks once more, which changes nothing
                mark.unlink()


def clear_begun(folder: Path) -> None:
    """Remove what killed gits have begun; the lock must be held."""
    for pattern in _BEGUN:
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def _clear_half_packs(packs: Path) -> None:
    """Remove packs without an index, which comes last with a new one and goes first with one that is not needed.

    Only where a work had no good end: elsewhere it is the index that was lost, and can be made again.
    """
    for path in packs.glob("pack-*"):
        if not path.with_suffix(".idx").exists():
            path.unlink(missing_ok=True)
