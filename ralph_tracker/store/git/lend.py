"""A git store for a look that leaves no trace: it reads another one's objects where they lie."""

import shutil
from pathlib import Path
from typing import Final

from ralph_tracker.store.git.verbs import quoted

# What a store is beside its objects and names: the scope, the settings, and the tree as it was last seen.
_LENT: Final = ("HEAD", "config", "index")


def borrow(store: Path, folder: Path) -> None:
    """Make a git directory that begins as a store stands, and reads that one's objects where they lie."""
    for name in ("objects/info", "refs"):
        (folder / name).mkdir(parents=True)
    for name in _LENT:
        if (store / name).exists():
            shutil.copy2(store / name, folder / name)  # git trusts what is older than its index: times go along
    shutil.copytree(store / "info", folder / "info")
    (folder / "objects" / "info" / "alternates").write_bytes(quoted(store.absolute() / "objects") + b"\n")
