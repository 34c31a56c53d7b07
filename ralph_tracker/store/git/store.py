"""The snapshot store: a private bare git directory beside the loop's records.

The user's repository lends objects and ignore rules when the store is made; after that only `branch` reads it or writes
to it. The store holds no absolute path: it moves with the tree.
"""

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.exporting import write_changed
from ralph_tracker.store.files import AGAIN, told_plainly
from ralph_tracker.store.git import objects
from ralph_tracker.store.git.index import Adders, IndexTree, take_in
from ralph_tracker.store.git.lock import at_work, clear_begun
from ralph_tracker.store.git.private import AHEAD, BULK, DURABLE, PLAIN_PATHS, one_pack, private_environment
from ralph_tracker.store.git.recent import Recent
from ralph_tracker.store.git.runner import GitRunner, through_gitpython
from ralph_tracker.store.git.unsettled import Unsettled
from ralph_tracker.store.git.verbs import NO_OBJECT, Runner
from ralph_tracker.store.notes import Content, checked_undo_id, note_of, refuse_taken, snapshot_named, snapshot_of
from ralph_tracker.store.snapshots import ITERATIONS, SAFETY, Begun, Change, Limits, Snapshot
from ralph_tracker.store.tree.capture import Captured, Scan, capture
from ralph_tracker.store.tree.scan import TreeScanner

# What only the first or the last call of a loop needs is imported there: a hook follows every iteration.
if TYPE_CHECKING:
    from ralph_tracker.store.patches import FileChange


