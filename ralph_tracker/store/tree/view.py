"""Look at a working tree without ever following a symbolic link."""

import contextlib
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

Prints = Mapping[str, tuple[int, ...] | None]
_NOTHING: Final[Prints] = {}


class TreeView:
    """Answer what stands at a path; for one short look, as it remembers which folders are real ones."""

    def __init__(self, root: Path) -> None:
        self._root = os.fspath(root)
        self._folders: dict[str, bool] = {"": True}

    def status(self, path: str) -> os.stat_result | None:
        """Return what stands at a path, None where nothing does or a parent is no real folder."""
        return self._look(path) if self.is_folder(path.rpartition("/")[0]) else None

    def is_folder(self, path: str) -> bool:
        """Say whether a path and each of its parents is a real folder."""
        known = self._folders.get(path)
        end = 0
        while known is None:
            end = path.find("/", end + 1)
            step = path if end < 0 else path[:end]
            is_real = self._folders.get(step)
            if is_real is None:
                status = self._look(step)
                is_real = self._folders[step] = status is not None and stat.S_ISDIR(status.st_mode)
            known = is_real if end < 0 or not is_real else None
        return known

    def nearest_folder(self, path: str) -> str:
        """Return the innermost parent of a path that is a real folder, "" for the root."""
        while not self.is_folder(path := path.rpartition("/")[0]):
            pass
        return path

    def prints(self, paths: Collection[str], known: Prints = _NOTHING) -> Prints:
        """Return what tells whether paths or the folders that hold them have changed since, content unread.

        What is `known` is not looked at again.
        """
        folders = {path.rpartition("/")[0] for path in paths} - {""}
        return {path: known[path] if path in known else print_of(self.status(path)) for path in (*paths, *folders)}

    def is_readable(self, path: str, status: os.stat_result) -> bool:
        return stat.S_ISLNK(status.st_mode) or os.access(f"{self._root}/{path}", os.R_OK)

    def empty_folders(self, folder: str) -> list[str] | None:
        """Return the innermost folders at or below `folder` if it holds nothing else; None if it holds any file.

        None too where it is no folder or cannot be listed, and for the root.
        """
        if not folder:
            return None
        found: list[str] = []
        waiting = [folder]
        while waiting:
            path = waiting.pop()
            names = self._subfolders(path)
            if names is None:
                return None
            if not names:
                found.append(path)
            waiting += [f"{path}/{name}" for name in names]
        return sorted(found)

    def folders_in(self, folder: str) -> list[str]:
        """Return the real folders in a folder, none where it cannot be listed."""
        try:
            with os.scandir(f"{self._root}/{folder}") as entries:
                return [f"{folder}/{entry.name}" for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return []

    def special_files(self, leave_out: Collection[str], start: str = "") -> Iterator[tuple[str, os.stat_result]]:
        """Yield what is no file, folder or link below a folder; folders named in `leave_out` are not looked into."""
        waiting = [start]
        while waiting:
            folder = waiting.pop()
            with contextlib.suppress(OSError), os.scandir(f"{self._root}/{folder}") as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False) or entry.is_symlink():
                        continue
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if not entry.is_dir(follow_symlinks=False):
                        yield path, entry.stat(follow_symlinks=False)
                    elif entry.name not in leave_out:
                        waiting.append(path)

    def walk(self, folder: str) -> Iterator[tuple[str, os.stat_result]]:
        """Yield all that is at or below `folder`, each folder before what it holds; links are not followed."""
        waiting = [folder]
        while waiting:
            path = waiting.pop()
            status = self.status(path)
            if status is None:
                continue
            yield path, status
            if stat.S_ISDIR(status.st_mode):
                with os.scandir(f"{self._root}/{path}") as entries:
                    waiting += [f"{path}/{entry.name}" for entry in entries]

    def _look(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(f"{self._root}/{path}")
        except OSError:
            return None

    def _subfolders(self, folder: str) -> list[str] | None:
        """List the folders in a folder, None if it holds anything else or cannot be listed."""
        if not self.is_folder(folder):
            return None
        try:
            with os.scandir(f"{self._root}/{folder}") as entries:
                names: list[str] = []
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        return None
                    names.append(entry.name)
        except OSError:
            return None
        return names


def print_of(status: os.stat_result | None) -> tuple[int, ...] | None:
    """Return what changes with every change of a file, None for nothing at all."""
    if status is None:
        return None
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
