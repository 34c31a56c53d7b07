"""Move the files that earlier versions kept with git, in `store.git`, into the current store.

Git reads the old objects and names with none of that folder's settings. Records name trees and commits by git's ids,
which the new store keeps as names.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError
from ralph_tracker.safe_files import AGAIN, as_store_error, read_own_file, sync_below
from ralph_tracker.store.iteration_snapshots import TreeVisits
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.snapshots.index import Index, SeenFile
from ralph_tracker.store.snapshots.objects import Objects
from ralph_tracker.store.snapshots.snapshot_types import ITERATIONS, SAFETY, decode_note
from ralph_tracker.store.snapshots.store import make_store
from ralph_tracker.store.snapshots.trees import OF_GIT, NamedIds, encode_snapshot
from ralph_tracker.store.snapshots.user_repository import UserRepository

_BORROWING: Final = ("objects/info/alternates", "objects/info/http-alternates")
_NUMBER: Final = re.compile(r"\d{1,9}")
_UNDO: Final = re.compile(r"undo-[0-9a-f]{12}")
_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CONFIG: Final = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


def migrate(paths: LoopPaths) -> None:
    """Move a loop's files into a new store; do nothing if it has one. The caller holds the loop's lock.

    Raises StoreError.
    """
    old = paths.old_store
    if not paths.store.exists() and old.is_dir():
        for name in _BORROWING:  # git would read objects of another folder; no earlier version wrote such a file
            if os.path.lexists(old / name):
                raise StoreError(f"{old / name}: makes git read other repositories, and we did not write it; remove it")
        _move(paths, old)
    shutil.rmtree(old, ignore_errors=True)


def _move(paths: LoopPaths, old: Path) -> None:
    """Build the new store under a temporary name and rename it at the end, so that a killed call changes nothing."""
    visits = TreeVisits(paths)
    tracked = old / "info/tracked-ignored"  # missing if no repository lent its index
    with (
        as_store_error(old, AGAIN),
        tempfile.TemporaryDirectory(prefix=".tmp-", dir=paths.folder) as scratch,
        tempfile.TemporaryDirectory(prefix="ralph-tracker-") as place,
    ):
        new = Path(scratch) / "store"
        make_store(new, read_own_file(old / "info/exclude") or b"", read_own_file(tracked) or b"")
        found = _Migration(_reader(Path(place), old / "objects"), new).run(sorted(_names(old)))
        for name, tree in found.items():
            if name.startswith(ITERATIONS):
                visits.remember(tree, int(name.removeprefix(ITERATIONS)))
        sync_below(new)
        new.rename(paths.store)


class _Migration:
    """A migration that reads snapshots from git and keeps them in the store at `new`."""

    def __init__(self, git: UserRepository, new: Path) -> None:
        self._git = git
        self._objects = Objects(new)
        self._names = NamedIds(new, self._objects.staging)
        self._contents: dict[str, SeenFile] = {}
        self._trees: dict[str, str] = {}

    def run(self, names: list[tuple[str, str]]) -> dict[str, str]:
        """Migrate the named snapshots, and return the new tree of each."""
        found: dict[str, str] = {}
        ids: dict[str, str] = {}
        for name, old in names:
            head, _, message = self._git.run("cat-file", "commit", old).partition(b"\n\n")
            old_tree = head.split(b"\n")[0].removeprefix(b"tree ").decode()
            note = decode_note(message)
            if note.scope:
                note = note._replace(scope=self._tree(note.scope))
            found[name] = tree = self._tree(old_tree)
            ids |= {name: self._objects.add(encode_snapshot(tree, note)), old_tree: tree}
            ids[old] = ids[name]
        self._objects.publish()
        for name, new in ids.items():
            self._names.write(name if name.startswith("refs/") else f"{OF_GIT}{name}", new)
        return found

    def _tree(self, old: str) -> str:
        if old not in self._trees:
            items = (item.partition(b"\t") for item in self._git.run("ls-tree", "-r", "-z", old).split(b"\0")[:-1])
            listed = [(os.fsdecode(path), *about.decode().split(" ")) for about, _, path in items]
            unread = sorted({object_id for _, _, _, object_id in listed} - self._contents.keys())
            asked = "".join(f"{name}\n" for name in unread).encode()
            answer = memoryview(self._git.run("cat-file", "--batch", stdin=asked))
            at = 0
            for name in unread:
                end = at + len(f"{name} blob ")
                line = bytes(answer[end : end + 20]).partition(b"\n")[0]
                start = end + len(line) + 1
                at = start + int(line) + 1
                self._contents[name] = SeenFile("", self._objects.add(bytes(answer[start : at - 1])), int(line), None)
            index = Index()
            for path, mode, _kind, object_id in listed:
                index.put(path, self._contents[object_id]._replace(mode=mode))
            self._trees[old] = index.write(self._objects.add)
        return self._trees[old]


def _names(old: Path) -> Iterator[tuple[str, str]]:
    for folder, fits in ((ITERATIONS, _NUMBER), (SAFETY, _UNDO)):
        place = old / folder
        for path in place.iterdir() if place.is_dir() else ():
            if fits.fullmatch(path.name):
                object_id = (read_own_file(path) or b"").decode("ascii", "replace").strip()
                if not _ID.fullmatch(object_id):
                    raise StoreError(f"{path}: damaged; what it names cannot be moved into the new store")
                yield f"{folder}{path.name}", object_id


def _reader(place: Path, objects: Path) -> UserRepository:
    """Return a bare repository at `place` with only our settings, that reads objects from `objects`."""
    for name in ("objects/info", "refs"):
        (place / name).mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/none\n")
    (place / "config").write_text(_CONFIG)
    (place / "objects/info/alternates").write_bytes(os.fsencode(objects.absolute()) + b"\n")
    return UserRepository(place, place, place, "")
