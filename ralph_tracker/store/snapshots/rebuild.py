"""Rebuild what a store has lost, from what is left of it, the working tree, and copies of files.

Everything is known by its hash: what cannot be rebuilt exactly as it was stays lost.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.files import digest, file_digest
from ralph_tracker.store.opening import own_file
from ralph_tracker.store.snapshots.index import Index, Seen
from ralph_tracker.store.snapshots.objects import staging_in
from ralph_tracker.store.snapshots.trees import KeptTrees, encode_snapshot
from ralph_tracker.store.snapshots.values import Note
from ralph_tracker.store.snapshots.working_tree import CHUNK

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


def rebuild(kept: KeptTrees, snapshots: Sequence[KeptSnapshot]) -> None:
    """Stage every missing content, folder and snapshot that can be rebuilt; a tree comes before those built from it."""
    take = staging_in(kept.objects)
    for snapshot in snapshots:
        for object_id, path in snapshot.copies.items():
            with suppress(OSError):  # a copy that is lost too
                if not kept.objects.has(object_id) and file_digest(path) == object_id:
                    parts = _parts(path)
                    take(next(parts, b""), parts)
    for snapshot in (*snapshots, *reversed(snapshots)):  # twice: a later one may be what an earlier one is built from
        _tree(kept, snapshot, snapshots)
    for snapshot in snapshots:
        document = encode_snapshot(snapshot.tree, snapshot.note)
        if digest(document) == snapshot.commit:
            kept.objects.add(document)


def _parts(path: Path) -> Iterator[bytes]:
    """Yield a copy of a content in parts, for a link its target."""
    if path.is_symlink():
        yield os.fsencode(path.readlink())
        return
    with open(path, "rb", opener=own_file) as file:  # pathlib's takes no opener
        while part := file.read(CHUNK):
            yield part


def _tree(kept: KeptTrees, snapshot: KeptSnapshot, others: Sequence[KeptSnapshot]) -> None:
    for base, changed in _bases(snapshot, others):
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


def _bases(snapshot: KeptSnapshot, others: Sequence[KeptSnapshot]) -> Iterator[tuple[str, Changed]]:
    """Yield the trees that a snapshot can be built from, with what to change in them.

    What another one has changed in the baseline must have changed in this one too: else it is not known.
    """
    yield snapshot.tree, {}
    if snapshot.previous is not None:
        yield snapshot.previous, snapshot.since_previous
    for other in others:
        if other.since_baseline.keys() - other.added <= snapshot.since_baseline.keys():
            yield other.tree, {**dict.fromkeys(other.added), **snapshot.since_baseline}
