"""Restoring: nothing is lost on the way, nothing outside is reached, and an undo brings back exactly what was there."""

import os
import stat
import time
from pathlib import Path

import pytest

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.snapshots.snapshot_types import SnapshotLimits
from ralph_tracker.store.snapshots.working_tree_io import TreeWriter

from .projects import Project, names


def test_a_symlink_in_place_of_a_folder_is_replaced_and_not_followed(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "b.py").write_text("theirs")
    (outside / "deep/c.py").write_text("theirs")
    store = project.make_store()
    first, before = store.snapshot(), project.look()
    project.remove("src")
    project.link("src", str(outside))
    after = project.look()
    undo = store.restore(first.commit)
    assert project.look() == before
    assert (outside / "b.py").read_text() == (outside / "deep/c.py").read_text() == "theirs"
    store.restore(f"refs/safety/{undo}")
    assert project.look() == after
    assert names(outside) == ["b.py", "deep"]


def test_an_ignored_symlink_in_place_of_a_folder_comes_back_too(project: Project, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    project.write("out.log/kept.txt")
    project.git("add", "-f", "out.log/kept.txt")
    project.commit()
    store = project.make_store()
    first = store.snapshot()
    project.remove("out.log")
    project.link("out.log", str(tmp_path / "outside"))
    after = project.look()
    assert store.look(first.tree)[1] == ("out.log/kept.txt",)
    undo = store.restore(first.commit)
    assert (project.root / "out.log/kept.txt").read_text() == "text\n"
    assert not names(tmp_path / "outside")
    store.restore(f"refs/safety/{undo}")
    assert project.look() == after


def test_an_ignored_file_that_is_overwritten_comes_back(project: Project) -> None:
    """A file of the baseline is deleted, its folder then comes under a rule of the baseline, and fills again."""
    project.write("notes", "tracked\n")
    project.write(".gitignore", "*.log\nbuild/\nscratch\n")
    project.commit()
    store = project.make_store()
    project.write("scratch.d/x", "one\n")
    first = store.snapshot()
    project.remove("scratch.d")
    project.remove("notes")
    middle = store.snapshot()
    project.write("notes/scratch/mine", "ignored\n")
    project.write("notes/mine.log", "ignored\n")
    (project.root / "notes/mine.log").chmod(0o600)
    (project.root / "notes/hollow").mkdir()
    project.link("notes/link.log", "mine.log")
    after = project.look()
    undo = store.restore(first.commit)
    assert (project.root / "notes").read_text() == "tracked\n"
    redo = store.restore(f"refs/safety/{undo}")
    assert project.look() == after
    assert stat.S_IMODE((project.root / "notes/mine.log").stat().st_mode) == 0o600
    assert store.snapshot().tree == middle.tree, "what was ignored is not in scope after the undo"
    store.restore(f"refs/safety/{redo}")
    assert (project.root / "notes").read_text() == "tracked\n"


@pytest.mark.parametrize("way", ["hollow", "hollow/deep"])
def test_a_skipped_file_in_the_way_of_an_empty_folder_is_kept_by_the_safety_snapshot(
    way: str, project: Project
) -> None:
    (project.root / way).mkdir(parents=True)
    store = project.make_store(limits=SnapshotLimits(max_file_bytes=50))
    first = store.snapshot()
    project.remove("hollow")
    project.write("hollow", "mine\n" * 20)
    undo = store.restore(first.commit)
    assert (project.root / way).is_dir()
    store.restore(f"refs/safety/{undo}")
    assert (project.root / "hollow").read_text() == "mine\n" * 20


@pytest.mark.parametrize("kind", ["fifo", "nested"])
def test_what_cannot_be_kept_ends_a_restore_before_it_began(kind: str, project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.remove("a.txt")
    project.write("src/b.py", "changed\n")
    if kind == "fifo":
        os.mkfifo(project.root / "a.txt")
    else:
        Project(project.root / "a.txt").init()
    after = project.look()
    with pytest.raises(StoreError, match=r"a.txt.* is .*move it away"):
        store.restore(first.commit)
    assert project.look() == after


def test_permission_bits_come_back_with_an_undo(project: Project) -> None:
    project.write("private.txt", "mine\n", 0o600)
    store = project.make_store()
    first = store.snapshot()
    project.write("new.txt", mode=0o640)
    project.write("private.txt", "mine two\n")
    undo = store.restore(first.commit)
    assert stat.S_IMODE((project.root / "private.txt").stat().st_mode) == 0o600
    store.restore(f"refs/safety/{undo}")
    assert stat.S_IMODE((project.root / "new.txt").stat().st_mode) == 0o640
    assert stat.S_IMODE((project.root / "private.txt").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("before", "mode", "after"), [(0o640, "100755", 0o750), (0o750, "100644", 0o640), (0o600, "100644", 0o600)]
)
def test_a_file_hands_on_its_permission_bits(before: int, mode: str, after: int, tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    (tmp_path / "x").chmod(before)
    with TreeWriter(tmp_path) as writer:
        writer.write("x", mode, [b"new"])
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == after


def test_folders_that_a_restore_empties_go_and_others_stay(project: Project) -> None:
    (project.root / "hollow").mkdir()
    store = project.make_store()
    first = store.snapshot()
    project.write("one/two/three.txt")
    project.write("mixed/new.txt")
    project.write("mixed/old.log")
    project.remove("hollow")
    (project.root / "later/hollow").mkdir(parents=True)
    store.restore(first.commit)
    assert {path for path in names(project.root) if path not in {".git", ".aiwg"}} == {
        ".gitignore", "a.txt", "hollow", "link", "mixed", "run.sh", "src"
    }  # fmt: skip
    assert names(project.root / "mixed") == ["old.log"]


def test_a_tree_without_its_commit_restores_the_files_only(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    (project.root / "hollow").mkdir()
    project.write("a.txt", "two\n")
    store.restore(first.tree)
    assert (project.root / "hollow").is_dir()
    assert (project.root / "a.txt").read_text() == "one\n"


def test_an_empty_folder_gives_way_to_a_file(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.remove("a.txt")
    (project.root / "a.txt/hollow").mkdir(parents=True)
    after = project.look()
    undo = store.restore(first.tree)
    assert (project.root / "a.txt").read_text() == "one\n"
    store.restore(f"refs/safety/{undo}")
    assert project.look() == after


def test_a_restore_to_where_it_stands_changes_nothing(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    times = {path: os.lstat(project.root / path).st_mtime_ns for path in project.look()}
    store.restore(first.commit)
    assert times == {path: os.lstat(project.root / path).st_mtime_ns for path in project.look()}


def test_only_files_that_differ_are_written(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    inode = (project.root / "src/b.py").stat().st_ino
    project.write("a.txt", "two\n")
    store.restore(first.commit)
    assert (project.root / "src/b.py").stat().st_ino == inode


def test_an_undo_can_be_undone(project: Project) -> None:
    store = project.make_store()
    first, before = store.snapshot(), project.look()
    project.write("a.txt", "two\n")
    project.write("new/new.txt")
    after = project.look()
    undo = store.restore(first.commit)
    redo = store.restore(f"refs/safety/{undo}")
    assert project.look() == after
    store.restore(f"refs/safety/{redo}")
    assert project.look() == before


@pytest.mark.parametrize("name", ["undo-000000000000", "../../x", "-x", ""])
def test_an_unknown_undo_id_is_refused(name: str, project: Project) -> None:
    store = project.make_store()
    with pytest.raises(NoSnapshotError):
        store.restore(f"refs/safety/{name}")


def test_damaged_content_is_found_before_anything_is_touched(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("a.txt", "two\n")
    file = project.stored(b"one\n")
    file.unlink()
    file.write_bytes(b"garbage")
    with pytest.raises(StoreError, match="1 kept files are missing or damaged, nothing was changed"):
        store.restore(first.commit)
    assert (project.root / "a.txt").read_text() == "two\n"


def test_a_tree_that_is_written_to_is_not_restored(project: Project, while_reading) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("a.txt", "two\n")
    while_reading(lambda: project.write("a.txt", f"{time.monotonic_ns()}\n"))
    with pytest.raises(StoreError, match="is being written to: stop what writes"):
        store.restore(first.commit)


def test_a_file_that_is_not_what_was_kept_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("a.txt", "two\n")
    project.write("src/b.py", "changed\n")
    write = TreeWriter.write

    def corrupt(self: TreeWriter, path: str, mode: str, chunks: object, permissions: int | None = None) -> None:
        write(self, path, mode, [b"damaged"] if path == "a.txt" else chunks, permissions)

    with monkeypatch.context() as patch:
        patch.setattr(TreeWriter, "write", corrupt)
        with pytest.raises(StoreError, match=r"a.txt is not what was kept .* undo (undo-\w+)") as raised:
            store.restore(first.commit)
    undo = str(raised.value).split("undo ")[1].split()[0]
    store.restore(f"refs/safety/{undo}")
    assert (project.root / "a.txt").read_text() == "two\n"
    assert (project.root / "src/b.py").read_text() == "changed\n"


def test_what_the_system_refuses_is_named_with_the_undo_id(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("src/b.py", "changed\n")
    after = project.look()

    rename = os.rename

    def refuse(*arguments: str, **options: int) -> None:
        if "dst_dir_fd" in options:  # in the tree, not in the store
            raise OSError(28, "No space left on device", "b.py")
        rename(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuse)
        with pytest.raises(StoreError, match=r"src/b.py \(No space left on device\).* undo undo-") as raised:
            store.restore(first.commit)
    assert project.look() == after, "no temporary file is left"
    store.restore("refs/safety/" + str(raised.value).split("undo ")[1].split()[0])
    assert project.look() == after


def test_a_moving_tree_is_captured_and_says_so(project: Project, while_reading) -> None:
    store = project.make_store()
    lines = ["text\n" * count for count in range(9, 0, -1)]
    project.write("moving.txt")
    while_reading(lambda: project.write("moving.txt", lines.pop()) if len(lines) > 3 else None)
    snapshot = store.snapshot(number=1)
    assert not snapshot.quiescent
    assert len(lines) == 9 - 3, "it is read three times"
    assert not store.find(1).quiescent
    lines.clear()
    assert store.snapshot().quiescent


def test_one_change_while_reading_is_read_again(project: Project, while_reading) -> None:
    store = project.make_store()
    store.snapshot()
    changes = ["late\n"]
    project.write("a.txt", "early\n")
    while_reading(lambda: project.write("a.txt", changes.pop()) if changes else None)
    snapshot = store.snapshot()
    assert snapshot.quiescent
    assert store.read(snapshot.tree, "a.txt") == b"late\n"


def test_a_file_that_changes_its_kind_while_it_is_read_is_read_again(project: Project, while_reading) -> None:
    store = project.make_store()
    store.snapshot()
    once = [True]

    def change() -> None:
        if once:
            once.pop()
            project.remove("a.txt")
            project.write("a.txt/inside")

    project.write("a.txt", "early\n")
    while_reading(change, before=True)
    snapshot = store.snapshot()
    assert snapshot.quiescent
    assert store.read(snapshot.tree, "a.txt/inside") == b"text\n"


def test_leftovers_of_a_killed_restore_are_no_part_of_a_snapshot(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("src/.ralph-tracker-0123456789abcdef.tmp")
    second = store.snapshot()
    assert second.tree == first.tree
    assert ("src/.ralph-tracker-0123456789abcdef.tmp", "left by a restore that was interrupted") in second.skipped
    store.restore(first.commit)
    assert names(project.root / "src") == ["b.py", "deep"], "the next restore clears it away"


def test_the_writer_never_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "root/way").symlink_to(tmp_path / "outside")
    with TreeWriter(tmp_path / "root") as writer:
        for call in (
            lambda: writer.write("way/file", "100644", [b"x"]),
            lambda: writer.make_folder("way/folder"),
            lambda: writer.remove("way/file"),
        ):
            with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
                call()
        assert not writer.remove_folder("way/folder/x")
    assert not names(tmp_path / "outside")


def bits(project: Project, path: str) -> int:
    return stat.S_IMODE((project.root / path).stat().st_mode)


PRIVATE = {"key.txt": 0o600, "run.sh": 0o700, "vault": 0o700, "vault/open.txt": 0o644, "vault/deep/odd\nname": 0o600}


def with_private_files(project: Project) -> dict[str, int]:
    """Write files and folders that only their owner may use, and return the modes of all in the tree."""
    for path, mode in PRIVATE.items():
        if path != "vault":
            project.write(path, f"{path}\n", mode)
    (project.root / "vault").chmod(0o700)
    return {path: bits(project, path) for path in ("a.txt", "src", "vault/deep", *PRIVATE)}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda project: [project.remove(path) for path in ("key.txt", "run.sh", "vault")], id="deleted"),
        pytest.param(
            lambda project: [project.write(path, "x\n", 0o644) for path in ("key.txt", "run.sh")], id="edited"
        ),
        pytest.param(
            lambda project: [(project.root / path).chmod(0o755) for path in ("key.txt", "run.sh", "vault")], id="opened"
        ),
    ],
)
def test_what_only_its_owner_may_use_stays_so(project: Project, change) -> None:
    modes = with_private_files(project)
    store = project.make_store()
    first = store.snapshot()
    assert store.snapshot().commit == first.commit, "the second time they are unchanged files"
    change(project)
    after = project.look()
    changed = {path: bits(project, path) for path in modes if (project.root / path).exists()}
    undo = store.restore(first.commit)
    assert {path: bits(project, path) for path in modes} == modes
    store.restore(f"refs/safety/{undo}")
    assert project.look() == after
    assert {path: bits(project, path) for path in changed} == changed


def test_a_whole_tree_that_is_private_is_noted_in_a_word(project: Project) -> None:
    for number in range(1100):
        project.write(f"many/{number}.txt", "x\n", 0o600)
    project.write("many/run.sh", "x\n", 0o700)
    (project.root / "many").chmod(0o700)
    store = project.make_store()
    first = store.snapshot()
    assert first.modes == {"/": 0o700}
    project.remove("many")
    store.restore(first.commit)
    assert [bits(project, f"many{name}") for name in ("", "/7.txt", "/run.sh")] == [0o700, 0o600, 0o700]


def test_a_private_file_that_is_ignored_now_keeps_its_mode(project: Project) -> None:
    project.write("key.txt", "mine\n", 0o600)
    store = project.make_store()
    first = store.snapshot()
    project.write(".gitignore", "*.log\nbuild/\nkey.txt\n")
    (project.root / "key.txt").chmod(0o644)
    store.restore(first.commit)
    assert bits(project, "key.txt") == 0o644
