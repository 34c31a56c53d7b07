"""What is missing or damaged of a loop is named by `verify`, and made again where it can be, exactly as it was."""

import json
import os
import random
import shutil
import tracemalloc
from pathlib import Path

import pytest

from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.write import LoopStore

TREES = {
    0: {"a.txt": "one\n", "deep/down/b.txt": "b\n"},
    1: {"a.txt": "two\n", "deep/down/b.txt": "b\n", "new.txt": "new\n"},
    2: {"a.txt": "two\n", "deep/down/b.txt": "b\n", "new.txt": "new\n", "deep/c.txt": "c\n"},
}
COUNTS = '{"testing": {"test_count": 10, "tests_passed": 10, "tests_failed": 0}}'


def lived(loop) -> None:
    """Record a baseline and two iterations with their files, and a restore that was undone."""
    (loop.root / "ralph-tracker.yaml").write_text("codebase: {keep: always}\n")
    put(loop, 0)
    loop.start()
    for number in (1, 2):
        put(loop, number)
        loop.turn()
    loop.tracker.undo(loop.tracker.restore(0).undo)


def put(loop, number: int) -> None:
    for path, text in TREES[number].items():
        (loop.root / path).parent.mkdir(parents=True, exist_ok=True)
        (loop.root / path).write_text(text)


@pytest.fixture
def loop(prepared, tmp_path):
    return prepared("lived with files", lived, tmp_path / "project")


def tree(loop) -> dict[str, str]:
    found = (path for path in loop.root.rglob("*") if path.is_file() and ".aiwg" not in path.parts)
    return {str(path.relative_to(loop.root)): path.read_text() for path in found if path.suffix == ".txt"}


def objects(loop) -> dict[str, Path]:
    """Return the loose contents of the store by their id."""
    folder = loop.paths.store / "objects"
    return {path.parent.name + path.name: path for path in folder.glob("??/*")}


def object_of(loop, content: bytes) -> Path:
    """Return the file of a content whose beginning is known."""
    iteration_snapshots = IterationSnapshots(LoopStore(loop.paths))
    return next(
        path
        for name, path in objects(loop).items()
        if iteration_snapshots.store.contents([name])[name].startswith(content)
    )


def one_pack(loop) -> Path:
    """Put all contents into one pack, and return its path."""
    IterationSnapshots(LoopStore(loop.paths)).store.pack()
    (pack,) = (loop.paths.store / "objects/pack").iterdir()
    return pack


def remove(*names: str):
    def act(loop) -> None:
        for name in names:
            path = loop.paths.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return act


