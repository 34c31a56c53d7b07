"""The tree as it was last seen, with what tells that a file has not changed since, so that it need not be read."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.store.contents.documents import File
from ralph_tracker.store.files import write_whole
from ralph_tracker.store.reading import read_bytes

NAME: Final = "index"
_SCHEMA: Final = 1
Print = list[int]


class Seen(NamedTuple):
    """Hold a file as it was kept; without `print` it is read again whatever the system says of it."""

    mode: str
    object_id: str
    size: int
    print: Print | None


@dataclass(slots=True)
class Index:
    """Hold the files of the tree; `tree` is its id, None where that is not known."""

    files: dict[str, Seen] = field(default_factory=dict)
    tree: str | None = None
    is_saved: bool = False

    def put(self, path: str, seen: Seen) -> None:
        """Take a file in; the tree stays the same where only its time is another one."""
        known = self.files.get(path)
        if known is None or known[:-1] != seen[:-1]:
            self.tree = None
        self.files[path], self.is_saved = seen, False

    def drop(self, path: str) -> None:
        del self.files[path]
        self.tree, self.is_saved = None, False

    def tree_files(self) -> list[File]:
        return [File(path, seen.mode, seen.object_id, seen.size) for path, seen in self.files.items()]


def print_of(status: os.stat_result) -> Print:
    """Return what changes when a file does: also an edit that puts size and time back sets its ctime."""
    return [status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns]


def settled_print(status: os.stat_result, began: int) -> Print | None:
    """Return the print of a file, None for one that may change once more without a sign.

    `began` is the time (ns) of the file system before the tree was looked at. What changes after that has a later
    time, if only the file had an earlier one.
    """
    return print_of(status) if max(status.st_mtime_ns, status.st_ctime_ns) < began else None


def load(folder: Path) -> Index:
    """Read the index of a store; one that is missing, damaged or of another version is empty: every file is read."""
    data = read_bytes(folder / NAME)
    try:
        document = json.loads(data or b"")
        if document["schema_version"] != _SCHEMA:
            return Index()
        return Index({row[0]: Seen(*row[1:]) for row in document["files"]}, document["tree"], is_saved=True)
    except (ValueError, KeyError, TypeError, IndexError):
        return Index()


def save(index: Index, folder: Path, staging: Path) -> None:
    """Write the index where it has changed; every object that it names has to be durable by now."""
    if index.is_saved:
        return
    files: list[list[Any]] = [[path, *seen] for path, seen in index.files.items()]
    document = {"schema_version": _SCHEMA, "tree": index.tree, "files": files}
    write_whole(folder / NAME, json.dumps(document, separators=(",", ":")).encode(), staging)
    index.is_saved = True
