"""What stays when an output has been selected."""

import json

import pytest
import yaml

from ralph_tracker.iteration.apply_iteration import NOTHING_KEPT


@pytest.fixture
def loop(driven):
    """Return a loop with a deletion that was rolled back, and one that was accepted."""
    driven.start(lint_errors=5)
    driven.turn(lint_errors=1, usage={"cost_usd": 0.5})
    driven.turn(test_count=8, tests_passed=8)
    driven.roll_back(1)
    driven.turn(lint_errors=2)
    driven.tracker.accept("it2-test_deletion", "two were *merged*")
    return driven


class TestClosing:
    def test_writes_the_document_and_two_reports_and_names_them(self, loop):
        closed = loop.tracker.select_output()
        assert closed.files == (
            ".aiwg/ralph/ralph-001/selection.yaml",
            ".aiwg/ralph/ralph-001/reports/output-selection.md",
            ".aiwg/ralph/ralph-001/reports/loop-report.md",
        )
        assert yaml.safe_load((loop.root / closed.files[0]).read_text()) == json.loads(
            json.dumps(closed.selection.to_dict())
        )
        assert all((loop.root / name).read_text().startswith("# ") for name in closed.files[1:])

    def test_says_that_nothing_was_applied_where_no_files_are_kept(self, loop):
        closed = loop.tracker.select_output(apply="output")
        assert closed.applied == NOTHING_KEPT
        assert closed.selection.to_dict()["best_output_selection"]["artifacts_applied"]["files_copied"] == []
        assert not (loop.root / ".aiwg" / "output").exists()

    def test_tells_of_rollbacks_acceptances_and_alerts(self, loop):
        loop.tracker.select_output()
        report = (loop.paths.reports / "loop-report.md").read_text()
        assert "Rolled back to iteration 1 after iteration 2" in report
        assert "Accepted it2-test_deletion: two were " in report.replace("\\", "")
        assert "Test count decreased from 10 to 8" in report
        assert "0.50" in report

    def test_names_what_could_not_be_read(self, loop):
        loop.paths.record(2).write_text("damaged")
        closed = loop.tracker.select_output()
        (problem,) = closed.problems
        assert problem.startswith("iteration 2: progress/iteration-002-metrics.yaml is damaged")
        assert closed.selection.to_dict()["best_output_selection"]["unreadable"] == [problem]

    def test_records_the_selection_and_the_end_once(self, loop):
        for _ in range(2):
            loop.tracker.select_output(mode="highest_quality")
        events = [json.loads(line) for line in loop.paths.events.read_bytes().splitlines()]
        kinds = [event["event"] for event in events]
        assert kinds == ["rollback", "accept", "accept", "selection", "status", "selection"]
        assert (events[3]["mode"], events[3]["reason"], events[4]["status"]) == ("highest_quality", None, "finished")

    def test_leaves_a_running_loop_running_where_it_is_told_to(self, loop):
        loop.tracker.select_output(finish=False)
        assert json.loads(loop.paths.state.read_bytes())["status"] == "running"
