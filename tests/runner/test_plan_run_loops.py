"""The loops of a plan: their ids, those of others, one that is gone on with, and what is refused."""

import pytest

from ralph_tracker.errors import ConfigError, InputError, LoopError, StoreError
from ralph_tracker.runner.plan_run import loop_id_of
from ralph_tracker.runner.saved_plan import plan_held, plan_holder, write_plan_state
from ralph_tracker.tracker import Tracker
from tests.runner.conftest import step
from tests.runner.planning import LOGIN, SPENT

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]


class TestLoopsOfOthers:
    def test_one_that_is_running_is_not_given_up_unless_said_so(self, planned):
        planned.project.drive(planned.project.scripted(LOGIN))
        planned.write({"id": "a"})
        command = planned.scripted(a=[step(4, 0)])
        with pytest.raises(LoopError, match="loop ralph-001 is still running"):
            planned.drive(command)
        assert planned.drive(command, new=True).ended.how == "done"
        assert Tracker(planned.root, "ralph-001").store().summary().status == "abandoned"

    def test_an_id_that_is_taken_gets_a_number(self, planned):
        Tracker(planned.root, "plan-a").pre_loop(None)
        Tracker(planned.root, "plan-a").select_output()
        planned.write({"id": "a"})
        planned.drive(planned.scripted(**{"a-2": [step(4, 0)]}))
        assert planned.state()["tasks"][0]["loops"] == ["plan-a-2"]

    @pytest.mark.parametrize(
        ("name", "task_id", "loop_id"),
        [
            ("plan.yaml", "T1", "plan-t1"),
            ("My Plan.v2.yml", "1.2", "my-plan.v2-1.2"),
            ("a..b.yaml", "x", "a.b-x"),
            ("日本.yaml", "日", "plan"),
            ("plan.yaml", "x" * 99, "plan-" + "x" * 51),
            ("current.yaml", "日", "current-2"),
        ],
    )
    def test_ids_are_legal(self, tmp_path, name, task_id, loop_id):
        assert loop_id_of(tmp_path / name, task_id, lambda _: False) == loop_id


class TestGoingOn:
    def test_inside_of_the_loop_that_was_at_work(self, planned):
        planned.write({"id": "a"}, {"id": "b"})
        command = planned.scripted(a=[LOGIN, step(4, 0)], b=[step(4, 0)])
        assert planned.drive(command, max_iterations=3).ended.how == "stopped"
        assert planned.drive(command, max_iterations=3).ended.how == "done"
        assert planned.loops() == ["plan-a", "plan-b"]
        assert "task 1 of 2, a: Do a; continues as loop plan-a" in planned.lines

    def test_with_new_the_loop_that_is_running_is_given_up_and_its_cost_counts(self, planned):
        planned.write({"id": "a"})
        command = planned.scripted(a=[{**LOGIN, "prints": "Invalid API key · Please run /login"}])
        planned.drive(command)
        command = planned.scripted(**{"a-2": [step(4, 0, spends=SPENT)]})
        assert planned.drive(command, new=True).ended.how == "done"
        assert planned.state()["tasks"][0]["loops"] == ["plan-a", "plan-a-2"]
        assert Tracker(planned.root, "plan-a").store().summary().status == "abandoned"

    def test_a_loop_is_not_gone_on_with_after_another_task_has_changed_the_files(self, planned):
        planned.write({"id": "a"}, {"id": "b"})
        planned.drive(planned.scripted(a=[LOGIN]))
        state = planned.state()
        state["tasks"].reverse()
        write_plan_state(planned.file, state)
        planned.drive(planned.scripted(b=[step(4, 0)], **{"a-2": [step(4, 0)]}))
        assert planned.loops() == ["plan-a", "plan-a-2", "plan-b"]
        assert Tracker(planned.root, "plan-a").store().summary().status == "abandoned"

    def test_a_loop_that_a_person_ended_by_hand_is_taken_as_it_is(self, planned):
        planned.write({"id": "a"})
        planned.drive(planned.scripted(a=[LOGIN]))
        Tracker(planned.root, "plan-a").select_output()
        planned.drive(planned.scripted(a=[]))
        assert planned.statuses() == {"a": "failed"}

    def test_one_that_was_given_up_by_hand_is_begun_anew(self, planned):
        planned.write({"id": "a"})
        planned.drive(planned.scripted(a=[LOGIN]))
        Tracker(planned.root).pre_loop(None, new=True)
        Tracker(planned.root).select_output()
        planned.drive(planned.scripted(**{"a-2": [step(4, 0)]}))
        assert planned.state()["tasks"][0]["loops"] == ["plan-a", "plan-a-2"]

    def test_the_loop_that_is_gone_on_with_is_the_current_one(self, planned):
        planned.write({"id": "a"})
        command = planned.scripted(a=[LOGIN, step(4, 0)])
        planned.drive(command)
        Tracker(planned.root).project.set_current("ralph-001")
        planned.drive(command)
        assert Tracker(planned.root).project.current_loop_id() == "plan-a"

    def test_a_state_of_an_older_version_loads(self, planned):
        planned.write({"id": "a"})
        planned.file.parent.joinpath(".aiwg/plans").mkdir(parents=True)
        write_plan_state(planned.file, {"current": "a", "tasks": [{"id": "a", "title": "Do a"}]})
        planned.drive(planned.scripted(a=[step(4, 0)]))
        assert planned.statuses() == {"a": "complete"}

    def test_ctrl_c_after_the_last_iteration_of_a_task_begins_no_other(self, planned):
        planned.write({"id": "a"}, {"id": "b"})
        command = planned.scripted(a=[step(4, 0)], b=[step(4, 0)])
        script = planned.root.parent / "steps" / "plan-a-1"
        script.write_text(script.read_text().replace("exit 0\n", "kill -INT $PPID\nexit 0\n"))
        outcome = planned.drive(command)
        assert (outcome.ended.how, outcome.was_asked) == ("stopped", True)
        assert "the same command again continues later" in " ".join(planned.lines)
        assert planned.statuses() == {"a": "complete", "b": "pending"}
        assert planned.drive(command).ended.how == "done"


class TestRefused:
    def test_a_plan_that_another_one_runs(self, planned):
        planned.write({"id": "a"})

        def meanwhile(_):
            assert "(run)" in plan_holder(planned.file)
            with (
                pytest.raises(StoreError, match=r"in use by process \d+ \(run\)"),
                plan_held(planned.file, "plan edit"),
            ):
                pass

        planned.drive(planned.scripted(a=[step(4, 0)]), change=meanwhile)
        assert plan_holder(planned.file) is None

    def test_a_bad_plan_file(self, planned):
        planned.file.write_text("tasks: [{id: a}]\n")
        with pytest.raises(InputError, match=r"plan\.yaml: tasks"):
            planned.drive(planned.scripted(a=[]))
        assert not planned.file.parent.joinpath(".aiwg").exists()

    def test_a_project_with_nothing_to_measure_with(self, planned):
        (planned.root / "ralph-tracker.yaml").unlink()
        planned.write({"id": "a"})
        with pytest.raises(ConfigError, match="nothing to measure with"):
            planned.drive(planned.scripted(a=[]))
