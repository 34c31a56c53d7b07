"""A plan: each task is a loop of its own, which ends where its checks hold, and the next one is told of it."""

import subprocess
import sys

import pytest

from ralph_tracker.errors import InputError
from tests.runner.conftest import report, step
from tests.runner.planning import LOGIN, SPENT, Desk

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

COMMAND = "test -e done.txt"
FORKED = "def f(x):\n" + "".join(f"    if x == {number}:\n        return {number}\n" for number in range(30))


def done(**more):
    """Return a step that does what COMMAND asks for."""
    made = step(4, 0, **more)
    return {**made, "write": {**made["write"], "done.txt": "x"}}


class TestTwoTasks:
    def test_each_is_refined_until_its_checks_hold_and_the_next_is_told(self, planned):
        planned.write({"id": "a", "description": "Mend it."}, {"id": "b", "checks": [COMMAND]}, context="A box.")
        command = planned.scripted(a=[step(3, 1), step(4, 0)], b=[step(4, 0), done()])
        outcome = planned.drive(command)
        assert outcome.ended.how == "done"
        assert planned.statuses() == {"a": "complete", "b": "complete"}
        assert [len(planned.records(f"plan-{name}")) for name in "ab"] == [3, 3]
        assert planned.told("plan-a", 1).startswith("# Task: Do a\n\nMend it.\n")
        assert "## Done before this task\n- Do a (complete)\n  changed files: report.xml\n" in planned.told("plan-b", 1)
        assert "## The plan it is part of\nA box." in planned.told("plan-b", 1)
        assert (planned.outcome("a").fix_cycles, planned.outcome("b").changed_files) == (1, ("done.txt",))

    def test_the_files_are_those_of_the_kept_iteration_and_nothing_is_put_elsewhere(self, planned):
        planned.write({"id": "a"}, {"id": "b", "checks": [COMMAND]})
        planned.drive(planned.scripted(a=[step(4, 0)], b=[done()]))
        assert (planned.root / "report.xml").read_text() == report(4, 0)
        assert (planned.root / "done.txt").exists()
        assert not (planned.root / ".aiwg" / "output").exists()

    def test_progress_with_cost_is_told_after_each(self, planned):
        planned.write({"id": "a"}, {"id": "b"})
        planned.drive(planned.scripted(a=[step(4, 0, spends=SPENT)], b=[step(4, 0, spends=SPENT)]))
        told = [line for line in planned.lines if line.startswith("Progress: ")]
        assert told[0].startswith("Progress: 1/2 tasks done | $0.50 spent | ~$0.50 remaining")
        assert told[1].startswith("Progress: 2/2 tasks done | $1.00 spent")
        assert "task 1 of 2, a: Do a; begins as loop plan-a" in planned.lines
        assert any(line.startswith("task a: complete, the files are those of iteration 1") for line in planned.lines)

    def test_the_status_begins_with_the_place_in_the_plan(self, planned, monkeypatch):
        shown = []

        def status(text):
            shown.append(text())
            (planned.root.parent / f"seen-{text().partition('/')[0][-1]}").touch()

        monkeypatch.setattr(planned.project.screen, "status", status)
        planned.write({"id": "a"}, {"id": "b"})
        command = planned.scripted(a=[step(4, 0)], b=[step(4, 0)])
        for number, name in enumerate("ab", 1):
            script = planned.root.parent / "steps" / f"plan-{name}-1"
            wait = f"until [ -e {planned.root.parent}/seen-{number} ]; do sleep 0.02; done\n"
            script.write_text(wait + script.read_text())
        planned.drive(command)
        assert {text.partition("]")[0] for text in shown} == {"[plan 1/2 · 0%", "[plan 2/2 · 50%"}
        assert all("iteration 1 · score" in text for text in shown)

    def test_the_peak_is_named_where_the_kept_iteration_has_a_lower_score(self, planned):
        planned.write({"id": "a", "checks": [COMMAND]})
        (planned.root / "f.py").write_text("def f(x):\n    return x\n")
        kept = {"report.xml": report(4, 0), "done.txt": "x", "f.py": FORKED}
        planned.drive(planned.scripted(a=[step(4, 0), step(write=kept)]))
        assert (planned.root / "done.txt").exists()
        (told,) = (line for line in planned.lines if line.startswith("task a: complete"))
        assert "the files are those of iteration 2 with a score of " in told
        assert "; the peak by score was iteration 1 with " in told

    def test_a_finished_plan_does_nothing_more(self, planned):
        planned.write({"id": "a"})
        command = planned.scripted(a=[step(4, 0)])
        planned.drive(command)
        planned.lines.clear()
        assert planned.drive(command).ended.how == "done"
        assert (planned.lines, planned.loops()) == ([], ["plan-a"])


