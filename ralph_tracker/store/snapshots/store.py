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
from ralph_tracker.safe_files import (
    AGAIN,
    as_store_error,
    digest,
    file_digest,
    own_file,
    read_own_file,
    sync_below,
    sync_folder,
    write_whole,
)
from ralph_tracker.store.lock import file_system_time, hold
from ralph_tracker.store.snapshots import index as indexes
from ralph_tracker.store.snapshots.exclusions import path_matcher, refuse_root
from ralph_tracker.store.snapshots.gitignore_rules import (
    IgnoreRules,
    Scope,
    freeze,
    repository_of,
    rules_now,
    tracked_but_ignored,
    with_rules,
)
from ralph_tracker.store.snapshots.index import CapturedTree, Index, Scan, Scanner, SeenFile, capture
from ralph_tracker.store.snapshots.objects import STAGING
from ralph_tracker.store.snapshots.restore import Restore
from ralph_tracker.store.snapshots.snapshot_types import (
    ITERATIONS,
    OBJECTS,
    RULES,
    SAFETY,
    Begun,
    Entry,
    Note,
    Snapshot,
    SnapshotLimits,
    snapshot_of,
    undo_id_of,
)
from ralph_tracker.store.snapshots.trees import (
    NAME_FOLDERS,
    KeptTrees,
    encode_snapshot,
)
from ralph_tracker.store.snapshots.user_repository import Branch, make_branch
from ralph_tracker.store.snapshots.working_tree_io import CHUNK, TreeReader

TRACKED: Final = "tracked"
# The sha256 of the rules: nothing else tells whether they are those of the baseline.
_RULES_DIGEST: Final = f"{RULES}.sha256"
# Patterns of untracked files that are kept although they may hold a secret.
INCLUDED: Final = "included"
# Patterns of what is not kept, whatever git says.
_EXCLUDED: Final = "excluded"
# The paths of reports and tables that were written into the tree on the user's word.
_WRITTEN: Final = "written"
# The lists of ignore rules of later days.
_SINCE: Final = "ignored-since"
_DAMAGED: Final = "damaged"
_WITHOUT_GIT: Final = (
    "store: the git repository could not be read ({}); what it tracks although it is ignored or named like a secret is "
    "not kept"
)


# The changed files by path; None for a deleted one.
Changed = Mapping[str, SeenFile | None]


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


