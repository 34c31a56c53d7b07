"""The snapshot store for machines without git: contents by their hash, below the loop's folder, in plain Python.

It holds no absolute path: it moves with the tree.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.contents import index as indexes
from ralph_tracker.store.contents.documents import encode_snapshot
from ralph_tracker.store.contents.ignoring import IGNORE, IgnoreRules
from ralph_tracker.store.contents.index import Index
from ralph_tracker.store.contents.kept import Kept
from ralph_tracker.store.contents.names import Names
from ralph_tracker.store.contents.objects import Objects
from ralph_tracker.store.contents.reading import keeping
from ralph_tracker.store.contents.scan import ContentScanner
from ralph_tracker.store.exporting import write_changed
from ralph_tracker.store.files import AGAIN, told_plainly
from ralph_tracker.store.lock import hold, touched
from ralph_tracker.store.notes import Content, checked_undo_id, note_of, refuse_taken, snapshot_named, snapshot_of
from ralph_tracker.store.snapshots import ITERATIONS, SAFETY, Begun, Change, Limits, Snapshot
from ralph_tracker.store.tree.capture import Captured, Scan, capture
from ralph_tracker.store.tree.reader import TreeReader

# What only the first or the last call of a loop needs is imported there: a hook follows every iteration.
if TYPE_CHECKING:
    from ralph_tracker.store.patches import FileChange

_NOTE: Final = (
    "store: files are kept without git, as git 2.34 or newer was not found; what git tracks although it is ignored or "
    "named like a secret is not kept, and no branch can be made"
)


class ContentStore:
    """Keep states of the tree at `root` in the store `folder`; the protocol is `SnapshotStore`.

    Every method raises StoreError where the system refuses, and NoSnapshotError for what is not kept. `lenders` are
    stores whose contents are read where they lie.
    """

    def __init__(self, folder: Path, root: Path, limits: Limits | None = None, lenders: Sequence[Path] = ()) -> None:
        self._folder = folder.absolute()
        self._root = root.resolve()
        self._limits = limits or Limits()
        self._objects = Objects(self._folder, lenders)
        self._names = Names(self._folder, self._objects.staging)
        self._kept = Kept(self._objects, self._names)
        self._known: tuple[tuple[int, ...], Index] | None = None

    @property
    def exists(self) -> bool:
        return (self._folder / IGNORE).is_file()

    @property
    def is_in_repository(self) -> bool:
        """Tell whether the tree belongs to a git repository and can be kept."""
        from ralph_tracker.store.contents.scope import source_of  # noqa: PLC0415  # as above
        from ralph_tracker.store.tree.root import is_to_keep  # noqa: PLC0415  # as above

        return is_to_keep(self._root, self._folder.resolve()) and source_of(self._root) is not None

    @property
    def note(self) -> str | None:
        """Say that git is not used, and what that means."""
        return _NOTE

    def create(self) -> None:
        """Make the store; one that exists stays as it is, with the ignore rules it was made with."""
        from ralph_tracker.store.contents.making import make  # noqa: PLC0415  # as above
        from ralph_tracker.store.tree.root import refuse_root  # noqa: PLC0415  # as above

        refuse_root(self._root, self._folder.resolve())
        if not self.exists:
            with told_plainly(self._folder, AGAIN):
                make(self._folder, self._root)

    def lend(self, folder: Path) -> Self:
        """Make a store in `folder` that begins as this one stands, which is not written to; it knows no names."""
        from ralph_tracker.store.contents.making import borrow  # noqa: PLC0415  # as above

        self._require()
        with told_plainly(self._folder):
            borrow(self._folder, folder)
        return type(self)(folder, self._root, self._limits, (self._folder,))

    def snapshot(self, previous: str | None = None, message: str = "", number: int | None = None) -> Snapshot:
        """Keep the tree as it is; with a number also under that one, as `keep` does.

        `previous` is the tree or snapshot that `changed` is counted from.
        """
        with self._held() as clock:
            index = self._index()
            seen = self._capture(index, clock())
            note = note_of(seen, message)
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

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]:
        """Compare two kept contents; None is the tree without files."""
        return self._reading().changes(before, after)

    def changes_since(self, befores: Sequence[str | None], after: str | None) -> list[tuple[Change, ...]]:
        """Compare several kept contents with a later one, as `changes` does each."""
        kept = self._reading()
        return [kept.changes(before, after) for before in befores]

    def contents(self, object_ids: Iterable[str], at_most: int) -> dict[str, bytes]:
        """Return kept contents by the ids that a change names, each cut after `at_most` bytes."""
        return self._reading().beginnings(object_ids, at_most)

    def file_changes(self, before: str, after: str) -> "tuple[FileChange, ...]":
        """Compare two kept contents file by file, with a patch of what is text; renames are found."""
        from ralph_tracker.store.contents.patch import file_changes  # noqa: PLC0415  # as above

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
        from ralph_tracker.store.contents.restoring import ContentRestoring  # noqa: PLC0415  # as above
        from ralph_tracker.store.restore import restore_tree  # noqa: PLC0415  # as above

        with self._held() as clock:
            goal = self._describe(content)
            index = self._index()
            seen = self._capture(index, clock())
            kept = ContentRestoring(
                self._root, self._kept, self._names, index, lambda other: self._scanner(other, clock()), self._save
            )
            return restore_tree(kept, self._root, seen, goal, begun)

    def undo(self, undo_id: str, begun: Begun | None = None) -> str:
        """Bring back what stood there before a restore, and return the id that undoes this."""
        return self.restore(f"{SAFETY}{checked_undo_id(undo_id)}", begun)

    def branch(self, content: str, name: str) -> str:
        """Refuse: a branch is git's."""
        self._describe(content)
        raise StoreError(
            f"the branch {name} cannot be made: this loop was begun without git; apply it as output or worktree"
        )

    def verify(self, content: str) -> tuple[str, ...]:
        """Return the paths whose kept content is missing or damaged, () where all is intact."""
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
        if known is not None:
            refuse_taken(number, known, commit)
            return
        try:
            self._kept.describe(commit)
        except (NoSnapshotError, StoreError) as error:
            raise StoreError(f"iteration {number} could not be named ({error}): run it again") from None
        self._names.write(name, commit)

    def _differing(self, before: str, after: str) -> tuple[str, ...]:
        return tuple(item.path for item, _ in self._kept.differing(before, after))

    def _describe(self, content: str) -> Content:
        return self._reading().describe(content)

    def _reading(self) -> Kept:
        self._require()
        return self._kept

    def _require(self) -> None:
        if not self.exists:
            raise NoSnapshotError(f"nothing is kept in {self._folder}: run `ralph-tracker hook pre-loop` first")

    def _capture(self, index: Index, began: int) -> Captured:
        scanner = self._scanner(index, began)

        def take_in(scan: Scan) -> None:
            with TreeReader(self._root, keeping(self._objects)) as reader:
                scanner.take_in(scan, reader)

        return capture(scanner, take_in, lambda: index.write(self._objects.add))

    def _scanner(self, index: Index, began: int) -> ContentScanner:
        rules = IgnoreRules((self._folder / IGNORE).read_bytes())
        return ContentScanner(self._root, rules, self._limits, index, began)

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