def cut(name: str):
    def act(loop) -> None:
        path = loop.paths.folder / name
        data = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(data[: len(data) // 2])

    return act


def replace(name: str, kind: str):
    """Put something else in the place of a file."""

    def act(loop) -> None:
        path = loop.paths.folder / name
        path.unlink()
        if kind == "garbage":
            path.write_bytes(b"\xff\0}{[\n" * 9)
        elif kind == "a link":
            path.symlink_to(loop.root / "a.txt")
        else:
            os.mkfifo(path)

    return act


def lose(content: bytes, *, damaged: bool):
    def act(loop) -> None:
        path = object_of(loop, content)
        path.unlink()
        if damaged:
            path.write_bytes(b"no content of ours")

    return act


def rename_baseline(loop) -> None:
    name = loop.paths.store / "refs/iterations/0"
    name.write_bytes((loop.paths.store / "refs/iterations/2").read_bytes())


def lose_table(loop) -> None:
    pack = one_pack(loop)
    pack.chmod(0o644)
    os.truncate(pack, pack.stat().st_size - 5)


def damage_pack(loop) -> None:
    """Damage the content of a file that stands beside its record, in a pack."""
    pack = one_pack(loop)
    found = pack.read_bytes()
    iteration_snapshots = IterationSnapshots(LoopStore(loop.paths)).store.objects
    place = iteration_snapshots._find(next(each.new_id for each in _changed(loop) if each.path == "new.txt"))
    pack.chmod(0o644)
    pack.write_bytes(found[: place.offset] + b"?" * place.length + found[place.offset + place.length :])


def _changed(loop):
    return IterationSnapshots(LoopStore(loop.paths)).differs_from_baseline(1)


# name: what is done to the loop; what is to be named: an iteration, or a file of the loop's folder
DAMAGE = {
    "all names": (remove("store/refs"), 0),
    "the name of an iteration": (remove("store/refs/iterations/1"), 1),
    "garbage for a name": (replace("store/refs/iterations/1", "garbage"), 1),
    "a name of another snapshot": (rename_baseline, 0),
    "no index": (remove("store/index"), "store/index"),
    "half an index": (cut("store/index"), "store/index"),
    "no ignore rules": (remove("store/ignore"), 0),
    "half the ignore rules": (lambda loop: (loop.paths.store / "ignore").write_bytes(b"*.o"), "store/ignore"),
    "no visits": (remove("trees"), "trees/"),
    "no state": (remove("state.json"), "state.json"),
    "no trajectory": (remove("progress/trajectory.jsonl"), "progress/trajectory.jsonl"),
    "half a trajectory": (cut("progress/trajectory.jsonl"), "progress/trajectory.jsonl"),
    **{
        f"garbage for {name}": (replace(name, "garbage"), name)
        for name in ("best-tracker.yaml", "continuation.json", "state.json")
    },
    "a link for what is derived": (replace("best-tracker.yaml", "a link"), "best-tracker.yaml"),
    "a pipe for what is derived": (replace("progress/trajectory.jsonl", "a pipe"), "progress/trajectory.jsonl"),
    "a link for a record": (replace("progress/iteration-001-metrics.yaml", "a link"), 1),
    "half a record": (cut("progress/iteration-001-metrics.yaml"), 1),
    "no record": (remove("progress/iteration-001-metrics.yaml"), 1),
    "a content with a copy is lost": (lose(b"two\n", damaged=False), 1),
    "a content with a copy is damaged": (lose(b"two\n", damaged=True), 1),
    "a content of the working tree is lost": (lose(b"b\n", damaged=False), 0),
    "half a plain copy": (cut("iterations/iteration-001/artifacts/a.txt"), 1),
    "all plain copies": (remove("iterations/iteration-001/artifacts"), 1),
    "the table of a pack": (lose_table, 0),
    "a row of a pack": (damage_pack, 1),
}


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named_and_made_again(case, loop, ask):
    act, expected = DAMAGE[case]
    act(loop)
    found = loop.tracker.verify()
    named = found.iterations if isinstance(expected, int) else [name[: len(expected)] for name in found.derived]
    assert expected in named
    assert ask(loop.root, "verify").code == 1
    repaired = ask(loop.root, "verify", "--repair")
    assert (repaired.code, repaired.out.splitlines()[-1]) == (
        0,
        "3 iterations checked: every file is there and matches its hash",
    )
    assert repaired.out.startswith("rebuilt: ")
    assert loop.tracker.verify().is_whole
    for number, files in TREES.items():
        loop.tracker.restore(number)
        assert tree(loop) == files
    assert loop.turn().iteration == 3


def test_an_iteration_is_restored_although_its_plain_copies_are_edited(loop):
    """Nothing is restored from them: the store has what was recorded."""
    (loop.paths.iteration(1) / "artifacts/a.txt").write_text("edited\n")
    loop.tracker.restore(1)
    assert tree(loop) == TREES[1]


def test_a_lost_store_beside_a_damaged_record_is_not_taken_for_a_loop_without_files(loop, ask):
    lost = [
        f"iterations/iteration-00{number}/{name}" for number in (0, 1) for name in ("manifest.json", "measurement.json")
    ]
    remove("store", *lost)(loop)
    said = ask(loop.root, "restore", "1")
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "iteration 1: the store is missing and the record is damaged" in said.err
    assert (
        "the store of the kept files is missing" in json.loads(ask(loop.root, "status", "--json").out)["missing_files"]
    )


@pytest.mark.parametrize("name", ["loop.yaml", "progress/events.jsonl"])
@pytest.mark.parametrize("kind", ["garbage", "gone", "a folder"])
def test_what_is_in_no_other_file_is_named_as_lost(name, kind, loop, ask):
    loop.tracker.restore(1)  # the status says so, and the log is where it comes from
    path = loop.paths.folder / name
    path.unlink()
    if kind == "garbage":
        path.write_bytes(b"\xff\0}{[\n" * 9)
    elif kind == "a folder":
        path.mkdir()
    said = ask(loop.root, "verify")
    assert (said.code, said.out.splitlines()[0]) == (1, f"damaged or missing, and in no other file: {name}")
    assert json.loads(ask(loop.root, "verify", "--json").out)["lost"] == [name]
    assert ask(loop.root, "verify", "--repair").code == 1


def test_a_large_content_is_made_again_without_being_held_in_memory(loop):
    """As much memory as a part of it, not as all of it and its compressed form."""
    large = loop.root / "large.bin"
    large.write_bytes(random.Random(1).randbytes(10 << 20))
    loop.turn()
    pack = next(path for path in loop.paths.store.rglob("*") if path.is_file() and path.stat().st_size > 9 << 20)
    pack.unlink()
    large.unlink()
    assert 3 in loop.tracker.verify().iterations
    tracemalloc.start()
    loop.tracker.repair()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert loop.tracker.verify().is_whole
    assert peak < 8 << 20


def test_a_folder_in_place_of_a_derived_file_is_named(loop, ask):
    loop.paths.best.unlink()
    loop.paths.best.mkdir()
    said = ask(loop.root, "verify", "--repair")
    assert (said.code, said.err) == (
        1,
        f"ralph-tracker: {loop.paths.best}: Is a directory; check free space and permissions, then run it again\n",
    )


def test_each_folder_or_snapshot_of_an_iteration_alone_is_made_again(loop):
    """All but the top folder of the baseline: what an iteration has changed of it stands nowhere else."""
    iteration_snapshots = IterationSnapshots(LoopStore(loop.paths))
    top = iteration_snapshots.tree(0)
    for name, path in objects(loop).items():
        if name != top and iteration_snapshots.store.contents([name])[name].startswith(b"ralph-tracker "):
            path.unlink()
            loop.tracker.repair()
            found = loop.tracker.verify()
            assert (found.iterations, found.derived) == ({}, ())


def test_all_iterations_are_made_again_from_the_tree_of_one_and_the_copies(loop):
    loop.tracker.restore(0)
    for path in objects(loop).values():
        path.unlink()
    assert loop.tracker.verify().iterations.keys() == TREES.keys()
    loop.tracker.repair()
    found = loop.tracker.verify()
    assert (found.iterations, found.derived) == ({}, ())
    assert found.undo_ids, "what restores kept stands beside no record"


def test_the_name_of_an_undo_is_found_again(loop):
    undo = loop.tracker.restore(1).undo
    (loop.paths.store / f"refs/safety/{undo}").unlink()
    assert loop.tracker.verify().derived == (f"store/refs/safety/{undo}",)
    loop.tracker.repair()
    assert loop.tracker.verify().is_whole
    loop.tracker.undo(undo)
    assert tree(loop) == TREES[2]


def test_an_undo_that_lost_its_files_is_named(loop, ask):
    (loop.root / "a.txt").write_text("mine\n")
    undo = loop.tracker.restore(0).undo
    lose(b"mine\n", damaged=False)(loop)
    assert loop.tracker.verify().undo_ids == (undo,)
    document = json.loads(ask(loop.root, "verify", "--repair", "--json").out)
    assert (document["undo"], document["repaired"], document["damaged"]) == ([undo], [], {})


def test_what_is_nowhere_stays_lost_and_the_others_go_on(loop, ask):
    lose(b"one\n", damaged=True)(loop)
    assert loop.tracker.verify().iterations == {0: ("a.txt",)}
    said = ask(loop.root, "verify", "--repair")
    assert said.code == 1
    assert "iteration 0: damaged or missing: a.txt" in said.out
    assert [path.read_bytes() for path in (loop.paths.store / "damaged").iterdir()] == [b"no content of ours"]
    loop.tracker.restore(1)
    assert tree(loop) == TREES[1]


def test_a_store_that_is_gone_is_made_again_from_the_tree_and_the_records(loop, ask):
    remove("store")(loop)
    document = json.loads(ask(loop.root, "verify", "--repair", "--json").out)
    assert document["repaired"] == ["iteration 1", "iteration 2", "store/"]
    assert loop.paths.store.stat().st_mode & 0o777 == 0o700, "what it holds is nobody else's"
    assert document["notes"] == ["store/ignore was lost: the ignore rules of today take its place"]
    assert document["damaged"] == {"0": ["its list of files"]}
    for number in (1, 2):
        loop.tracker.restore(number)
        assert tree(loop) == TREES[number]


@pytest.mark.parametrize("gone", ["store", "store/refs", "store/ignore", "store/objects"])
def test_no_verb_says_that_metrics_were_handed_in_where_files_are_lost(gone, loop, ask):
    remove(gone)(loop)
    (loop.root / ".aiwg/m.json").write_text(COUNTS)
    post = ("hook", "post-iteration", "--metrics", str(loop.root / ".aiwg/m.json"))
    verbs = (("status",), ("show", "1"), ("diff", "0", "1"), ("restore", "1"), ("restore", "--list"), ("verify",))
    for words in (*verbs, ("doctor",), ("select-best", "--apply", "output"), ("gc",), post):
        said = ask(loop.root, *words)
        assert "metrics were handed in" not in said.out + said.err, words
        assert len(said.err.splitlines()) <= 1, words
    status = json.loads(ask(loop.root, "status", "--json").out)["missing_files"]
    assert status.startswith("the snapshots of" if gone == "store/refs" else "the store of the kept files is missing")
    lines = json.loads(ask(loop.root, "doctor", "--json").out)["lines"]
    assert [line["next_step"] for line in lines if line["what"] == "loop"] == ["ralph-tracker verify --repair"]
    assert ask(loop.root, "restore", "1").err.count("verify") == 1


def test_a_loop_that_never_kept_files_misses_none(driven, ask):
    driven.start()
    driven.turn()
    assert driven.tracker.verify().is_whole
    assert json.loads(ask(driven.root, "status", "--json").out)["missing_files"] is None
    assert "metrics were handed in" in ask(driven.root, "restore", "0").err


def test_every_content_that_a_restore_reads_is_compared_with_its_hash(loop):
    for name, path in objects(loop).items():
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        found = loop.tracker.verify()
        assert found.iterations or found.undo_ids or name not in referred(loop), name
        path.write_bytes(data)
    assert loop.tracker.verify().is_whole


def referred(loop) -> set[str]:
    """Return the ids that the iterations and undo ids need."""
    store = IterationSnapshots(LoopStore(loop.paths)).store
    wanted: set[str] = set()
    for name in store.references():
        found = store.describe(name)
        wanted |= {found.commit or ""}
        store.collect(found.tree, wanted)
    return wanted


def test_a_large_content_is_hashed_in_parts_and_made_again_from_its_copy(loop, ask):
    content = random.Random(7).randbytes(5 << 20)  # more than what is read and hashed at once
    (loop.root / "large.bin").write_bytes(content)
    loop.turn()
    (large,) = (path for path in (loop.paths.store / "objects").rglob("*") if path.stat().st_size > 4 << 20)
    large.chmod(0o600)
    with large.open("r+b") as file:
        file.seek(3 << 20)
        file.write(b"damaged")
    assert loop.tracker.verify().iterations == {3: ("large.bin",)}
    assert ask(loop.root, "verify", "--repair").code == 0
    (loop.root / "large.bin").unlink()
    loop.tracker.restore(3)
    assert (loop.root / "large.bin").read_bytes() == content


def test_a_loop_that_keeps_files_named_like_secrets_because_it_was_told_to_is_whole(driven, ask):
    (driven.root / "ralph-tracker.yaml").write_text(
        'codebase: {keep: always}\nsnapshot: {include: [".env.test", "certs/*"]}\n'
    )
    (driven.root / "certs").mkdir()
    for name in (".env", ".env.test", "certs/a.pem"):
        (driven.root / name).write_text("made up\n")
    driven.start()
    said = ask(driven.root, "verify")
    assert (said.code, said.out) == (0, "1 iteration checked: every file is there and matches its hash\n")
    for name in (".env", ".env.test", "certs/a.pem"):
        (driven.root / name).write_text("changed\n")
    driven.tracker.restore(0)
    now = [(driven.root / name).read_text() for name in (".env", ".env.test", "certs/a.pem")]
    assert now == ["changed\n", "made up\n", "made up\n"]
