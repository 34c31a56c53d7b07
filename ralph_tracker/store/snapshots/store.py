"""Keep snapshots of a working tree, as contents by their hash in the loop's folder, in plain Python.

The store holds no absolute paths, so it can be moved, and reads no settings.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Self

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.lock import hold, touched
from ralph_tracker.store.safe_open import own_file
from ralph_tracker.store.safe_read import read_bytes
from ralph_tracker.store.safe_write import (
    AGAIN,
    as_store_error,
    digest,
    file_digest,
    sync_below,
    sync_folder,
    write_whole,
)
from ralph_tracker.store.snapshots import index as indexes
from ralph_tracker.store.snapshots.exclusions import is_to_keep, path_matcher, refuse_root
from ralph_tracker.store.snapshots.file_changes import FileChange, file_changes
from ralph_tracker.store.snapshots.ignore_rules import IgnoreRules, Scope, freeze, left_out, repository_of
from ralph_tracker.store.snapshots.index import Captured, Index, Scan, Scanner, Seen, capture
from ralph_tracker.store.snapshots.objects import STAGING, Objects, staging_in
from ralph_tracker.store.snapshots.restore import Restore
from ralph_tracker.store.snapshots.snapshot_types import (
    ITERATIONS,
    OBJECTS,
    RULES,
    SAFETY,
    Begun,
    Change,
    Content,
    Entry,
    Note,
    Snapshot,
    SnapshotLimits,
    checked_undo_id,
    refuse_taken,
    snapshot_named,
    snapshot_of,
    undo_id_of,
)
from ralph_tracker.store.snapshots.trees import (
    NAME_FOLDERS,
    OF_GIT,
    KeptTrees,
    NamedIds,
    encode_snapshot,
    write_changed,
)
from ralph_tracker.store.snapshots.user_repository import Branch, make_branch
from ralph_tracker.store.snapshots.working_tree import CHUNK, TreeReader

TRACKED: Final = "tracked"
# The sha256 of the rules: nothing else tells whether they are those of the baseline.
_RULES_DIGEST: Final = f"{RULES}.sha256"
# Patterns of untracked files that are kept although they may hold a secret.
INCLUDED: Final = "included"
_DAMAGED: Final = "damaged"
_WITHOUT_GIT: Final = (
    "store: the git repository could not be read ({}); what it tracks although it is ignored or named like a secret is "
    "not kept"
)


# The changed files by path; None for a deleted one.
Changed = Mapping[str, Seen | None]


class KeptSnapshot(NamedTuple):
    """A snapshot as an iteration's manifest describes it.

    `added` are the paths of `since_baseline` that the baseline does not have. `previous` is the tree that it differs
    from by `since_previous`, None if unknown. `copies` are the paths of plain files by the hash of their content.
    """

    number: int
    tree: str
    commit: str
    note: Note
    since_baseline: Changed
    added: frozenset[str]
    previous: str | None
    since_previous: Changed
    copies: Mapping[str, Path]


class SnapshotStore:
    """The snapshots of the tree at `root`, kept in `folder`.

    `content` is always the id of a tree or of a snapshot.

    Every method raises StoreError for an OSError, and NoSnapshotError for what is not kept. `lenders` are stores whose
    contents are read in place.
    """

    def __init__(
        self, folder: Path, root: Path, limits: SnapshotLimits | None = None, lenders: Sequence[Path] = ()
    ) -> None:
        self._folder = folder.absolute()
        self._root = root.resolve()
        self._limits = limits or SnapshotLimits()
        self._objects = Objects(self._folder, lenders)
        self._names = NamedIds(self._folder, self._objects.staging)
        self._kept = KeptTrees(self._objects, self._names)
        self._known: tuple[tuple[int, ...], Index] | None = None

    @property
    def exists(self) -> bool:
        """Return whether the store is there: without its rules or its contents nothing can be read."""
        return (self._folder / RULES).is_file() and (self._folder / OBJECTS).is_dir()

    @property
    def is_in_repository(self) -> bool:
        """Return whether the tree belongs to a git repository and can be kept."""
        return is_to_keep(self._root, self._folder.resolve()) and repository_of(self._root) is not None

    @property
    def note(self) -> str | None:
        """Return a message about the store for the user, None for nothing."""
        repository = None if (self._folder / TRACKED).exists() else repository_of(self._root)
        return _WITHOUT_GIT.format(repository.trouble() or "git") if repository else None

    def create(self, include: Sequence[str] = (), tracked: Iterable[str] = ()) -> None:
        """Create the store; an existing one is left unchanged.

        `include` are patterns of untracked files that are kept although they may hold a secret, `tracked` paths that
        git tracks in other commits than the current one.
        """
        refuse_root(self._root, self._folder.resolve())
        if self.exists:
            return
        new = self._folder.with_name(self._folder.name + ".new")
        with as_store_error(self._folder, AGAIN):
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(mode=0o700, parents=True)
            _make_frozen(new, self._root, include, tracked)
            sync_below(new)
            new.rename(self._folder)
            sync_folder(self._folder.parent)

    def read_only_copy(self, folder: Path) -> Self:
        """Create a store in `folder` that reads this one, which is not written to; it has no names."""
        self._require()
        with as_store_error(self._folder):
            _make_folders(folder)
            for name in (RULES, TRACKED, INCLUDED, indexes.NAME):
                if (self._folder / name).exists():
                    shutil.copyfile(self._folder / name, folder / name)
        return type(self)(folder, self._root, self._limits, (self._folder,))

    def snapshot(self, previous: str | None = None, message: str = "", number: int | None = None) -> Snapshot:
        """Keep the tree as it is, and name it with `number` if given, as `keep` does.

        `changed` of the result is relative to `previous`, a tree or snapshot.
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
        """Return the current tree, without naming it, and the paths that differ from the tree `known`."""
        with self._held() as clock:
            index = self._index()
            seen = self._capture(index, clock())
            self._save(index)
            return seen.tree, () if seen.tree == known else self._differing(known, seen.tree)

    def keep(self, number: int, commit: str) -> None:
        """Name a snapshot as that of an iteration; repeating it is fine, a different snapshot is refused."""
        with self._held():
            self._keep(number, commit)

    def find(self, number: int) -> Snapshot:
        """Return the snapshot of an iteration; `changed` is ()."""
        return snapshot_named(number, self._describe(f"{ITERATIONS}{number}"))

    def scope_of(self, content: str) -> str:
        """Return the tree of what snapshots cover, without what a safety snapshot has beside it."""
        found = self._describe(content)
        return (found.note and found.note.scope) or found.tree

    def has(self, content: str) -> bool:
        """Return whether a tree or snapshot is kept; its content may be damaged."""
        try:
            self._describe(content)
        except (NoSnapshotError, StoreError):
            return False
        return True

    def commit_of(self, content: str) -> str | None:
        """Return the snapshot of an id or name, None if it is a tree. Raises NoSnapshotError."""
        return self._describe(content).commit

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]:
        """Compare two kept contents; None is the empty tree."""
        return self._reading().changes(before, after)

    def contents(self, object_ids: Iterable[str], at_most: int) -> dict[str, bytes]:
        """Return contents by the ids in a change, each cut after `at_most` bytes."""
        return self._reading().beginnings(object_ids, at_most)

    def file_changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """Compare two kept contents file by file, with renames, and patches of text files."""
        return file_changes(self._reading(), before, after)

    def read(self, content: str, path: str) -> bytes:
        """Return one kept file; for a symbolic link its target."""
        return self._reading().read(content, path)

    def paths(self, content: str) -> tuple[str, ...]:
        """Return the file paths of a kept content."""
        return tuple(file.path for file in self._reading().files(content))

    def export(self, content: str, destination: Path) -> None:
        """Write the files of a kept content into an empty or new folder."""
        with as_store_error(destination, AGAIN):
            self._reading().export(content, destination)

    def write_changed(self, changes: Iterable[Change], destination: Path) -> None:
        """Write the new contents of changed files into an empty or new folder."""
        with as_store_error(destination, AGAIN):
            write_changed(self._reading().each, changes, destination)

    def restore(self, content: str, begun: Begun | None = None) -> str:
        """Make the working tree equal to what was kept, and return the id that undoes it.

        A snapshot also restores its empty folders and leaves alone the paths it had skipped; a tree is only files.
        `begun` is called once the current state is saved, before anything is touched.
        """
        with self._held() as clock:
            goal = self._describe(content)
            index = self._index()
            seen = self._capture(index, clock())
            restore = Restore(self._root, self._kept, index, lambda other: self._scanner(other, clock()), self._save)
            return restore.run(seen, goal, begun)

    def undo(self, undo_id: str, begun: Begun | None = None) -> str:
        """Bring back the tree from before a restore, and return the id that undoes this."""
        return self.restore(f"{SAFETY}{checked_undo_id(undo_id)}", begun)

    def branch(self, content: str, name: str) -> Branch:
        """Create a branch with that content on top of HEAD in the user's repository."""
        kept = self._describe(content)
        repository = repository_of(self._root)
        if repository is None:
            raise StoreError(f"{self._root} is in no git repository: apply it as output or worktree")
        goal = [Entry(file.path, file.mode, file.object_id) for file in self._kept.files(kept.tree)]
        with as_store_error(repository.folder, AGAIN):
            return make_branch(repository, goal, self._kept.each, kept.note or Note(), name)

    def verify(self, content: str, whole: set[str] | None = None) -> tuple[str, ...]:
        """Return the paths whose kept content is missing or damaged, () if all is intact.

        Every content is read as a restore reads it, but for those in `whole`, to which intact ones are added.
        """
        return self._kept.damaged(self._describe(content), set() if whole is None else whole)

    def damaged_parts(self, baseline: str) -> tuple[str, ...]:
        """Return the files of the store's folder, beside contents and names, that are missing or damaged."""
        if not self.exists:
            return (RULES,)
        found = [f"{OBJECTS}/pack/{name}" for name in self._objects.damaged_packs()]
        if not self._has_frozen_rules():
            found.append(RULES)
        if not indexes.is_whole(self._folder) and not any((self._folder / OF_GIT).glob("*")):  # else just migrated
            found.append(indexes.NAME)
        if not self._kept_though_ignored(baseline) <= self._tracked():
            found.append(TRACKED)
        return tuple(found)

    def unnamed(self, undo_ids: Collection[str]) -> dict[str, str]:
        """Return the safety snapshots, by undo id, that are kept and have lost their names."""
        self._require()
        lost = {undo_id for undo_id in undo_ids if self._names.read(f"{SAFETY}{undo_id}") is None}
        return {undo_id_of(each): each for each in self._objects.ids() if undo_id_of(each) in lost} if lost else {}

    def rebuild(self, snapshots: Sequence[KeptSnapshot], undo_ids: Collection[str]) -> bool:
        """Rebuild what is lost and can be, and return whether the ignore rules had to be those of today.

        Damaged contents are moved to the folder `damaged`. The baseline must be the first of `snapshots`.
        """
        without_rules = not self._has_frozen_rules()
        with as_store_error(self._folder, AGAIN):
            _make_folders(self._folder)
            if without_rules:
                if os.path.lexists(self._folder / RULES):
                    (self._folder / _DAMAGED).mkdir(exist_ok=True)
                    (self._folder / RULES).rename(self._folder / _DAMAGED / RULES)
                _make_frozen(self._folder, self._root)
        with self._held() as clock:
            self._objects.set_aside(self._folder / _DAMAGED)
            self._kept.forget()
            index = Index()
            self._capture(index, clock())
            rebuild(self._kept, snapshots)
            self._save(index)
            for snapshot in snapshots:
                if self._objects.has(snapshot.commit):
                    self._names.write(f"{ITERATIONS}{snapshot.number}", snapshot.commit)
            for undo_id, commit in self.unnamed(undo_ids).items():
                self._names.write(f"{SAFETY}{undo_id}", commit)
            tracked = self._tracked()
            more = self._kept_though_ignored(snapshots[0].commit) if snapshots else frozenset()
            if not more <= tracked:
                write_whole(self._folder / TRACKED, _lines(sorted(more | tracked)), self._objects.staging)
        return without_rules

    def _has_frozen_rules(self) -> bool:
        """Return whether the ignore rules are there and as frozen; a store of an earlier version has no digest."""
        rules, known = (read_bytes(self._folder / name) for name in (RULES, _RULES_DIGEST))
        return rules is not None and (known is None or digest(rules) == known.decode("ascii", "replace").strip())

    def _tracked(self) -> frozenset[str]:
        return frozenset(self._list(TRACKED))

    def _kept_though_ignored(self, content: str) -> frozenset[str]:
        """Return the paths of a content that a rule would leave out: git tracked them. Empty if it cannot be read."""
        try:
            paths = self.paths(content)
        except (NoSnapshotError, StoreError):
            return frozenset()
        return frozenset(left_out(paths, self._rules(), self._includes()))

    def pack(self) -> None:
        """Merge loose contents and small packs into one pack; nothing is deleted."""
        with self._held():
            self._objects.pack()

    def references(self) -> tuple[str, ...]:
        """Return the full names of all that is kept: iterations, and the safety snapshots of restores."""
        self._require()
        with as_store_error(self._folder, AGAIN):
            return tuple(self._names.all())

    def named_at(self, name: str) -> float:
        """Return when a name was given, in epoch seconds."""
        with as_store_error(self._folder, AGAIN):
            return (self._folder / name).stat().st_mtime

    def forget(self, names: Sequence[str]) -> None:
        """Remove names; the next `sweep` deletes what nothing else refers to."""
        with self._held():
            self._names.forget(names)

    def sweep(self) -> None:
        """Delete every content that neither a name nor the index refers to.

        Raises StoreError, with nothing deleted, if something named is damaged.
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
            with TreeReader(self._root, staging_in(self._objects), scanner.leaves_out_key) as reader:
                scanner.take_in(scan, reader)

        return capture(scanner, take_in, lambda: index.write(self._objects.add))

    def _scanner(self, index: Index, began: int) -> Scanner:
        return Scanner(self._root, Scope(self._rules(), self._tracked(), self._includes()), self._limits, index, began)

    def _includes(self) -> Callable[[str], bool]:
        return path_matcher(tuple(self._list(INCLUDED)))

    def _rules(self) -> IgnoreRules:
        return IgnoreRules(read_bytes(self._folder / RULES) or b"")

    def _list(self, name: str) -> Iterator[str]:
        """Yield what a file of the store lists, nothing without the file."""
        return (os.fsdecode(each) for each in (read_bytes(self._folder / name) or b"").split(b"\0") if each)

    def _index(self) -> Index:
        """Return the current index, from memory if this process wrote it last."""
        stamp = self._stamp()
        if self._known is None or self._known[0] != stamp:
            self._known = stamp, indexes.load(self._folder)
        known = self._known[1]
        self._known = None  # until the new one is saved
        return known

    def _save(self, index: Index) -> None:
        """Publish what was staged, then write the index, which refers to it."""
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
        """Hold the store's lock, and yield the clock (ns) of its file system."""
        self._require()
        with as_store_error(self._folder, AGAIN), hold(self._folder) as descriptor:
            self._objects.clear()
            try:
                yield partial(touched, descriptor)
            finally:
                self._objects.clear()