class TestChecks:
    def test_a_command_is_a_check_of_its_loop(self, planned):
        """It is frozen and measured with the others: record and prompt name it, the score is without it."""
        planned.write({"id": "a", "checks": [COMMAND]})
        command = planned.scripted(a=[step(4, 0), done()])
        planned.drive(command)
        records = planned.records("plan-a")
        assert [len(each["notes"]) for each in records] == [1, 1, 0]
        assert records[1]["notes"][0].startswith("plan-1: exit 1 after ")
        assert f"The task is not done until these pass:\n- {COMMAND}: exit 1 after " in planned.told("plan-a", 2)

    def test_a_target_score_ends_no_task_whose_checks_do_not_hold(self, planned):
        planned.write({"id": "a", "checks": [COMMAND]})
        planned.drive(planned.scripted(a=[step(4, 0), step(4, 0), done()]))
        assert planned.statuses() == {"a": "complete"}

    def test_a_name_means_that_check_alone(self, planned):
        planned.write({"id": "a", "checks": ["quick"]}, config="  quick: {run: 'test -e done.txt'}\n")
        made = step(2, 2)
        planned.drive(planned.scripted(a=[{**made, "write": {**made["write"], "done.txt": "x"}}]))
        assert planned.statuses() == {"a": "complete"}
        assert planned.outcome("a").failing_tests == ("t::test_2", "t::test_3")

    def test_none_means_all_that_are_configured(self, planned):
        planned.write({"id": "a"}, config="  quick: {run: 'test -e done.txt'}\n")
        planned.drive(planned.scripted(a=[step(4, 0), done()]))
        assert len(planned.records("plan-a")) == 3

    def test_what_the_task_is_to_make_may_be_its_check(self, planned):
        planned.write({"id": "a", "checks": ["./check.sh"]})
        command = planned.scripted(a=[step(write={"check.sh": "#!/bin/sh\n"})])
        script = planned.root.parent / "steps" / "plan-a-1"
        script.write_text(script.read_text().replace("exit 0\n", "chmod +x $root/check.sh\nexit 0\n"))
        planned.drive(command)
        assert planned.statuses() == {"a": "complete"}

    def test_one_that_is_neither_a_check_nor_a_command_is_refused_before_anything_runs(self, planned):
        planned.write({"id": "a"}, {"id": "b", "checks": ["testz"]})
        with pytest.raises(
            InputError, match=r"task b: neither a check nor a command is named 'testz'; did you mean te"
        ):
            planned.drive(planned.scripted(a=[step(4, 0)]))
        assert planned.loops() == []

    def test_but_not_where_that_is_allowed(self, planned):
        planned.write({"id": "a", "checks": ["testz"]})
        planned.drive(planned.scripted(a=[step(4, 0)]), allow_missing=True, max_iterations=1)
        assert "testz: command not found" in planned.outcome("a").reason


