"""`ralph-tracker run --plan` as a user meets it: its words, its exit codes, its person at a terminal."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run as command_line
from ralph_tracker.runner.saved_plan import plan_held
from tests.runner.conftest import step
from tests.runner.planning import LOGIN, SPENT

pytestmark = pytest.mark.slow

PROGRAM = Path(sys.executable).with_name("ralph-tracker")


@pytest.fixture
def said(planned, capfd):
    """Return what runs the plan with these words; it gives the exit code and what was printed."""

    def run(command, *words):
        code = command_line(
            ["run", "--root", str(planned.root), "--plan", str(planned.file), "--pause", "0", *words, "--", *command]
        )
        printed = capfd.readouterr()
        return code, printed.out.splitlines(), printed.err.splitlines()

    return run


def test_a_plan_that_is_done_says_so_in_one_line_again_and_again(planned, said):
    planned.write({"id": "a"})
    command = planned.scripted(a=[step(4, 0)])
    code, out, err = said(command)
    summary = "1/1 tasks done | unknown spent | ~unknown remaining | 0 to do | 1 changed file | 0 fix cycles"
    assert (code, out[-1]) == (0, f"The plan is done. Progress: {summary}")
    assert "task 1 of 1, a: Do a; begins as loop plan-a" in err
    assert said(command) == (0, out[-1:], [])


def test_tasks_that_failed_are_named_at_the_end(planned, said):
    planned.write({"id": "a"})
    code, out, _ = said(planned.scripted(a=[step(3, 1)]), "--max-iterations", "1")
    assert code == 1
    assert "  failed: a (Do a): Iteration limit reached: 1 of 1; tests: 1 test fails" in out
    assert "ralph-tracker history --loop-id" in " ".join(out[-2:])


@pytest.mark.parametrize(
    ("step", "begins"),
    [
        (LOGIN, "A person is needed: Escalate to human - blocked: needs a person: "),
        (step(4, 0, spends=SPENT), "A person is needed: nothing is left of the budget of $0.50"),
        (step(2, 2, spends=SPENT), "A person is needed: a checkpoint (budget critical), nobody to ask"),
    ],
    ids=["an escalation", "the budget", "a checkpoint"],
)
def test_what_needs_a_person_ends_it_with_the_next_step(planned, said, step, begins):
    goes_on = "" if "checkpoint" in begins else "checkpoints: {unattended: continue}\n"
    planned.write({"id": "a"}, {"id": "b"}, config=goes_on)
    code, out, _ = said(planned.scripted(a=[step]), "--max-cost-usd", "0.5")
    assert code == 12
    assert begins in "\n".join(out)
    assert "next: run the same command again to continue" in "\n".join(out)


def test_ctrl_c_ends_it_as_asked(planned, said):
    planned.write({"id": "a"})
    command = planned.scripted(a=[step(3, 1), step(4, 0)])
    script = planned.root.parent / "steps" / "plan-a-1"
    script.write_text(script.read_text().replace("exit 0\n", "kill -INT $PPID\nexit 0\n"))
    code, out, _ = said(command)
    assert (code, "Stopped: as asked, after iteration 1" in out) == (130, True)
    assert said(command)[0] == 0


def test_limits_of_a_task_that_goes_on_are_told_to_be_frozen(planned, said):
    planned.write({"id": "a"})
    said(planned.scripted(a=[LOGIN]))
    code, out, err = said(planned.scripted(a=[LOGIN, step(4, 0)]), "--max-iterations", "9", "--max-minutes", "5")
    assert code == 0
    frozen = "--max-iterations, --max-minutes: the limits of loop plan-a are frozen with it, these count from the next"
    assert frozen in "\n".join([*out, *err])


def test_a_file_that_has_changed_is_told_and_the_plan_goes_on_as_begun(planned, said):
    planned.write({"id": "a"})
    said(planned.scripted(a=[LOGIN]))
    planned.write({"id": "other"})
    code, out, _ = said(planned.scripted(a=[LOGIN, step(4, 0)]))
    assert (code, planned.statuses()) == (0, {"a": "complete"})
    assert "has changed since it was begun; it continues as it was begun" in out[0]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--prompt-file", "x.md"), 2, "--prompt-file: with --plan the tasks are the prompts"),
        (("--apply", "none"), 2, "--apply: with --plan the result of each task stays in the working tree"),
        (("--loop-id", "x"), 2, "--loop-id: with --plan each task has its own loop"),
        (("--target-score", "2"), 2, "2.0 is not in the range"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_says_nothing_with_a_plan_is_refused_in_one_line(planned, said, words, code, why):
    planned.write({"id": "a"})
    ended, out, err = said(planned.scripted(a=[]), *words)
    assert (ended, out, len(err)) == (code, [], 1)
    assert why in err[0]
    assert planned.loops() == []


def test_without_a_command_it_is_refused_even_where_it_goes_on(planned, capsys):
    planned.write({"id": "a"})
    assert command_line(["run", "--plan", str(planned.file), "--resume"]) == 2
    assert "no agent command; give it after `--`" in capsys.readouterr().err


def test_resume_means_nothing_more(planned, said):
    planned.write({"id": "a"})
    assert said(planned.scripted(a=[step(4, 0)]), "--resume")[0] == 0


@pytest.mark.parametrize("text", ["tasks: []\n", "tasks: [{id: a}]\n", "x: [\n", None])
def test_a_plan_file_that_is_none_is_one_line(planned, said, text):
    if text is not None:
        planned.file.write_text(text)
    code, out, err = said(("/bin/true",))
    assert (code, out, len(err)) == (1, [], 1)
    assert "plan.yaml: " in err[0]


def test_plan_show_beside_it_says_who_holds_it(planned, capsys):
    planned.write({"id": "a"})
    with plan_held(planned.file, "run"):
        assert command_line(["plan", "show", str(planned.file)]) == 0
    assert f"In use by process {os.getpid()} (run)\n" in capsys.readouterr().out


def test_a_person_at_a_real_terminal_adjusts_and_goes_on(planned, tmp_path):
    """Checkpoint, adjust, continue: the acceptance test of the whole."""
    planned.write({"id": "a"}, {"id": "b"}, {"id": "c"}, config="checkpoints: {every: 1}\n")
    command = planned.scripted(a=[step(4, 0)], c=[step(4, 0)])
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/^b:/skip: b:/" "$1"\n')
    editor.chmod(0o755)
    ours, theirs = pty.openpty()
    os.write(ours, b"adjust\ny\n")
    try:
        done = subprocess.run(
            [PROGRAM, "run", "--root", planned.root, "--plan", planned.file, "--", *command],
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "EDITOR": str(editor), "VISUAL": str(editor)},
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "Checkpoint: 1/3 tasks done | unknown spent | ~unknown remaining\nTrigger: scheduled\n" in done.stderr
    assert "Skipping task b. Confirm?" in done.stderr
    assert planned.statuses() == {"a": "complete", "b": "skipped", "c": "complete"}
