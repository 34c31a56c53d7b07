"""A person at a terminal answers a checkpoint, edits and confirms; what is closed is no yes."""

import asyncio
import io
import os
import pty
import subprocess
import sys

import pytest

from ralph_tracker.cli.terminal import ask_checkpoint, ask_yes_or_no, edit_text, person_here
from ralph_tracker.errors import InputError
from ralph_tracker.steering import Checkpoint, Plan, Task, choice_of, compute_progress_summary, new_plan_state

CHECKPOINT = Checkpoint("scheduled", compute_progress_summary(new_plan_state(Plan((Task("a", "A"),)))))
DRIVEN = """
import asyncio
from ralph_tracker.cli.terminal import person_here
from ralph_tracker.steering import CheckpointRules, Plan, PlanCalls, Task, TaskOutcome, new_plan_state, drive_plan

async def run_task(assignment):
    return TaskOutcome("complete", 1.0)

plan = Plan(tuple(Task(name, name.upper()) for name in "abcd"))
calls = PlanCalls(run_task, lambda _: None, lambda line: print(line, flush=True), person_here())
ended = asyncio.run(drive_plan(new_plan_state(plan), CheckpointRules(every=1), calls))
print(ended.how, *(f"{each.id}:{each.status}" for each in ended.state.tasks))
"""


@pytest.fixture
def typed(monkeypatch):
    """Return a function that puts what a person types on standard input."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_an_answer_is_what_was_typed_and_nothing_is_the_end_of_input(typed, capsys):
    typed("continue\n\n")
    assert [ask_checkpoint(CHECKPOINT), ask_checkpoint(CHECKPOINT), ask_checkpoint(CHECKPOINT)] == [
        "continue",
        "",
        None,
    ]
    shown = capsys.readouterr()
    assert shown.err.startswith(f"{CHECKPOINT.text}\nContinue, adjust or abort? ")
    assert shown.out == ""


@pytest.mark.parametrize(("text", "agreed"), [("y\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_only_a_yes_confirms(typed, text, agreed):
    typed(text)
    assert ask_yes_or_no("Dropping task a. Confirm?") is agreed


def test_an_editor_that_is_not_there_is_told_in_one_line(monkeypatch):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "/nowhere/editor")
    with pytest.raises(InputError, match="set EDITOR to one that works"):
        edit_text("a: A\n")


def test_without_a_terminal_there_is_no_person(typed):
    typed("continue\n")
    assert person_here() is None


def test_on_a_terminal_the_person_is_asked_in_all_three_ways(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("abort\ny\n"))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "true")
    person = person_here()
    assert choice_of(asyncio.run(person.ask(CHECKPOINT))) == "abort"
    assert asyncio.run(person.confirm("Sure?"))
    assert asyncio.run(person.edit("a: A\n")) is None


@pytest.mark.parametrize(
    ("keys", "ended"),
    [
        (b"maybe\nadjust\ny\ncontinue\n", "done a:complete d:complete c:complete"),
        (b"\x04", "aborted a:complete b:pending c:pending d:pending"),
        (b"continue\nabort\n", "aborted a:complete b:complete c:pending d:pending"),
    ],
    ids=["checkpoint, adjust, continue", "end of input", "continue, abort"],
)
def test_a_plan_at_a_real_terminal(tmp_path, keys, ended):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "d: D\\nc: C\\n" > "$1"\n')
    editor.chmod(0o755)
    ours, theirs = pty.openpty()
    try:
        os.write(ours, keys)
        environment = {**os.environ, "EDITOR": str(editor), "VISUAL": str(editor)}
        done = subprocess.run(
            [sys.executable, "-c", DRIVEN],
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, ended)


@pytest.mark.parametrize("editor", ["vi", "/usr/bin/nano -w", ""])
def test_an_editor_that_needs_a_terminal_is_not_started_without_one(editor, monkeypatch):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    with pytest.raises(InputError, match=r"(vi|nano) needs a terminal, and this is none; set EDITOR"):
        edit_text("a: A\n")
