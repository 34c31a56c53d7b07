"""What is made durable before what: each file before the rename that publishes it, each folder after it."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ralph_tracker.store.git.store import SnapshotStore

pytestmark = [pytest.mark.faults, pytest.mark.slow]

WRITING = {"write", "pwrite64", "writev", "ftruncate", "truncate", "copy_file_range"}
PUBLISHING = {"rename", "renameat", "renameat2", "link", "linkat"}
SYNCING = {"fsync", "fdatasync"}
NAMING = {"mkdir", "mkdirat", "symlink", "symlinkat", "unlink", "unlinkat", "rmdir"}
UNDO = "the id of a restore before"
# A cache, which is made again where it cannot be read.
REMADE = ("code-cache.json",)
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

    `dirty` files were written and not synced, `sent` ones are on their way to the disk without a flush (git's
    writeout-only), `names` are folders with entries that are not synced, in the tree also with entries that went.
    """

    root: str
    store: str
    staging: str
    dirty: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    early: list[str] = field(default_factory=list)
    published: list[str] = field(default_factory=list)

    def follow(self, call: Any) -> None:
        if not call.done or not call.paths:
            return
        first, last = call.paths[0], call.paths[-1]
        if call.name in WRITING:
            self.dirty.add(first)
            self.sent.discard(first)
        elif call.name == "sync_file_range" and first in self.dirty:
            self.dirty.discard(first)
            self.sent.add(first)
        elif call.name in SYNCING:
            self.dirty.discard(first)
            self.sent.clear()  # it flushes what the disk itself holds back
            self.names.pop(first, None)
        elif call.name in PUBLISHING:
            self._publish(first, last, call.process)
        elif call.name in NAMING and self._is_in_tree(first):
            self.names.pop(first, None)
            self.names[str(Path(first).parent)] = call.process

    def _publish(self, source: str, target: str, process: str) -> None:
        if not self._is_at_work(target):
            self.published.append(target)
            in_store = target.startswith(f"{self.store}/") and "/refs/" not in target
            risky = self.dirty if in_store else self.dirty | self.sent
            self.early += [f"{path} → {target}" for path in risky if self._is_risk(path, source)]
        for files in (self.dirty, self.sent):
            moved = {path for path in files if _is_below(path, source)}
            files.difference_update(moved)
            files.update(target + path.removeprefix(source) for path in moved)
        self.names[str(Path(target).parent)] = process

    def _is_risk(self, path: str, source: str) -> bool:
        """Tell whether a file can be lost under its new name; an object that a name leads to is as much a risk."""
        return _is_below(path, source) or (path in self.sent and path.startswith(f"{self.store}/objects/"))

    def _is_in_tree(self, path: str) -> bool:
        return _is_below(path, self.root) and not _is_below(path, f"{self.root}/.aiwg")

    def _is_at_work(self, path: str) -> bool:
        return path.startswith(f"{self.staging}/") or path.endswith(REMADE)


def _is_below(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


@pytest.fixture
def followed(workshop, bench, system_calls, tmp_path, monkeypatch) -> Callable[..., tuple[Disk, str]]:
    """Run a command on a loop of some iterations; return what could be lost when, and which process is Python."""

    def follow(words: Iterable[str], counts: Iterable[int] = (6, 2, 8, 8), *, git: bool = True) -> tuple[Disk, str]:
        workshop.write("gone/early.txt", "from the beginning\n")
        workshop.commit()
        with monkeypatch.context() as patch:
            if not git:
                patch.setenv("PATH", str(tmp_path))
            workshop.start()
        shutil.rmtree(workshop.root / "gone")
        for count in counts:
            workshop.passing(count).write("more/new.txt", f"{count}\n" * count)
            workshop.turn()
        workshop.passing(9).write("even/more.txt", "not on record yet\n")
        if UNDO in words:
            words = [workshop.tracker.restore(0) if word == UNDO else word for word in words]
        ended = bench(workshop.root, tmp_path / "bench").watched(*words)
        assert ended.code == 0, ended.err
        calls = list(system_calls(ended.logs[0], workshop.root))
        folder = workshop.paths.folder
        assert git == (folder / "store.git").exists()
        disk = Disk(str(workshop.root), str(folder / "store.git"), str(workshop.paths.staging))
        for call in calls:
            disk.follow(call)
        return disk, calls[0].process

    return follow


def ours(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if "/.aiwg/" in path]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
def test_what_is_kept_is_durable_before_it_has_its_name_and_so_is_the_name_afterwards(followed, words):
    disk, python = followed(words)
    assert ours(disk.published)
    assert ours(disk.early) == []
    unsynced = [folder for folder, process in disk.names.items() if process == python]
    assert [path for path in ours(unsynced) if not path.startswith(disk.staging)] == []


def test_what_is_written_ahead_is_durable_before_a_record_names_it(followed, monkeypatch):
    monkeypatch.setattr(SnapshotStore, "very_many", 0)
    disk, _ = followed(COMMANDS["post_iteration"])
    assert [path for path in disk.published if path.endswith(".pack")]
    assert ours(disk.early) == []


@pytest.mark.parametrize("git", [True, False], ids=["git", "contents"])
@pytest.mark.parametrize("words", INTO_THE_TREE.values(), ids=INTO_THE_TREE.keys())
def test_what_is_put_into_the_tree_is_durable_before_it_has_its_name_and_so_is_the_name_afterwards(
    followed, words, git
):
    disk, _ = followed(words, (6, 2), git=git)
    assert [path for path in disk.published if "/.aiwg/output" in path or not ours([path])]
    assert disk.early == []
    assert [folder for folder in disk.names if not ours([f"{folder}/"])] == []
