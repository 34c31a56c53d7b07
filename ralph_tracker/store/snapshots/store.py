"""The snapshot store: contents by their hash, below the loop's folder, in plain Python.

It holds no absolute path: it moves with the tree. It reads no setting: whatever lies in its folder is data.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Self

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.files import AGAIN, sync_below, sync_folder, told_plainly, write_new
from ralph_tracker.store.lock import hold, touched
from ralph_tracker.store.reading import read_bytes
from ralph_tracker.store.snapshots import index as indexes
from ralph_tracker.store.snapshots.exclusions import is_to_keep, refuse_root
from ralph_tracker.store.snapshots.index import Index
from ralph_tracker.store.snapshots.objects import OBJECTS, STAGING, Objects, staging_in
from ralph_tracker.store.snapshots.patch import FileChange, file_changes
from ralph_tracker.store.snapshots.restore import Restore
from ralph_tracker.store.snapshots.scan import Captured, Scan, Scanner, capture
from ralph_tracker.store.snapshots.scope import IgnoreRules, Scope, freeze, repository_of
from ralph_tracker.store.snapshots.trees import NAME_FOLDERS, KeptTrees, Names, encode_snapshot, write_changed
from ralph_tracker.store.snapshots.user_repository import make_branch
from ralph_tracker.store.snapshots.values import (
    ITERATIONS,
    SAFETY,
    Begun,
    Change,
    Content,
    Entry,
    Limits,
    Note,
    Snapshot,
    checked_undo_id,
    refuse_taken,
    snapshot_named,
    snapshot_of,
)
from ralph_tracker.store.snapshots.working_tree import TreeReader

# The frozen scope, beside contents, names and the index.
RULES: Final = "ignore"
TRACKED: Final = "tracked"
_WITHOUT_GIT: Final = (
    "store: the git repository could not be read ({}); what it tracks although it is ignored or named like a secret is "
    "not kept"
)


class SnapshotStore:
    """Keep and bring back states of the tree at `root` in `folder`.

    `content` is always the id of a tree or of a snapshot.

    Every method raises StoreError where the system refuses, and NoSnapshotError for what is not kept. `lenders` are
    stores whose contents are read where they lie.
    """

    def __init__(self, folder: Path, root: Path, limits: Limits | None = None, lenders: Sequence[Path] = ()) -> None:
        self._folder = folder.absolute()
        self._root = root.resolve()
        self._limits = limits or Limits()
        self._objects = Objects(self._folder, lenders)
        self._names = Names(self._folder, self._objects.staging)
        self._kept = KeptTrees(self._objects, self._names)
        self._known: tuple[tuple[int, ...], Index] | None = None

    @property
    def exists(self) -> bool:
        return (self._folder / RULES).is_file()

    @property
    def is_in_repository(self) -> bool:
        """Return whether the tree belongs to a git repository and can be kept."""
        return is_to_keep(self._root, self._folder.resolve()) and repository_of(self._root) is not None

    @property
    def note(self) -> str | None:
        """Return what a person has to know of what is kept, None for nothing."""
        repository = None if (self._folder / TRACKED).exists() else repository_of(self._root)
        return _WITHOUT_GIT.format(repository.trouble() or "git") if repository else None

    def create(self) -> None:
        """Make the store; one that exists stays as it is, with the scope it was made with."""
        refuse_root(self._root, self._folder.resolve())
        if self.exists:
            return
        new = self._folder.with_name(self._folder.name + ".new")
        with told_plainly(self._folder, AGAIN):
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(mode=0o700, parents=True)
            frozen = freeze(self._root)
            tracked = frozen.tracked
            make_store(
                new, frozen.rules, None if tracked is None else b"".join(os.fsencode(path) + b"\0" for path in tracked)
            )
            sync_below(new)
            new.rename(self._folder)
            sync_folder(self._folder.parent)

    def link_environments(self, folder: Path) -> Self:
        """Make a store in `folder` that begins as this one stands, which is not written to; it knows no names."""
        self._require()
        with told_plainly(self._folder):
            _make_folders(folder)
            for name in (RULES, TRACKED, indexes.NAME):
                if (self._folder / name).exists():
                    shutil.copyfile(self._folder / name, folder / name)
        return type(self)(folder, self._root, self._limits, (self._folder,))

    def snapshot(self, previous: str | None = None, message: str = "", number: int | None = None) -> Snapshot:
        """Keep the tree as it is; with a number also under that one, as `keep` does.

        `previous` is the tree or snapshot that `changed` is counted from.
        """
        with self._held() as clock:
            index = self._index()
            seen = self._capture(index, clock())
            note = Note(
                message=message,
                skipped=seen.skipped,
                empty_directories=seen.empty_directories,
                quiescent=seen.quiescent,
            )
            commit = self._objects.add(encode_snapshot(seen.tree, note))
            self._save(index)
            changed = self._differing(previous, seen.tree) if previous else ()
            if number is not None:
                self._keep(number, commit)
        return snapshot_of(seen.tree, commit, note, changed)

    def look(self, known: str) -> tuple[str, tuple[str, ...]]:
        """Return the tree as it is now, for nobody to come back to, and the paths that differ from the tree `known`."""
        with self._held() as clock:
            index = self._index()
            seen = self._capture(index, clock())
            self._save(index)
            return seen.tree, () if seen.tree == known else self._differing(known, seen.tree)

    def keep(self, number: int, commit: str) -> None:
        """Name a snapshot as that of an iteration, once; the same again is no change, another one is refused."""
        with self._held():
            self._keep(number, commit)

    def find(self, number: int) -> Snapshot:
        """Return the snapshot of an iteration; `changed` is ()."""
        return snapshot_named(number, self._describe(f"{ITERATIONS}{number}"))

    def commit_of(self, content: str) -> str | None:
        """Return the snapshot that an id or a name leads to, None for one of a tree. Raises NoSnapshotError."""
        return self._describe(content).commit

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]:
        """Compare two kept contents; None is the tree without files."""
        return self._reading().changes(before, after)

    def contents(self, object_ids: Iterable[str], at_most: int) -> dict[str, bytes]:
        """Return kept contents by the ids that a change names, each cut after `at_most` bytes."""
        return self._reading().beginnings(object_ids, at_most)

    def file_changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """Compare two kept contents file by file, with a patch of what is text; renames are found."""
        return file_changes(self._reading(), before, after)

    def read(self, content: str, path: str) -> bytes:
        """Return one kept file; for a symbolic link its text."""
        return self._reading().read(content, path)

    def paths(self, content: str) -> tuple[str, ...]:
        """Return the paths of the files of a kept content."""
        return tuple(file.path for file in self._reading().files(content))

    def export(self, content: str, destination: Path) -> None:
        """Write the files of a kept content into an empty folder, which is made where it is missing."""
        with told_plainly(destination, AGAIN):
            self._reading().export(content, destination)

    def write_changed(self, changes: Iterable[Change], destination: Path) -> None:
        """Write what changed files hold now into an empty folder, which is made where it is missing."""
        with told_plainly(destination, AGAIN):
            write_changed(self._reading().each, changes, destination)

    def restore(self, content: str, begun: Begun | None = None) -> str:
        """Make the working tree exactly what was kept and return the id that undoes it.

        A snapshot brings back its empty folders too and leaves alone what it had skipped; a tree is its files only.
        `begun` is called when what stands there is kept, before anything is touched.
        """
        with self._held() as clock:
            goal = self._describe(content)
            index = self._index()
            seen = self._capture(index, clock())
            restore = Restore(self._root, self._kept, index, lambda other: self._scanner(other, clock()), self._save)
            return restore.run(seen, goal, begun)

    def undo(self, undo_id: str, begun: Begun | None = None) -> str:
        """Bring back what stood there before a restore, and return the id that undoes this."""
        return self.restore(f"{SAFETY}{checked_undo_id(undo_id)}", begun)

    def branch(self, content: str, name: str) -> str:
        """Make a branch with that content on top of HEAD in the user's repository, and return its commit."""
        kept = self._describe(content)
        repository = repository_of(self._root)
        if repository is None:
            raise StoreError(f"{self._root} is in no git repository: apply it as output or worktree")
        goal = [Entry(file.path, file.mode, file.object_id) for file in self._kept.files(kept.tree)]
        with told_plainly(repository.folder, AGAIN):
            return make_branch(repository, goal, self._kept.each, kept.note or Note(), name)

    def verify(self, content: str) -> tuple[str, ...]:
        """Return the paths whose kept content is missing or damaged, () if all is intact."""
        return self._kept.damaged(self._describe(content))

    def pack(self) -> None:
        """Put what is a file of its own, and small packs, into one pack; nothing is thrown away."""
        with self._held():
            self._objects.pack()

    def references(self) -> tuple[str, ...]:
        """Return the full name of everything that is kept: iterations, and what stood there before a restore."""
        self._require()
        with told_plainly(self._folder, AGAIN):
            return tuple(self._names.all())

    def forget(self, names: Sequence[str]) -> None:
        """Take names away; what nothing else names goes with the next `sweep`."""
        with self._held():
            self._names.forget(names)

    def sweep(self) -> None:
        """Throw away every content that neither a name nor the index leads to.

        Raises StoreError, with nothing thrown away, where something that has a name is damaged.
        """
        with self._held():
            index = self._index()
            wanted: set[str] = set()
            for name in self._names.all():
                found = self._kept.describe(name)
                wanted |= {found.commit} if found.commit else set()
                for tree in (found.tree, found.note.scope if found.note else None):
                    self._kept.collect(tree, wanted)
            wanted.update(index.object_ids())
            self._objects.remove_others(wanted)

    def _keep(self, number: int, commit: str) -> None:
        name = f"{ITERATIONS}{number}"
        known = self._names.read(name)
        try:
            kept = self._kept.describe(commit).commit or commit
        except (NoSnapshotError, StoreError) as error:
            raise StoreError(f"iteration {number} could not be named ({error}): run it again") from None
        if known is None:
            self._names.write(name, kept)
        else:
            refuse_taken(number, known, kept)

    def _differing(self, before: str, after: str) -> tuple[str, ...]:
        return tuple(item.path for item, _ in self._kept.differing(before, after))

    def _describe(self, content: str) -> Content:
        return self._reading().describe(content)

    def _reading(self) -> KeptTrees:
        self._require()
        return self._kept

    def _require(self) -> None:
        if not self.exists:
            raise NoSnapshotError(f"nothing is kept in {self._folder}: run `ralph-tracker hook pre-loop` first")

    def _capture(self, index: Index, began: int) -> Captured:
        scanner = self._scanner(index, began)

        def take_in(scan: Scan) -> None:
            with TreeReader(self._root, staging_in(self._objects)) as reader:
                scanner.take_in(scan, reader)

        return capture(scanner, take_in, lambda: index.write(self._objects.add))

    def _scanner(self, index: Index, began: int) -> Scanner:
        rules = IgnoreRules((self._folder / RULES).read_bytes())
        tracked = read_bytes(self._folder / TRACKED) or b""
        scope = Scope(rules, frozenset(os.fsdecode(path) for path in tracked.split(b"\0") if path))
        return Scanner(self._root, scope, self._limits, index, began)

    def _index(self) -> Index:
        """Return the index of now; what this process has written last need not be read."""
        stamp = self._stamp()
        if self._known is None or self._known[0] != stamp:
            self._known = stamp, indexes.load(self._folder)
        known = self._known[1]
        self._known = None  # until it is saved
        return known

    def _save(self, index: Index) -> None:
        """Write what was staged, then the index, which names it."""
        self._objects.publish()
        indexes.save(index, self._folder, self._objects.staging)
        self._known = self._stamp(), index

    def _stamp(self) -> tuple[int, ...]:
        try:
            status = (self._folder / indexes.NAME).stat()
        except FileNotFoundError:
            return ()
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    @contextlib.contextmanager
    def _held(self) -> Iterator[Callable[[], int]]:
        """Hold the store's lock, and yield the clock (ns) that stamps the files of this file system."""
        self._require()
        with told_plainly(self._folder, AGAIN), hold(self._folder) as descriptor:
            self._objects.clear()
            try:
                yield partial(touched, descriptor)
            finally:
                self._objects.clear()


def make_store(folder: Path, rules: bytes, tracked: bytes | None) -> None:
    """Make a store with that scope; `tracked` is None if nobody could say what git tracks."""
    _make_folders(folder)
    write_new(folder / RULES, rules)
    if tracked is not None:
        write_new(folder / TRACKED, tracked)


def _make_folders(folder: Path) -> None:
    for name in (OBJECTS, STAGING, *NAME_FOLDERS):
        (folder / name).mkdir(parents=True, exist_ok=True)
