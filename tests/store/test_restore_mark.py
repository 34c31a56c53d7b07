"""A restore that was interrupted is named by every verb that says where a loop stands, and its undo id is listed."""

import json
import shutil
from pathlib import Path

import pytest

from ralph_tracker.safe_files import digest
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.restore_mark import interrupted_restore
from ralph_tracker.store.write import LoopStore


@pytest.fixture
def loop(driven):
    """Return a loop with a baseline and an iteration, whose files are kept."""
    (driven.root / "ralph-tracker.yaml").write_text("codebase: {keep: always}\n")
    (driven.root / "a.txt").write_text("one\n")
    driven.start()
    (driven.root / "a.txt").write_text("two\n")
    driven.turn()
    return driven


@pytest.fixture
def interrupted(loop):
    """Return the loop after a restore of the baseline that was killed before it was recorded, and its undo id."""
    with LoopStore(loop.paths).write_lock("restore"):
        return loop, IterationSnapshots(LoopStore(loop.paths)).restore(0).undo


def test_status_verify_and_doctor_name_it_with_the_ways_out(interrupted, ask):
    loop, undo = interrupted
    ways = f"finish it with `ralph-tracker restore 0`, or go back with `ralph-tracker restore --undo {undo}`"
    status = " ".join(ask(loop.root, "status").out.split())
    assert f"a restore of iteration 0 was interrupted; undo id {undo}" in status
    assert status.endswith(f"next: {ways}")
    verify = ask(loop.root, "verify")
    assert f"a restore of iteration 0 was interrupted: {ways}" in " ".join(verify.out.split())
    assert verify.code == 0
    lines = json.loads(ask(loop.root, "doctor", "--json").out)["lines"]
    (line,) = (line for line in lines if line["what"] == "loop")
    assert (line["state"], line["next_step"]) == ("warning", ways)
    assert line["found"].endswith(f"a restore of iteration 0 was interrupted, undo id {undo}")


def test_the_documents_have_it_until_it_is_finished(interrupted, ask):
    loop, undo = interrupted
    for _ in range(2):
        found = [json.loads(ask(loop.root, verb, "--json").out)["interrupted_restore"] for verb in ("status", "verify")]
        assert [(each["iteration"], each["undo"]) for each in found] == [(0, undo)] * 2
    loop.tracker.restore(0)
    assert json.loads(ask(loop.root, "status", "--json").out)["interrupted_restore"] is None


def test_a_restore_at_work_is_not_interrupted(interrupted, ask):
    loop, _ = interrupted
    with hold_lock(loop.paths.lock, "restore"):
        assert json.loads(ask(loop.root, "status", "--json").out)["interrupted_restore"] is None


def test_an_interrupted_undo_is_finished_by_the_same_undo(loop, ask):
    undo = loop.tracker.restore(0).undo
    with LoopStore(loop.paths).write_lock("undo"):
        back = IterationSnapshots(LoopStore(loop.paths)).undo(undo, 1).undo
    step = json.loads(ask(loop.root, "status", "--json").out)["next_step"]
    assert f"restore --undo {undo}`, or go back with `ralph-tracker restore --undo {back}`" in step
    assert loop.tracker.undo(undo).undo == back
    assert (loop.turn().previous, (loop.root / "a.txt").read_text()) == (1, "two\n")


def test_one_that_touched_no_file_is_not_finished_by_the_next_iteration(interrupted):
    loop, _ = interrupted
    (loop.root / "a.txt").write_text("two\n")
    assert (loop.turn().previous, (loop.root / "a.txt").read_text()) == (1, "two\n")
    assert interrupted_restore(loop.paths) is None


def test_the_undo_ids_are_listed_with_what_they_bring_back(loop, ask):
    assert ask(loop.root, "restore", "--list").out == "no undo ids: nothing was restored in this loop\n"
    first = loop.tracker.restore(0).undo
    (loop.root / "b.txt").write_text("new\n")
    second = loop.tracker.restore(1).undo
    listed = {each["undo"]: each for each in json.loads(ask(loop.root, "restore", "--list", "--json").out)}
    held = {undo: tuple(listed[undo][key] for key in ("iteration", "changed", "files")) for undo in listed}
    assert held == {first: (1, 0, 2), second: (0, 1, 3)}
    told = dict(line.split("  ", 1) for line in ask(loop.root, "restore", "--list").out.splitlines())
    assert {undo: line.split("  ")[1] for undo, line in told.items()} == {
        first: "back to iteration 1, 2 files",
        second: "back to iteration 0 with 1 changed, 3 files",
    }


def test_the_one_of_an_interrupted_restore_says_so_and_a_lost_one_too(interrupted, ask):
    loop, undo = interrupted
    assert ask(loop.root, "restore", "--list").out.endswith("iteration 1, 2 files; the restore was interrupted\n")
    objects = loop.paths.store / "objects"
    shutil.rmtree(objects)
    Path(objects).mkdir()
    (line,) = ask(loop.root, "restore", "--list").out.splitlines()
    assert line.startswith(undo)
    assert "damaged or missing; see `ralph-tracker verify`" in line


@pytest.fixture
def lost(interrupted):
    """Return the interrupted loop, and a function that takes the content of a text away from the store."""
    loop, undo = interrupted

    def lose(text: str) -> None:
        name = digest(text.encode())
        (loop.paths.store / "objects" / name[:2] / name[2:]).unlink()

    return loop, undo, lose


def test_with_what_it_restores_lost_another_restore_is_the_way_out(lost, ask):
    loop, undo, lose = lost
    (loop.root / "b.txt").write_text("edited\n")
    lose("one\n")
    assert "take another iteration" in ask(loop.root, "restore", "0").err
    assert loop.tracker.restore(1).undo == undo
    assert (interrupted_restore(loop.paths), (loop.root / "a.txt").read_text()) == (None, "two\n")


def test_with_both_ways_lost_the_loop_goes_on(lost):
    loop, _, lose = lost
    lose("one\n")
    lose("two\n")
    (loop.root / "a.txt").write_text("three\n")
    assert loop.turn().previous == 1
    assert interrupted_restore(loop.paths) is None


def test_with_the_store_lost_it_is_told_and_a_new_loop_may_begin(lost, ask):
    loop, undo, _ = lost
    shutil.rmtree(loop.paths.store)
    metrics = loop.root / ".aiwg/m.json"
    metrics.write_text('{"testing": {"test_count": 10, "tests_passed": 10, "tests_failed": 0}}')
    for words in (("hook", "post-iteration", "--metrics", str(metrics)), ("restore", "--undo", undo)):
        said = ask(loop.root, *words)
        assert (said.code, "its files were kept and the store is missing" in said.err) == (1, True)
    assert ask(loop.root, "hook", "pre-loop", "--new", "--metrics", str(metrics)).code == 0