class TestNoTaskIsCompletedBy:
    @pytest.mark.parametrize(
        ("trick", "alert"),
        [
            ("rm test_box.py", "failure_hidden"),
            pytest.param(
                "sed -i 's/^def test_lid/import pytest\\n@pytest.mark.skip\\n&/' test_box.py",
                "failure_hidden",
                marks=pytest.mark.slow,
            ),
        ],
        ids=["deleted", "skipped"],
    )
    def test_a_red_test_that_is_gone(self, planned, trick, alert):
        """With a real pytest, which says 0 then."""
        run = f"{sys.executable} -m pytest -q -p no:cacheprovider --junitxml={{reports}}/junit.xml"
        (planned.root / "ralph-tracker.yaml").write_text(
            f"checks:\n  tests: {{run: '{run}', reports: ['{{reports}}/junit.xml']}}\n"
        )
        (planned.root / "report.xml").unlink()
        tests = "def test_box():\n    assert True\n\n\ndef test_lid():\n    assert open('lid.txt').read() == 'x'\n"
        (planned.root / "test_box.py").write_text(tests)
        (planned.root / "test_other.py").write_text("def test_other():\n    assert True\n")
        planned.write({"id": "a"})
        command = planned.scripted(a=[step(), step(write={"lid.txt": "x"})])
        folder = planned.root.parent / "steps"
        (folder / "plan-a-1").write_text(f"cd $root; {trick}; echo done\n")
        (folder / "plan-a-2").write_text(f"cd $root; printf x > lid.txt; cp {folder}/whole test_box.py; echo done\n")
        (folder / "whole").write_text(tests)
        planned.drive(command)
        first, second = planned.records("plan-a")[1:]
        assert alert in str(first["alerts"])
        assert planned.statuses() == {"a": "complete"}
        assert second["testing"]["tests_passed"] == 3
        assert (planned.root / "test_box.py").read_text() == tests

    def test_red_tests_that_are_gone_where_a_limit_comes_before_the_rollback(self, planned):
        planned.write({"id": "a"})
        planned.drive(planned.scripted(a=[step(2, 0)]), max_iterations=1)
        assert (planned.records("plan-a")[1]["action"], planned.statuses()) == ("stop", {"a": "failed"})
        assert "it1-test_deletion: " in planned.outcome("a").reason

    def test_red_tests_that_are_gone_are_not_applied_at_a_limit(self, planned):
        planned.write({"id": "a"})
        planned.drive(planned.scripted(a=[step(2, 0)]), max_iterations=1)
        assert (planned.root / "report.xml").read_text() == report(2, 2)

    def test_an_iteration_that_needed_a_person(self, planned):
        (planned.root / "report.xml").write_text(report(4, 0))
        planned.write({"id": "a"})
        outcome = planned.drive(planned.scripted(a=[LOGIN, step()]))
        assert (outcome.ended.how, outcome.was_asked) == ("stopped", False)
        assert "Please run /login" in outcome.ended.reason
        assert planned.statuses() == {"a": "pending"}
        assert planned.drive(planned.scripted(a=[LOGIN, step()])).ended.how == "done"
        assert len(planned.records("plan-a")) == 3

    def test_the_baseline(self, planned):
        """The checks hold before the agent has worked: it is asked all the same."""
        (planned.root / "report.xml").write_text(report(4, 0))
        planned.write({"id": "a"})
        planned.drive(planned.scripted(a=[step()]))
        assert (planned.statuses(), len(planned.records("plan-a"))) == ({"a": "complete"}, 2)


