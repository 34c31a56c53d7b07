"""What a restore asks of a content store."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ralph_tracker.errors import StoreError
from ralph_tracker.store.contents.documents import encode_snapshot
from ralph_tracker.store.contents.index import Index, Seen
from ralph_tracker.store.contents.kept import Kept
from ralph_tracker.store.contents.names import Names
from ralph_tracker.store.contents.reading import hashing, keeping
from ralph_tracker.store.contents.scan import ContentScanner
from ralph_tracker.store.notes import Difference, Note, refuse_missing, undo_id_of
from ralph_tracker.store.snapshots import SAFETY
from ralph_tracker.store.tree.reader import TreeReader


class ContentRestoring:
    """Answer a restore from a content store; the protocol is `restore.Kept`.

    `scanner_for` compares the tree with an index, `save` makes an index that of the store.
    """

    def __init__(
        self,
        root: Path,
        kept: Kept,
        names: Names,
        index: Index,
        scanner_for: Callable[[Index], ContentScanner],
        save: Callable[[Index], None],
    ) -> None:
        self._root = root
        self._kept = kept
        self._names = names
        self._index = index
        self._scanner_for = scanner_for
        self._save = save

    def differences(self, before: str, after: str) -> Sequence[Difference]:
        return [item for item, _ in self._kept.differing(before, after)]

    def refuse_damaged(self, object_ids: Sequence[str]) -> None:
        refuse_missing(len(self._kept.damaged_objects(object_ids)))

    def each(self, object_ids: Sequence[str]) -> Iterator[Iterator[bytes]]:
        return self._kept.each(object_ids)

    def tree_with(self, tree: str, more: Sequence[str]) -> str:
        if not more:
            return tree
        index = self._index.copy()
        with TreeReader(self._root, keeping(self._kept.objects)) as reader:
            for path in more:
                index.put(path, Seen(*reader.read(path), None))
        return index.write(self._kept.objects.add)

    def name_safety(self, tree: str, note: Note) -> str:
        commit = self._kept.objects.add(encode_snapshot(tree, note))
        self._kept.objects.publish()
        self._save(self._index)
        undo_id = undo_id_of(commit)
        self._names.write(f"{SAFETY}{undo_id}", commit)
        return undo_id

    def adopt(self, tree: str) -> Sequence[str]:
        goal = self._index.copy()
        for item, size in self._kept.differing(goal.write(self._kept.objects.add), tree):
            if size is None:
                goal.drop(item.path)
            else:
                goal.put(item.path, Seen(item.new_mode, item.new_id, size, None))
        scanner = self._scanner_for(goal)
        scan = scanner.scan()
        touched = {path: seen for path in scan.paths if (seen := goal.get(path))}  # what is ignored counts as removed
        with TreeReader(self._root, hashing) as reader:
            wrong = [path for path, seen in touched.items() if _read(reader, path) != seen[:-1]]
        if not wrong:
            for path, seen in touched.items():
                goal.put(path, seen._replace(print=scanner.settled(path)))
            goal.write(self._kept.objects.add)
            self._index.folders, self._index.is_saved = goal.folders, False
            self._save(self._index)
        return sorted(wrong)

    def narrow(self, tree: str) -> None:
        for item, size in self._kept.differing(self._index.write(self._kept.objects.add), tree):
            if size is None:
                self._index.drop(item.path)
        self._index.write(self._kept.objects.add)
        self._save(self._index)


def _read(reader: TreeReader, path: str) -> tuple[str, str, int] | None:
    try:
        return reader.read(path)
    except StoreError:
        return None
