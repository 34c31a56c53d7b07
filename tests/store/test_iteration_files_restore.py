"""A restore whose call is killed: the next call ends it, and the line goes on from what stands in the tree."""

import os
import random
import shutil
import signal
from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.iteration.apply_selection import apply_iteration
from ralph_tracker.store.iteration_files import IterationFiles
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.snapshots.working_tree import DurableTreeWriter

pytestmark = pytest.mark.slow

FULL = os.environ.get("RALPH_TRACKER_SWEEP") == "full"
SEED = int(os.environ.get("RALPH_TRACKER_SEED") or random.randrange(10**6))
SAMPLE = 4


def kept(loop):
    """Record a baseline and two iterations with their files, metrics handed in, without git."""
    write(loop, "ralph-tracker.yaml", "codebase: {keep: always}\n")
    write(loop, "a.txt", "a\n")
    write(loop, "gone/old.txt", "old\n")
    loop.start()
    (loop.root / "gone/old.txt").unlink()
    write(loop, "a.txt", "better\n")
    write(loop, "b.txt", "b\n")
    loop.turn()
    write(loop, "c/deep.txt", "c\n")
    return loop.turn()


def write(loop, path: str, text: str) -> None:
    (loop.root / path).parent.mkdir(parents=True, exist_ok=True)
    (loop.root / path).write_text(text)


def tree(loop) -> dict[str, str]:
    found = [path for path in loop.root.rglob("*") if path.is_file() and ".aiwg" not in path.parts]
    return {str(path.relative_to(loop.root)): path.read_text() for path in found}


@pytest.fixture
def copy(prepared, tmp_path):
    """Return a function that gives a fresh copy of the loop."""

    def copied():
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        return prepared("kept", kept, tmp_path / "copy")

    return copied


@pytest.fixture
def loop(copy):
    return copy()


@pytest.fixture
def killed_after(cut_short):
    """Call something as a writer of the loop, in a process that dies before the writer can end."""

    def kill(loop, act) -> None:
        def call() -> None:
            with LoopStore(loop.paths).writing("restore"):
                act(IterationFiles(LoopStore(loop.paths)))
                os.kill(os.getpid(), signal.SIGKILL)

        assert cut_short(loop.root, call).killed

    return kill


def test_a_call_that_is_killed_anywhere_leaves_tree_and_line_in_step(copy, cut_short, request):
    whole = copy()
    before = tree(whole)
    total = cut_short(whole.root, lambda: whole.tracker.restore(0)).points
    goal = tree(whole)
    assert goal.keys() ^ before.keys() == {"gone/old.txt", "b.txt", "c/deep.txt"}
    request.node.add_report_section("call", "sweep", f"{total} points, RALPH_TRACKER_SEED={SEED}")
    every = range(1, total + 1)
    for at in every if FULL else sorted(random.Random(SEED).sample(every, SAMPLE)):
        loop = copy()
        assert cut_short(loop.root, lambda loop=loop: loop.tracker.restore(0), at).killed
        record = loop.turn()
        assert (tree(loop), record.previous) in [(before, 2), (goal, 0)], at
        assert not loop.paths.restoring.exists()


def killed_before_the_record(loop, killed_after) -> str:
    killed_after(loop, lambda keeper: keeper.restore(0))
    assert LoopStore(loop.paths).events() == []
    assert loop.paths.restoring.exists()
    return tree(loop)


def test_a_restore_that_came_to_all_but_its_record_is_recorded_by_the_next_call(loop, killed_after):
    before = tree(loop)
    goal = killed_before_the_record(loop, killed_after)
    assert loop.turn().previous == 0
    (event,) = LoopStore(loop.paths).events()
    assert (event["to"], event["from"], event["after"]) == (0, 2, 2)
    loop.tracker.undo(event["undo"])
    assert tree(loop) == before != goal


def test_one_that_is_on_record_already_is_not_recorded_again(loop, killed_after):
    def restored_and_recorded(keeper: IterationFiles) -> None:
        undo = keeper.restore(0)
        store = LoopStore(loop.paths)
        store.append_event({"event": "rollback", "to": 0, "from": 2, "after": 2, "undo": undo})

    killed_after(loop, restored_and_recorded)
    assert loop.turn().previous == 0
    assert len(LoopStore(loop.paths).events()) == 1