class TestFailing:
    """The limit of iterations comes first: the peak is left in the files, and a checkpoint is due."""

    def test_unattended_the_plan_is_aborted_and_the_checkpoint_asked_again(self, planned):
        planned.write({"id": "a"}, {"id": "b"})
        command = planned.scripted(a=[step(3, 1), step(2, 2)], b=[step(4, 0)])
        outcome = planned.drive(command, max_iterations=2)
        assert outcome.ended.how == "aborted"
        assert planned.statuses() == {"a": "failed", "b": "pending"}
        assert (planned.root / "report.xml").read_text() == report(3, 1)
        assert planned.outcome("a").reason == "Iteration limit reached: 2 of 2; tests: 1 test fails"
        assert any("test failure in task a" in line for line in planned.lines)
        desk = Desk(["continue"])
        assert planned.drive(command, desk, max_iterations=2).ended.how == "done"
        assert desk.asked[0].endswith("Trigger: test failure in task a\n[Continue] [Adjust plan] [Abort]")
        assert planned.statuses() == {"a": "failed", "b": "complete"}

    def test_or_goes_on_where_that_is_configured(self, planned):
        planned.write({"id": "a"}, {"id": "b"}, config="checkpoints: {unattended: continue}\n")
        planned.drive(planned.scripted(a=[step(3, 1)], b=[step(4, 0)]), max_iterations=1)
        assert planned.statuses() == {"a": "failed", "b": "complete"}

    def test_a_person_who_aborts_and_one_who_adjusts(self, planned):
        planned.write({"id": "a"}, {"id": "b"}, {"id": "c"})
        command = planned.scripted(a=[step(3, 1)], c=[step(4, 0)])
        outcome = planned.drive(command, Desk(["abort"]), max_iterations=1)
        assert outcome.ended.reason.startswith("aborted at a checkpoint (test failure)")
        planned.drive(command, Desk(["adjust"], edit_to="c: Do c\n"), max_iterations=1)
        assert planned.statuses() == {"a": "failed", "c": "complete"}

    def test_what_was_tried_is_told_to_the_next(self, planned):
        planned.write({"id": "a"}, {"id": "b"})
        command = planned.scripted(a=[step(3, 1), step(1, 3), step(3, 1)], b=[step(4, 0)])
        planned.drive(command, Desk(["continue"]), max_iterations=3)
        told = planned.outcome("a")
        assert told.rolled_back[0].startswith("iteration 2: Rollback to iteration 1 due to regression")


class TestBudget:
    """What a plan may cost is for all of its tasks."""

    def test_each_loop_gets_what_is_left_and_then_it_stops(self, planned):
        planned.write({"id": "a"}, {"id": "b"}, {"id": "c"}, config="checkpoints: {unattended: continue}\n")
        steps = {name: [step(4, 0, spends=SPENT)] for name in "abc"}
        outcome = planned.drive(planned.scripted(**steps), max_cost_usd=1.0)
        assert (outcome.ended.how, outcome.ended.reason) == ("stopped", "nothing is left of the budget of $1.00")
        assert planned.statuses() == {"a": "complete", "b": "complete", "c": "pending"}
        limits = [(planned.root / f".aiwg/ralph/plan-{name}/loop.yaml").read_text() for name in "ab"]
        assert ["max_cost_usd: 1.0" in limits[0], "max_cost_usd: 0.5" in limits[1]] == [True, True]
        assert planned.drive(planned.scripted(**steps), max_cost_usd=2.0).ended.how == "done"

    def test_that_of_the_configuration_is_the_plans_too(self, planned):
        planned.write({"id": "a"}, {"id": "b"}, config="checkpoints: {unattended: continue}\n")
        config = planned.root / "ralph-tracker.yaml"
        config.write_text(config.read_text().replace("{target_score: 0.9}", "{target_score: 0.9, max_cost_usd: 0.4}"))
        outcome = planned.drive(planned.scripted(a=[step(4, 0, spends=SPENT)]))
        assert outcome.ended.reason == "nothing is left of the budget of $0.40"


class TestCommits:
    def test_the_commit_of_a_task_is_head_where_it_moved(self, planned):
        git = f"git -C {planned.root} -c user.name=a -c user.email=a@b"
        subprocess.run(["/bin/sh", "-c", f"{git} init -q && {git} add -A && {git} commit -qm first"], check=True)
        planned.write({"id": "a"}, {"id": "b"})
        command = planned.scripted(a=[step(4, 0)], b=[step(4, 0)])
        script = planned.root.parent / "steps" / "plan-b-1"
        script.write_text(script.read_text().replace("exit 0\n", f"{git} commit -qam second\nexit 0\n"))
        planned.drive(command)
        head = subprocess.run(
            ["git", "-C", planned.root, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        )
        assert (planned.outcome("a").commit, planned.outcome("b").commit) == (None, head.stdout.strip())


def test_the_prompt_of_a_task_is_kept_beside_the_state(planned):
    planned.write({"id": "a"})
    planned.drive(planned.scripted(a=[step(4, 0)]))
    assert planned.prompt().startswith("# Task: Do a\n")
