"""Several processes on one project: writers take turns, readers wait for nobody and see whole records only."""

import json
import os
import time

import pytest

from ralph_tracker.errors import LoopError
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.tracker import Tracker

EACH = 20


@pytest.fixture
def record_some(driven, metrics):
    """Return a function that records iterations, marked as those of one writer."""

    def record(writer: int, count: int = EACH) -> None:
        for turn in range(count):
            marked = metrics(tests={f"test_{writer}_{turn}": "passed", "test_a": "passed"})
            Tracker(driven.root, None, driven.clock, {}).post_iteration(
                marked, usage={"turns": writer * 100 + turn, "cost_usd": 0.01}
            )

    return record


@pytest.fixture
def rows(driven):
    """Return a function that reads the trajectory."""
    return lambda: [json.loads(line) for line in driven.paths.trajectory.read_bytes().splitlines()]


class TestTwoWriters:
    def test_record_all_iterations_without_gaps_and_mix_none(self, driven, together, record_some, rows, unsealed):
        driven.start(tests={"test_a": "passed"})
        together(lambda: record_some(1), lambda: record_some(2))
        assert together.wait() == [None, None]
        numbers = [row["iteration"] for row in rows()]
        turns = [row["usage"]["turns"] for row in rows()[1:]]
        assert numbers == list(range(2 * EACH + 1))
        assert [turn for turn in turns if turn < 200] == [100 + turn for turn in range(EACH)]
        assert [turn for turn in turns if turn >= 200] == [200 + turn for turn in range(EACH)]
        assert unsealed(driven.paths.folder) == []

    def test_leave_the_same_state_as_one(self, driven, together, record_some):
        driven.start(tests={"test_a": "passed"})
        together(lambda: record_some(1, 5), lambda: record_some(2, 5))
        together.wait()
        state = json.loads(driven.paths.state.read_bytes())
        assert (state["iteration"], state["head"], round(state["cost_usd"], 2)) == (10, 10, 0.1)


class TestTwoStarts:
    def test_without_an_id_one_wins_and_the_other_is_told(self, driven, together):
        together(*[lambda: driven.start().loop_id] * 2)
        ids = [end for end in together.wait() if isinstance(end, str)]
        assert ids == ["ralph-001"]
        assert sorted(path.name for path in driven.paths.folder.parent.iterdir()) == [
            ".gitignore",
            ".prettierrc",
            "biome.json",
            "current",
            "eslint.config.mjs",
            "lock",
            "ralph-001",
        ]

    def test_the_other_one_is_told_what_to_do(self, driven, together):
        together(*[driven.start] * 2)
        (refused,) = [end for end in together.wait() if isinstance(end, Exception)]
        assert isinstance(refused, LoopError)
        assert "loop ralph-001 is still running; end it with `ralph-tracker hook post-loop`" in str(refused)

    def test_with_ids_of_their_own_both_have_a_whole_loop(self, driven, together, metrics, unsealed):
        def start(loop_id: str) -> str:
            return Tracker(driven.root, loop_id, driven.clock, {}).pre_loop(metrics()).loop_id

        together(lambda: start("one"), lambda: start("two"))
        assert sorted(together.wait()) == ["one", "two"]
        for name in ("one", "two"):
            folder = driven.paths.folder.with_name(name)
            assert unsealed(folder) == []
            assert json.loads((folder / "state.json").read_bytes())["iteration"] == 0


class TestReader:
    def test_sees_whole_records_only_while_a_writer_is_at_work(self, driven, together, record_some, ask):
        driven.start(tests={"test_a": "passed"})
        together(lambda: record_some(1))
        seen = [0]
        while seen[-1] < EACH:
            history = ask(driven.root, "history", "--json")
            records = [record["iteration_metrics"] for record in json.loads(history.out)]
            listed = [record["iteration"] for record in records]
            assert (history.code, history.err) == (0, "")
            assert all("adjusted_score" in record for record in records)
            assert listed == list(range(len(listed)))
            status = ask(driven.root, "status", "--json")
            assert status.code == 0
            seen.append(json.loads(status.out)["iteration"])
        assert together.wait() == [None]
        assert seen == sorted(seen)

    def test_does_not_wait_for_the_writers_lock(self, driven, together, ask):
        driven.start()
        together(lambda: _hold(driven.paths.lock, 20))
        _wait_for(lambda: b"a long check" in driven.paths.lock.read_bytes())
        began = time.monotonic()
        for command in (("status",), ("history",), ("hook", "loop-decision"), ("show",)):
            assert ask(driven.root, *command).code == 0
        assert time.monotonic() - began < 10
        os.kill(json.loads(driven.paths.lock.read_bytes())["pid"], 9)
        together.wait()


def _hold(path, seconds: float) -> None:
    with hold_lock(path, "a long check"):
        time.sleep(seconds)


def _wait_for(condition) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
