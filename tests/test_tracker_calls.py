"""The four hooks as an importer calls them."""

import json

import pytest

from ralph_tracker import RalphTrackerError, loop_decision, post_iteration, post_loop, pre_loop
from ralph_tracker.errors import LoopError, NoSnapshotError, NotRecordedError


@pytest.fixture(autouse=True)
def _no_loop_named(monkeypatch):
    monkeypatch.delenv("RALPH_LOOP_ID", raising=False)


class TestHooks:
    def test_drive_a_loop_from_its_baseline_to_its_output(self, tmp_path, metrics):
        assert pre_loop(root=tmp_path, metrics=metrics(lint_errors=5)).is_baseline
        assert post_iteration(root=tmp_path, metrics=metrics(lint_errors=0)).iteration == 1
        record = post_iteration(root=tmp_path, metrics=metrics(lint_errors=2), usage={"cost_usd": 0.5}, iteration=2)
        assert (record.iteration, record.usage.cost_usd) == (2, 0.5)
        assert loop_decision(root=tmp_path).action in {"continue", "stop"}
        assert post_loop(root=tmp_path).selected.iteration == 1

    def test_take_metrics_and_usage_from_files(self, tmp_path, metrics):
        (tmp_path / "metrics.json").write_text(json.dumps(metrics()))
        (tmp_path / "usage.yaml").write_text("cost_usd: 0.25\n")
        pre_loop(root=str(tmp_path), metrics=tmp_path / "metrics.json")
        record = post_iteration(root=tmp_path, metrics=str(tmp_path / "metrics.json"), usage=tmp_path / "usage.yaml")
        assert record.usage.cost_usd == 0.25

    def test_work_in_the_folder_they_are_called_in(self, tmp_path, metrics, monkeypatch):
        monkeypatch.chdir(tmp_path)
        pre_loop(metrics=metrics())
        assert (tmp_path / ".aiwg" / "ralph" / "current").read_text() == "ralph-001\n"

    def test_mean_the_loop_that_is_named_or_the_environments(self, tmp_path, metrics, monkeypatch):
        pre_loop(root=tmp_path, loop_id="one", metrics=metrics())
        pre_loop(root=tmp_path, loop_id="two", metrics=metrics())
        assert post_iteration(root=tmp_path, metrics=metrics()).loop_id == "two"
        assert post_iteration(root=tmp_path, loop_id="one", metrics=metrics()).loop_id == "one"
        monkeypatch.setenv("RALPH_LOOP_ID", "one")
        assert post_iteration(root=tmp_path, metrics=metrics()).iteration == 2

    def test_ask_for_a_person_where_the_runner_says_so(self, tmp_path, metrics):
        pre_loop(root=tmp_path, metrics=metrics())
        post_iteration(root=tmp_path, metrics=metrics(), blocked="no password")
        decision = loop_decision(root=tmp_path)
        assert (decision.action, decision.reason) == ("escalate", "Escalate to human - blocked: no password")

    def test_raise_errors_that_say_what_to_do(self, tmp_path, metrics):
        with pytest.raises(LoopError, match="hook pre-loop"):
            post_iteration(root=tmp_path, metrics=metrics())
        pre_loop(root=tmp_path, metrics=metrics())
        with pytest.raises(RalphTrackerError):
            post_iteration(root=tmp_path, metrics={"testing": {"test_count": -1}})
        with pytest.raises(NotRecordedError):
            loop_decision(root=tmp_path)
        post_iteration(root=tmp_path, metrics=metrics(test_count=3, tests_passed=3))
        with pytest.raises(NoSnapshotError):
            loop_decision(root=tmp_path, apply=True)
