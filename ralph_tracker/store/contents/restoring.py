"""What a restore asks of a content store."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ralph_tracker.errors import StoreError
from ralph_tracker.store.contents.documents import File, encode_snapshot, encode_tree
from ralph_tracker.store.contents.index import Index, Seen
from ralph_tracker.store.contents.kept import Kept
from ralph_tracker.store.contents.names import Names
from ralph_tracker.store.contents.reading import TreeReader, hashing, keeping
from ralph_tracker.store.contents.scan import ContentScanner
from ralph_tracker.store.notes import Difference, Note, refuse_missing, undo_id_of
from ralph_tracker.store.snapshots import SAFETY


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
        with TreeReader(self._root, keeping(self._kept.objects)) as reader:
            files = {path: File(path, *reader.read(path)) for path in more}
        known = {file.path: file for file in self._kept.files(tree)}
        return self._kept.objects.add(encode_tree({**known, **files}.values()))

    def name_safety(self, tree: str, note: Note) -> str:
        commit = self._kept.objects.add(encode_snapshot(tree, note))
        self._kept.objects.publish()
        self._save(self._index)
        undo_id = undo_id_of(commit)
        self._names.write(f"{SAFETY}{undo_id}", commit)
        return undo_id

    def adopt(self, tree: str) -> Sequence[str]:
        wanted = {file.path: Seen(*file[1:], None) for file in self._kept.files(tree)}
        goal = Index({path: self._known(path, seen) for path, seen in wanted.items()}, tree)
        scanner = self._scanner_for(goal)
        scan = scanner.scan()
        touched = [path for path in scan.paths if path in wanted]  # what is ignored counts as removed there
        with TreeReader(self._root, hashing) as reader:
            wrong = [path for path in touched if _read(reader, path) != wanted[path][:-1]]
        if not wrong:
            for path in touched:
                goal.files[path] = wanted[path]._replace(print=scanner.settled(path))
            self._index.files, self._index.tree, self._index.is_saved = goal.files, tree, False
            self._save(self._index)
        return sorted(wrong)

    def _known(self, path: str, seen: Seen) -> Seen:
        """Return a file as the index has it, where that is the wanted one: it need not be read then."""
        known = self._index.files.get(path)
        return known if known is not None and known[:-1] == seen[:-1] else seen

    def narrow(self, tree: str) -> None:
        wanted = {file.path for file in self._kept.files(tree)}
        for path in [path for path in self._index.files if path not in wanted]:
            self._index.drop(path)
        self._save(self._index)


def _read(reader: TreeReader, path: str) -> tuple[str, str, int] | None:
    try:
        return reader.read(path)
    except StoreError:
        return None
