"""A loop of an earlier version, whose files were kept with git, goes on with the store of today."""

import subprocess
from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git_store_migration import migrate
from ralph_tracker.store.iteration_snapshots import IterationSnapshots, TreeVisits
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.snapshots.snapshot_types import Note, SkippedPath
from ralph_tracker.store.snapshots.store import SnapshotStore


class OldStore:
    """A store.git as earlier versions made it, filled by git itself."""

    def __init__(self, root: Path) -> None:
        self.paths = ProjectPaths(root).loop("ralph-001")
        self.folder = self.paths.folder / "store.git"
        self.folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "--bare", str(self.folder)], check=True)
        (self.folder / "info/exclude").write_text("/**/*.log\n")
        (self.folder / "info/tracked-ignored").write_bytes(b"kept.log\0")

    def git(self, *words: str, stdin: bytes = b"") -> str:
        environment = {
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "GIT_DIR": str(self.folder),
            "GIT_WORK_TREE": str(self.paths.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": str(self.folder),
            **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        done = subprocess.run(
            ["git", *words], env=environment, cwd=self.paths.root, input=stdin, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def keep(self, name: str, note: Note) -> tuple[str, str]:
        """Keep the working tree under a name, and return the ids of its tree and its commit."""
        self.git("add", "-A", "-f", "--", ".", ":!.aiwg")
        tree = self.git("write-tree")
        commit = self.git("commit-tree", tree, stdin=note.encode())
        self.git("update-ref", name, commit)
        return tree, commit


@pytest.fixture
def old(tmp_path: Path) -> OldStore:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("run.sh")
    (root / "odd\nname").write_bytes(b"\0\xff")
    return OldStore(root)


def test_every_snapshot_comes_along_under_its_name_and_by_the_ids_that_records_hold(old):
    root = old.paths.root
    first_tree, first = old.keep("refs/iterations/0", Note(skipped=(SkippedPath(".env", "may hold a secret"),)))
    (root / "deep").mkdir()
    (root / "deep/new.txt").write_text("new\n")
    second_tree, _ = old.keep("refs/iterations/1", Note(empty_directories=("empty",)))
    old.keep("refs/safety/undo-0123456789ab", Note(message="before a restore", scope=first_tree))
    with pytest.raises(StoreError, match=r"store\.git: files kept by an earlier version; run .*verify --repair"):
        _ = IterationSnapshots(LoopStore(old.paths)).store
    assert [path.name for path in old.paths.folder.glob("store*")] == ["store.git"], "who reads moves nothing"
    with LoopStore(old.paths).write_lock("test"):
        assert IterationSnapshots(LoopStore(old.paths)).store.exists
    store = SnapshotStore(old.paths.store, root)
    assert old.paths.store.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in old.paths.folder.glob("store*")] == ["store"]
    assert store.find(0).skipped == ((".env", "may hold a secret"),)
    assert store.describe(first).commit == store.find(0).commit
    assert store.read(second_tree, "deep/new.txt") == b"new\n"
    changes = store.changes(first_tree, second_tree)
    assert [(change.path, change.status) for change in changes] == [("deep/new.txt", "A")]
    assert {"refs/iterations/0", "refs/safety/undo-0123456789ab"} < set(store.references())
    assert store.verify("refs/iterations/1") == ()
    store.restore("refs/iterations/0")
    assert not (root / "deep").exists()
    assert (root / "odd\nname").read_bytes() == b"\0\xff"
    assert (root / "run.sh").stat().st_mode & 0o100
    assert (root / "link").is_symlink()
    for name in ("kept.log", "other.log"):
        (root / name).write_text("log\n")
    assert {"kept.log"} == set(store.paths(store.snapshot().tree)) - set(store.paths(first_tree))


def test_the_content_of_the_tree_is_known_from_its_earlier_iterations(old):
    old.keep("refs/iterations/0", Note())
    migrate(old.paths)
    store = SnapshotStore(old.paths.store, old.paths.root)
    assert store.snapshot().tree == store.find(0).tree
    assert TreeVisits(old.paths).iterations(store.find(0).tree) == [0]


def test_no_setting_of_the_old_store_is_read(old, tmp_path):
    old.keep("refs/iterations/0", Note())
    ran = tmp_path / "ran"
    with (old.folder / "config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "touch {ran}"\n[include]\n\tpath = {tmp_path}/more\n')
    (tmp_path / "more").write_text("[core]\n\tbare = nonsense\n")
    migrate(old.paths)
    assert SnapshotStore(old.paths.store, old.paths.root).verify("refs/iterations/0") == ()
    assert not ran.exists()


def test_a_move_that_was_killed_after_the_new_store_had_its_name_is_ended(old):
    old.keep("refs/iterations/0", Note())
    (old.folder / "info/tracked-ignored").unlink()
    migrate(old.paths)
    old.folder.mkdir()
    (old.folder / "config").write_text("left\n")
    migrate(old.paths)
    assert not old.folder.exists()
    assert SnapshotStore(old.paths.store, old.paths.root).verify("refs/iterations/0") == ()


def test_what_a_strangers_store_brings_beside_its_own_objects_is_not_read(old: OldStore) -> None:
    old.keep("refs/iterations/0", Note())
    names = old.folder / "refs/iterations"
    (names / "--upload-pack=evil").write_text("1" * 40 + "\n")
    alternates = old.folder / "objects/info/alternates"
    alternates.write_text(f"{old.paths.root}/.git/objects\n")
    with pytest.raises(StoreError, match="alternates: makes git read other repositories"):
        migrate(old.paths)
    alternates.unlink()
    (names / "1").write_text("--textconv\n")
    with pytest.raises(StoreError, match="refs/iterations/1: damaged"):
        migrate(old.paths)
    (names / "1").unlink()
    migrate(old.paths)
    assert SnapshotStore(old.paths.store, old.paths.root).references() == ("refs/iterations/0",)
