"""A run: the agent works, each iteration is measured and decided on, and the peak is selected at the end."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run as command_line
from ralph_tracker.errors import InputError, LoopError
from ralph_tracker.runner.run import open_run
from ralph_tracker.tracker import Tracker
from tests.runner.conftest import CONFIG, report, step

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]


def test_a_loop_runs_to_its_end_and_selects_the_peak(project):
    outcome = project.drive(project.scripted(step(3, 1), step(4, 0), step(3, 1)), max_iterations=3, target_score=None)
    assert outcome.how == "stop"
    assert outcome.reason == "Iteration limit reached: 3 of 3"
    assert outcome.closed.selection.selected.iteration == 2
    assert [record["testing"]["tests_passed"] for record in project.records()] == [2, 3, 4, 3]
    assert (project.root / ".aiwg" / "output" / "report.xml").read_text() == report(4, 0)
    assert project.progress()["phase"] == "ended"


def test_a_loop_ends_as_done_one_run_after_the_right_fix(project):
    outcome = project.drive(project.scripted(step(4, 0), step(), step(), step()), target_score=None)
    assert outcome.reason == "Done: nothing changed and everything passes"
    assert (outcome.closed.selection.selected.iteration, len(project.records())) == (2, 3)


def test_a_loop_until_green_ends_with_the_right_fix(project):
    command = project.scripted(step(3, 1), step(4, 0), step())
    outcome = project.drive(command, target_score=None, until="green")
    assert outcome.reason == "Done: tests were gained and everything passes"
    assert len(project.records()) == 3


@pytest.mark.parametrize(("target", "told"), [(0.1, True), (0.99, False)])
def test_a_target_that_the_baseline_has_reached_is_explained_at_the_start(project, target, told):
    project.drive(project.scripted(step(4, 0)), target_score=target, max_iterations=1)
    explained = [line for line in project.screen.lines if line.startswith(f"the target {target} never stops")]
    assert bool(explained) is told


def test_a_rollback_is_carried_out_and_told_to_the_agent(project):
    """Iteration 2 breaks what worked: its files go, and the agent reads why before iteration 3."""
    told = project.root.parent / "told"
    command = ("/bin/sh", "-c", f'cat > {told}-$RALPH_ITERATION; exec "$@"', "sh")
    steps = project.scripted(step(3, 1), step(1, 3), step(4, 0))
    project.drive((*command, *steps), max_iterations=3)
    records = project.records()
    assert [record["action"] for record in records[1:3]] == ["continue", "rollback"]
    assert records[3]["previous_iteration"] == 1
    said = (told.parent / "told-3").read_text()
    assert "Rolled back: the files are those of iteration 1 again" in said
    assert "test_1" in said
    assert any("rolled back to iteration 1" in line for line in project.screen.lines)


def test_the_agent_reads_its_prompt_and_what_fails(project):
    (project.root.parent / "PROMPT.md").write_text("Make all tests pass.\n")
    command = ("/bin/sh", "-c", "cat; cp {prompt_file} ../copy", "sh")
    project.drive(command, max_iterations=1, prompt_file=str(project.root.parent / "PROMPT.md"))
    copied = (project.root.parent / "copy").read_text()
    assert copied.startswith(
        "Make all tests pass.\n\nWhat ralph-tracker measured before this iteration, the number 1:\n"
    )
    assert "test_2" in copied
    assert "test_3" in copied


def test_what_the_agent_prints_is_shown_and_kept(project):
    project.drive(project.scripted(step(4, 0, prints="a word", complains="a sigh")), max_iterations=1)
    assert (project.screen.shown, project.screen.complained) == (b"a word\n", b"a sigh\n")
    assert (project.folder / "agent" / "iteration-001-1.out").read_text() == "a word\n"
    assert (project.folder / "agent" / "iteration-001-1.err").read_text() == "a sigh\n"


def test_what_is_kept_of_the_agent_holds_no_secret_and_is_its_owners_alone(project, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "a-secret-word")
    project.drive(("/bin/sh", "-c", "echo $SOME_TOKEN"), max_iterations=1)
    kept = project.folder / "agent" / "iteration-001-1.out"
    assert kept.read_text() == "*************\n"
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_cost_stands_beside_the_score_and_ends_the_loop(project):
    spent = {"cost_usd": 0.75, "input_tokens": 10, "output_tokens": 5, "turns": 2}
    steps = [step(3, 1, spends=spent), step(4, 0, spends=spent)]
    outcome = project.drive(project.scripted(*steps), max_cost_usd=1.5, target_score=None)
    assert outcome.reason == "Cost limit reached: $1.50 of $1.50"
    usage = project.records()[1]["usage"]
    assert (usage["cost_usd"], usage["input_tokens"], usage["turns"]) == (0.75, 10, 2)
    assert usage["duration_s"] > 0


def test_an_unknown_cost_is_said_where_a_limit_depends_on_it(project):
    project.drive(project.scripted(step(4, 0)), max_iterations=1, max_cost_usd=5.0)
    assert any("the cost of iteration 1 is unknown" in line for line in project.screen.lines)
    assert "cost_usd" not in project.records()[1]["usage"]


def test_a_template_that_cannot_be_used_is_told_and_the_loop_goes_on(project):
    template = project.root / ".aiwg" / "ralph" / "templates" / "iteration-report.md.j2"
    template.parent.mkdir(parents=True)
    template.write_text("{{ nothing.at.all }}")
    assert project.drive(project.scripted(step(4, 0)), max_iterations=1).how == "stop"
    assert any("the report is written as shipped" in line for line in project.screen.lines)


def test_without_such_a_limit_nobody_is_told_twice(project):
    project.drive(project.scripted(step(4, 0)), max_iterations=1)
    assert not any("unknown:" in line for line in project.screen.lines)


class TestGoingWrong:
    """Each way has its own words, and what it leaves is kept."""

    def test_a_crash_before_any_work_is_tried_again(self, project):
        tries = [step(exit=3), step(killed_by="KILL")]
        outcome = project.drive(project.scripted(step(4, 0, tries=tries)), max_iterations=1)
        assert outcome.how == "stop"
        notes = project.records()[1]["notes"]
        assert notes[0].startswith("agent: crashed: work (exit 3 after ")
        assert notes[1].startswith("agent: crashed (killed by SIGKILL after ")
        assert notes[2] == "agent: done"
        assert len(project.records()) == 2

    def test_a_crash_after_work_is_an_iteration(self, project):
        project.drive(project.scripted(step(3, 1, exit=3), step(4, 0)), max_iterations=2)
        first, second = project.records()[1:]
        assert first["testing"]["tests_passed"] == 3
        assert first["notes"][0].startswith("agent: crashed: work (exit 3 after ")
        assert second["notes"] == []

    def test_an_agent_that_hangs_is_ended_and_its_work_measured(self, project):
        project.drive(project.scripted(step(4, 0, hangs=True)), max_iterations=1, agent_timeout_s=1.5)
        assert project.records()[1]["notes"][0].startswith("agent: hung (ended at its time limit after ")

    def test_a_silent_agent_is_ended_and_tried_again(self, project):
        tries = [step(prints="", hangs=True)]
        project.drive(project.scripted(step(4, 0, tries=tries)), max_iterations=1, silence_s=1.0)
        assert project.records()[1]["notes"] == ["agent: hung (silent for 1 s)", "agent: done"]

    def test_one_that_prints_and_changes_nothing_is_tried_again(self, project):
        outcome = project.drive(project.scripted(step(prints="")), retries=2)
        assert outcome.how == "escalate"
        assert "printed nothing and changed nothing (exit 0 after" in outcome.reason
        assert outcome.reason.endswith(", 3 times in a row")
        assert project.records()[1]["blocked"] == outcome.reason.removeprefix("Escalate to human - blocked: ")

    def test_one_that_changes_nothing_is_an_iteration_that_makes_no_progress(self, project):
        outcome = project.drive(project.scripted(*[step()] * 6))
        assert outcome.reason == "No meaningful progress for 3 iterations"
        again = "not_measured_again: tree, configuration and tools are those of iteration 0; --fresh runs the checks"
        assert [record["notes"] for record in project.records()[1:]] == [["agent: changed nothing", again]] * 5

    def test_a_stall_is_told_the_agent_first_and_ends_the_loop_two_iterations_later(self, project):
        steps = [{**step(2, 2), "write": {**step(2, 2)["write"], "notes.md": f"{number}"}} for number in range(9)]
        outcome = project.drive(project.scripted(*steps), prompt_file=None)
        assert outcome.reason == "No meaningful progress for 3 iterations"
        assert len(project.records()) == 1 + 3 + 2
        told = [line.strip() for line in project.screen.lines if "is warned" in line]
        ends = "the agent is warned; the loop ends after {} without progress"
        assert told == [ends.format("2 more iterations"), ends.format("1 more iteration")]
        prompt = (project.folder / "prompt.md").read_text()
        stall = "No meaningful progress for 3 iterations: no measured value got better; the last one changed notes.md"
        assert f"{stall}.\nThe loop ends after 1 more iteration without progress.\n" in prompt

    def test_a_stall_that_the_agent_gets_out_of_once_told_does_not_end_the_loop(self, project):
        steps = [{**step(2, 2), "write": {**step(2, 2)["write"], "notes.md": f"{number}"}} for number in range(3)]
        project.drive(project.scripted(*steps, step(3, 1), step(4, 0)), target_score=0.9)
        assert [record["testing"]["tests_passed"] for record in project.records()] == [2, 2, 2, 2, 3, 4]

    def test_what_is_left_of_the_loops_time_ends_the_agent_and_its_work_counts(self, project):
        outcome = project.drive(project.scripted(step(3, 1, hangs=True)), max_minutes=0.03)
        assert outcome.reason.startswith("Time limit reached: ")
        assert project.records()[1]["testing"]["tests_passed"] == 3
        assert project.records()[1]["notes"][0].startswith("agent: hung (ended at its time limit")

    def test_a_pause_is_told(self, project):
        tried = project.scripted(step(4, 0, tries=[step(exit=1)]))
        project.drive(tried, max_iterations=1, pause_s=0.02)
        assert any(line.startswith("trying again in 0 s, at ") for line in project.screen.lines)
        assert project.progress()["waited_s"] == 0.02

    def test_a_limit_of_the_provider_is_waited_for(self, project):
        limited = step(exit=1, complains="429 Too Many Requests. Retry-After: 0")
        outcome = project.drive(project.scripted(step(4, 0, tries=[limited])), max_iterations=1, change=impatient)
        assert outcome.how == "stop"
        assert project.records()[1]["notes"][0].startswith("agent: rate-limited: ")
        assert len(project.records()) == 2

    def test_the_loops_time_ends_it_before_a_longer_wait_for_the_provider(self, project):
        limited = step(exit=1, complains="429 Too Many Requests. Retry-After: 3600")
        began = time.monotonic()
        outcome = project.drive(project.scripted(limited), max_minutes=5)
        assert time.monotonic() - began < 60
        assert outcome.how == "stop"
        assert (
            outcome.reason == "Time limit reached: 5 minutes are over before the agent can run again, in 3600 seconds"
        )
        assert outcome.reason in project.records()[1]["notes"]
        assert project.progress()["phase"] == "ended"

    def test_the_cost_limit_ends_it_before_another_try(self, project):
        spent = {"cost_usd": 0.75, "input_tokens": 10, "output_tokens": 5, "turns": 2}
        tries = [step(exit=1, spends=spent)] * 3
        outcome = project.drive(project.scripted(step(4, 0, tries=tries)), max_cost_usd=1.0, retries=5)
        assert outcome.reason == "Cost limit reached: $1.50 of $1.00, before the agent runs again"
        assert project.records()[1]["usage"]["cost_usd"] == 1.5

    def test_the_agent_runs_only_so_often_an_hour(self, project):
        """The first two runs are free, the third would wait for an hour: that is longer than the loop may take."""
        steps = project.scripted(step(3, 1), step(2, 2), step(4, 0))
        outcome = project.drive(steps, calls_per_hour=2, max_minutes=30, max_iterations=9)
        assert outcome.reason.startswith("Time limit reached: 30 minutes are over before the agent can run again, in 3")
        assert len(project.records()) == 3
        assert len(project.progress()["starts"]) == 2

    def test_a_person_who_is_needed_is_asked_and_it_is_no_stall(self, project):
        outcome = project.drive(project.scripted(step(exit=1, prints="Invalid API key · Please run /login")))
        assert outcome.how == "escalate"
        assert "needs a person" in outcome.reason
        assert project.records()[1]["blocked"].startswith("needs a person: ")
        assert project.records()[1]["action"] == "escalate"

    def test_a_person_who_is_needed_in_the_last_iteration_is_asked(self, project):
        outcome = project.drive(project.scripted(step(exit=1, prints="401 Unauthorized")), max_iterations=1)
        assert outcome.how == "escalate"
        assert outcome.reason == "Escalate to human - blocked: needs a person: 401 Unauthorized"

    def test_an_agent_may_ask_a_person(self, project):
        program = Path(sys.executable).with_name("ralph-tracker")
        ask = f"{program} hook post-iteration --blocked 'which API key?'"
        outcome = project.drive(("/bin/sh", "-c", ask), target_score=None)
        assert (outcome.how, outcome.reason) == ("escalate", "Escalate to human - blocked: which API key?")
        assert len(project.records()) == 2

    def test_what_another_driver_records_meanwhile_takes_neither_work_nor_tokens(self, project):
        program = Path(sys.executable).with_name("ralph-tracker")
        answer = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "result": "done"}
        said = json.dumps({**answer, "total_cost_usd": 0.5, "num_turns": 1})
        (project.root.parent / "good.xml").write_text(report(4, 0))
        work = f"{program} hook post-iteration > ../other.txt; cp ../good.xml report.xml; echo '{said}'"
        project.drive(("/bin/sh", "-c", work), max_iterations=2)
        records = project.records()
        assert [each["testing"]["tests_passed"] for each in records] == [2, 2, 4]
        assert "cost_usd" not in (records[1]["usage"] or {})
        assert records[2]["usage"]["cost_usd"] == 0.5
        taken = "iteration 1: recorded by another driver while the agent worked; what it did is iteration 2"
        assert taken in records[2]["notes"]
        assert taken in project.screen.lines

    def test_an_agent_that_vanishes_meanwhile_is_no_end_without_a_word(self, project):
        agent = project.root.parent / "agent"
        agent.write_text("#!/bin/sh\necho x >> work.txt; rm -f ../agent\n")
        agent.chmod(0o755)
        outcome = project.drive((str(agent),))
        assert outcome.how == "escalate"
        assert "not started" in outcome.reason


def impatient(run):
    """Wait for nothing."""
    run.interrupts.wait = lambda seconds: True


class TestRefused:
    """What cannot work is refused before anything is measured."""

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"prompt_file": "/none.md"}, "none.md: No such file"),
            ({"max_iterations": 0}, "max_iterations"),
        ],
    )
    def test_a_plan(self, project, more, words):
        with pytest.raises(Exception, match=words):
            project.drive(project.scripted(step()), **more)
        assert not project.folder.exists()

    @pytest.mark.parametrize("agent", ["no-such-agent", "./no-such-agent"])
    def test_a_command_that_is_not_there(self, project, agent):
        with pytest.raises(InputError, match=f"{agent}: command not found; give the agent's command after `--`"):
            project.drive((agent,))
        assert not project.folder.exists()

    def test_a_loop_that_is_still_running(self, project):
        project.drive(project.scripted(step(exit=1, prints="Invalid API key · Please run /login")))
        with pytest.raises(LoopError, match="ralph-001 is still running; continue it with `ralph-tracker run --"):
            project.drive(project.scripted(step()))
        assert project.drive(project.scripted(step(4, 0)), new=True, max_iterations=1).how == "stop"

    def test_another_run_of_the_same_loop(self, project):
        def meanwhile(run):
            with pytest.raises(Exception, match=r"ralph-001: in use by process \d+ \(run\)"):
                project.drive(resume=True)

        project.drive(project.scripted(step(4, 0)), max_iterations=1, change=meanwhile)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("run",), 2, "no agent command; give it after `--`"),
        (("run", "--loop-id", "", "--", "/bin/true"), 1, "loop id '': use 1 to 64 of a-z"),
        (("run", "--max-iterations", "0", "--", "/bin/true"), 2, "0 is not in the range x>=1"),
        (("run", "--pause", "soon", "--", "/bin/true"), 2, "'soon' is not a valid float range"),
        (("run", "--prompt-file", "none.md", "--", "/bin/true"), 1, "none.md: No such file or directory"),
        (("run", "--resume"), 1, "nothing to resume"),
    ],
)
def test_a_wrong_word_is_one_line(project, words, code, said, capsys):
    own = words.index("--") if "--" in words else len(words)
    assert command_line([*words[:own], "--root", str(project.root), *words[own:]]) == code
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert said in printed.err
    assert not project.folder.exists()


def test_the_person_is_told_how_a_run_ended_and_what_to_do_next(project):
    tell = "notify: {command: 'echo \"$RALPH_EVENT: $RALPH_TEXT\" >> ../told.txt'}\n"
    (project.root / "ralph-tracker.yaml").write_text(CONFIG + tell)
    agent = project.scripted(step(3, 1), step(4, 0))
    assert command_line(["run", "--root", str(project.root), "--pause", "0", "--", *agent]) == 0
    (told,) = (project.root.parent / "told.txt").read_text().splitlines()
    assert told.startswith("done: ralph-tracker: Stopped: Target reached. Selected iteration 2 (quality: ")
    assert "Next: the working tree is iteration 2 already" in told


def test_a_person_who_is_needed_is_told(project):
    tell = "notify: {command: 'echo \"$RALPH_EVENT: $RALPH_TEXT\" >> ../told.txt; exit 5', events: [blocked]}\n"
    (project.root / "ralph-tracker.yaml").write_text(CONFIG + tell)
    agent = project.scripted(step(exit=1, prints="Invalid API key · Please run /login"))
    with open_run(Tracker(project.root, environment=dict(os.environ)), project.asked(agent), project.screen) as run:
        run.notify(run.drive(), "log in")
    (told,) = (project.root.parent / "told.txt").read_text().splitlines()
    assert told.startswith("blocked: ralph-tracker: A person is needed: Escalate to human - blocked: needs a person: ")
    assert told.endswith("Next: log in")
    assert project.screen.lines[-1] == "notify.command: exit 5"


class TestAnAgentThatRemovesTheLoop:
    def test_the_loop_is_brought_back_and_goes_on(self, project):
        subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
        subprocess.run(["git", "add", "-A"], cwd=project.root, check=True)
        command = project.scripted(step(3, 1), step(3, 1), step(4, 0))
        second = project.root.parent / "steps" / "2"
        second.write_text(f"git -C $root clean -fdxq\n{second.read_text()}")
        outcome = project.drive(command, max_iterations=3, target_score=None)
        assert outcome.how == "stop"
        assert [each["iteration"] for each in project.records()] == [0, 1, 2, 3]
        (said,) = (line for line in project.screen.lines if "removed from" in line)
        assert said.startswith("loop ralph-001, iterations 0 to 1: removed from .aiwg/ralph by somebody")
        assert any(said in note for note in project.records()[2]["notes"])
        assert Tracker(project.root).verify().is_whole

    def test_without_git_it_is_lost_and_said_so(self, project):
        command = project.scripted(step(3, 1), step(3, 1))
        second = project.root.parent / "steps" / "2"
        second.write_text(f"rm -rf $root/.aiwg\n{second.read_text()}")
        with pytest.raises(LoopError, match=r"ralph-001: removed .* and lost with its iterations 0 to 1: git's folder"):
            project.drive(command, max_iterations=3, target_score=None)
