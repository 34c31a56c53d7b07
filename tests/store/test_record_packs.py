"""The records of older iterations in packs: every reader finds them, and no fault loses one."""

import json
import os
import shutil
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.errors import StoreError
from ralph_tracker.store.record_packs import RECENT, kept_bytes, pack_records
from ralph_tracker.store.write import LoopStore
from tests.sweep import chosen

SAMPLE = 6
TURNS = 27
PACKED = "packed/iterations-001-025.zip"
READING = (
    ("history", "--json"),
    ("verify", "--json"),
    ("show", "7", "--json"),
    ("report", "7"),
    ("status", "--json"),
    ("hook", "loop-decision", "--json"),
)


def worked(loop):
    loop.start()
    for number in range(1, TURNS + 1):
        loop.turn(coverage_percentage=70.0 + number * 7 % 20)


def kept(loop):
    (loop.root / "ralph-tracker.yaml").write_text("codebase: {keep: always}\n")
    for number in range(TURNS + 1):
        (loop.root / "app.py").write_text(f"value = {number}\n")
        loop.turn() if number else loop.start()


def pack(loop):
    """Pack as a later iteration does."""
    pack_records(loop.paths, 25 + RECENT)


@pytest.fixture
def copied(prepared, tmp_path):
    """Return a function that gives a fresh copy of a loop of 27 iterations."""
    place = tmp_path / "copy"

    def copy():
        shutil.rmtree(place, ignore_errors=True)
        return prepared("worked", worked, place, light=True)

    return copy


@pytest.fixture
def answers(ask):
    return lambda loop, first=None: [ask(loop.root, *words) for words in READING[:first]]


@pytest.fixture
def struck(copied, cut_short, request):
    """Yield loops whose packing was cut short at some of its points, by a seed that is shown where one fails."""

    def strike(*, kill):
        whole = copied()
        total = cut_short(whole.base, lambda: pack(whole), kill=kill).points
        assert total > 25 * 7  # each plain file that is removed, and what comes before
        until_named = 12
        for at in (
            *chosen(range(1, until_named), SAMPLE, request.node),
            *chosen(range(until_named, total), SAMPLE, request.node),
        ):
            loop = copied()
            end = cut_short(loop.base, lambda loop=loop: pack(loop), at, kill=kill)
            assert end.killed == kill
            yield at, loop, end

    return strike


def test_packed_records_read_as_before_and_unzipping_gives_the_files_back(copied, answers, documents, ask):
    loop = copied()
    before, files = answers(loop), documents(loop.root)
    pack(loop)
    assert answers(loop) == before
    folders = sorted(path.name for path in loop.paths.iterations.iterdir())
    assert folders == ["iteration-000", "iteration-026", "iteration-027"]
    assert not loop.paths.record(7).exists()
    assert not loop.paths.report(7).exists()
    with zipfile.ZipFile(loop.paths.folder / PACKED) as found:
        assert found.testzip() is None
        found.extractall(loop.paths.folder)
    (loop.paths.folder / PACKED).unlink()
    assert documents(loop.root) == files


def test_the_same_is_judged_selected_and_accepted(copied, documents, ask):
    """What reads every iteration again, and what writes about old ones, finds packed records too."""
    results = []
    for act in (lambda _: None, pack):
        loop = copied()
        act(loop)
        record = loop.turn(test_count=8, tests_passed=8)
        loop.tracker.accept(f"it{TURNS + 1}-test_deletion", "merged")
        loop.tracker.select_output()
        kept = documents(loop.root)
        seen = {name: data for name, data in kept.items() if "/ralph-001/packed/" not in name}
        plain = {name for name in seen if any(f"iteration-{number:03d}" in name for number in range(1, 26))}
        results.append((record, {name: data for name, data in seen.items() if name not in plain}))
        assert ask(loop.root, "verify").code == 0
    assert results[0] == results[1]


def test_what_later_iterations_are_compared_with_is_read_from_its_pack(driven):
    driven.start(tests={"test_a": "passed"})
    driven.turn(tests={"test_a": "passed", "test_b": "passed"})
    for _ in range(2, TURNS + 1):
        driven.turn(tests={"test_a": "failed", "test_c": "passed"})
    pack(driven)
    assert not driven.paths.iteration(1).exists()
    store = LoopStore(driven.paths)
    kept = store.state(store.summary(), Thresholds()).kept
    assert (kept.iteration, kept.outcomes) == (1, {"test_a": "passed", "test_b": "passed"})


