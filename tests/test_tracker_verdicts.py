"""What people, money, time and a changed configuration do to a loop, and what is selected in the end."""

import json

import pytest

from ralph_tracker.errors import InputError, LoopError

DELETION = "it2-test_deletion"


def stored(loop):
    return json.loads(loop.paths.state.read_bytes())


@pytest.fixture
def deleted(driven):
    """Return a loop whose second iteration deleted two of ten tests, and gained much else."""
    driven.start(lint_errors=6)
    driven.turn(lint_errors=4)
    driven.turn(test_count=8, tests_passed=8, coverage_percentage=99.0, lint_errors=0)
    return driven


class TestAcceptance:
    def test_makes_the_decision_again(self, deleted):
        assert deleted.tracker.loop_decision().decision.action == "rollback"
        summary = deleted.tracker.accept(DELETION, "merged into two others")
        assert summary.decision["action"] == "continue"
        assert deleted.tracker.loop_decision().decision.reason == ("Continue - regression within limits")

    def test_leaves_every_record_as_it_was_written(self, deleted, documents):
        before = documents(deleted.paths.folder)
        deleted.tracker.accept(DELETION, "merged")
        after = documents(deleted.paths.folder)
        records = [path for path in before if "/iteration-" in path]
        assert len(records) == 3 * 5 + 3 + 2
        assert all(after[path] == before[path] for path in records)

    def test_stores_beside_the_records_what_it_changed(self, deleted):
        deleted.tracker.accept(DELETION, "merged")
        deleted.turn(test_count=8, tests_passed=8, coverage_percentage=99.0, lint_errors=0)
        assert [path.name for path in deleted.paths.amendments_file(2).parent.iterdir()] == ["iteration-002.json"]
        assert json.loads(deleted.paths.amendments_file(2).read_bytes())["walked"]["verified"] is True

    def test_may_change_the_best(self, deleted):
        assert stored(deleted)["best_iteration"] == 1
        assert deleted.tracker.accept(DELETION, "merged").best_iteration == 2
        assert "current_best: iteration_2" in deleted.paths.best.read_text()

    def test_is_shown_with_its_reason(self, deleted):
        deleted.tracker.accept(DELETION, "merged into two others")
        assert stored(deleted)["accepted"] == ["it2-functionality_loss", DELETION]
        deleted.tracker.select_output()
        assert "Accepted it2-test_deletion: merged into two others" in (
            deleted.paths.reports / "loop-report.md"
        ).read_text().replace("\\", "")

    def test_lasts_through_later_iterations(self, deleted):
        deleted.tracker.accept(DELETION, "merged")
        record = deleted.turn(test_count=8, tests_passed=8, coverage_percentage=99.0, lint_errors=0)
        assert ([alert.type for alert in record.open_alerts], record.verified) == ([], True)
        assert stored(deleted)["accepted"] == ["it2-functionality_loss", DELETION]

    def test_survives_the_loss_of_what_was_stored_beside_the_latest_record(self, deleted):
        deleted.tracker.accept(DELETION, "merged")
        deleted.paths.amendments_file(2).unlink()
        assert deleted.turn(test_count=8, tests_passed=8).verified
        assert stored(deleted)["accepted"] == ["it2-functionality_loss", DELETION]

    @pytest.mark.parametrize(
        ("alert_id", "reason", "error", "words"),
        [
            (DELETION, "  ", InputError, "--reason must say why the alert is wrong"),
            ("it2-test_deletio", "why", LoopError, r"in this loop; did you mean it2-test_deletion\?"),
            ("it9-stalled", "why", LoopError, "no alert 'it9-stalled' in this loop"),
        ],
        ids=["no reason", "nearly", "never"],
    )
    def test_is_refused_where_it_names_or_says_nothing(self, deleted, documents, alert_id, reason, error, words):
        before = documents(deleted.root)
        with pytest.raises(error, match=words):
            deleted.tracker.accept(alert_id, reason)
        assert documents(deleted.root) == before

    def test_is_taken_after_the_end_too(self, deleted):
        deleted.tracker.select_output()
        assert deleted.tracker.accept(DELETION, "merged").status == "finished"
        assert deleted.tracker.select_output().selection.selected.iteration == 2


