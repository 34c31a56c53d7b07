"""One damaged file at a time, in a loop that has lived: the others go on, and what is derived is made again."""

import json
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.write import LoopStore
from tests.sweep import FULL, SEED

ITERATIONS = range(6)
AMENDED = range(2, 5)  # from the accepted one on, to the latest of then
KEPT = ("measurement.json", "metrics.json", "seal.json", "state.json", "tests.json")
DERIVED = ("best-tracker.yaml", "progress/trajectory.jsonl", "state.json")
RECORDS = (
    "progress/iteration-000-baseline.yaml",
    *(f"progress/iteration-{n:03d}-metrics.yaml" for n in ITERATIONS[1:]),
)
FILES = (
    "../current",
    "continuation.json",
    "loop.yaml",
    "progress/events.jsonl",
    "reports/loop-report.md",
    "reports/output-selection.md",
    "selection.yaml",
    *DERIVED,
    *RECORDS,
    *(f"iterations/iteration-{number:03d}/{name}" for number in ITERATIONS for name in KEPT),
    *(f"progress/amended/iteration-{number:03d}.json" for number in AMENDED),
    *(f"reports/iteration-{number:03d}-report.md" for number in ITERATIONS[1:]),
)
KINDS: dict[str, Callable[[bytes], bytes | None]] = {
    "truncated": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "garbage": lambda data: b"\xff\x00}{[\n" * 9,
    "another document": lambda data: b'{"schema_version": 1}\n',
    "deleted": lambda data: None,
}
# Without these no iteration can follow: the frozen configuration, and the name of the loop where nobody says it.
NEEDED = ("../current", "loop.yaml")
WHAT_TO_DO = r"or start anew with `ralph-tracker hook pre-loop --new`$|name one with --loop-id: ralph-001$"
FLIPS = 500 if FULL else 40
TESTS = {"test_a": "passed", "test_b": "passed", "test_c": "skipped"}


def lived(loop: Any) -> None:
    """Record five iterations with names, a deletion that was rolled back, another that was accepted, a selection."""
    loop.start(tests=TESTS)
    loop.turn(tests={**TESTS, "test_c": "passed"}, coverage_percentage=84.0)
    loop.turn(tests={"test_a": "passed"}, usage={"cost_usd": 0.5})
    loop.roll_back(1)
    loop.turn(tests={**TESTS, "test_d": "passed"})
    loop.turn(tests={"test_a": "passed", "test_b": "passed", "test_d": "passed"}, lint_errors=2)
    loop.tracker.accept("it2-test_deletion", "test_b and test_c were merged")
    loop.turn(tests={**TESTS, "test_d": "passed", "test_e": "passed"})
    loop.tracker.select_output(finish=False)


@pytest.fixture
def loop(prepared, tmp_path):
    return prepared("lived", lived, tmp_path / "project", light=True)


@pytest.fixture
def damaged(loop, name, kind):
    """Damage one file of the loop."""
    path = loop.paths.folder / name
    left = KINDS[kind](path.read_bytes())
    path.unlink()
    if left is not None:
        path.write_bytes(left)
    return loop


def next_turn(loop: Any) -> Any:
    return loop.turn(tests={**TESTS, "test_d": "passed", "test_f": "passed"}, usage={"cost_usd": 0.25})


@pytest.fixture(scope="module")
def undamaged(prepared, tmp_path_factory, documents):
    """Return the documents of the loop as it is, and those after one more iteration."""
    loop = prepared("lived", lived, tmp_path_factory.mktemp("undamaged") / "project")
    before = documents(loop.paths.folder)
    next_turn(loop)
    return before, documents(loop.paths.folder)


def test_the_table_of_files_is_complete(undamaged):
    assert sorted(undamaged[0]) == sorted(name for name in FILES if name != "../current")


@pytest.mark.faults
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FILES)
def test_any_damaged_file_leaves_all_listed_its_record_named_and_the_loop_going_on(damaged, name, kind, ask):
    named = ("--loop-id", "ralph-001")
    history = ask(damaged.root, "history", "--json", *named)
    listed = [record["iteration_metrics"]["iteration"] for record in json.loads(history.out)]
    assert (history.code, listed) == (0, list(ITERATIONS))
    if name in RECORDS or name.endswith("seal.json"):
        number = int(name.partition("iteration-")[2][:3])
        assert history.err.startswith(f"ralph-tracker: iteration {number}: ")
    assert history.err.count("\n") == (1 if name in RECORDS or name.endswith("seal.json") else 0)
    assert ask(damaged.root, "status", *named).code == 0
    assert ask(damaged.root, "hook", "loop-decision", *named).code == 0
    if name in NEEDED:
        with pytest.raises(RalphTrackerError, match=WHAT_TO_DO) as refused:
            next_turn(damaged)
        assert "\n" not in str(refused.value)
    else:
        assert next_turn(damaged).iteration == 6
        assert json.loads(damaged.paths.state.read_bytes())["iteration"] == 6


