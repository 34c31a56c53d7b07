"""The life of a loop whose metrics are handed in, from its baseline to its end."""

import json

import pytest
import yaml

from ralph_tracker.errors import ConfigError, InputError, LoopError, NoSnapshotError, NotRecordedError, RecordError
from ralph_tracker.tracker import SystemClock


def stored(loop):
    return json.loads(loop.paths.state.read_bytes())


class TestBaseline:
    def test_is_iteration_0_and_awaits_the_first(self, driven):
        record = driven.start()
        assert (record.iteration, record.previous, record.classification) == (0, None, "baseline")
        assert record.message == "Baseline captured, await iteration 1"
        assert (record.best.iteration, record.is_best) == (None, False)
        assert driven.tracker.loop_decision().decision.action == "continue"

    def test_freezes_the_configuration_and_says_what_it_ran_on(self, driven):
        (driven.root / "ralph-tracker.yaml").write_text("loop: {max_iterations: 7}\n")
        driven.start()
        document = yaml.safe_load(driven.paths.loop_file.read_text())
        assert document["configuration"]["loop"]["max_iterations"] == 7
        assert (document["created_at"], document["linked_to"]) == ("2026-02-02T10:00:00Z", None)
        assert {"ralph_tracker", "python"} <= document["environment"].keys()

    def test_may_be_that_of_a_second_loop_with_an_id_of_its_own(self, driven, metrics):
        driven.start()
        driven.named("other").pre_loop(metrics())
        assert driven.tracker.project.current_loop_id() == "other"
        assert driven.named("ralph-001").loop_decision().decision.action == "continue"

    def test_follows_a_finished_loop(self, driven):
        driven.start()
        driven.tracker.select_output()
        assert driven.start().loop_id == "ralph-002"

    def test_is_refused_with_a_configuration_that_cannot_be_used(self, driven):
        (driven.root / "ralph-tracker.yaml").write_text("loop: {max_iteration: 7}\n")
        with pytest.raises(ConfigError, match="did you mean max_iterations"):
            driven.start()

    def test_does_not_touch_a_loop_that_aiwg_wrote(self, driven):
        driven.paths.progress.mkdir(parents=True)
        driven.paths.record(1).write_text("theirs")
        assert driven.start().loop_id == "ralph-002"
        assert driven.paths.record(1).read_text() == "theirs"


class TestNewLoop:
    @pytest.mark.parametrize(
        ("how", "status", "linked"), [("new", "abandoned", None), ("rebaseline", "rebaselined", "ralph-001")]
    )
    def test_takes_the_place_of_a_running_one(self, driven, how, status, linked):
        driven.start()
        driven.turn()
        assert driven.start(**{how: True}).loop_id == "ralph-002"
        assert stored(driven)["status"] == status
        document = yaml.safe_load(driven.paths.folder.with_name("ralph-002").joinpath("loop.yaml").read_text())
        assert document["linked_to"] == linked

    @pytest.mark.parametrize("how", ["new", "rebaseline"])
    def test_needs_none_to_take_the_place_of(self, driven, how):
        assert driven.start(**{how: True}).loop_id == "ralph-001"

    def test_takes_the_place_of_one_that_is_damaged_beyond_reading(self, driven):
        driven.start()
        driven.paths.state.unlink()
        (driven.paths.iteration(0) / "state.json").unlink()
        (driven.paths.iteration(0) / "measurement.json").unlink()
        with pytest.raises(RecordError, match="hook pre-loop --new"):
            driven.turn()
        assert driven.start(new=True).loop_id == "ralph-002"
        assert driven.turn().iteration == 1

    def test_leaves_the_old_one_running_where_it_cannot_begin(self, driven):
        driven.start()
        with pytest.raises(InputError):
            driven.start(new=True, test_count=3)
        assert driven.turn().loop_id == "ralph-001"


