"""The store's files, its index, what it lends, writers and readers beside each other."""

import hashlib
import os
import shutil
import stat
import threading
import zlib
from pathlib import Path

import pytest

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.lock import hold
from ralph_tracker.store.snapshots.index import Index, SeenFile, load, save, stable_print
from ralph_tracker.store.snapshots.objects import Draft, Pack
from ralph_tracker.store.snapshots.store import SnapshotStore

from .projects import Project, changed


def name(data):
    return hashlib.sha256(data).hexdigest()


ONE, TWO = name(b"one\n"), name(b"two\n")


def loose(project):
    return [path for path in (project.folder / "objects").glob("??/*") if path.is_file()]


def packs(project):
    return list((project.folder / "objects/pack").glob("*.pack"))


def replaced(data):
    """Return bytes with the one in the middle changed."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.fixture
def store(bare_project):
    bare_project.write("a.txt", "one\n")
    bare_project.write("b/c.txt", "two\n")
    return bare_project.make_store()


def test_a_content_is_named_by_its_sha256_and_a_tree_by_the_lists_of_its_folders(store, bare_project):
    snapshot = store.snapshot(number=0)
    assert bare_project.stored(b"one\n").is_file()
    inner = b"ralph-tracker folder 1\n" + f"100644 4 {TWO}\tc.txt\0".encode()
    lines = f"100644 4 {ONE}\ta.txt\0", f"040000 - {name(inner)}\tb/\0"
    assert snapshot.tree == name(b"ralph-tracker folder 1\n" + "".join(lines).encode())
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
    known = set()
    index = load(bare_project.folder)
    for path in ("a.txt", "b/c.txt"):
        seen = index.get(path)
        index.put(path, seen._replace(object_id="0" * 64))
        known |= {path} if any(seen.print) else set()
    index.write(lambda document: "1" * 64)
    save(index, bare_project.folder, bare_project.folder / "tmp")
    bare_project.store().snapshot()  # `look` would ask for the tree that was made up
    after = load(bare_project.folder)
    assert {path for path in ("a.txt", "b/c.txt") if after.get(path).object_id == "0" * 64} == known


def test_an_index_that_did_not_change_is_not_written_again(tmp_path):
    index, place = Index(), tmp_path / "index"
    for path in ("a", "b/c"):
        index.put(path, SeenFile("100644", ONE, 4, None))
    index.write(name)
    save(index, tmp_path, tmp_path)
    written = place.stat().st_ino
    for same in (index, load(tmp_path), index.copy()):
        save(same, tmp_path, tmp_path)
        assert place.stat().st_ino == written
    index.drop("a")
    save(index, tmp_path, tmp_path)
    assert place.stat().st_ino != written


def test_a_file_that_may_change_without_a_sign_is_read_again(tmp_path):
    (tmp_path / "f").touch()
    status = (tmp_path / "f").stat()
    latest = max(status.st_mtime_ns, status.st_ctime_ns)
    assert stable_print(status, latest) is None
    assert stable_print(status, latest + 1) is not None


@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda _: b"{}", lambda data: data[:-1], lambda data: data[:25], replaced]
)
def test_a_damaged_index_only_costs_a_reading(store, bare_project, damage):
    tree = store.snapshot().tree
    index = bare_project.folder / "index"
    index.write_bytes(damage(index.read_bytes()))
    assert load(bare_project.folder).tree is None
    assert bare_project.store().snapshot().tree == tree


def test_what_is_lent_reads_and_leaves_the_lender_as_it_was(store, bare_project, tmp_path):
    first = store.snapshot(number=0)
    before = {p: p.read_bytes() for p in bare_project.folder.rglob("*") if p.is_file()}
    bare_project.write("a.txt", "three\n")
    reader = store.read_only_copy(tmp_path / "lent")
    second = reader.snapshot()
    assert changed(reader, first, second) == ("a.txt",)
    assert reader.read(second.tree, "b/c.txt") == b"two\n"
    assert {p: p.read_bytes() for p in bare_project.folder.rglob("*") if p.is_file()} == before
    with pytest.raises(NoSnapshotError):
        reader.find(0)
    assert store.read_only_copy(tmp_path / "lent").snapshot().tree == second.tree


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


@pytest.fixture
def packed(store, bare_project):
    """Return a store with a snapshot of 52 files under 0, kept in one pack."""
    for number in range(50):
        bare_project.write(f"many/{number}", f"{number}\n")
    store.snapshot(number=0)
    return store


def test_many_new_contents_are_one_file(packed, bare_project):
    assert not loose(bare_project)
    assert len(packs(bare_project)) == 1
    snapshot = packed.find(0)
    assert len(packed.paths(snapshot.tree)) == 52
    assert packed.read(snapshot.tree, "many/7") == b"7\n"
    assert packed.verify(snapshot.commit) == bare_project.store().verify(snapshot.commit) == ()


def test_a_pack_lists_what_it_holds_in_the_order_of_writing(tmp_path):
    draft = Draft(tmp_path / "draft")
    contents = {name(data): data for data in (b"three", b"1", b"two")}
    for object_id, data in contents.items():
        draft.add(object_id, data)
    draft.finish()
    pack, data = Pack(str(tmp_path / "draft")), (tmp_path / "draft").read_bytes()
    assert [(each, data[place.offset :][: place.length]) for each, place in pack.rows()] == [*contents.items()]
    assert {each: pack.find(each) for each in contents} == dict(pack.rows())


def test_a_large_content_is_a_pack_and_kept_once(store, bare_project):
    content = os.urandom(3 << 20)
    bare_project.write("one.bin", content)
    bare_project.write("two.bin", content)
    snapshot = store.snapshot()
    size = sum(path.stat().st_size for path in packs(bare_project))
    assert len(content) < size < len(content) * 1.1
    assert store.read(snapshot.tree, "two.bin") == content
    bare_project.write("three.bin", content)
    assert store.look(snapshot.tree)[1] == ("three.bin",)
    assert sum(path.stat().st_size for path in packs(bare_project)) == size


def test_only_folders_with_a_change_are_kept_anew(packed, bare_project):
    before = len(loose(bare_project))
    bare_project.write("b/c.txt", "three\n")
    packed.snapshot()
    assert len(loose(bare_project)) - before == 4  # the content, b, the root, the snapshot


def test_packing_leaves_one_file_and_the_names_whole(packed, bare_project):
    for number in range(1, 4):
        bare_project.write("a.txt", f"{number}\n" * 1000)
        packed.snapshot(number=number)
    assert loose(bare_project)
    packed.pack()
    assert not loose(bare_project)
    assert not list((bare_project.folder / "objects").glob("??"))
    assert len(packs(bare_project)) == 1
    for name in packed.references():
        assert packed.verify(name) == ()
    kept = packs(bare_project)
    packed.pack()
    assert packs(bare_project) == kept


def test_two_small_packs_become_one(packed, bare_project):
    for number in range(50):
        bare_project.write(f"more/{number}", f"more {number}\n")
    packed.snapshot(number=1)
    assert (len(packs(bare_project)), loose(bare_project)) == (2, [])
    packed.pack()
    assert len(packs(bare_project)) == 1
    assert packed.verify("refs/iterations/0") == packed.verify("refs/iterations/1") == ()


def test_packing_leaves_alone_what_is_large_beside_the_rest(packed, bare_project):
    bare_project.write("large.bin", os.urandom(2 << 20))
    packed.snapshot(number=1)
    large = max(packs(bare_project), key=lambda path: path.stat().st_size)
    for number in range(2, 4):
        bare_project.write("a.txt", f"{number}\n")
        packed.snapshot(number=number)
    packed.pack()
    assert large in packs(bare_project)
    assert len(packs(bare_project)) == 2
    assert packed.verify("refs/iterations/1") == ()


def test_a_reader_finds_what_is_packed_and_swept_meanwhile(packed, bare_project):
    reader = bare_project.store()
    assert reader.read("refs/iterations/0", "many/1") == b"1\n"
    bare_project.write("a.txt", "new\n")
    packed.snapshot(number=1)
    assert reader.read("refs/iterations/1", "a.txt") == b"new\n"
    packed.pack()
    assert reader.read("refs/iterations/1", "a.txt") == b"new\n"
    assert reader.read("refs/iterations/0", "many/2") == b"2\n"
    packed.forget(["refs/iterations/0"])
    packed.sweep()
    assert reader.read("refs/iterations/1", "many/3") == b"3\n"


def test_a_sweep_takes_contents_out_of_a_pack(packed, bare_project):
    bare_project.write("many/1", "stays\n")
    packed.snapshot(number=1)
    size = packs(bare_project)[0].stat().st_size
    packed.forget(["refs/iterations/0"])
    packed.sweep()
    assert packed.verify("refs/iterations/1") == ()
    assert packed.contents([name(b"2\n")], 9) == {name(b"2\n"): b"2\n"}
    with pytest.raises(StoreError, match="missing or damaged"):
        packed.contents([name(b"1\n")], 9)
    assert packs(bare_project)[0].stat().st_size < size


@pytest.mark.parametrize("damage", [lambda _: b"", lambda data: data[:-1], lambda data: data[: len(data) // 2]])
def test_a_pack_that_is_cut_short_is_damage_that_is_told(packed, bare_project, damage):
    path = packs(bare_project)[0]
    data = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(damage(data))
    store = bare_project.store()
    with pytest.raises((StoreError, NoSnapshotError)):
        store.verify("refs/iterations/0")
    with pytest.raises((StoreError, NoSnapshotError)):
        store.sweep()
    store.snapshot()
    store.pack()
    path.write_bytes(data)  # it is fixed, as it was thrown away by nobody
    assert bare_project.store().verify("refs/iterations/0") == ()


def test_damage_in_a_pack_is_named_by_path(packed, bare_project):
    path = packs(bare_project)[0]
    place = next(place for key, place in Pack(os.fspath(path)).rows() if key == name(b"7\n"))
    data = bytearray(path.read_bytes())
    data[place.offset + 3] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)
    assert bare_project.store().verify("refs/iterations/0") == ("many/7",)


def test_what_is_lent_reads_the_packs_of_the_lender(packed, bare_project, tmp_path):
    reader = packed.read_only_copy(tmp_path / "lent")
    bare_project.write("a.txt", "three\n")
    second = reader.snapshot()
    assert changed(reader, packed.find(0), second) == ("a.txt",)
    assert reader.read(second.tree, "many/7") == b"7\n"


def test_a_folder_that_goes_leaves_the_index(packed, bare_project):
    shutil.rmtree(bare_project.root / "many")
    shutil.rmtree(bare_project.root / "b")
    after = packed.snapshot()
    assert len(changed(packed, packed.find(0), after)) == 51
    assert packed.paths(after.tree) == ("a.txt",)
    assert set(load(bare_project.folder).folders) == {""}


def test_the_content_of_a_file_is_no_tree_and_no_snapshot(store):
    store.snapshot()
    with pytest.raises(NoSnapshotError, match="nothing is kept as"):
        store.paths(ONE)


@pytest.mark.parametrize("lines", ["100644 x\ta\0", "\0", "100644 -1 ff\ta\0", "040000 4 ff\ta/\0"])
def test_a_file_that_begins_as_a_folder_does_is_no_tree(store, bare_project, lines):
    content = f"ralph-tracker folder 1\n{lines}"
    bare_project.write("like a folder", content)
    store.snapshot()
    with pytest.raises(NoSnapshotError, match="nothing is kept as"):
        store.paths(name(content.encode()))


def test_a_folder_that_cannot_be_read_is_named(store, bare_project, as_user):
    (bare_project.root / "b").chmod(0)
    try:
        assert ("b/", "not readable") in as_user(lambda: store.snapshot().skipped)
    finally:
        (bare_project.root / "b").chmod(0o700)


def test_two_writers_come_one_after_the_other(project: Project) -> None:
    project.make_store()
    trees: dict[int, str] = {}

    def write(number: int) -> None:
        trees[number] = SnapshotStore(project.folder, project.root).snapshot(number=number).tree

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(trees) == 4
    assert len(set(trees.values())) == 1


def test_a_writer_that_never_ends_is_named(project: Project) -> None:
    project.make_store()
    with (
        hold(project.folder),
        pytest.raises(StoreError, match="another process works in"),
        hold(project.folder, patience_s=0.1),
    ):
        pass


def test_readers_do_not_wait_for_a_writer(project: Project, tmp_path: Path) -> None:
    store = project.make_store()
    snapshot = store.snapshot(number=0)
    with hold(project.folder):
        assert store.find(0).tree == snapshot.tree
        assert store.read(snapshot.tree, "a.txt") == b"one\n"
        store.export(snapshot.tree, tmp_path / "out")


def test_what_the_system_refuses_is_an_expected_failure(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device", str(project.folder))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        with pytest.raises(StoreError, match="No space left on device"):
            SnapshotStore(project.folder, project.root).create()
    store = project.make_store()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(StoreError, match="No space left on device"):
            store.snapshot()


def test_a_pack_that_the_system_refuses_to_open_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    store = project.make_store()
    snapshot = store.snapshot(number=0)
    store.pack()

    def refuse(path: str) -> None:
        raise OSError(5, "Input/output error", path)

    monkeypatch.setattr("ralph_tracker.store.snapshots.objects._read_table", refuse)
    with pytest.raises(StoreError, match=r"\.pack: cannot be read \(Input/output error\)"):
        project.store().read(snapshot.tree, "a.txt")


def test_what_is_read_is_what_was_compared(bare_project: Project) -> None:
    """A content that is replaced after it was verified is refused by each way to use it, and gets no name."""
    bare_project.write("a.txt", "kept\n")
    store = bare_project.make_store()
    snapshot = store.snapshot()
    (change,) = store.changes(None, snapshot.tree)
    assert store.verify(snapshot.commit) == ()
    path = next(path for path in loose(bare_project) if path.parent.name + path.name == change.new_id)
    path.unlink()
    path.write_bytes(zlib.compress(b"evil\n"))
    out = bare_project.root.parent / "out"
    for number, use in enumerate(
        (
            lambda to: store.export(snapshot.commit, to),
            lambda to: store.write_changed([change], to),
            lambda _: store.contents([change.new_id], 1 << 20),
            lambda _: store.read(snapshot.commit, "a.txt"),
        )
    ):
        with pytest.raises(StoreError, match="missing or damaged"):
            use(out / str(number))
    assert [path for path in out.rglob("*") if path.is_file()] == []
