"""Read what a content store holds: trees, notes, contents, differences, and whether all of it is intact."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.contents.documents import (
    NO_FILES,
    Differing,
    File,
    Folder,
    decode_folder,
    decode_snapshot,
    differing,
    files_of,
)
from ralph_tracker.store.contents.names import Names
from ralph_tracker.store.contents.objects import Objects
from ralph_tracker.store.exporting import into_empty_folder, write_files
from ralph_tracker.store.notes import Content, checked, not_kept
from ralph_tracker.store.snapshots import Change, Entry, shown

DIGITS: Final = 64
_FOLDERS_REMEMBERED: Final = 1000


class Kept:
    """Answer questions about what is kept; content is the id of a tree or a snapshot, or a name.

    Raises NoSnapshotError for what is not kept, StoreError for what is damaged.
    """

    def __init__(self, objects: Objects, names: Names) -> None:
        self.objects = objects
        self._names = names
        self._folders: dict[str, Folder] = {}

    def describe(self, content: str) -> Content:
        """Look up an id or a name."""
        object_id = self._names.read(content) if checked(content, DIGITS).startswith("refs/") else content
        if object_id is None or not self.objects.has(object_id):
            raise not_kept(content)
        document = self.objects.read(object_id)
        if decode_folder(document) is not None:
            return Content(object_id, None, None)
        found = decode_snapshot(document, object_id)
        if found is None:
            raise not_kept(content)
        return found

    def files(self, content: str) -> list[File]:
        """Return the files of a content, in the order of the bytes of their paths."""
        return list(files_of(self.folder, self.describe(content).tree))

    def differing(self, before: str | None, after: str | None) -> list[Differing]:
        """Compare two contents; None is the tree without files."""
        trees = (content and self.describe(content).tree for content in (before, after))
        return differing(self.folder, *trees)

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]:
        """Compare two contents; the id of a content is its sha256."""
        return tuple(item.change(size, item.new_id or None) for item, size in self.differing(before, after))

    def read(self, content: str, path: str) -> bytes:
        """Return one file; of a link its text."""
        folder = self.folder(self.describe(content).tree)
        *way, name = path.split("/")
        for step in way:
            folder = self.folder(folder.folders[step]) if step in folder.folders else NO_FILES
        found = folder.files.get(name)
        if found is None:
            raise NoSnapshotError(f"{shown(path)} is not kept in {content}: there is no such file")
        return self.objects.read(found.object_id)

    def beginnings(self, object_ids: Iterable[str], at_most: int) -> dict[str, bytes]:
        """Return contents by their ids, each cut after `at_most` bytes."""
        return {object_id: self._beginning(object_id, at_most) for object_id in dict.fromkeys(object_ids)}

    def _beginning(self, object_id: str, size: int) -> bytes:
        data = b""
        for chunk in self.objects.chunks(object_id):
            data += chunk
            if len(data) >= size:
                break
        return data[:size]

    def each(self, object_ids: Iterable[str]) -> Iterator[Iterator[bytes]]:
        """Yield each content in parts."""
        return map(self.objects.chunks, object_ids)

    def export(self, content: str, destination: Path) -> None:
        """Write the files into an empty folder, with the empty folders of a snapshot."""
        note = self.describe(content).note
        with into_empty_folder(destination) as writer:
            entries = [Entry(file.path, file.mode, file.object_id) for file in self.files(content)]
            write_files(self.each, entries, writer)
            for path in note.empty_directories if note else ():
                writer.make_folder(path)

    def collect(self, tree: str | None, found: set[str]) -> None:
        """Add the ids of all that a tree is made of; the folders whose id is there already have been looked into."""
        waiting = [tree] if tree else []
        while waiting:
            here = waiting.pop()
            if here not in found:
                folder = self.folder(here)
                found.update((here, *(file.object_id for file in folder.files.values())))
                waiting += folder.folders.values()

    def damaged(self, content: Content) -> tuple[str, ...]:
        """Return the paths whose content is missing or is not what its id says, "/" for the tree itself."""
        self._folders.clear()
        try:
            files = self.files(content.tree)
        except (StoreError, NoSnapshotError):
            return ("/",)
        bad = self.damaged_objects({file.object_id for file in files})
        return tuple(file.path for file in files if file.object_id in bad)

    def damaged_objects(self, object_ids: Iterable[str]) -> set[str]:
        return {object_id for object_id in object_ids if not self.objects.is_intact(object_id)}

    def folder(self, tree: str) -> Folder:
        """Return a kept folder by its id; the last ones are remembered, as one tree is compared with several."""
        known = self._folders.get(tree)
        if known is not None:
            return known
        folder = decode_folder(self.objects.read(tree))
        if folder is None:
            raise StoreError(f"the kept tree {tree} is damaged; run `ralph-tracker verify`")
        if len(self._folders) >= _FOLDERS_REMEMBERED:
            self._folders.clear()
        self._folders[tree] = folder
        return folder
