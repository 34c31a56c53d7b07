"""Which store keeps a loop's files: git where there is one, else our own; the folder that was made says so."""

import re
import shutil
from pathlib import Path
from typing import Final

from ralph_tracker.store.snapshots import SnapshotStore

GIT: Final = "store.git"
CONTENTS: Final = "store"
OLDEST_GIT: Final = (2, 34)  # the first with `repack --geometric` in a state to rely on; Ubuntu 22.04 has it
_PATIENCE_S: Final = 10


def chosen_store(folder: Path, root: Path) -> SnapshotStore:
    """Return the store of the loop in `folder`: the one it was begun with, else the one it would be begun with.

    That is git where a `git` is on PATH; whether it is new enough only `store_to_begin` asks.
    """
    begun = begun_with(folder)
    return _store(begun or (GIT if shutil.which("git") else CONTENTS), folder, root)


def store_to_begin(folder: Path, root: Path) -> SnapshotStore:
    """Return the store of a loop that begins now; one that has begun stays with its own."""
    return _store(begun_with(folder) or (GIT if git_is_usable() else CONTENTS), folder, root)


def begun_with(folder: Path) -> str | None:
    """Return the name of the store that the loop in `folder` has, None where it has none."""
    return next((name for name in (GIT, CONTENTS) if (folder / name).is_dir()), None)


def git_is_usable() -> bool:
    """Tell whether a git is on PATH that is new enough to keep files with."""
    import subprocess  # noqa: PLC0415  # few calls begin a loop, all look which store there is

    try:
        done = subprocess.run(["git", "version"], capture_output=True, timeout=_PATIENCE_S, check=False)  # noqa: S607
    except (OSError, subprocess.TimeoutExpired):
        return False
    found = re.search(rb"(\d+)\.(\d+)", done.stdout)
    return found is not None and not done.returncode and (int(found[1]), int(found[2])) >= OLDEST_GIT


def _store(name: str, folder: Path, root: Path) -> SnapshotStore:
    if name == GIT:
        from ralph_tracker.store.git.store import GitStore  # noqa: PLC0415  # the other one is not needed

        return GitStore(folder / name, root)
    from ralph_tracker.store.contents.store import ContentStore  # noqa: PLC0415  # as above

    return ContentStore(folder / name, root)