class TestIteration:
    def test_is_a_new_one_even_where_nothing_changed(self, driven):
        driven.start()
        assert [driven.turn().iteration, driven.turn().iteration] == [1, 2]

    @pytest.mark.parametrize("number", [1, 2])
    def test_may_be_repeated_under_its_number(self, driven, documents, number):
        driven.start()
        records = [driven.turn(lint_errors=1), driven.turn(lint_errors=2)]
        before = documents(driven.root)
        again = driven.turn(lint_errors=number, iteration=number)
        assert again == records[number - 1]
        assert documents(driven.root) == before

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"iteration": 1, "lint_errors": 9}, "iteration 1 is on record with another state; leave --iteration out"),
            ({"iteration": 1, "blocked": "why"}, "iteration 1 is on record with another state"),
            ({"iteration": 3}, "iteration 3 is not the next one; the next is 2"),
            ({"iteration": 0}, "iteration 0 is not the next one; the next is 2"),
        ],
        ids=["other metrics", "blocked", "ahead", "the baseline"],
    )
    def test_is_refused_under_a_number_that_is_another(self, driven, documents, changes, words):
        driven.start()
        driven.turn()
        before = documents(driven.root)
        with pytest.raises(LoopError, match=words):
            driven.turn(**changes)
        mark = str(driven.paths.attempt.relative_to(driven.root))
        assert documents(driven.root) == before | {mark: b'{"schema_version":1,"iteration":2}'}
        with pytest.raises(NotRecordedError, match="iteration 2 was not recorded"):
            driven.tracker.loop_decision()
        driven.turn()
        assert driven.tracker.loop_decision().decision.action in {"continue", "stop"}

    def test_that_is_repeated_leaves_the_mark_of_the_next_one_that_failed(self, driven):
        driven.start()
        driven.turn()
        with pytest.raises(InputError):
            driven.turn(usage={"turns": -1})
        driven.turn(iteration=1)
        with pytest.raises(NotRecordedError, match="iteration 2 was not recorded"):
            driven.tracker.loop_decision()

    def test_is_not_decided_on_where_the_loops_own_document_is_damaged(self, driven):
        driven.start()
        driven.turn()
        whole = driven.paths.loop_file.read_bytes()
        driven.paths.loop_file.write_bytes(b"[")
        with pytest.raises(RecordError):
            driven.turn()
        with pytest.raises(NotRecordedError, match="iteration 2 was not recorded"):
            driven.tracker.loop_decision()
        driven.paths.loop_file.write_bytes(whole)
        assert driven.turn().iteration == 2
        assert driven.tracker.loop_decision().decision.action in {"continue", "stop"}

    def test_is_refused_under_the_number_of_one_that_cannot_be_read(self, driven):
        driven.start()
        driven.turn()
        (driven.paths.iteration(1) / "measurement.json").unlink()
        with pytest.raises(RecordError, match=r"^iteration 1: .* is damaged"):
            driven.turn(iteration=1)

    def test_needs_metrics_where_the_baseline_was_handed_in(self, driven):
        driven.start()
        with pytest.raises(InputError, match="handed in, as its baseline was; pass --metrics FILE"):
            driven.tracker.post_iteration(None)

    def test_has_a_report(self, driven):
        driven.start()
        driven.turn()
        assert "Iteration 1" in driven.paths.report(1).read_text()
        assert not driven.paths.report(0).exists()

    def test_is_on_record_although_a_template_of_the_user_is_broken(self, driven, metrics):
        templates = driven.root / ".aiwg" / "ralph" / "templates"
        templates.mkdir(parents=True)
        (templates / "iteration-report.md.j2").write_text("{% for %}")
        driven.start()
        recorded = driven.tracker.post_iteration(metrics())
        assert "the report is written as shipped" in str(recorded.problem)
        assert "Iteration 1" in driven.paths.report(1).read_text()
        assert driven.tracker.loop_decision().decision.action == "continue"


class TestCallAfterOneThatWasKilled:
    @pytest.fixture
    def killed(self, driven):
        """Return a loop whose last call was killed before its report."""
        driven.start()
        driven.turn()
        driven.paths.report(1).unlink()
        driven.paths.staging.mkdir()
        driven.paths.attempt.write_bytes(b'{"iteration":1}')
        return driven

    def test_makes_the_rest(self, killed):
        killed.tracker.select_output(finish=False)
        assert killed.paths.report(1).exists()
        assert not killed.paths.attempt.exists()

    def test_goes_on_where_there_is_nothing_left_to_make_it_from(self, killed):
        killed.paths.record(1).unlink()
        (killed.paths.iteration(1) / "metrics.json").unlink()
        assert killed.turn().iteration == 2
        assert not killed.paths.report(1).exists()


class TestIterationThatFailed:
    def test_is_said_whatever_else_is_called_in_between(self, driven):
        driven.start()
        driven.turn(test_count=8, tests_passed=8)
        with pytest.raises(InputError):
            driven.turn(test_count=3)
        driven.tracker.accept("it1-test_deletion", "merged")
        driven.tracker.select_output(finish=False)
        with pytest.raises(NotRecordedError, match="iteration 2 was not recorded"):
            driven.tracker.loop_decision()

    def test_is_forgotten_when_the_loop_ends(self, driven):
        driven.start()
        with pytest.raises(InputError):
            driven.turn(test_count=3)
        driven.tracker.select_output()
        assert not driven.paths.attempt.exists()


class TestDecision:
    def test_is_the_stored_one_however_often_it_is_asked(self, driven, documents):
        driven.start()
        driven.turn(test_count=8, tests_passed=8)
        before = documents(driven.root)
        asked = [driven.tracker.loop_decision() for _ in range(2)]
        assert asked[0] == asked[1]
        assert (asked[0].decision.action, asked[0].decision.target_iteration) == ("rollback", 0)
        assert documents(driven.root) == before

    def test_has_nothing_to_roll_back_with_where_no_files_are_kept(self, driven):
        driven.start()
        driven.turn(test_count=8, tests_passed=8)
        with pytest.raises(NoSnapshotError, match="iteration 0 has no files"):
            driven.tracker.loop_decision(apply=True)
        assert driven.tracker.loop_decision().carried_out is False

    def test_says_that_its_rollback_was_carried_out(self, driven):
        driven.start()
        driven.turn(test_count=8, tests_passed=8)
        driven.roll_back(0)
        assert driven.tracker.loop_decision(apply=True).carried_out

    def test_is_refused_before_pre_loop_and_after_the_end(self, driven):
        with pytest.raises(LoopError, match="no loop in"):
            driven.tracker.loop_decision()
        driven.start()
        driven.tracker.select_output()
        with pytest.raises(LoopError, match="is finished"):
            driven.tracker.loop_decision()


class TestRollback:
    def test_makes_its_target_the_predecessor_of_the_next_iteration(self, driven):
        driven.start()
        driven.turn(coverage_percentage=85.0)
        driven.turn(test_count=8, tests_passed=8)
        driven.roll_back(1)
        record = driven.turn(coverage_percentage=86.0)
        assert (record.iteration, record.previous) == (3, 1)
        assert record.from_previous["coverage_delta"] == 1.0
        assert record.open_alerts == ()
        assert driven.turn().previous == 3


def test_the_clock_of_the_machine_tells_its_zone():
    assert SystemClock().now().utcoffset() is not None
