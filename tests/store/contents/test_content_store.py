"""What the store without git has of its own: its files, its index, what it lends, what it cannot."""

import hashlib
import json
import os
import stat

import pytest

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.contents.index import settled_print

LISTED = [("a.txt", b"one\n"), ("b/c.txt", b"two\n")]


def index(project):
    return json.loads((project.folder / "index").read_bytes())


@pytest.fixture
def store(bare_project):
    bare_project.write("a.txt", "one\n")
    bare_project.write("b/c.txt", "two\n")
    return bare_project.make_store()


def test_a_content_is_named_by_its_sha256_and_a_tree_by_its_list(store, bare_project):
    snapshot = store.snapshot(number=0)
    assert bare_project.stored(b"one\n").is_file()
    lines = [f"100644 4 {hashlib.sha256(data).hexdigest()}\t{path}\0".encode() for path, data in LISTED]
    assert snapshot.tree == hashlib.sha256(b"ralph-tracker tree 1\n" + b"".join(lines)).hexdigest()
    assert (bare_project.folder / "refs/iterations/0").read_text() == f"{snapshot.commit}\n"


def test_it_is_for_its_owner_and_moves_with_the_tree(store, bare_project, tmp_path):
    first = store.snapshot(number=0)
    assert stat.S_IMODE(bare_project.folder.stat().st_mode) == 0o700
    bare_project.root.rename(tmp_path / "moved")
    moved = type(bare_project)(tmp_path / "moved")
    assert moved.store().snapshot().tree == first.tree
    assert str(tmp_path).encode() not in b"".join(p.read_bytes() for p in moved.folder.rglob("*") if p.is_file())


def test_unchanged_files_are_not_read_again(store, bare_project):
    tree = store.snapshot().tree
    for path in ("a.txt", "b/c.txt"):
        os.utime(bare_project.root / path, (1, 1))
    store.look(tree)
    document = index(bare_project)
    document["files"] = [[path, mode, "0" * 64, size, seen] for path, mode, _, size, seen in document["files"]]
    document["tree"] = None
    (bare_project.folder / "index").write_text(json.dumps(document))
    known = {row[0] for row in document["files"] if row[4] is not None}
    after = bare_project.store()
    after.look(tree)
    assert {row[0] for row in index(bare_project)["files"] if row[2] == "0" * 64} == known


def test_a_file_that_may_change_without_a_sign_is_read_again(tmp_path):
    (tmp_path / "f").touch()
    status = (tmp_path / "f").stat()
    latest = max(status.st_mtime_ns, status.st_ctime_ns)
    assert settled_print(status, latest) is None
    assert settled_print(status, latest + 1) is not None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"schema_version": 2}', b'{"schema_version": 1, "files": [[1]]}']
)
def test_a_damaged_index_only_costs_a_reading(store, bare_project, content):
    tree = store.snapshot().tree
    (bare_project.folder / "index").write_bytes(content)
    assert bare_project.store().snapshot().tree == tree


def test_what_is_lent_reads_and_leaves_the_lender_as_it_was(store, bare_project, tmp_path):
    first = store.snapshot(number=0)
    before = {p: p.read_bytes() for p in bare_project.folder.rglob("*") if p.is_file()}
    bare_project.write("a.txt", "three\n")
    lent = store.lend(tmp_path / "lent")
    second = lent.snapshot(previous=first.tree)
    assert second.changed == ("a.txt",)
    assert lent.read(second.tree, "b/c.txt") == b"two\n"
    assert {p: p.read_bytes() for p in bare_project.folder.rglob("*") if p.is_file()} == before
    with pytest.raises(NoSnapshotError):
        lent.find(0)
    assert store.lend(tmp_path / "lent").snapshot().tree == second.tree


def test_a_branch_needs_git_and_the_note_says_so(store):
    commit = store.snapshot().commit
    with pytest.raises(StoreError, match="begun without git; apply it as output or worktree"):
        store.branch(commit, "best")
    assert "without git" in store.note


def test_what_nothing_names_is_swept_and_the_rest_stays(store, bare_project):
    store.snapshot(number=0)
    bare_project.write("a.txt", "gone soon\n")
    second = store.snapshot(number=1)
    bare_project.write("a.txt", "stays\n")
    third = store.snapshot(number=2)
    store.forget(["refs/iterations/1"])
    store.pack()
    store.sweep()
    assert store.references() == ("refs/iterations/0", "refs/iterations/2")
    assert not bare_project.stored(b"gone soon\n").exists()
    assert store.verify(third.commit) == store.verify(store.find(0).commit) == ()
    with pytest.raises(NoSnapshotError, match="nothing is kept as"):
        store.paths(second.tree)
    assert store.snapshot().tree == third.tree


def test_damage_under_a_name_ends_a_sweep_before_anything_goes(store, bare_project):
    first = store.snapshot(number=0)
    bare_project.write("a.txt", "two\n")
    store.snapshot(number=1)
    bare_project.object(first.tree).unlink()
    store.forget(["refs/iterations/1"])
    with pytest.raises((StoreError, NoSnapshotError)):
        bare_project.store().sweep()
    assert bare_project.stored(b"two\n").exists()


def test_many_new_files_are_written_as_few_are(store, bare_project):
    for number in range(50):
        bare_project.write(f"many/{number}", f"{number}\n")
    snapshot = store.snapshot()
    assert len(store.paths(snapshot.tree)) == 52
    assert store.verify(snapshot.commit) == ()


def test_the_content_of_a_file_is_no_tree_and_no_snapshot(store):
    store.snapshot()
    with pytest.raises(NoSnapshotError, match="nothing is kept as"):
        store.paths(hashlib.sha256(b"one\n").hexdigest())


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_folder_that_cannot_be_read_is_named(store, bare_project):
    (bare_project.root / "b").chmod(0)
    try:
        assert ("b/", "not readable") in store.snapshot().skipped
    finally:
        (bare_project.root / "b").chmod(0o700)