@pytest.mark.faults
def test_a_flipped_byte_anywhere_is_never_a_bug_of_ours(prepared, tmp_path, ask, request):
    request.node.add_report_section("call", "flips", f"RALPH_TRACKER_SEED={SEED}")
    chance, place = random.Random(SEED), tmp_path / "copy"
    for _ in range(FLIPS):
        shutil.rmtree(place, ignore_errors=True)
        loop = prepared("lived", lived, place)
        path = loop.paths.folder / chance.choice(FILES)
        data = bytearray(path.read_bytes())
        data[chance.randrange(len(data))] = chance.choice([*b'"09,}n', chance.randrange(256)])
        path.write_bytes(data)
        for command in (("status",), ("history",), ("hook", "loop-decision")):
            ask(loop.root, *command, "--loop-id", "ralph-001")
        for act in (next_turn, lambda loop: loop.tracker.select_output()):
            with suppress(RalphTrackerError):
                act(loop)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DERIVED)
class TestDerivedFile:
    def test_is_made_again_as_it_was(self, damaged, name, kind, undamaged):
        ConfiguredLoop.read(LoopStore(damaged.paths), lambda _: frozenset()).rebuilt()
        assert (damaged.paths.folder / name).read_bytes() == undamaged[0][name]

    def test_is_the_same_after_the_next_iteration_as_without_damage(self, damaged, name, kind, undamaged, documents):
        next_turn(damaged)
        assert documents(damaged.paths.folder) == undamaged[1]


class TestTornLastLine:
    @pytest.fixture(params=[1, 20, 100], ids=lambda cut: f"{cut} bytes short")
    def torn(self, loop, request):
        path = loop.paths.trajectory
        path.write_bytes(path.read_bytes()[: -request.param])
        return loop

    def test_is_dropped_from_listings_which_go_on(self, torn, ask):
        assert len(json.loads(ask(torn.root, "history", "--json").out)) == 6

    def test_is_written_again_by_the_next_iteration(self, torn, undamaged):
        next_turn(torn)
        assert torn.paths.trajectory.read_bytes() == undamaged[1]["progress/trajectory.jsonl"]


class TestBothCopiesOfARecord:
    @pytest.fixture
    def gone(self, loop):
        loop.paths.record(2).unlink()
        (loop.paths.iteration(2) / "metrics.json").unlink()
        return loop

    def test_are_named_and_the_others_listed(self, gone, ask):
        history = ask(gone.root, "history")
        assert (
            history.err
            == "ralph-tracker: iteration 2: both copies of its record are damaged; other iterations are not affected\n"
        )
        assert [line[0] for line in history.out.splitlines() if line[0].isdigit()] == list("012345")
        assert "\n2    damaged" in history.out

    def test_are_named_by_the_selection(self, gone):
        closed = gone.tracker.select_output()
        assert closed.problems == (
            "iteration 2: both copies of its record are damaged; other iterations are not affected",
        )
        assert "both copies of its record are damaged" in (gone.paths.reports / "output-selection.md").read_text()


class TestIterationThatCannotBeReadAgain:
    """Its measurement is gone: judging again leaves it out, from then on."""

    @pytest.fixture(params=[2, 5], ids=["in the middle", "at the end"])
    def lost(self, loop, request):
        (loop.paths.iteration(request.param) / "measurement.json").unlink()
        ConfiguredLoop.read(LoopStore(loop.paths), lambda _: frozenset()).rebuilt()
        return loop, request.param

    def test_is_left_out_of_the_selection_and_named(self, lost):
        loop, number = lost
        closed = loop.tracker.select_output()
        assert f"iteration {number}: what was measured is damaged; it is left out" in closed.problems
        assert number not in [contender.iteration for contender in closed.selection.contenders]

    def test_lets_the_loop_go_on(self, lost):
        loop, number = lost
        following = [next_turn(loop), next_turn(loop)]
        assert [(record.iteration, record.previous) for record in following] == [(6, 4 if number == 5 else 5), (7, 6)]

    def test_is_still_listed_as_it_was_recorded(self, lost, ask):
        assert len(json.loads(ask(lost[0].root, "history", "--json").out)) == 6

    def test_cannot_be_chosen_by_hand_either(self, lost):
        loop, number = lost
        with pytest.raises(RalphTrackerError, match=f"iteration {number} is not on record"):
            loop.tracker.select_output(iteration=number, reason="it was good")
