"""Find the loop that is meant: by its id, the environment or the project's current one, behind no link."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ralph_tracker.errors import LoopError, LoopWarning, StoreError
from ralph_tracker.safe_files import read_own_file
from ralph_tracker.store.layout import BASE, LOOP_ID, LoopPaths, ProjectPaths

_WRITTEN: Final = (
    *("tmp", "trees", "packed", "reports", "agent", "iterations"),
    *("progress", "progress/amended", "progress/events.jsonl"),
    *("store", "store/objects", "store/objects/pack", "store/tmp", "store/damaged", "store/ralph-tracker.lock"),
    *("store/refs", "store/refs/iterations", "store/refs/safety"),
)
_START: Final = "run `ralph-tracker hook pre-loop` first"


def find_loop(root: Path, loop_id: str | None, environment: Mapping[str, str]) -> LoopPaths:
    """Return the paths of the loop that is meant: `loop_id`, else RALPH_LOOP_ID, else the current one.

    Raises LoopError if there is none, InputError for an unsafe id.
    """
    project = ProjectPaths(checked_root(root))
    named = loop_id or environment.get("RALPH_LOOP_ID")
    meant = named or current_loop(project)
    if meant is None or not project.loop(meant).iteration(0).is_dir():
        told_if_brought_back(project)
        meant = named or current_loop(project)
    paths = None if meant is None else project.loop(meant)
    if paths is not None and paths.iteration(0).is_dir():
        refuse_links(paths)
        return paths
    names = ", ".join(paths.loop_id for paths in loops_of(project))
    if named:
        step = f"name one of these: {names}" if names else _START
        raise LoopError(f"loop {named}: not in {project.root}; {step}")
    if names:  # the file `current` is missing or damaged
        raise LoopError(f"no current loop in {project.root}; name one with --loop-id: {names}")
    above = next((folder for folder in project.root.parents if loops_of(ProjectPaths(folder))), None)
    step = _START if above is None else f"there is one in {above}: go there, or use --root {above}"
    raise LoopError(f"no loop in {project.root}; {step}")


def told_if_brought_back(project: ProjectPaths) -> None:
    """Bring back the loops of a project that somebody removed and git's folder has links of, and warn of that."""
    import warnings  # noqa: PLC0415  # only where there is no loop

    from ralph_tracker.store.git_links import bring_back  # noqa: PLC0415  # as above

    told = bring_back(project)
    if told is not None:
        warnings.warn(told, LoopWarning, stacklevel=2)


def current_loop(project: ProjectPaths) -> str | None:
    """Return the id of the current loop, None if there is none yet. Raises StoreError if it cannot be read."""
    text = (read_own_file(project.current) or b"").decode("utf-8", "replace").strip()
    return text if LOOP_ID.match(text) else None


def loops_of(project: ProjectPaths) -> tuple[LoopPaths, ...]:
    """Return all loops of a project by name; links, and folders with other names, are none."""
    found = (path.parent.parent for path in project.base.glob("*/iterations/iteration-000"))
    return tuple(
        LoopPaths(project.root, folder.name)
        for folder in sorted(found)
        if LOOP_ID.match(folder.name) and not folder.is_symlink()
    )


def checked_root(root: Path) -> Path:
    """Return the project's root as an absolute path. Raises StoreError if it is not a folder."""
    if not root.is_dir():
        raise StoreError(f"{root}: not a folder; --root takes the project's folder")
    resolved = root.resolve()
    _refuse_linked(resolved / BASE.parent, resolved / BASE)
    return resolved


def refuse_links(paths: LoopPaths) -> None:
    """Raise StoreError if the loop's folder, or a folder or file of it that is written to, is a link.

    A clone can bring links by which we would write to, or delete, files of its user.
    """
    _refuse_linked(paths.folder)
    for name in _WRITTEN:
        path = os.path.join(paths.folder, name)  # noqa: PTH118  # every command does this, and pathlib is slow
        if os.path.islink(path):  # noqa: PTH114  # as above
            raise StoreError(f"{path}: a symbolic link, which no part of a loop is; remove it")


def _refuse_linked(*folders: Path) -> None:
    """Raise StoreError for symbolic links: the loops behind them may be those of another project."""
    for folder in folders:
        if folder.is_symlink():
            raise StoreError(f"{folder}: a symbolic link; a loop belongs to one project, put a folder in its place")