@pytest.mark.slow
def test_kept_files_stay_in_their_folders_and_come_back(prepared, tmp_path, ask):
    loop = prepared("kept", kept, tmp_path / "copy")
    pack(loop)
    assert [path.name for path in loop.paths.iteration(7).iterdir()] == ["artifacts"]
    assert ask(loop.root, "restore", "7").code == 0
    assert (loop.root / "app.py").read_text() == "value = 7\n"
    assert ask(loop.root, "verify").code == 0
    (loop.paths.store / "refs/iterations/7").unlink()
    assert "iterations 7 are missing" in json.loads(ask(loop.root, "status", "--json").out)["missing_files"]
    assert ask(loop.root, "verify", "--repair").code == 0  # from the manifest in the pack
    assert ask(loop.root, "gc", "--yes").code == 0
    assert not loop.paths.iteration(8).exists()
    assert ask(loop.root, "verify").code == 0
    assert json.loads(ask(loop.root, "history", "--json").out)[8]["iteration_metrics"]["iteration"] == 8


# name in the tree → what a link of that name leads to
LINKS = {
    "to nowhere": "nowhere",
    "to a file": "app.py",
    "to a folder": "folder",
    "out of the tree": "../../outside",
    "away": "/etc/hostname",
    "to itself": "to itself",
    "deep/seal.json": "../app.py",
    "metrics.json": "nowhere",
}
ODD_FILES = {
    "-leading": (b"dash\n", 0o644),
    "line\nbreak": (b"name\n", 0o644),
    "caf\u00e9/cafe\u0301": (b"both forms\n", 0o644),
    os.fsdecode(b"not \xff utf-8"): (b"\x00\xff", 0o644),
    "empty": (b"", 0o644),
    "run.sh": (b"#!/bin/sh\r\n", 0o755),
    "tests.json": (b"{}", 0o644),
}


def odd(loop):
    """Keep in each iteration one link or odd file more, and take another one away."""
    (loop.root / "ralph-tracker.yaml").write_text("codebase: {keep: always}\n")
    (loop.root / "folder").mkdir()
    (loop.root / "folder/in.txt").write_text("in\n")
    names = [*LINKS, *ODD_FILES]
    for number in range(TURNS + 1):
        (loop.root / "app.py").write_text(f"value = {number}\n")
        name = names[number % len(names)]
        path = loop.root / name
        path.parent.mkdir(exist_ok=True)
        if os.path.lexists(path):
            path.unlink()
        elif name in LINKS:
            path.symlink_to(LINKS[name])
        else:
            path.write_bytes(ODD_FILES[name][0])
            path.chmod(ODD_FILES[name][1])
        loop.turn(coverage_percentage=70.0 + number) if number else loop.start()


def standing(root: Path) -> dict[str, tuple[bytes, int]]:
    """Return the files and links of a project, but for our own."""
    found = {}
    for path in root.rglob("*"):
        if ".aiwg" in path.relative_to(root).parts or (path.is_dir() and not path.is_symlink()):
            continue
        data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        found[path.relative_to(root).as_posix()] = data, path.lstat().st_mode
    return found


@pytest.fixture
def odd_copy(prepared, tmp_path):
    """Return a function that gives a fresh copy of the loop with the odd tree."""
    return lambda name: prepared("odd", odd, tmp_path / name)


@pytest.mark.slow
def test_an_odd_tree_comes_back_the_same_whether_its_records_are_packed(odd_copy, ask):
    trees = []
    for name in ("plain", "packed"):
        loop = odd_copy(name)
        if name == "packed":
            pack(loop)
        assert ask(loop.root, "verify", "--json").code == 0
        found = []
        for number in range(TURNS, -1, -1):
            assert ask(loop.root, "restore", str(number)).code == 0, number
            found.append(standing(loop.root))
        trees.append(found)
    assert trees[0] == trees[1]
    assert len({str(sorted(each)) for each in trees[0]}) > TURNS // 2


