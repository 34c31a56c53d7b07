"""Keep a second hard link of each file of a loop below git's folder, so that the loop outlives `git clean -fdx`.

They are in `git rev-parse --git-path ralph-tracker`, below the same names as in the project's top folder: a link takes
no second copy of the bytes, and what is appended to a file is in both. The copies in `artifacts/` and the index in
`trees/` have none: they are made again. A loop has links if its baseline made their folder. Nothing is synced: after a
power cut the next writer links what is missing.
"""

import os
import re
import shutil
import stat
import time
import warnings
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from ralph_tracker.errors import LoopWarning, NoSnapshotError, RecordError, StoreError
from ralph_tracker.safe_files import (
    TEMPORARY,
    as_store_error,
    hide_from_tools,
    read_own_file,
    refuse_link,
    sync_folder,
    temporary_name,
)
from ralph_tracker.store.iteration_snapshots import IterationSnapshots, TreeVisits
from ralph_tracker.store.layout import ARTIFACTS, BASE, LOOP_ID, LoopPaths, ProjectPaths, document_name
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.snapshots.objects import PACKS
from ralph_tracker.store.snapshots.snapshot_types import ITERATIONS, OBJECTS
from ralph_tracker.store.snapshots.user_repository import repository_around
from ralph_tracker.store.summary import latest_iteration

FOLDER: Final = "ralph-tracker"
_BASELINE: Final = document_name(0).rstrip("/")
_ITERATIONS: Final = "iterations"
# Files of a project beside its loops: the current one, and what the user trusts, by marks that name the project's path.
_SHARED: Final = ("current", "trust")
_CONTENTS: Final = f"store/{OBJECTS}"
# The folders to which each iteration adds a name, so that there are many; what has one is written once.
_GROWING: Final = frozenset({_ITERATIONS, "progress", "reports", f"store/{ITERATIONS}".rstrip("/")})
_OF_ITERATION: Final = re.compile(r"(iteration-)?\d")
_WRITTEN_ONCE: Final = -1
# A folder's time is that of a clock which ticks every 10 ms at the least often: what changes within a tick looks alike.
_TICK_NS: Final = 20_000_000


def links_folder(root: Path) -> Path | None:
    """Return the folder of the links to a project's loops; None without a repository, or in that of another user.

    It need not be there. Raises StoreError where a part of it is a symbolic link.
    """
    repository = repository_around(root)
    if repository is None or repository.folder.stat().st_uid not in {os.geteuid(), root.stat().st_uid}:
        return None
    folder = repository.folder / FOLDER / repository.prefix / BASE
    if os.path.realpath(folder) != os.fspath(folder):
        raise StoreError(f"{folder}: behind a symbolic link, which no part of a loop is; remove it")
    return folder


