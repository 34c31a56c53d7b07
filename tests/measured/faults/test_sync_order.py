"""What is made durable before what: each file before the rename that publishes it, each folder after it."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.store.snapshots.store import SnapshotStore

from .promised import MANY

pytestmark = [pytest.mark.faults, pytest.mark.slow]

WRITING = {"write", "pwrite64", "writev", "ftruncate", "truncate", "copy_file_range"}
PUBLISHING = {"rename", "renameat", "renameat2", "link", "linkat"}
SYNCING = {"fsync", "fdatasync"}
NAMING = {"mkdir", "mkdirat", "symlink", "symlinkat", "unlink", "unlinkat", "rmdir"}
UNDO = "the id of a restore before"
# Made again from what is committed, where it cannot be read: a cache, and all that is derived from the iterations.
REMADE = (
    *("code-cache.json", "/attempt.json", "/ralph-001/state.json", "best-tracker.yaml", "trajectory.jsonl"),
    *("-baseline.yaml", "-metrics.yaml", "-report.md", "/store/index"),
)
TREES = "/trees/"
# Second names of files that are durable under their first; the next writer makes those that are missing.
LINKS = "/.git/ralph-tracker/"
# Plain copies of contents that are durable in the store.
COPIES = "/artifacts/"
COMMANDS = {
    "post_iteration": ("hook", "post-iteration", "--iteration", "5"),
    "post_loop": ("hook", "post-loop"),
    "restore": ("restore", "0"),
    "gc": ("gc", "--yes", "--keep-last", "1"),
}
INTO_THE_TREE = {
    "restore": ("restore", "0"),
    "rollback": ("hook", "loop-decision", "--apply"),
    "undo": ("restore", "--undo", UNDO),
    "select-best to the tree": ("select-best", "--apply", "worktree"),
    "select-best to a folder": ("select-best", "--apply", "output"),
}


@dataclass
class Disk:
    """Follow what a power cut could still take away while calls go by.

    `dirty` files were written and not synced, `names` are folders with entries that are not synced, in the tree also
    with entries that went. What leads to `objects` may have its name only when all of them are durable under theirs.
    """

    root: str
    objects: str
    staging: tuple[str, ...]
    dirty: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    early: list[str] = field(default_factory=list)
    published: list[str] = field(default_factory=list)

    def follow(self, call: Any) -> None:
        if not call.done or not call.paths:
            return
        first, last = call.paths[0], call.paths[-1]
        if call.name in WRITING:
            self.dirty.add(first)
        elif call.name in SYNCING:
            self.dirty.discard(first)
            self.names.discard(first)
        elif call.name in PUBLISHING:
            self._publish(first, last)
        elif call.name in NAMING and self._is_in_tree(first):
            self.names.discard(first)
            self.names.add(str(Path(first).parent))

    def _publish(self, source: str, target: str) -> None:
        if not self.is_at_work(target):
            self.published.append(target)
            self.early += [
                f"{path} → {target}" for path in self.dirty | self.names if self._is_risk(path, source, target)
            ]
        moved = {path for path in self.dirty if _is_below(path, source)}
        self.dirty.difference_update(moved)
        self.dirty.update(target + path.removeprefix(source) for path in moved)
        if not self.is_at_work(target):
            self.names.add(str(Path(target).parent))

    def _is_risk(self, path: str, source: str, target: str) -> bool:
        """Tell whether a file can be lost under its new name, or an object that the new name leads to."""
        if COPIES in f"{path}/":
            return False
        if _is_below(target, self.objects):
            return _is_below(path, source)
        return _is_below(path, source) or _is_below(path, self.objects)

    def _is_in_tree(self, path: str) -> bool:
        return _is_below(path, self.root) and not _is_below(path, f"{self.root}/.aiwg") and LINKS not in f"{path}/"

    def is_at_work(self, path: str) -> bool:
        """Tell whether nobody misses a file or a folder after a power cut."""
        remade = path.endswith(REMADE) or (TREES in path and path.endswith(".json")) or LINKS in f"{path}/"
        return remade or any(_is_below(path, folder) for folder in self.staging)


def _is_below(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


@pytest.fixture
def followed(workshop, bench, system_calls, tmp_path) -> Callable[..., Disk]:
    """Run a command on a loop of some iterations, with so many new files; return what could be lost when."""

    def follow(words: Iterable[str], counts: Iterable[int] = (6, 2, 8, 8), *, files: int = 1) -> Disk:
        workshop.write("gone/early.txt", "from the beginning\n")
        workshop.commit().start()
        shutil.rmtree(workshop.root / "gone")
        for count in counts:
            workshop.passing(count).write("more/new.txt", f"{count}\n" * count)
            workshop.turn()
        SnapshotStore(workshop.paths.store, workshop.root).pack()
        workshop.passing(9)
        for number in range(files):
            workshop.write(f"even/more-{number}.txt", f"{number}: not on record yet\n")
        if UNDO in words:
            words = [workshop.tracker.restore(0).undo if word == UNDO else word for word in words]
        ended = bench(workshop.root, tmp_path / "bench").watched(*words)
        assert ended.code == 0, ended.err
        store = workshop.paths.store
        disk = Disk(str(workshop.root), str(store / "objects"), (str(workshop.paths.staging), str(store / "tmp")))
        for call in system_calls(ended.log, workshop.root):
            disk.follow(call)
        return disk

    return follow


def ours(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if "/.aiwg/" in path and LINKS not in path]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
def test_what_is_kept_is_durable_before_it_has_its_name_and_so_is_the_name_afterwards(followed, words):
    disk = followed(words)
    assert ours(disk.published)
    assert ours(disk.early) == []
    assert [path for path in ours(disk.names) if not disk.is_at_work(path)] == []


def test_many_contents_are_one_pack_that_is_durable_before_a_record_names_it(followed):
    disk = followed(COMMANDS["post_iteration"], files=MANY)
    assert len([path for path in disk.published if path.endswith(".pack")]) == 1
    assert ours(disk.early) == []


@pytest.mark.parametrize("words", INTO_THE_TREE.values(), ids=INTO_THE_TREE.keys())
def test_what_is_put_into_the_tree_is_durable_before_it_has_its_name_and_so_is_the_name_afterwards(followed, words):
    disk = followed(words, (6, 2))
    assert [path for path in disk.published if "/.aiwg/output" in path or not ours([path])]
    assert disk.early == []
    assert [folder for folder in disk.names if not ours([f"{folder}/"])] == []