class GitStore:
    """Keep states of the tree at `root` in the git directory `folder`; the protocol is `SnapshotStore`.

    Every method raises StoreError where git or the system refuses, and NoSnapshotError for what is not kept.
    """

    very_many: ClassVar[int] = 1_000

    def __init__(self, folder: Path, root: Path, limits: Limits | None = None) -> None:
        self._folder = folder.absolute()
        self._root = root.resolve()
        self._limits = limits or Limits()
        self._git = _private(self._folder, self._root, PLAIN_PATHS)
        self._bulk = _private(self._folder, self._root, BULK)
        self._ahead = _private(self._folder, self._root, AHEAD)
        self._last = _private(self._folder, self._root, DURABLE)
        self._recent = Recent(self._git)
        self._tree = IndexTree(self._git, self._folder / "index")

    @property
    def exists(self) -> bool:
        return (self._folder / "HEAD").is_file()

    @property
    def is_in_repository(self) -> bool:
        """Tell whether the tree belongs to a git repository and can be kept."""
        from ralph_tracker.store.git.source import find_source  # noqa: PLC0415  # as above
        from ralph_tracker.store.tree.root import is_to_keep  # noqa: PLC0415  # as above

        return is_to_keep(self._root, self._folder.resolve()) and find_source(self._root, _of_user) is not None

    @property
    def note(self) -> str | None:
        """Return nothing: what it keeps and leaves out is as everywhere described."""
        return None

    def create(self) -> None:
        """Make the store; one that exists stays as it is, with the ignore rules it was made with."""
        from ralph_tracker.store.git.create import fill, make_folder  # noqa: PLC0415  # as above
        from ralph_tracker.store.git.source import find_source  # noqa: PLC0415  # as above
        from ralph_tracker.store.tree.root import refuse_root  # noqa: PLC0415  # as above

        refuse_root(self._root, self._folder.resolve())
        if self.exists:
            return
        new = self._folder.with_name(self._folder.name + ".new")
        with told_plainly(self._folder, AGAIN):
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(mode=0o700, parents=True)
            source = find_source(self._root, _of_user)
            user = _of_user(source.environment, source.top) if source else None
            make_folder(GitRunner(private_environment(new, None), new), new)
            fill(_private(new, self._root), new, self._root, source, user)
            new.rename(self._folder)

    def lend(self, folder: Path) -> Self:
        """Make a store in `folder` that begins as this one stands, which is not written to; it knows no names."""
        from ralph_tracker.store.git.lend import borrow  # noqa: PLC0415  # as above

        with told_plainly(self._folder):
            borrow(self._folder, folder)
        return type(self)(folder, self._root, self._limits)

    def snapshot(self, previous: str | None = None, message: str = "", number: int | None = None) -> Snapshot:
        """Keep the tree as it is; with a number also under that one, as `keep` does.

        `previous` is the tree or commit that `changed` is counted from.
        """
        with self._held():
            seen = self._capture()
            note = note_of(seen, message)
            commit = objects.write_commit(self._last, seen.tree, note)
            changed = self._differing(previous, seen.tree) if previous else ()
            if number is not None:
                self._keep(number, commit)
        return snapshot_of(seen.tree, commit, note, changed)

    def look(self, known: str) -> tuple[str, tuple[str, ...]]:
        """Return the tree as it is now, for nobody to come back to, and the paths that differ from the tree `known`."""
        with self._held():
            seen = self._capture()
            if seen.tree == known:
                return known, ()
            # The index names new content, which has to last too.
            objects.write_commit(self._last, seen.tree, note_of(seen))
            return seen.tree, self._differing(known, seen.tree)

    def keep(self, number: int, commit: str) -> None:
        """Name a snapshot as that of an iteration, once; the same again is no change, another one is refused."""
        with self._held():
            self._keep(number, commit)

    def find(self, number: int) -> Snapshot:
        """Return the snapshot of an iteration; `changed` is ()."""
        self._require()
        return snapshot_named(number, self._describe(f"{ITERATIONS}{number}"))

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]:
        """Compare two kept contents; None is the tree without files."""
        self._require()
        return objects.changes(self._git, [before], after, self._recent.each)[0]

    def changes_since(self, befores: Sequence[str | None], after: str | None) -> list[tuple[Change, ...]]:
        """Compare several kept contents with a later one, as `changes` does each."""
        self._require()
        return objects.changes(self._git, befores, after, self._recent.each, ahead=True)

    def contents(self, object_ids: Iterable[str], at_most: int) -> dict[str, bytes]:
        """Return kept contents by the ids that a change names, each cut after `at_most` bytes."""
        self._require()
        return objects.read_objects(self._recent.each, object_ids, at_most)

    def file_changes(self, before: str, after: str) -> "tuple[FileChange, ...]":
        """Compare two kept contents file by file, with a patch of what is text; renames are found."""
        from ralph_tracker.store.git.patch import file_changes  # noqa: PLC0415  # as above

        self._require()
        return file_changes(self._git, before, after)

    def read(self, content: str, path: str) -> bytes:
        """Return one kept file; for a symbolic link its text."""
        self._require()
        return objects.read_file(self._git, content, path)

    def paths(self, content: str) -> tuple[str, ...]:
        """Return the paths of the files of a kept content."""
        self._require()
        return objects.paths_in(self._git, content)

    def export(self, content: str, destination: Path) -> None:
        """Write the files of a kept content into an empty folder, which is made where it is missing."""
        self._require()
        with told_plainly(destination, AGAIN):
            objects.export(self._git, content, destination, self._recent.each)

    def write_changed(self, changes: Iterable[Change], destination: Path) -> None:
        """Write what changed files hold now into an empty folder, which is made where it is missing."""
        self._require()
        with told_plainly(destination, AGAIN):
            write_changed(self._recent.each, changes, destination)

    def restore(self, content: str, begun: Begun | None = None) -> str:
        """Make the working tree exactly what was kept and return the id that undoes it.

        A commit brings back its empty folders too and leaves alone what it had skipped; a tree is its files only.
        `begun` is called when what stands there is kept, before anything is touched.
        """
        with self._held():
            return self._restore(self._describe(content), begun)

    def undo(self, undo_id: str, begun: Begun | None = None) -> str:
        """Bring back what stood there before a restore, and return the id that undoes this."""
        return self.restore(f"{SAFETY}{checked_undo_id(undo_id)}", begun)

    def branch(self, content: str, name: str) -> str:
        """Make a branch with that content on top of HEAD in the user's repository, and return its commit."""
        from ralph_tracker.store.git.branch import make_branch  # noqa: PLC0415  # as above
        from ralph_tracker.store.git.source import find_source  # noqa: PLC0415  # as above

        kept = self._describe(content)
        source = find_source(self._root, _of_user)
        if source is None:
            raise StoreError(f"{self._root} is in no git repository: apply it as output or worktree")
        with told_plainly(source.folder, AGAIN):
            return make_branch(self._git, source, _of_user, kept, name)

    def verify(self, content: str) -> tuple[str, ...]:
        """Return the paths whose kept content is missing or damaged, () where all is intact."""
        return objects.damaged(self._git, self._describe(content))

    def pack(self) -> None:
        """Put the loose objects into packs; nothing is thrown away."""
        with self._held():
            clear_begun(self._folder)
            self._last.run("repack", "-d", "-q", "--geometric=2")

    def references(self) -> tuple[str, ...]:
        """Return the full name of everything that is kept: iterations, and what stood there before a restore."""
        self._require()
        return tuple(self._git.run("for-each-ref", "--format=%(refname)").decode().split())

    def forget(self, names: Sequence[str]) -> None:
        """Take names away; what nothing else names goes with the next `sweep`."""
        with self._held():
            for name in names:
                (self._folder / f"{name}.lock").unlink(missing_ok=True)
            self._last.run("update-ref", "--stdin", stdin="".join(f"delete {name}\n" for name in names).encode())

    def sweep(self) -> None:
        """Throw away every object that no name leads to, and pack the others.

        A pack that is the user's too, by a hard link, costs nothing and stays.
        """
        with self._held():
            clear_begun(self._folder)
            packs = (self._folder / "objects" / "pack").glob("*.pack")
            shared = [f"--keep-pack={pack.name}" for pack in packs if pack.stat().st_nlink > 1]
            self._last.run("repack", "-a", "-d", "-q", *shared)
            self._last.run("prune", "--expire=now")

    def _restore(self, goal: Content, begun: Begun | None) -> str:
        from ralph_tracker.store.git.restore import GitRestoring  # noqa: PLC0415  # as above
        from ralph_tracker.store.restore import restore_tree  # noqa: PLC0415  # as above

        kept = GitRestoring(self._git, self._last, self._folder, self._root)
        return restore_tree(kept, self._root, self._capture(), goal, begun)

    def _keep(self, number: int, commit: str) -> None:
        name = f"{ITERATIONS}{number}"
        (self._folder / f"{name}.lock").unlink(missing_ok=True)
        answer = self._last.ask("update-ref", name, commit, NO_OBJECT)
        if not answer.status:
            return
        known = self._git.ask("rev-parse", "-q", "--verify", name).out.decode().strip()
        if not known:
            raise StoreError(f"iteration {number} could not be named ({answer.error}): run it again")
        refuse_taken(number, known, commit)

    def _differing(self, before: str, after: str) -> tuple[str, ...]:
        return tuple(item.path for item in objects.differences(self._git, before, after))

    def _describe(self, content: str) -> Content:
        self._require()
        return objects.describe(self._git, content)

    def _require(self) -> None:
        if not self.exists:
            raise NoSnapshotError(f"nothing is kept in {self._folder}: run `ralph-tracker hook pre-loop` first")

    def _capture(self) -> Captured:
        bulk = self._bulk if one_pack(self._folder).exists() else self._git
        adders = Adders(self._git, bulk, self._ahead)
        unsettled = Unsettled(self._folder, self._root)
        scanner = TreeScanner(self._git, self._root, self._folder, self._limits, unsettled)

        def taken(scan: Scan) -> None:
            began = unsettled.moment()
            take_in(adders, self._folder, self._root, scan, very_many=self.very_many, is_first=not scanner.count())
            unsettled.note(scan.added, began)

        return capture(scanner, taken, self._tree.write)

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        self._require()
        runners = (self._git, self._bulk, self._ahead, self._last)
        with (
            told_plainly(self._folder, AGAIN),
            at_work(self._folder, lambda: any(runner.is_troubled for runner in runners)) as descriptor,
        ):
            for runner in runners:
                runner.inherited, runner.is_troubled = (descriptor,), False
            try:
                yield
            finally:
                for runner in runners:
                    runner.inherited = ()


def _private(folder: Path, root: Path, options: tuple[str, ...] = ()) -> GitRunner:
    return GitRunner(private_environment(folder, root), root, options)


def _of_user(environment: Mapping[str, str], where: Path) -> Runner:
    from ralph_tracker.store.git.source import QUIET  # noqa: PLC0415  # as above

    return GitRunner(environment, where, QUIET, through_gitpython)