@pytest.mark.parametrize("again", [True, False], ids=["the restore again", "an iteration"])
def test_files_that_got_no_name_go_with_the_next_call(loop, killed_after, monkeypatch, again):
    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    goal = tree(loop)
    write(loop, "a.txt", "worked on\n")
    (loop.root / "c/deep.txt").unlink()
    before = tree(loop)
    with monkeypatch.context() as patch:
        patch.setattr(DurableTreeWriter, "_name", die)
        killed_after(loop, lambda keeper: keeper.restore(2))
    assert {path.rpartition("/")[0] for path in tree(loop).keys() - before.keys()} == {"", "c"}
    if again:
        loop.tracker.restore(2)
    else:
        loop.turn()
    assert tree(loop) == (goal if again else before)


def test_an_applied_peak_counts_as_restored_too(loop, killed_after):
    killed_after(loop, lambda keeper: apply_iteration(keeper, 1, "worktree"))
    assert loop.turn().previous == 1


def test_an_undo_brings_the_line_back(loop, killed_after):
    before = tree(loop)
    undo = loop.tracker.restore(0)
    killed_after(loop, lambda keeper: keeper.undo(undo, 2))
    assert loop.turn().previous == 2
    assert tree(loop) == before


def test_an_undo_of_what_is_not_on_record_moves_no_line(loop):
    undo = IterationFiles(LoopStore(loop.paths)).restore(0)
    loop.paths.restoring.unlink()
    loop.tracker.undo(undo)
    assert (loop.turn().previous, loop.paths.restoring.exists()) == (2, False)


def half_written(loop) -> None:
    """Put the tree between what stood there and what the restore writes."""
    write(loop, "gone/old.txt", "old\n")
    (loop.root / "b.txt").unlink()


@pytest.fixture
def cut_in_half(loop, killed_after):
    """Return a loop whose restore of the baseline has written a part."""
    now = tree(loop)

    def half(keeper: IterationFiles) -> None:
        keeper.restore(0)
        for path in tree(loop):
            (loop.root / path).unlink()
        for path, text in now.items():
            write(loop, path, text)
        half_written(loop)

    killed_after(loop, half)
    return loop


@pytest.mark.parametrize("call", ["post-iteration", "restore", "undo", "accept", "post-loop"])
def test_half_of_a_restore_is_completed_by_whatever_comes_next(cut_in_half, call, ask):
    loop = cut_in_half
    undo = {"undo": ["restore", "--undo", "undo-000000000000"], "restore": ["restore", "7"]}
    metrics = loop.root / ".aiwg/m.json"
    metrics.write_text('{"testing": {"test_count": 10, "tests_passed": 10, "tests_failed": 0}}')
    words = {
        **undo,
        "post-iteration": ["hook", "post-iteration", "--metrics", str(metrics)],
        "accept": ["accept", "it1-nothing", "--reason", "why"],
        "post-loop": ["hook", "post-loop", "--apply", "none"],
    }
    ask(loop.root, *words[call])
    assert tree(loop) == {"a.txt": "a\n", "gone/old.txt": "old\n", "ralph-tracker.yaml": "codebase: {keep: always}\n"}
    assert [event["to"] for event in LoopStore(loop.paths).events() if event["event"] == "rollback"] == [0]


def test_a_tree_that_was_worked_on_since_is_left_alone_and_the_line_follows(cut_in_half):
    write(cut_in_half, "work.txt", "by the agent\n")
    before = tree(cut_in_half)
    assert cut_in_half.turn().previous == 0
    assert tree(cut_in_half) == before


def test_a_restore_that_had_not_begun_to_write_is_dropped(loop, killed_after):
    def put_back(keeper: IterationFiles) -> None:
        now = tree(loop)
        keeper.restore(0)
        (loop.root / "gone/old.txt").unlink()
        for path, text in now.items():
            write(loop, path, text)

    killed_after(loop, put_back)
    assert loop.turn().previous == 2


def test_a_restore_that_is_refused_leaves_no_mark(loop):
    (loop.root / "gone").mkdir(exist_ok=True)
    os.mkfifo(loop.root / "gone/old.txt")
    with pytest.raises(StoreError, match="in the way"):
        loop.tracker.restore(0)
    (loop.root / "gone/old.txt").unlink()
    assert not loop.paths.restoring.exists()
    assert loop.turn().previous == 2


@pytest.mark.parametrize("text", ["", "[]", "{}"])
def test_a_damaged_mark_is_taken_away(loop, text, killed_after):
    loop.paths.restoring.write_text(text)
    killed_after(loop, lambda _: None)
    assert loop.turn().previous == 2
    assert not Path(loop.paths.restoring).exists()