class SnapshotStore(KeptTrees):
    """The snapshots of the tree at `root`, kept in `folder`.

    `content` is always the id of a tree or of a snapshot, or the name of a snapshot. Every method raises StoreError for
    an OSError, and NoSnapshotError for what is not kept.
    """

    def __init__(
        self, folder: Path, root: Path, limits: SnapshotLimits | None = None, lenders: Sequence[Path] = ()
    ) -> None:
        super().__init__(folder.absolute(), lenders)
        self._root = root.resolve()
        self._limits = limits or SnapshotLimits()
        self._known: tuple[tuple[int, ...], Index] | None = None

    @property
    def is_in_repository(self) -> bool:
        """Return whether the tree belongs to a git repository and can be kept."""
        try:
            refuse_root(self._root, self._place.resolve())
        except StoreError:
            return False
        return repository_of(self._root) is not None

    @property
    def note(self) -> str | None:
        """Return a message about the store for the user, None for nothing."""
        repository = None if (self._place / TRACKED).exists() else repository_of(self._root)
        return _WITHOUT_GIT.format(repository.trouble() or "git") if repository else None

    def create(self, include: Sequence[str] = (), tracked: Iterable[str] = (), exclude: Sequence[str] = ()) -> None:
        """Create the store; an existing one is left unchanged.

        `include` are patterns of untracked files that are kept although they may hold a secret, `tracked` paths that
        git tracks in other commits than the current one, `exclude` patterns of what is neither kept nor restored.
        """
        refuse_root(self._root, self._place.resolve())
        if self.exists:
            return
        new = self._place.with_name(self._place.name + ".new")
        with as_store_error(self._place, AGAIN):
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(mode=0o700, parents=True)
            _make_frozen(new, self._root, include, tracked)
            if exclude:
                write_whole(new / _EXCLUDED, _lines(exclude))
            sync_below(new)
            new.rename(self._place)
            sync_folder(self._place.parent)

    def read_only_copy(self, folder: Path) -> Self:
        """Create a store in `folder` that reads this one, which is not written to; it has no names."""
        self.require()
        with as_store_error(self._place):
            _make_folders(folder)
            for name in (RULES, TRACKED, INCLUDED, _EXCLUDED, _WRITTEN, _SINCE, indexes.NAME):
                if (self._place / name).exists():
                    shutil.copyfile(self._place / name, folder / name)
        return type(self)(folder, self._root, self._limits, (self._place,))

    def snapshot(self, message: str = "", number: int | None = None) -> Snapshot:
        """Keep the tree as it is, and name it with `number` if given, as `keep` does."""
        with self._held() as clock:
            index = self._index()
            seen = self._capture(index, clock())
            note = Note(
                message=message,
                skipped=seen.skipped,
                empty_directories=seen.empty_directories,
                quiescent=seen.quiescent,
                modes=seen.private,
                commits=seen.commits,
            )
            commit = self.objects.add(encode_snapshot(seen.tree, note))
            self._save(index)
            if number is not None:
                self._keep(number, commit)
        return snapshot_of(seen.tree, commit, note)._replace(left_alone=seen.left_alone)

    def leave_alone(self, path: str) -> None:
        """Treat a path as one that we write on the user's word: it is neither kept from now on nor restored."""
        with self._held():
            known = [each for each in (read_own_file(self._place / _WRITTEN) or b"").split(b"\0") if each]
            if os.fsencode(path) not in known:
                write_whole(self._place / _WRITTEN, _lines([*map(os.fsdecode, known), path]), self.objects.staging)

    def look(self, known: str) -> tuple[str, tuple[str, ...]]:
        """Return the current tree, without naming it, and the paths that differ from the tree `known`."""
        with self._held() as clock:
            index = self._index()
            seen = self._capture(index, clock())
            self._save(index)
            differing = () if seen.tree == known else self.changes(known, seen.tree)
            return seen.tree, tuple(change.path for change in differing)

    def keep(self, number: int, commit: str) -> None:
        """Name a snapshot as that of an iteration; repeating it is fine, a different snapshot is refused."""
        with self._held():
            self._keep(number, commit)

    def find(self, number: int) -> Snapshot:
        """Return the snapshot of an iteration."""
        found = self.describe(f"{ITERATIONS}{number}")
        if found.commit is None or found.note is None:
            raise StoreError(f"the snapshot of iteration {number} is no commit; run `ralph-tracker verify`")
        return snapshot_of(found.tree, found.commit, found.note)

    def restore(self, content: str, begun: Begun | None = None) -> str:
        """Make the working tree equal to what was kept, and return the id that undoes it.

        A snapshot also restores its empty folders and leaves alone the paths it had skipped; a tree is only files.
        `begun` is called once the current state is saved, before anything is touched.
        """
        with self._held() as clock:
            goal = self.describe(content)
            index = self._index()
            seen = self._capture(index, clock(), renew=True)
            restore = Restore(self._root, self, index, lambda other: self._scanner(other, clock()), self._save)
            return restore.run(seen, goal, begun)

    def deletions(self, content: str) -> tuple[str, ...]:
        """Return the files that a restore of a content would delete. Raises as `restore` does before it begins."""
        with self._held() as clock:
            goal = self.describe(content)
            index = self._index()
            seen = self._capture(index, clock(), renew=True)
            self._save(index)
            restore = Restore(self._root, self, index, lambda other: self._scanner(other, clock()), self._save)
            return restore.steps_to(seen, goal).deletes

    def branch(self, content: str, name: str) -> Branch:
        """Create a branch with that content on top of HEAD in the user's repository."""
        kept = self.describe(content)
        repository = repository_of(self._root)
        if repository is None:
            raise StoreError(f"{self._root} is in no git repository: apply it as output or worktree")
        goal = [Entry(file.path, file.mode, file.object_id) for file in self.files(kept.tree)]
        with as_store_error(repository.folder, AGAIN):
            return make_branch(repository, goal, self.objects.chunks, kept.note or Note(), name)

    def damaged_parts(self, baseline: str) -> tuple[str, ...]:
        """Return the files of the store's folder, beside contents and names, that are missing or damaged."""
        if not self.exists:
            return (RULES,)
        found = [f"{OBJECTS}/pack/{name}" for name in self.objects.damaged_packs()]
        if not self._has_frozen_rules():
            found.append(RULES)
        if not indexes.load(self._place).is_saved:  # missing or damaged
            found.append(indexes.NAME)
        if not self._kept_though_ignored(baseline) <= self._scope().tracked:
            found.append(TRACKED)
        return tuple(found)

    def unnamed_safety_snapshots(self, undo_ids: Collection[str]) -> dict[str, str]:
        """Return the safety snapshots, by undo id, that are kept and have lost their names."""
        self.require()
        lost = {undo_id for undo_id in undo_ids if self.names.read(f"{SAFETY}{undo_id}") is None}
        return {undo_id_of(each): each for each in self.objects.ids() if undo_id_of(each) in lost} if lost else {}

    def rebuild(self, snapshots: Sequence[KeptSnapshot], undo_ids: Collection[str]) -> bool:
        """Rebuild what is lost and can be, and return whether the ignore rules had to be those of today.

        Damaged contents are moved to the folder `damaged`. The baseline must be the first of `snapshots`.
        """
        without_rules = not self._has_frozen_rules()
        with as_store_error(self._place, AGAIN):
            _make_folders(self._place)
            if without_rules:
                if os.path.lexists(self._place / RULES):
                    (self._place / _DAMAGED).mkdir(exist_ok=True)
                    (self._place / RULES).rename(self._place / _DAMAGED / RULES)
                _make_frozen(self._place, self._root)
        with self._held() as clock:
            self.objects.set_aside(self._place / _DAMAGED)
            self._documents.clear()  # they may be damaged by now
            index = Index()
            self._capture(index, clock())
            rebuild(self, snapshots)
            self._save(index)
            for snapshot in snapshots:
                if self.objects.has(snapshot.commit):
                    self.names.write(f"{ITERATIONS}{snapshot.number}", snapshot.commit)
            for undo_id, commit in self.unnamed_safety_snapshots(undo_ids).items():
                self.names.write(f"{SAFETY}{undo_id}", commit)
            tracked = self._scope().tracked
            more = self._kept_though_ignored(snapshots[0].commit) if snapshots else frozenset()
            if not more <= tracked:
                write_whole(self._place / TRACKED, _lines(sorted(more | tracked)), self.objects.staging)
        return without_rules

    def _has_frozen_rules(self) -> bool:
        """Return whether the ignore rules are there and as frozen."""
        rules, known = (read_own_file(self._place / name) for name in (RULES, _RULES_DIGEST))
        return rules is not None and digest(rules) == (known or b"").decode("ascii", "replace").strip()

    def _kept_though_ignored(self, content: str) -> frozenset[str]:
        """Return the paths of a content that a rule would leave out: git tracked them. Empty if it cannot be read."""
        try:
            paths = self.paths(content)
        except (NoSnapshotError, StoreError):
            return frozenset()
        scope = self._scope()
        return frozenset(tracked_but_ignored(paths, scope.rules, scope.includes))

    def pack(self) -> None:
        """Merge loose contents and small packs into one pack; nothing is deleted."""
        with self._held():
            self.objects.pack()

    def references(self) -> tuple[str, ...]:
        """Return the full names of all that is kept: iterations, and the safety snapshots of restores."""
        self.require()
        with as_store_error(self._place, AGAIN):
            return tuple(self.names.all())

    def named_at(self, name: str) -> float:
        """Return when a name was given, in epoch seconds."""
        with as_store_error(self._place, AGAIN):
            return (self._place / name).stat().st_mtime

    def forget(self, names: Sequence[str]) -> None:
        """Remove names; the next `sweep` deletes what nothing else refers to."""
        with self._held():
            self.names.forget(names)

    def sweep(self) -> None:
        """Delete every content that neither a name nor the index refers to.

        Raises StoreError, with nothing deleted, if something named is damaged.
        """
        with self._held():
            index = self._index()
            wanted: set[str] = set()
            for name in self.names.all():
                found = self.describe(name)
                wanted |= {found.commit} if found.commit else set()
                for tree in (found.tree, found.note.scope if found.note else None):
                    self.collect(tree, wanted)
            wanted.update(index.object_ids())
            self.objects.remove_others(wanted)

    def _keep(self, number: int, commit: str) -> None:
        name = f"{ITERATIONS}{number}"
        known = self.names.read(name)
        try:
            kept = self.describe(commit).commit or commit
        except (NoSnapshotError, StoreError) as error:
            raise StoreError(f"iteration {number} could not be named ({error}): run it again") from None
        if known is None:
            self.names.write(name, kept)
        elif known != kept:
            raise StoreError(f"iteration {number} is kept already as {known}: give the next number")

    def _capture(self, index: Index, began: int, *, renew: bool = False) -> CapturedTree:
        """Update an index to match the tree; `renew` looks at all ignore rules, not only at changed `.gitignore`."""
        scanner = self._scanner(index, began)
        if renew:
            scanner.renew_rules()

        def take_in(scan: Scan) -> None:
            with TreeReader(self._root, self.objects.take, scanner.leaves_out_key) as reader:
                scanner.take_in(scan, reader)

        return capture(scanner, take_in, lambda: index.write(self.objects.add))

    def _scanner(self, index: Index, began: int) -> Scanner:
        return Scanner(self._root, self._scope(), self._limits, index, began, self._renew_rules)

    def _renew_rules(self, folders: Iterable[str]) -> Scope | None:
        frozen = read_own_file(self._place / RULES) or b""
        known = (frozen, *self._rules_since())
        lists = with_rules(known, rules_now(self._root, folders))
        if lists == known:
            return None
        write_whole(self._place / _SINCE, b"\0".join(lists[1:]), self.objects.staging)
        return self._scope()

    def _rules_since(self) -> list[bytes]:
        data = read_own_file(self._place / _SINCE)
        return data.split(b"\0") if data else []

    def _scope(self) -> Scope:
        """Return what is kept of the tree, as it was frozen."""
        names = (RULES, TRACKED, INCLUDED, _EXCLUDED, _WRITTEN)
        rules, *lists = (read_own_file(self._place / name) or b"" for name in names)
        tracked, included, excluded, written = (
            [os.fsdecode(each) for each in data.split(b"\0") if each] for data in lists
        )
        return Scope(
            IgnoreRules(rules),
            frozenset(tracked),
            path_matcher(included),
            path_matcher(excluded),
            frozenset(written),
            tuple(map(IgnoreRules, self._rules_since())),
        )

    def _index(self) -> Index:
        """Return the current index, from memory if this process wrote it last."""
        stamp = self._stamp()
        if self._known is None or self._known[0] != stamp:
            self._known = stamp, indexes.load(self._place)
        known = self._known[1]
        self._known = None  # until the new one is saved
        return known

    def _save(self, index: Index) -> None:
        """Publish what was staged, then write the index, which refers to it."""
        self.objects.publish()
        indexes.save(index, self._place, self.objects.staging)
        self._known = self._stamp(), index

    def _stamp(self) -> tuple[int, ...]:
        try:
            status = (self._place / indexes.NAME).stat()
        except FileNotFoundError:
            return ()
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    @contextlib.contextmanager
    def _held(self) -> Iterator[Callable[[], int]]:
        """Hold the store's lock, and yield the clock (ns) of its file system."""
        self.require()
        with as_store_error(self._place, AGAIN), hold(self._place) as descriptor:
            self.objects.clear()
            try:
                yield partial(file_system_time, descriptor)
            finally:
                self.objects.clear()


def _make_frozen(folder: Path, root: Path, include: Sequence[str] = (), more: Iterable[str] = ()) -> None:
    """Create a store with the scope of a tree as it is now."""
    frozen = freeze(root)
    _make_folders(folder)
    if frozen.tracked is not None:  # git could be asked
        tracked = {*frozen.tracked, *tracked_but_ignored(more, IgnoreRules(frozen.rules))}
        write_whole(folder / TRACKED, _lines(sorted(tracked)))
    write_whole(folder / _RULES_DIGEST, f"{digest(frozen.rules)}\n".encode())
    write_whole(folder / RULES, frozen.rules)
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
    for snapshot in snapshots:
        for object_id, path in snapshot.copies.items():
            with suppress(OSError):  # a copy that is lost too
                if not kept.objects.has(object_id) and file_digest(path) == object_id:
                    parts = _parts_of_copy(path)
                    kept.objects.take(next(parts, b""), parts)
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
            index.put(file.path, SeenFile(file.mode, file.object_id, file.size, None))
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
