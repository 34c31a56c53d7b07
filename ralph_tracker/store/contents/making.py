"""Make a content store: its folders and the frozen scope; or one that borrows from another."""

import shutil
from pathlib import Path

from ralph_tracker.store.contents import index
from ralph_tracker.store.contents.ignoring import IGNORE
from ralph_tracker.store.contents.names import FOLDERS
from ralph_tracker.store.contents.objects import OBJECTS, STAGING
from ralph_tracker.store.contents.scope import frozen_rules
from ralph_tracker.store.files import sync_below, sync_folder, write_new


def make(folder: Path, root: Path) -> None:
    """Make a store for the tree at `root`, whole or not at all."""
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700, parents=True)
    _make_folders(new)
    write_new(new / IGNORE, frozen_rules(root))
    sync_below(new)
    new.rename(folder)
    sync_folder(folder.parent)


def borrow(store: Path, folder: Path) -> None:
    """Make a store in `folder` that begins as another one stands, and knows none of its names."""
    _make_folders(folder)
    for name in (IGNORE, index.NAME):
        if (store / name).exists():
            shutil.copyfile(store / name, folder / name)


def _make_folders(folder: Path) -> None:
    for name in (OBJECTS, STAGING, *FOLDERS):
        (folder / name).mkdir(parents=True, exist_ok=True)