def make_store(folder: Path, rules: bytes, tracked: bytes | None) -> None:
    """Create a store with that scope, or what is missing of it; `tracked` is None if git could not be asked."""
    _make_folders(folder)
    if tracked is not None:
        write_whole(folder / TRACKED, tracked)
    write_whole(folder / _RULES_DIGEST, f"{digest(rules)}\n".encode())
    write_whole(folder / RULES, rules)


def _make_frozen(folder: Path, root: Path, include: Sequence[str] = (), more: Iterable[str] = ()) -> None:
    """Create a store with the scope of a tree as it is now."""
    frozen = freeze(root)
    tracked = None if frozen.tracked is None else {*frozen.tracked, *left_out(more, IgnoreRules(frozen.rules))}
    make_store(folder, frozen.rules, None if tracked is None else _lines(sorted(tracked)))
    if include:
        write_whole(folder / INCLUDED, _lines(include))


def _lines(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _make_folders(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (OBJECTS, STAGING, *NAME_FOLDERS):
        (folder / name).mkdir(parents=True, exist_ok=True)


def rebuild(kept: KeptTrees, snapshots: Sequence[KeptSnapshot]) -> None:
    """Stage every missing content, folder and snapshot that can be rebuilt; a tree comes before those built from it."""
    take = staging_in(kept.objects)
    for snapshot in snapshots:
        for object_id, path in snapshot.copies.items():
            with suppress(OSError):  # a copy that is lost too
                if not kept.objects.has(object_id) and file_digest(path) == object_id:
                    parts = _parts_of_copy(path)
                    take(next(parts, b""), parts)
    for snapshot in (*snapshots, *reversed(snapshots)):  # twice: a later one may be what an earlier one is built from
        _rebuild_tree(kept, snapshot, snapshots)
    for snapshot in snapshots:
        document = encode_snapshot(snapshot.tree, snapshot.note)
        if digest(document) == snapshot.commit:
            kept.objects.add(document)


def _parts_of_copy(path: Path) -> Iterator[bytes]:
    """Yield a copy of a content in parts, for a link its target."""
    if path.is_symlink():
        yield os.fsencode(path.readlink())
        return
    with open(path, "rb", opener=own_file) as file:  # pathlib's takes no opener
        while part := file.read(CHUNK):
            yield part


def _rebuild_tree(kept: KeptTrees, snapshot: KeptSnapshot, others: Sequence[KeptSnapshot]) -> None:
    for base, changed in _rebuild_bases(snapshot, others):
        try:
            files = kept.files(base)
        except (StoreError, NoSnapshotError):
            continue
        if base == snapshot.tree:
            return
        index = Index()
        for file in files:
            index.put(file.path, Seen(file.mode, file.object_id, file.size, None))
        for path, seen in changed.items():
            if seen is not None:
                index.put(path, seen)
            elif index.get(path) is not None:
                index.drop(path)
        if index.write(kept.objects.add) == snapshot.tree:
            return


def _rebuild_bases(snapshot: KeptSnapshot, others: Sequence[KeptSnapshot]) -> Iterator[tuple[str, Changed]]:
    """Yield the trees that a snapshot can be built from, with what to change in them.

    What another one has changed in the baseline must have changed in this one too: else it is not known.
    """
    yield snapshot.tree, {}
    if snapshot.previous is not None:
        yield snapshot.previous, snapshot.since_previous
    for other in others:
        if other.since_baseline.keys() - other.added <= snapshot.since_baseline.keys():
            yield other.tree, {**dict.fromkeys(other.added), **snapshot.since_baseline}
