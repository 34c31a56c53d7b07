"""A restore whose call is killed: the next call ends it, and the line goes on from what stands in the tree."""

import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.iteration.apply_iteration import apply_iteration
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.restore_mark import interrupted_restore
from ralph_tracker.store.snapshots.working_tree_io import TreeWriter
from ralph_tracker.store.write import LoopStore
from tests.sweep import chosen

pytestmark = pytest.mark.slow

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
            with LoopStore(loop.paths).write_lock("restore"):
                act(IterationSnapshots(LoopStore(loop.paths)))
                os.kill(os.getpid(), signal.SIGKILL)

        assert cut_short(loop.root, call).killed

    return kill


@pytest.mark.faults
def test_a_call_that_is_killed_anywhere_leaves_tree_and_line_in_step(copy, cut_short, request):
    whole = copy()
    before = tree(whole)
    total = cut_short(whole.root, lambda: whole.tracker.restore(0)).points
    goal = tree(whole)
    assert goal.keys() ^ before.keys() == {"gone/old.txt", "b.txt", "c/deep.txt"}
    for at in chosen(range(1, total + 1), SAMPLE, request.node):
        loop = copy()
        assert cut_short(loop.root, lambda loop=loop: loop.tracker.restore(0), at).killed
        record = loop.turn()
        assert (tree(loop), record.previous) in [(before, 2), (goal, 0)], at
        assert not loop.paths.restoring.exists()


def killed_before_the_record(loop, killed_after) -> str:
    killed_after(loop, lambda iteration_snapshots: iteration_snapshots.restore(0))
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
    def restored_and_recorded(iteration_snapshots: IterationSnapshots) -> None:
        undo = iteration_snapshots.restore(0).undo
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
        patch.setattr(TreeWriter, "_name", die)
        killed_after(loop, lambda iteration_snapshots: iteration_snapshots.restore(2))
    assert {path.rpartition("/")[0] for path in tree(loop).keys() - before.keys()} == {"", "c"}
    if again:
        loop.tracker.restore(2)
    else:
        loop.turn()
    assert tree(loop) == (goal if again else before)


def test_an_applied_peak_counts_as_restored_too(loop, killed_after):
    killed_after(loop, lambda iteration_snapshots: apply_iteration(iteration_snapshots, 1, "worktree"))
    assert loop.turn().previous == 1


def test_an_undo_brings_the_line_back(loop, killed_after):
    before = tree(loop)
    undo = loop.tracker.restore(0).undo
    killed_after(loop, lambda iteration_snapshots: iteration_snapshots.undo(undo, 2))
    assert loop.turn().previous == 2
    assert tree(loop) == before


def test_an_undo_of_what_is_not_on_record_moves_no_line(loop):
    undo = IterationSnapshots(LoopStore(loop.paths)).restore(0).undo
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

    def half(iteration_snapshots: IterationSnapshots) -> None:
        iteration_snapshots.restore(0)
        for path in tree(loop):
            (loop.root / path).unlink()
        for path, text in now.items():
            write(loop, path, text)
        half_written(loop)

    killed_after(loop, half)
    return loop


WRITERS = {
    "post-iteration": ["hook", "post-iteration", "--metrics", "{metrics}"],
    "accept": ["accept", "it1-nothing", "--reason", "why"],
    "post-loop": ["hook", "post-loop", "--apply", "none"],
    "gc": ["gc", "--yes"],
}


@pytest.fixture
def ask_writer(ask):
    """Call a verb that writes, with metrics where it needs them."""

    def called(loop, call: str):
        metrics = loop.root / ".aiwg/m.json"
        metrics.write_text('{"testing": {"test_count": 10, "tests_passed": 10, "tests_failed": 0}}')
        return ask(loop.root, *(word.format(metrics=metrics) for word in WRITERS[call]))

    return called


@pytest.mark.parametrize("call", WRITERS)
def test_half_of_a_restore_is_completed_by_whatever_comes_next(cut_in_half, call, ask_writer):
    loop = cut_in_half
    ask_writer(loop, call)
    assert tree(loop) == {"a.txt": "a\n", "gone/old.txt": "old\n", "ralph-tracker.yaml": "codebase: {keep: always}\n"}
    assert [event["to"] for event in LoopStore(loop.paths).events() if event["event"] == "rollback"] == [0]


