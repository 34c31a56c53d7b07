"""Where everything lies, and which ids name a folder of ours."""

from pathlib import Path

import pytest

from ralph_tracker.errors import InputError
from ralph_tracker.store.layout import LoopPaths, ProjectPaths, checked_loop_id, iteration_name, record_name
from tests.tables import table

ROOT = Path("/project")
LOOP = LoopPaths(ROOT, "ralph-001")


class TestLoopId:
    @table("loop_id", ["ralph-001", "a", "0", "a.b_c-d", "x" * 64, "tmp"])
    def test_is_returned_where_it_is_safe(self, loop_id):
        assert checked_loop_id(loop_id) == loop_id

    @table(
        "loop_id",
        ["", "x" * 65, "-a", ".a", "A", "a/b", "../a", "a..b", "a b", "a\n", "ä", "current", "lock", "loops", "a\0"],
    )
    def test_is_refused_where_it_is_not(self, loop_id):
        with pytest.raises(InputError, match="use 1 to 64 of a-z"):
            checked_loop_id(loop_id)

    def test_is_cut_in_the_message_where_it_is_long(self):
        with pytest.raises(InputError) as refused:
            checked_loop_id("A" * 500)
        assert f"loop id '{'A' * 40}…'" in str(refused.value)

    def test_is_checked_wherever_paths_are_made_from_one(self):
        with pytest.raises(InputError):
            ProjectPaths(ROOT).loop("../../etc")


class TestPaths:
    @table(
        ("path", "expected"),
        [
            (ProjectPaths(ROOT).current, "current"),
            (ProjectPaths(ROOT).lock, "lock"),
            (ProjectPaths(ROOT).loop("one").folder, "one"),
            (LOOP.loop_file, "ralph-001/loop.yaml"),
            (LOOP.state, "ralph-001/state.json"),
            (LOOP.attempt, "ralph-001/attempt.json"),
            (LOOP.staging, "ralph-001/tmp"),
            (LOOP.lock, "ralph-001/lock"),
            (LOOP.trajectory, "ralph-001/progress/trajectory.jsonl"),
            (LOOP.events, "ralph-001/progress/events.jsonl"),
            (LOOP.best, "ralph-001/best-tracker.yaml"),
            (LOOP.selection, "ralph-001/selection.yaml"),
            (LOOP.record(0), "ralph-001/progress/iteration-000-baseline.yaml"),
            (LOOP.record(7), "ralph-001/progress/iteration-007-metrics.yaml"),
            (LOOP.iteration(7), "ralph-001/iterations/iteration-007"),
            (LOOP.amendments_file(7), "ralph-001/progress/amended/iteration-007.json"),
            (LOOP.report(7), "ralph-001/reports/iteration-007-report.md"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_are_those_that_the_documentation_names(self, path, expected):
        assert path == ROOT / ".aiwg" / "ralph" / expected

    def test_are_shown_relative_to_the_root(self):
        assert LOOP.shown == ".aiwg/ralph/ralph-001"

    @table(
        ("number", "name", "record"),
        [
            (0, "iteration-000", "progress/iteration-000-baseline.yaml"),
            (12, "iteration-012", "progress/iteration-012-metrics.yaml"),
            (12345, "iteration-12345", "progress/iteration-12345-metrics.yaml"),
        ],
    )
    def test_have_three_digits_or_as_many_as_it_takes(self, number, name, record):
        assert (iteration_name(number), record_name(number)) == (name, record)