@pytest.mark.slow
@pytest.mark.parametrize("how", ["output", "worktree"])
def test_a_packed_iteration_of_an_odd_tree_is_selected(how, odd_copy, ask):
    answers = []
    for name in ("plain", "packed"):
        loop = odd_copy(name)
        if name == "packed":
            pack(loop)
        words = ("select-best", "--iteration", "9", "--reason", "x", "--apply", how, "--yes")
        assert ask(loop.root, *words).code == 0
        place = loop.root if how == "worktree" else loop.root / ".aiwg/output"
        answers.append(standing(place))
    assert answers[0] == answers[1] != {}


@pytest.mark.slow
def test_copies_of_packed_iterations_that_are_gone_or_changed_are_noticed_and_made_again(odd_copy, ask):
    loop = odd_copy("copy")
    pack(loop)
    for number in range(1, 26):
        for path in (loop.paths.iteration(number) / "artifacts").rglob("*"):
            if path.is_symlink():
                target = path.readlink()
                path.unlink()
                if number % 2:
                    path.symlink_to(f"{target}x")
            elif path.is_file():
                path.write_bytes(b"changed")
    damaged = json.loads(ask(loop.root, "verify", "--json").out)["damaged"]
    assert {int(number) for number in damaged} == set(range(1, 26))
    assert ask(loop.root, "restore", "2").code == 0  # from the store
    assert ask(loop.root, "verify", "--repair").code == 0
    assert ask(loop.root, "verify").code == 0


@pytest.mark.slow
def test_gc_of_packed_iterations_with_links_takes_no_more_than_their_files(odd_copy, ask):
    loop = odd_copy("copy")
    outside = loop.root.parent / "outside"
    outside.mkdir()
    (outside / "mine.txt").write_text("mine\n")
    (loop.root / "folder link").symlink_to(outside)
    pack(loop)
    assert ask(loop.root, "gc", "--yes").code == 0
    assert ask(loop.root, "verify").code == 0
    assert (outside / "mine.txt").read_text() == "mine\n"
    assert ask(loop.root, "restore", str(TURNS)).code == 0
    assert json.loads(ask(loop.root, "history", "--json").out)[3]["iteration_metrics"]["iteration"] == 3


@pytest.mark.slow
def test_iterations_whose_records_are_too_large_for_a_pack_stay_plain(copied):
    loop = copied()
    tests = loop.paths.iteration(7) / "tests.json"
    tests.unlink()
    with tests.open("wb") as file:
        file.truncate((128 << 20) + 1)
    pack(loop)
    assert not loop.paths.packs.exists()
    assert loop.paths.iteration(1).is_dir()


@pytest.mark.slow
def test_a_hook_packs_what_is_older_than_the_last_100(driven):
    really, os.fsync = os.fsync, lambda _: None
    try:
        worked(driven)
        for number in range(TURNS + 1, 25 + RECENT + 1):
            assert not driven.paths.packs.exists(), number
            driven.turn()
    finally:
        os.fsync = really
    assert [path.name for path in driven.paths.packs.iterdir()] == ["iterations-001-025.zip"]
    assert not driven.paths.iteration(25).exists()
    assert driven.paths.iteration(26).is_dir()


@pytest.mark.faults
def test_killed_at_any_point_nothing_is_lost_and_the_next_packing_ends_it(struck, copied, answers, documents):
    whole = copied()
    before = answers(whole, 2)
    pack(whole)
    packed = documents(whole.root)
    for at, loop, _ in struck(kill=True):
        assert answers(loop, 2) == before, at
        pack(loop)
        assert documents(loop.root) == packed, at


@pytest.mark.faults
def test_refused_by_the_disk_at_any_point_nothing_is_lost(struck, copied, answers, documents):
    whole = copied()
    before = answers(whole, 2)
    pack(whole)
    packed = documents(whole.root)
    for at, loop, end in struck(kill=False):
        assert end.error is None or isinstance(end.error, StoreError), (at, end.error)
        assert answers(loop, 2) == before, at
        pack(loop)
        assert documents(loop.root) == packed, at