INTERRUPTED = "a restore of iteration 0 was interrupted, and files were edited since"
EDITS = {
    "new file": lambda loop: write(loop, "work.txt", "by the agent\n"),
    "file that is restored": lambda loop: write(loop, "gone/old.txt", "by the agent\n"),
    "file that is still to be restored": lambda loop: write(loop, "a.txt", "by the agent\n"),
    "file that is still to be deleted": lambda loop: write(loop, "c/deep.txt", "by the agent\n"),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("call", WRITERS)
def test_half_of_a_restore_and_edits_since_are_left_to_a_person(cut_in_half, call, edit, ask_writer):
    loop = cut_in_half
    EDITS[edit](loop)
    before, undo = tree(loop), interrupted_restore(loop.paths).undo
    for _ in range(2):
        said = ask_writer(loop, call)
        ways = f"finish it with `ralph-tracker restore 0`, or go back with `ralph-tracker restore --undo {undo}`"
        assert said.code == 1
        assert said.err == f"ralph-tracker: {INTERRUPTED}: {ways}\n"
    assert tree(loop) == before
    assert (LoopStore(loop.paths).events(), loop.tracker.store().latest()) == ([], 2)


def test_a_new_loop_does_not_begin_on_half_of_a_restore_and_edits(cut_in_half, ask):
    write(cut_in_half, "work.txt", "by the agent\n")
    metrics = cut_in_half.root / ".aiwg/m.json"
    metrics.write_text('{"testing": {"test_count": 10, "tests_passed": 10, "tests_failed": 0}}')
    said = ask(cut_in_half.root, "hook", "pre-loop", "--new", "--metrics", str(metrics))
    assert (said.code, said.err.startswith(f"ralph-tracker: {INTERRUPTED}: ")) == (1, True)


WHOLE = {"a.txt": "better\n", "b.txt": "b\n", "c/deep.txt": "c\n", "ralph-tracker.yaml": "codebase: {keep: always}\n"}
GOAL = {"a.txt": "a\n", "gone/old.txt": "old\n", "ralph-tracker.yaml": "codebase: {keep: always}\n"}


@pytest.mark.parametrize("number", [0, 1])
def test_the_repeat_of_a_killed_restore_keeps_the_id_of_what_stood_there_first(cut_in_half, number):
    loop = cut_in_half
    first = interrupted_restore(loop.paths).undo
    undo = loop.tracker.restore(number)
    assert (undo.undo == first) is (number == 0)
    assert undo.edits is None
    assert tree(loop) == (GOAL if number == 0 else {k: v for k, v in WHOLE.items() if k != "c/deep.txt"})
    assert interrupted_restore(loop.paths) is None
    loop.tracker.undo(undo.undo)
    assert (tree(loop), loop.turn().previous) == (WHOLE, 2)


@pytest.mark.parametrize("number", [0, 1])
def test_its_repeat_after_edits_keeps_both(cut_in_half, number, ask):
    loop = cut_in_half
    first = interrupted_restore(loop.paths).undo
    write(loop, "work.txt", "by the agent\n")
    edited = tree(loop)
    said = ask(loop.root, "restore", str(number))
    undo, edits = re.findall(r"undo-[0-9a-f]+", said.out)
    assert undo == first
    loop.tracker.undo(edits)
    assert tree(loop) == edited
    loop.tracker.undo(first)
    assert (tree(loop), loop.turn().previous) == (WHOLE, 2)


@pytest.mark.parametrize("edited", [False, True])
def test_a_killed_restore_is_undone(cut_in_half, edited):
    loop = cut_in_half
    if edited:
        write(loop, "work.txt", "by the agent\n")
    half = tree(loop)
    back = loop.tracker.undo(interrupted_restore(loop.paths).undo)
    assert (tree(loop), back.edits, loop.paths.restoring.exists()) == (WHOLE, None, False)
    if edited:
        loop.tracker.undo(back.undo)
        assert tree(loop) == half


def test_a_restore_that_the_disk_stops_halfway_stays_marked(loop, monkeypatch):
    rename = TreeWriter._name

    def stop(self, unnamed):
        if unnamed.path == "gone/old.txt":
            raise OSError(28, "No space left on device", unnamed.path)
        rename(self, unnamed)

    with monkeypatch.context() as patch:
        patch.setattr(TreeWriter, "_name", stop)
        with pytest.raises(StoreError, match=r"the restore stopped at gone/old\.txt"):
            loop.tracker.restore(0)
    assert interrupted_restore(loop.paths) is not None
    assert (loop.turn().previous, tree(loop)) == (0, GOAL)


def test_a_restore_like_one_on_record_is_no_less_interrupted(loop, killed_after):
    loop.tracker.undo(loop.tracker.restore(0).undo)
    known = {event["undo"] for event in LoopStore(loop.paths).events()}
    killed_after(loop, lambda iteration_snapshots: iteration_snapshots.restore(0))
    assert interrupted_restore(loop.paths).undo in known
    assert (loop.turn().previous, tree(loop)) == (0, GOAL)


def test_a_restore_that_had_not_begun_to_write_is_dropped(loop, killed_after):
    def put_back(iteration_snapshots: IterationSnapshots) -> None:
        now = tree(loop)
        iteration_snapshots.restore(0)
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
