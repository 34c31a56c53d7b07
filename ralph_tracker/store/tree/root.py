"""Which trees are kept as a whole."""

import os
from pathlib import Path

from ralph_tracker.errors import StoreError
from ralph_tracker.store.tree.filter import LOOP_FOLDER


def refuse_root(root: Path, folder: Path) -> None:
    """Raise StoreError for a tree that nobody means to keep as a whole, or that would keep the store in itself."""
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111  Path.home() fails where nobody has one
    if home.is_relative_to(root):
        raise StoreError(
            f"{root} is {'your home folder' if root == home else 'above your home folder'}: run it in a project"
        )
    if not root.is_dir():
        raise StoreError(f"{root} is no folder: name the root of a project")
    if folder.is_relative_to(root) and LOOP_FOLDER not in folder.relative_to(root).parts:
        raise StoreError(f"{folder} lies inside the tree that it keeps: put it below {LOOP_FOLDER}/")


def is_to_keep(root: Path, folder: Path) -> bool:
    """Tell whether a tree may be kept as a whole."""
    try:
        refuse_root(root, folder)
    except StoreError:
        return False
    return True