class TestSelection:
    @pytest.fixture
    def peaked(self, driven):
        """Return a loop whose peak is not the last."""
        driven.start(lint_errors=9)
        driven.turn(lint_errors=1)
        driven.turn(lint_errors=0)
        driven.turn(lint_errors=3)
        return driven

    def test_takes_the_peak_and_not_the_last_and_ends_the_loop(self, peaked):
        closed = peaked.tracker.select_output()
        assert (closed.selection.selected.iteration, closed.selection.final.iteration) == (2, 3)
        assert stored(peaked)["status"] == "finished"

    def test_may_be_made_again(self, peaked, documents):
        peaked.tracker.select_output()
        before = documents(peaked.root)
        assert peaked.tracker.select_output().selection.selected.iteration == 2
        assert documents(peaked.root) == before

    def test_may_be_made_while_the_loop_runs_on(self, peaked):
        peaked.tracker.select_output(finish=False)
        assert stored(peaked)["status"] == "running"
        assert peaked.turn().iteration == 4

    def test_may_be_overridden_by_a_person_with_a_reason(self, peaked):
        closed = peaked.tracker.select_output(iteration=1, reason="2 was never reviewed")
        assert closed.selection.to_dict()["best_output_selection"]["override_reason"] == "2 was never reviewed"
        assert closed.selection.selected.iteration == 1
        events = [json.loads(line) for line in peaked.paths.events.read_bytes().splitlines()]
        assert (events[0]["iteration"], events[0]["reason"]) == (1, "2 was never reviewed")

    @pytest.mark.parametrize(
        ("wishes", "error", "words"),
        [
            ({"iteration": 1}, InputError, "--iteration N and --reason WHY need each other"),
            ({"reason": "x"}, InputError, "--iteration N and --reason WHY need each other"),
            (
                {"iteration": 9, "reason": "x"},
                LoopError,
                "iteration 9 is not on record; the loop has iterations 0 to 3",
            ),
        ],
        ids=["no reason", "no number", "no such iteration"],
    )
    def test_is_refused_where_the_override_is_half_or_wrong(self, peaked, wishes, error, words):
        with pytest.raises(error, match=words):
            peaked.tracker.select_output(**wishes)
        assert stored(peaked)["status"] == "running"

    def test_takes_the_baseline_where_there_is_nothing_else(self, driven):
        driven.start()
        closed = driven.tracker.select_output()
        assert closed.selection.selected.iteration == 0

    def test_takes_the_mode_that_is_asked_for(self, peaked):
        closed = peaked.tracker.select_output(mode="most_recent_above_threshold")
        assert closed.selection.selected.iteration == 3


class TestChangedConfiguration:
    def test_is_said_and_the_frozen_one_is_used(self, driven):
        configuration = driven.root / "ralph-tracker.yaml"
        configuration.write_text("loop: {target_score: 0.9}\n")
        driven.start()
        configuration.write_text("loop: {max_iterations: 1}\n")
        record = driven.turn()
        assert [alert.message for alert in record.alerts] == [
            "Configuration changed: loop.max_iterations, loop.target_score; the frozen one is used"
        ]
        assert record.decision.action == "continue"

    def test_is_said_no_more_once_it_is_taken_back(self, driven):
        driven.start()
        (driven.root / "ralph-tracker.yaml").write_text("loop: {max_iterations: 1}\n")
        driven.turn()
        (driven.root / "ralph-tracker.yaml").unlink()
        assert driven.turn().alerts == ()


class TestLimits:
    @pytest.mark.parametrize(
        ("limit", "minutes", "cost", "reason"),
        [
            ("max_minutes: 30", 28, 0, "Continue - forward progress detected"),
            ("max_minutes: 30", 29, 0, "Time limit reached: 30 of 30 minutes"),
            ("max_cost_usd: 1.0", 0, 0.4, "Continue - forward progress detected"),
            ("max_cost_usd: 1.0", 0, 0.5, "Cost limit reached: $1.00 of $1.00"),
            ("max_iterations: 2", 0, 0, "Iteration limit reached: 2 of 2"),
        ],
        ids=["in time", "out of time", "within cost", "at the cost", "iterations"],
    )
    def test_stop_the_loop_when_they_are_reached(self, driven, limit, minutes, cost, reason):
        (driven.root / "ralph-tracker.yaml").write_text(f"loop: {{target_score: null, {limit}}}\n")
        driven.start(lint_errors=3)
        driven.turn(lint_errors=2, usage={"cost_usd": cost})
        driven.clock.tick(minutes - 1)
        assert driven.turn(lint_errors=1, usage={"cost_usd": cost}).decision.reason == reason

    def test_count_the_time_from_pre_loop(self, driven):
        (driven.root / "ralph-tracker.yaml").write_text("loop: {max_minutes: 30}\n")
        driven.clock.tick(500)
        driven.start()
        assert "Time limit" not in driven.turn().decision.reason


class TestUsage:
    def test_is_kept_and_added_up_where_it_is_known(self, driven):
        driven.start()
        driven.turn(usage={"cost_usd": 0.25, "turns": 4})
        driven.turn()
        record = driven.turn(usage={"cost_usd": 0.5})
        assert record.usage.known_values() == {"cost_usd": 0.5}
        assert stored(driven)["cost_usd"] == 0.75

    def test_is_unknown_and_not_nothing_where_nobody_says(self, driven):
        driven.start()
        driven.turn()
        assert stored(driven)["cost_usd"] is None