def begin_links(paths: LoopPaths) -> str | None:
    """Link a new loop from now on; return why that cannot be done, in one line. Without git there are no links."""
    try:
        base = links_folder(paths.root)
        if base is not None:
            _clear(base / paths.loop_id)  # of an earlier loop, which its owner has removed
            _make_folders(base / paths.loop_id)
    except (OSError, StoreError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        return f"no hard links can be made below git's folder ({why}); `git clean -fdx` would end this loop"
    return None


def renew_links(paths: LoopPaths, grown: Collection[str] | None = None, *, whole: bool = False) -> bool:
    """Link what is new in a loop that has links; return whether that is done.

    `grown` are the folders of loose contents to look at, None all: there can be 256. `whole` looks at every file, and
    removes the links of those gone. The caller holds the loop's lock. Where the disk refuses that is a warning: the
    loop itself is as it should be.
    """
    try:
        base = links_folder(paths.root)
        if base is not None and (base / paths.loop_id).is_dir():
            renew_or_raise(paths, base, grown, whole=whole)
    except (OSError, StoreError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        text = f"{paths.loop_id} is on record, but not all of it is linked below git's folder ({why})"
        warnings.warn(f"{text}; the next command tries again", LoopWarning, stacklevel=2)
        return False
    return True


def renew_or_raise(paths: LoopPaths, base: Path, grown: Collection[str] | None = None, *, whole: bool = False) -> None:
    """Do what `renew_links` does. Raises OSError or StoreError."""
    loop = base / paths.loop_id
    mine, linked = (each / _BASELINE / "seal.json" for each in (paths.folder, loop))
    if linked.exists() and not (mine.exists() and mine.samefile(linked)):
        if read_own_file(mine) != read_own_file(linked):
            return  # another loop of that name, or this one has just been removed
        whole = True  # of a project that was copied
    _renew("", os.fspath(paths.folder), os.fspath(loop), None if whole else grown, whole=whole)
    for name in _SHARED:
        source = os.path.join(paths.folder.parent, name)  # noqa: PTH118  # of every iteration, as all of these
        if os.path.isfile(source) and not os.path.islink(source):  # noqa: PTH113, PTH114
            _link(source, os.path.join(base, name))  # noqa: PTH118


def forget_trust(root: Path) -> None:
    """Remove the link to what the user trusts, which is revoked. Raises StoreError if the disk refuses."""
    base = links_folder(root)
    if base is not None:
        with as_store_error(base):
            (base / "trust").unlink(missing_ok=True)


def forget_removed_loops(project: ProjectPaths) -> None:
    """Remove the links of loops that are in the project no longer: other loops are, so that was no accident."""
    base = links_folder(project.root)
    if base is not None and base.is_dir():
        with as_store_error(base):
            for folder in base.iterdir():
                if LOOP_ID.match(folder.name) and folder.is_dir() and not (project.base / folder.name).exists():
                    _clear(folder)


def bring_back(project: ProjectPaths) -> str | None:
    """Bring back the loops that are gone and have links; return what happened in one line, None if nothing.

    What is in a loop's folder already stays. Raises StoreError for links that are no part of a loop, and if the disk
    refuses.
    """
    base = links_folder(project.root)
    if base is None or not base.is_dir():
        return None
    with hold_lock(base / "lock", "bringing back what is gone"), as_store_error(project.base):
        names = sorted(name for name in os.listdir(base) if LOOP_ID.match(name))  # noqa: PTH208  # only names
        gone = [name for name in names if _is_gone(base / name, project.base / name)]
        if not gone:
            return None
        owners = {os.geteuid(), base.stat().st_uid}
        project.base.mkdir(parents=True, exist_ok=True)
        refuse_link(project.base.parent, project.base, *(project.base / name for name in gone))
        for left in project.base.glob(f"{TEMPORARY}*"):  # by killed calls
            _remove(os.fspath(left))
        hide_from_tools(project.base)
        for name in _SHARED:
            if not os.path.lexists(project.base / name) and (base / name).is_file():
                _bring_file(base / name, project.base / name, owners)
        for name in gone:
            _bring_loop(base / name, LoopPaths(project.root, name), owners)
        sync_folder(project.base)
    told = ", ".join(_in_words(LoopPaths(project.root, name)) for name in gone)
    return (
        f"{told}: removed from {BASE.as_posix()} by somebody, as `git clean -fdx` does, and brought back, without "
        f"plans, templates and .aiwg/output; to be rid of it, remove {base} too"
    )


def _in_words(paths: LoopPaths) -> str:
    try:
        latest = latest_iteration(paths)
    except RecordError:
        return f"loop {paths.loop_id}"
    return f"loop {paths.loop_id}, iterations 0 to {latest}"


def _is_gone(links: Path, folder: Path) -> bool:
    return (links / _BASELINE).is_dir() and not os.path.lexists(folder / _BASELINE)


def _make_folders(folder: Path) -> None:
    if not folder.is_dir():
        _make_folders(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _clear(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _renew(name: str, source: str, target: str, grown: Collection[str] | None, *, whole: bool) -> None:
    """Make a folder of links like that of the loop, called `name` in it.

    It has the time of what it was made like: with the same time, only the folders in it are looked at.
    """
    found, now = os.lstat(source), time.time_ns()
    linked: dict[str, int] = {}
    try:
        is_changed = whole or os.lstat(target).st_mtime_ns != found.st_mtime_ns
        if is_changed:
            linked = _inodes(target, written_once=grown is not None and name in _GROWING)
    except FileNotFoundError:
        os.mkdir(target, stat.S_IMODE(found.st_mode))  # noqa: PTH102  # of many, as all below
        is_changed = True
    are_whole = name == _ITERATIONS and grown is not None  # those there already; else a writer may have died in one
    if not is_changed and (found.st_nlink == 2 or are_whole):  # no folder in it, or none to look into
        return
    if name == _CONTENTS and grown is not None:
        for each in {PACKS, *grown}:
            if os.path.isdir(f"{source}/{each}"):  # noqa: PTH112
                _renew(f"{name}/{each}", f"{source}/{each}", f"{target}/{each}", grown, whole=whole)
        return
    with os.scandir(source) as entries:
        for entry in entries:
            inode = linked.pop(entry.name, None)
            below = f"{name}/{entry.name}" if name else entry.name
            if inode == _WRITTEN_ONCE or below in {"tmp", "store/tmp", "trees"} or entry.name.startswith(TEMPORARY):
                continue
            if entry.is_dir(follow_symlinks=False):
                is_new = not are_whole or inode is None
                if is_new and not (entry.name == ARTIFACTS and name.startswith("iterations/")):
                    _renew(below, entry.path, f"{target}/{entry.name}", grown, whole=whole)
            elif is_changed and inode != entry.inode() and entry.is_file(follow_symlinks=False):
                _link(entry.path, f"{target}/{entry.name}")
    if not is_changed:
        return
    # What was committed there goes by gc and by packing alone: whatever else takes it from the loop is an accident.
    if whole or name.partition("/")[0] not in (_ITERATIONS, "packed", "progress", "store"):
        for left in linked:
            _remove(f"{target}/{left}")
    told = found.st_mtime_ns if now - found.st_mtime_ns > _TICK_NS else 0  # 0: it is looked at again
    os.utime(target, ns=(told, told))


def _inodes(folder: str, *, written_once: bool) -> dict[str, int]:
    """Return the file behind each name; of a folder that grows, only that there is one of each iteration."""
    if written_once:
        return dict.fromkeys(filter(_OF_ITERATION.match, os.listdir(folder)), _WRITTEN_ONCE)  # noqa: PTH208
    with os.scandir(folder) as entries:
        return {entry.name: entry.inode() for entry in entries}


def _link(source: str, target: str) -> None:
    """Give a file its second name, in place of what has that.

    Not by renaming: that would wait for the disk, for files that are made again.
    """
    with suppress(FileNotFoundError):  # replaced meanwhile: the next writer sees to it
        try:
            os.link(source, target, follow_symlinks=False)
        except FileExistsError:
            if not os.path.samestat(os.lstat(source), os.lstat(target)):
                _remove(target)
                os.link(source, target, follow_symlinks=False)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
        shutil.rmtree(path)
    else:
        os.unlink(path)  # noqa: PTH108


def _bring_loop(links: Path, paths: LoopPaths, owners: set[int]) -> None:
    """Link a loop back into its place, whole or not at all; what was written there since stays."""
    made = LoopPaths(paths.root, temporary_name())
    try:
        _bring_folder(links, made.folder, owners)
        made.staging.mkdir(exist_ok=True)  # which has the next writer make again what is derived
        committed, visits = SealedRecords(made), TreeVisits(made)
        files, collected = IterationSnapshots(committed), committed.collected_iterations()
        for number in range(latest_iteration(made) + 1):
            if number not in collected:
                with suppress(StoreError, NoSnapshotError):  # then `verify` names them
                    files.write_artifacts(number)
            if (tree := committed.tree(number)) is not None:
                visits.remember(tree, number)
        for place, _, names in os.walk(paths.folder):
            below = made.folder / Path(place).relative_to(paths.folder)
            below.mkdir(parents=True, exist_ok=True)
            for name in names:
                Path(place, name).replace(below / name)
        if paths.folder.exists():
            shutil.rmtree(paths.folder)
        made.folder.rename(paths.folder)
    finally:
        shutil.rmtree(made.folder, ignore_errors=True)


def _bring_folder(source: Path, target: Path, owners: set[int]) -> None:
    status = source.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in owners:
        raise StoreError(f"{source}: not a folder of yours, as each part of a loop is; remove it")
    target.mkdir(mode=stat.S_IMODE(status.st_mode))
    for path in source.iterdir():
        if path.is_dir() and not path.is_symlink():
            _bring_folder(path, target / path.name, owners)
        else:
            _bring_file(path, target / path.name, owners)


def _bring_file(source: Path, target: Path, owners: set[int]) -> None:
    status = source.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_uid not in owners:
        raise StoreError(f"{source}: not a file of yours, as each part of a loop is; remove it")
    target.hardlink_to(source)
