"""`gc` at its edges: killed anywhere it is ended by the next one; whatever stays, stays whole."""

import shutil
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_tracker.errors import CollectedError, StoreError
from ralph_tracker.loop.retention import Collector, collect, occupied_bytes
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.write import LoopStore
from tests.sweep import chosen

NOW = datetime(2026, 2, 3, tzinfo=UTC)
LAST = 6
SAMPLE = 6


@pytest.fixture(scope="module")
def prepared(drive, tmp_path_factory):
    """Return a loop with six iterations, each with a file of its own, one changed and one deleted."""
    root = (tmp_path_factory.mktemp("collecting") / "project").resolve()
    root.mkdir()
    (root / "ralph-tracker.yaml").write_text("codebase: {keep: always}\n")
    loop = drive(root)
    for number in range(LAST + 1):
        (root / f"{number}.bin").write_bytes(bytes([number]) * 3000)
        (root / "all.txt").write_text(f"{number}\n")
        (root / f"{number - 1}.bin").unlink(missing_ok=True)
        loop.turn() if number else loop.start()
    return loop


@pytest.fixture
def copy(prepared, drive, tmp_path_factory):
    """Return a maker of copies of the loop."""

    def made():
        root = (tmp_path_factory.mktemp("copy") / "project").resolve()
        shutil.copytree(prepared.root, root, symlinks=True)
        return drive(root)

    return made


def gc(loop, keep_last: int = 2, **options):
    options = {"carry_out": True, **options}
    return collect(loop.root, None, now=NOW, environment={}, keep_last=keep_last, **options)


def exported(loop, folder) -> dict[int, dict[str, bytes]]:
    """Return the files of every iteration that has some."""
    iteration_snapshots, found = IterationSnapshots(LoopStore(loop.paths)), {}
    for number in range(LAST + 1):
        place = folder / str(number)
        try:
            iteration_snapshots.refuse_damaged(number)
        except CollectedError:
            continue
        iteration_snapshots.export(number, place)
        found[number] = {path.name: path.read_bytes() for path in place.iterdir()}
    shutil.rmtree(folder)
    return found


@pytest.mark.faults
@pytest.mark.slow
def test_a_call_that_is_killed_anywhere_is_ended_by_the_next_one(copy, cut_short, tmp_path, request):
    whole = copy()
    before = exported(whole, tmp_path / "before")
    total = cut_short(whole.root, lambda: gc(whole)).points
    after, left = exported(whole, tmp_path / "after"), Collector(LoopStore(whole.paths)).held()
    assert len(after) < len(before)
    for at in chosen(range(1, total + 1), SAMPLE, request.node):
        loop = copy()
        assert cut_short(loop.root, lambda loop=loop: gc(loop), at).killed
        halfway = exported(loop, tmp_path / "halfway")
        assert halfway.keys() in ({*before}, {*after}), at
        assert all(files == before[number] for number, files in halfway.items()), at
        assert loop.tracker.verify().is_whole, at
        gc(loop)
        assert (exported(loop, tmp_path / "again"), Collector(LoopStore(loop.paths)).held()) == (after, left), at
        assert loop.turn().iteration == LAST + 1


def test_a_full_disk_ends_it_in_one_line_and_the_next_call_goes_on(copy, cut_short, tmp_path, request):
    whole = copy()
    total = cut_short(whole.root, lambda: gc(whole), kill=False).points
    after = exported(whole, tmp_path / "after")
    for at in chosen(range(1, total + 1), SAMPLE, request.node):
        loop = copy()
        error = cut_short(loop.root, lambda loop=loop: gc(loop), at, kill=False).error
        assert error is None or (isinstance(error, StoreError) and "\n" not in str(error)), (at, error)
        gc(loop)
        assert exported(loop, tmp_path / "again") == after, at


def test_whatever_stays_comes_back_byte_for_byte(copy, prepared, tmp_path_factory):
    before = exported(prepared, tmp_path_factory.mktemp("before") / "x")

    @settings(max_examples=5, deadline=None)
    @given(keep_last=st.integers(1, LAST + 2), selected=st.sets(st.integers(0, LAST), max_size=2), packed=st.booleans())
    def law(keep_last, selected, packed):
        loop = copy()
        for number in selected:
            loop.tracker.select_output(iteration=number, reason="why", finish=False)
        if packed:
            IterationSnapshots(LoopStore(loop.paths)).pack_store(25)
        found = gc(loop, keep_last)
        after = exported(loop, tmp_path_factory.mktemp("after") / "x")
        assert after.keys() == before.keys() - found.going.keys()
        assert after.keys() >= {0, *selected, *range(max(0, LAST - keep_last + 1), LAST + 1)}
        assert all(files == before[number] for number, files in after.items())
        assert loop.tracker.verify().is_whole

    law()


def test_the_freed_bytes_are_those_that_the_loop_takes_less(copy):
    loop = copy()
    gc(loop, carry_out=False)  # the lock says who had it last
    before = occupied_bytes(loop.paths.folder)
    found = gc(loop)
    assert found.freed == before - occupied_bytes(loop.paths.folder) > 0


def test_what_went_by_a_call_that_was_killed_stays_gone_although_it_is_the_best_now(copy):
    loop = copy()
    with LoopStore(loop.paths).write_lock("gc"):
        LoopStore(loop.paths).append_event({"event": "gc", "iterations": [LAST, "x"], "at": "now"})
    assert LAST in gc(loop, carry_out=False).going
    assert gc(loop).going.keys() >= {LAST}
    assert IterationSnapshots(LoopStore(loop.paths)).damage(LAST) == ()
