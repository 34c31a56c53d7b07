"""Reading what is kept: differences with sizes and hashes, single files, exports, and what is damaged."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.snapshots.file_changes import file_changes
from ralph_tracker.store.snapshots.objects import Objects
from ralph_tracker.store.snapshots.snapshot_types import Change, Note
from ralph_tracker.store.snapshots.trees import File, encode_folder, encode_snapshot

from .projects import Project, look


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_changes_tell_status_modes_size_and_hash(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("a.txt", "two\n")
    project.write("copy.txt", "two\n")
    project.remove("src/b.py")
    (project.root / "run.sh").chmod(0o644)
    project.remove("link")
    project.write("link", "a.txt")
    project.link("new", "\udcff" if os.name == "posix" else "x")
    second = store.snapshot()
    found = store.changes(first.commit, second.tree)
    for change in found:
        kept = {change.new_id and store.contents([change.new_id], 9)[change.new_id]}
        assert kept == {None if change.status == "D" else store.read(second.tree, change.path)[:9]}
        assert (change.old_id is None) == (change.status == "A")
    assert tuple(change._replace(old_id=None) for change in found) == (
        Change("a.txt", "M", "100644", "100644", 4, sha256(b"two\n")),
        Change("copy.txt", "A", None, "100644", 4, sha256(b"two\n")),
        Change("link", "T", "120000", "100644", 5, sha256(b"a.txt")),
        Change("new", "A", None, "120000", 1, sha256(b"\xff")),
        Change("run.sh", "M", "100755", "100644", 10, sha256(b"#!/bin/sh\n")),
        Change("src/b.py", "D", "100644", None, None, None),
    )
    assert store.changes(second.tree, second.tree) == ()
    assert {item.status for item in store.changes(None, second.tree)} == {"A"}
    assert {item.status for item in store.changes(second.tree, None)} == {"D"}


def test_several_trees_are_compared_with_a_later_one(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("a.txt", "two\n")
    second = store.snapshot()
    project.write("a.txt", "three\n")
    third = store.snapshot()
    for name in (first.tree, f"{first.tree} {third.tree}", f"{first.tree} {third.tree}\n:100644 100644 x"):
        project.write(name, name)  # what could be taken for git's own words
    last = store.snapshot()
    for befores in (
        [first.tree, second.commit, first.tree, None],
        [first.tree, second.tree, third.tree],
        [second.tree, last.tree],
        [last.tree, None],
    ):
        alone = [store.changes(before, last.tree) for before in befores]
        assert len(alone[0]) == (0 if befores[0] == last.tree else 4)


def test_a_file_may_have_the_name_of_what_is_kept(project: Project) -> None:
    store = project.make_store()
    names = ["refs/iterations/0", "refs/iterations/1"]
    first = store.snapshot(number=0)
    for name in (*names, first.tree, first.commit):
        project.write(name, "a file\n")
    store.snapshot(number=1)
    for before in (names[0], first.tree, first.commit):
        found = {change.path for change in store.changes(before, names[1])}
        assert found == {*names, first.tree, first.commit}
        assert {change.path for change in file_changes(store, before, names[1])} == found


def test_a_tree_that_is_not_kept_is_refused_on_either_side(project: Project) -> None:
    store = project.make_store()
    kept, unknown = store.snapshot().tree, "1" * len(store.snapshot().tree)
    for before, after in ((unknown, kept), (kept, unknown), (None, unknown)):
        with pytest.raises(NoSnapshotError, match=unknown):
            store.changes(before, after)


def test_a_look_names_what_differs_from_a_kept_tree(project: Project) -> None:
    store = project.make_store()
    kept = store.snapshot()
    assert store.look(kept.tree) == (kept.tree, ())
    project.write("a.txt", "two\n")
    project.write("new.txt", "new\n")
    tree, changed = store.look(kept.tree)
    assert changed == ("a.txt", "new.txt")
    assert store.snapshot().tree == tree
    assert store.verify(tree) == ()


def test_the_paths_of_a_tree_and_of_its_commit_are_the_same(project: Project) -> None:
    store = project.make_store()
    kept = store.snapshot()
    assert store.paths(kept.tree) == store.paths(kept.commit)
    assert set(store.paths(kept.tree)) == {".gitignore", "a.txt", "link", "run.sh", "src/b.py", "src/deep/c.py"}


def test_more_paths_than_a_command_line_holds_are_exported_too(project: Project, tmp_path: Path) -> None:
    names = [f"many/{'x' * 200}{number}.txt" for number in range(600)]
    for name in names:
        project.write(name)
    store = project.make_store()
    store.write_changed(store.changes(None, store.snapshot().tree), tmp_path / "out")
    assert sum(path.is_file() for path in (tmp_path / "out" / "many").iterdir()) == len(names)


@pytest.mark.parametrize("path", ["missing", "src", "", "../a.txt", "-x"])
def test_a_path_that_is_not_kept_is_named(path: str, project: Project) -> None:
    store = project.make_store()
    tree = store.snapshot().tree
    with pytest.raises(NoSnapshotError, match="is not kept in"):
        store.read(tree, path)


@pytest.mark.parametrize(
    "content", ["HEAD", "0" * 40, "--help", "0" * 39, "refs/heads/../../x", "refs/iterations/7", "a\nb"]
)
def test_content_that_is_not_kept_is_named(content: str, project: Project, tmp_path: Path) -> None:
    store = project.make_store()
    store.snapshot()
    for call in (
        lambda: store.read(content, "a.txt"),
        lambda: store.restore(content),
        lambda: store.export(content, tmp_path / "out"),
        lambda: store.paths(content),
        lambda: store.changes(content, None),
        lambda: store.verify(content),
    ):
        with pytest.raises(NoSnapshotError):
            call()


def test_what_changed_can_be_written_alone(project: Project, tmp_path: Path) -> None:
    store = project.make_store()
    before = store.snapshot().tree
    project.write("src/b.py", "changed\n")
    project.write("new/file", "new\n")
    (project.root / "a.txt").unlink()
    store.write_changed(store.changes(before, store.snapshot().tree), tmp_path / "out")
    assert look(tmp_path / "out") == {path: look(project.root)[path] for path in ("src/b.py", "new/file")}
    store.write_changed([], tmp_path / "none")
    assert look(tmp_path / "none") == {}


def test_an_export_goes_into_an_empty_folder_only(project: Project, tmp_path: Path) -> None:
    store = project.make_store()
    snapshot = store.snapshot()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").touch()
    with pytest.raises(StoreError, match="is not empty"):
        store.export(snapshot.tree, tmp_path / "out")
    with pytest.raises(StoreError):
        store.export(snapshot.tree, tmp_path / "out/mine")


def test_an_iteration_is_kept_once(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot(number=0, message="baseline")
    project.write("a.txt", "two\n")
    second = store.snapshot()
    store.keep(1, second.commit)
    store.keep(1, second.commit)
    with pytest.raises(StoreError, match=rf"iteration 1 is kept already as {second.commit}"):
        store.keep(1, first.commit)
    with pytest.raises(StoreError, match="iteration 2 could not be named"):
        store.keep(2, "0123456789" * 4)
    assert store.find(1).tree == second.tree
    assert store.find(0).commit == first.commit
    with pytest.raises(NoSnapshotError, match="iteration 2 has no snapshot"):
        store.find(2)


def test_a_snapshot_can_be_found_with_all_it_said(project: Project) -> None:
    (project.root / "hollow\udcff").mkdir()
    project.write("key\n.pem")
    snapshot = project.make_store().snapshot(number=3, message="third \udcff\n\nwith lines")
    found = project.make_store().find(3)
    assert found == snapshot
    assert ("key\n.pem", "may hold a secret and is not tracked") in found.skipped
    assert found.empty_directories == ("hollow\udcff",)


def damage(file: Path, content: bytes | None) -> None:
    file.unlink()  # the user's repository holds the same file
    if content is not None:
        file.write_bytes(content)


@pytest.mark.parametrize("how", [None, b"", b"garbage", b"x\x9c", "other"])
def test_damage_is_named_by_path(how: bytes | str | None, project: Project) -> None:
    store = project.make_store()
    snapshot = store.snapshot()
    project.write("src/twin.py", "print(1)\n")
    other = store.snapshot()
    assert store.verify(other.commit) == ()
    tree = snapshot.tree
    content = project.object(tree).read_bytes() if how == "other" else how
    damage(project.stored(b"print(1)\n"), content)
    assert store.verify(other.commit) == ("src/b.py", "src/twin.py")
    assert store.verify(snapshot.commit) == ("src/b.py",)
    damage(project.stored(b"one\n"), content)
    assert store.verify(snapshot.commit) == ("a.txt", "src/b.py")
    damage(project.object(tree), None)
    assert store.verify(snapshot.commit) == ("/",)


def test_reading_a_missing_object_is_an_expected_failure(project: Project, tmp_path: Path) -> None:
    store = project.make_store()
    snapshot = store.snapshot()
    damage(project.stored(b"one\n"), None)
    with pytest.raises(StoreError, match="missing or damaged"):
        store.export(snapshot.tree, tmp_path / "out")
    changes = [change for change in store.changes(snapshot.tree, None) if change.path == "src/b.py"]
    damage(project.stored(b"print(1)\n"), b"x\x9c")
    again = [change._replace(new_id=change.old_id, new_mode=change.old_mode) for change in changes]
    with pytest.raises(StoreError):
        store.write_changed(again, tmp_path / "again")


def test_large_content_is_read_in_parts(project: Project, tmp_path: Path) -> None:
    content = os.urandom(3 << 20)
    project.write("large.bin", content)
    project.write("next.txt", "behind it\n")
    store = project.make_store()
    snapshot = store.snapshot()
    store.export(snapshot.tree, tmp_path / "out")
    assert (tmp_path / "out/large.bin").read_bytes() == content
    assert (tmp_path / "out/next.txt").read_text() == "behind it\n"
    assert store.verify(snapshot.commit) == ()


def test_packing_keeps_everything(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot(number=0)
    project.write("a.txt", "two\n")
    second = store.snapshot(number=1)
    store.pack()
    assert not list((project.folder / "objects").glob("??/*"))
    assert store.verify(first.commit) == store.verify(second.commit) == ()
    project.write("a.txt", "three\n")
    store.snapshot(number=2)
    store.pack()
    store.restore(first.commit)
    assert (project.root / "a.txt").read_text() == "one\n"


EVIL = ["..", ".", "", ".git", ".GIT", ".g\u200cit", "../up", "/up", ".aiwg"]


def kept_by_hand(project: Project, documents: Iterator[bytes]) -> str:
    """Put contents into the store as anybody can who ships one, and return the id of the last."""
    objects = Objects(project.folder)
    objects.clear()
    *_, last = [objects.add(document) for document in documents]
    objects.publish()
    objects.clear()
    return last


@pytest.mark.parametrize("name", EVIL)
@pytest.mark.parametrize("kind", ["file", "folder", "empty folder"])
def test_a_store_of_a_stranger_names_nothing_out_of_the_tree_and_nothing_of_git(
    kind: str, name: str, project: Project, tmp_path: Path
) -> None:
    store = project.make_store()
    store.snapshot()
    data = b"#!/bin/sh\n"
    inner = encode_folder([File("run", "100755", sha256(data), len(data))], {})
    tree = encode_folder(
        [File(name, "100755", sha256(data), len(data))] if kind == "file" else [],
        {name: sha256(inner)} if kind == "folder" else {},
    )
    note = Note(empty_directories=(f"{name}/new",) if kind == "empty folder" else ())
    commit = kept_by_hand(project, iter([data, inner, tree, encode_snapshot(sha256(tree), note)]))
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*") if ".aiwg" not in path.parts}
    with pytest.raises((StoreError, NoSnapshotError)):
        store.restore(commit)
    refused = pytest.raises((StoreError, NoSnapshotError))
    with nullcontext() if (kind, name) in {("file", ".aiwg"), ("folder", ".aiwg")} else refused:
        store.export(commit, tmp_path / "exported/here")
    shutil.rmtree(tmp_path / "exported", ignore_errors=True)
    now = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*") if ".aiwg" not in path.parts}
    assert {**now, tmp_path: 0} == {**before, tmp_path: 0}
    assert not list(project.root.glob(".aiwg/**/run"))


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_a_huge_folder_is_damage(project: Project) -> None:
    store = project.make_store()
    store.snapshot()
    commit = kept_by_hand(project, iter([b"ralph-tracker folder 1\n" + bytes(257 << 20)]))
    with pytest.raises(StoreError, match="damaged"):
        store.paths(commit)