def test_a_plain_file_goes_only_once_the_pack_and_its_name_are_synced(copied, together):
    loop = copied()

    def followed():
        told = []

        def hear(event, arguments):
            if event == "os.rename":
                told.append(("named", Path(arguments[0]).stat().st_ino))
            elif event == "os.remove":
                told.append(("removed", None))

        really = os.fsync
        os.fsync = lambda descriptor: (told.append(("synced", os.fstat(descriptor).st_ino)), really(descriptor))
        sys.addaudithook(hear)
        pack(loop)
        return told[: told.index(("removed", None))]

    together(followed)
    (before_any_goes,) = together.wait()
    whole, packs, folder = (
        path.stat().st_ino for path in (loop.paths.folder / PACKED, loop.paths.packs, loop.paths.folder)
    )
    assert before_any_goes == [("synced", folder), ("synced", whole), ("named", whole), ("synced", packs)]


def test_a_reader_finds_each_record_at_every_moment(copied, together):
    loop = copied()
    names = [
        f"{place}/iteration-{number:03d}{name}"
        for number in range(1, TURNS + 1)
        for place, name in (("iterations", "/seal.json"), ("progress", "-metrics.yaml"), ("reports", "-report.md"))
    ]

    def lost():
        numbers = [(name, int(name.split("/")[1][10:13])) for name in names]
        return [name for _ in range(20) for name, number in numbers if kept_bytes(loop.paths, number, name) is None]

    together(lost, lost, lambda: pack(loop))
    assert together.wait() == [[], [], None]


def test_a_plain_file_is_removed_only_if_the_pack_gives_it_back(copied, ask):
    loop = copied()
    whole = loop.paths.record(7).read_bytes()
    pack(loop)
    damaged = bytearray((loop.paths.folder / PACKED).read_bytes())
    damaged[: len(damaged) // 2] = bytes(len(damaged) // 2)  # as a disk may that was cut off from power
    again = copied()
    again.paths.packs.mkdir()
    (again.paths.folder / PACKED).write_bytes(damaged)
    again.paths.record(25).unlink()
    again.paths.record(25).write_text("edited\n")
    pack(again)
    assert again.paths.record(7).read_bytes() == whole
    assert again.paths.record(25).read_text() == "edited\n"
    assert json.loads(ask(again.root, "verify", "--json").out)["damaged"] == {
        "25": ["progress/iteration-025-metrics.yaml"]
    }


@pytest.mark.parametrize("how", ["a byte", "its end", "all"])
def test_a_damaged_pack_is_reported_by_iteration_and_repaired_by_a_copy(how, copied, ask):
    loop = copied()
    pack(loop)
    path = loop.paths.folder / PACKED
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as found:
        middle = found.getinfo("iterations/iteration-007/metrics.json")
    at = middle.header_offset + 30 + len(middle.filename) + middle.compress_size // 2
    damage = {"a byte": whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], "its end": whole[:-60], "all": b""}
    path.unlink()
    path.write_bytes(damage[how])
    said = json.loads(ask(loop.root, "verify", "--json").out)["damaged"]
    expected = {7: ["metrics.json"]} if how == "a byte" else {number: ["seal.json"] for number in range(1, 26)}
    assert {int(number): parts for number, parts in said.items()} == expected
    assert ask(loop.root, "status").code == 0
    assert f"{TURNS}  " in ask(loop.root, "history").out
    path.write_bytes(whole)
    assert ask(loop.root, "verify").code == 0


def test_a_foreign_pack_neither_fills_the_memory_nor_leads_elsewhere(copied, ask, tmp_path):
    loop = copied()
    pack(loop)
    path, name = loop.paths.folder / PACKED, "iterations/iteration-007/metrics.json"
    path.unlink()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr(name, bytes(32 << 20))
        bomb.getinfo(name).file_size = 10
    tracemalloc.start()
    assert kept_bytes(loop.paths, 7, name) is None
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    path.unlink()
    os.mkfifo(path)
    assert "a pipe or a device" in ask(loop.root, "verify").err
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere.zip")
    assert ask(loop.root, "verify").code == 1
    shutil.rmtree(loop.paths.packs)
    loop.paths.packs.symlink_to(tmp_path)
    assert "packed: a symbolic link" in ask(loop.root, "history").err
