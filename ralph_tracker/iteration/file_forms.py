"""The forms that files have in the tree of an iteration and in earlier ones, as contents of the store and as text."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import NamedTuple

from ralph_tracker.integrity.file_versions import MAX_BYTES, FileVersions
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.snapshots.snapshot_types import LINK_MODE, Change, as_utf8


class EarlierFile(NamedTuple):
    """An earlier form of a file: its path relative to the root, git's mode, its content in the store.

    Mode and id are None for a file that did not exist, which is removed. `content` overrides the content if only a part
    of the file is put back.
    """

    path: str
    mode: str | None
    object_id: str | None
    iteration: int
    content: bytes | None = None


class Texts(Mapping[str, str]):
    """Texts by path, each read when it is asked for."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], str]) -> None:
        self._paths = dict.fromkeys(paths)
        self._read = cache(read)

    def __getitem__(self, path: str) -> str:
        if path not in self._paths:
            raise KeyError(path)
        return self._read(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class FileForms:
    """The files of one tree, and how they differ from those of iterations; paths are valid UTF-8.

    `known` has the changes since an iteration that are known already.
    """

    def __init__(
        self, iteration_snapshots: IterationSnapshots, tree: str, known: Mapping[int, Iterable[Change]] | None = None
    ) -> None:
        self.iteration_snapshots = iteration_snapshots
        self.tree = tree
        self._since = {number: _by_path(changes) for number, changes in (known or {}).items()}

    def since(self, number: int) -> Mapping[str, Change]:
        """Return every path in which the tree differs from an iteration."""
        if number not in self._since:
            self._since[number] = _by_path(self.iteration_snapshots.changes_since(number, self.tree))
        return self._since[number]

    @cached_property
    def ids(self) -> Mapping[str, str]:
        """Return the content of each file of the tree, without links."""
        files = self.iteration_snapshots.store.files(self.tree)
        return {as_utf8(file.path): file.object_id for file in files if file.mode != LINK_MODE}

    def paths_in(self, number: int) -> frozenset[str]:
        """Return the files of an iteration."""
        changes = self.since(number).items()
        return frozenset(self.ids.keys() - {path for path, change in changes if change.old_id is None}) | {
            path for path, change in changes if change.old_id is not None
        }

    def text(self, object_id: str | None) -> str:
        """Return a content as text, "" for none; a large one is cut."""
        if object_id is None:
            return ""
        data = self.iteration_snapshots.store.contents([object_id], MAX_BYTES)[object_id]
        return data.decode("utf-8-sig", "replace")

    def now(self, path: str) -> str:
        """Return the text of a file, "" where there is none."""
        return self.text(self.ids.get(path))

    def then(self, path: str, number: int) -> str:
        """Return the text of a file in an iteration, "" where there was none."""
        change = self.since(number).get(path)
        return self.now(path) if change is None else self.text(change.old_id)

    def both(self, paths: Collection[str], number: int) -> Texts:
        """Return the texts of files, of this tree and of an iteration together."""
        changed = self.since(number)
        return Texts(paths, lambda path: self.now(path) + (f"\n{self.then(path, number)}" if path in changed else ""))

    def form(self, path: str, number: int) -> EarlierFile | None:
        """Return the form of a file in an iteration, None where it is the present one."""
        change = self.since(number).get(path)
        return None if change is None else EarlierFile(change.path, change.old_mode, change.old_id, number)


def _by_path(changes: Iterable[Change]) -> dict[str, Change]:
    return {as_utf8(change.path): change for change in changes}


def changed_files(iteration_snapshots: IterationSnapshots, changes: Iterable[Change]) -> list[FileVersions]:
    """Return both contents of each changed file, without links; large contents are cut."""
    looked_at = [change for change in changes if LINK_MODE not in {change.old_mode, change.new_mode}]
    ids = (name for each in looked_at for name in (each.old_id, each.new_id) if name)
    contents = iteration_snapshots.store.contents(ids, MAX_BYTES + 1)
    return [
        FileVersions(
            as_utf8(change.path),
            None if change.old_id is None else contents[change.old_id],
            None if change.new_id is None else contents[change.new_id],
        )
        for change in looked_at
    ]
