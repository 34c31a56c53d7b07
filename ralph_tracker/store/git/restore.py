"""What a restore asks of a git store."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ralph_tracker.store.git.objects import differences, each_blob, refuse_damaged, write_commit
from ralph_tracker.store.git.unsettled import Unsettled
from ralph_tracker.store.git.verbs import Runner, path_list, paths_of
from ralph_tracker.store.notes import Difference, Note, undo_id_of
from ralph_tracker.store.snapshots import SAFETY

_SAFETY_INDEX: Final = "safety.index"


class GitRestoring:
    """Answer a restore from the store in `folder`; the protocol is `restore.Kept`.

    `last` writes what has to be durable before anything is touched: the commit of the safety snapshot and its name.
    """

    def __init__(self, git: Runner, last: Runner, folder: Path, root: Path) -> None:
        self._git = git
        self._last = last
        self._folder = folder
        self._root = root

    def differences(self, before: str, after: str) -> Sequence[Difference]:
        return differences(self._git, before, after)

    def refuse_damaged(self, object_ids: Sequence[str]) -> None:
        refuse_damaged(self._git, object_ids)

    def each(self, object_ids: Sequence[str]) -> Iterator[Iterator[bytes]]:
        return each_blob(self._git, object_ids)

    def tree_with(self, tree: str, more: Sequence[str]) -> str:
        if not more:
            return tree
        index = self._folder / _SAFETY_INDEX
        try:
            shutil.copyfile(self._folder / "index", index)
            self._git.run("update-index", "--add", "--replace", "-z", "--stdin", stdin=path_list(more), index=index)
            return self._git.run("write-tree", index=index).decode().strip()
        finally:
            index.unlink(missing_ok=True)

    def name_safety(self, tree: str, note: Note) -> str:
        commit = write_commit(self._last, tree, note)
        undo_id = undo_id_of(commit)
        # Of a git that was killed in this very second.
        (self._folder / f"{SAFETY}{undo_id}.lock").unlink(missing_ok=True)
        self._last.run("update-ref", f"{SAFETY}{undo_id}", commit)
        return undo_id

    def adopt(self, tree: str) -> Sequence[str]:
        self.narrow(tree)
        unsettled = Unsettled(self._folder, self._root)
        written, began = self._differing(), unsettled.moment()
        is_clean = self._git.ask("update-index", "--refresh").status == 0  # it hashes what was written
        unsettled.note(written, began)
        return [] if is_clean else self._differing()

    def _differing(self) -> Sequence[str]:
        return paths_of(self._git.run("diff-files", "-z", "--name-only"))

    def narrow(self, tree: str) -> None:
        self._git.run("read-tree", "-i", "-m", tree)
