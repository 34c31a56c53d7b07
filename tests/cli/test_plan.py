"""ralph-tracker plan: how far it has come, and the list that a person edits, with a real editor command."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from ralph_tracker.runner.saved_plan import plan_held, read_plan, state_path, write_plan_state
from ralph_tracker.steering import TaskOutcome
from ralph_tracker.steering.plan import finish_task, state_to_plain, with_task
from ralph_tracker.steering.plan_driver import CheckpointRules, with_checkpoint

PROGRAM = Path(sys.executable).with_name("ralph-tracker")
PLAN = """\
context: A small language.
tasks:
- {id: lexer, title: Write the lexer, description: It splits., checks: [pytest -q]}
- {id: parser, title: Write the parser}
- {id: docs, title: Write it up}
"""


@pytest.fixture
def plan(project):
    return project.file("plan.yaml", PLAN)


@pytest.fixture
def begun(plan):
    """Return a plan whose first task is complete, and whose checkpoint waits."""
    state = finish_task(read_plan(plan).state, "lexer", TaskOutcome("complete", 1.5, ("lexer.py",)))
    state = with_task(state, state.task_named("lexer")._replace(loops=("plan-lexer",), head="0" * 40))
    write_plan_state(plan, state_to_plain(with_checkpoint(state, CheckpointRules(every=1))))
    return plan


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """Return a function that makes $EDITOR a command that leaves such a text in the file."""

    def make(text=None, *, code=0):
        script = tmp_path / "editor"
        edited = tmp_path / "edited"
        leave = ""
        if text is not None:
            edited.write_text(text)
            leave = f'cat "{edited}" > "$1"\n'
        script.write_text(f'#!/bin/sh\ncp "$1" "{tmp_path}/given"\n{leave}exit {code}\n')
        script.chmod(0o755)
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", str(script))
        return tmp_path / "given"

    return make


def order(plan):
    return [(each.id, each.status) for each in read_plan(plan).state.tasks]


def test_show_lists_a_plan_that_has_not_begun(project, plan):
    assert project.plainly("plan", "show", plan).out == (
        "Progress: 0/3 tasks done | $0.00 spent | ~unknown remaining | 3 to do | 0 changed files | 0 fix cycles"
        " | next: Write the lexer\n"
        "#  id      status   loop  title\n"
        "1  lexer   pending        Write the lexer\n"
        "2  parser  pending        Write the parser\n"
        "3  docs    pending        Write it up\n"
        "  next: `ralph-tracker run --plan FILE -- AGENT` begins or continues it;\n"
        "    `ralph-tracker serve` shows its loops\n"
    )


def test_show_tells_how_far_it_has_come_and_what_waits(project, begun):
    shown = project.plainly("plan", "show", begun).out.splitlines()
    assert shown[0].startswith("Progress: 1/3 tasks done | $1.50 spent | ~$3.00 remaining")
    assert shown[2].split() == ["1", "lexer", "complete", "plan-lexer", "Write", "the", "lexer"]
    assert "A checkpoint waits for an answer: Trigger: scheduled" in shown


def test_show_names_the_task_that_was_begun(project, plan):
    write_plan_state(plan, state_to_plain(read_plan(plan).state._replace(current="lexer")))
    assert "1  lexer   begun " in project.plainly("plan", "show", plan).out


@pytest.mark.parametrize("stage", ["plan", "begun"])
def test_show_gives_state_and_summary_as_json_as_its_schema_says(project, stage, request):
    file = request.getfixturevalue(stage)
    shown = project.plainly("plan", "show", file, "--json").json
    schema = project.plainly("schema", "plan").json
    jsonschema.validate(shown, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(shown | {"surprise": 1}, schema)
    assert shown["summary"]["tasks_remaining"] == (3 if stage == "plan" else 2)


def test_what_is_shown_as_json_is_what_is_kept(project, begun):
    shown = project.plainly("plan", "show", begun, "--json").json
    del shown["summary"]
    assert shown == json.loads(state_path(begun).read_text())


def test_a_plan_that_was_changed_meanwhile_is_told(project, begun):
    begun.write_text(PLAN.replace("splits", "cuts"))
    told = project.plainly("plan", "show", begun).out.splitlines()[0]
    assert (
        told == f"{begun} has changed since it was begun; "
        f"it continues as it was begun (remove {state_path(begun)} to start over)"
    )


def test_edit_drops_skips_and_reorders_what_is_left(project, begun, editor):
    given = editor("docs: Write it up\nskip: parser: Write the parser\n")
    answer = project.plainly("plan", "edit", begun, "--yes")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "Skipping task parser. New order: docs.\nThe plan was revised\n"
    assert [line for line in given.read_text().splitlines() if line[0] != "#"] == [
        "parser: Write the parser",
        "docs: Write it up",
    ]
    assert order(begun) == [("lexer", "complete"), ("docs", "pending"), ("parser", "skipped")]


def test_edit_may_begin_with_a_plan_of_which_nothing_ran(project, plan, editor):
    editor("docs\nlexer\n")
    assert project.plainly("plan", "edit", plan, "--yes").code == 0
    assert order(plan) == [("docs", "pending"), ("lexer", "pending")]
    assert read_plan(plan).state.dropped == ("parser",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("parser\nnew: More\n", "line 2: no remaining task 'new'; tasks cannot be added, and ids stay as they are"),
        ("lexer\n", "line 1: task lexer is complete and stays as it is; delete the line"),
        ("docs\ndocs\n", "line 2: task docs is given twice, first in line 1; keep one of them"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_in_one_line(project, begun, editor, text, says):
    editor(text)
    before = state_path(begun).read_bytes()
    answer = project.plainly("plan", "edit", begun, "--yes")
    assert (answer.code, answer.complaint) == (1, f"{says}; nothing was changed")
    assert state_path(begun).read_bytes() == before


def test_edited_text_is_ignored_with_a_note(project, begun, editor):
    editor("parser: Another title\ndocs\n")
    assert project.plainly("plan", "edit", begun).out.splitlines() == [
        "line 1: the text of task parser cannot be changed here; that edit is ignored",
        "Nothing was changed",
    ]


def test_an_editor_that_saves_nothing_changes_nothing(project, begun, editor):
    editor()
    assert project.plainly("plan", "edit", begun).out == "Nothing was changed\n"


def test_an_editor_that_fails_is_told_in_one_line(project, begun, editor):
    editor("docs\n", code=3)
    answer = project.plainly("plan", "edit", begun, "--yes")
    assert answer.code == 1
    assert "diting failed" in answer.complaint
    assert order(begun)[1:] == [("parser", "pending"), ("docs", "pending")]


def test_without_a_terminal_nothing_is_applied_unless_it_was_said_before(project, begun, editor, monkeypatch):
    editor("docs\n")
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        answer = project.plainly("plan", "edit", begun)
    assert (answer.code, answer.complaint) == (1, "Dropping task parser. Confirm? Nobody can answer here; say --yes")
    assert ("parser", "pending") in order(begun)


@pytest.mark.parametrize(("typed", "left"), [(b"y\n", 2), (b"n\n", 3), (b"\x04", 3)], ids=["yes", "no", "end of input"])
def test_on_a_terminal_a_person_confirms(begun, editor, typed, left):
    editor("docs\n")
    ours, theirs = pty.openpty()
    try:
        os.write(ours, typed)
        done = subprocess.run(
            [PROGRAM, "plan", "edit", begun], stdin=theirs, capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0
    assert done.stderr.startswith("Dropping task parser. Confirm? [y/N]")
    assert len(order(begun)) == left
    assert done.stdout == ("The plan was revised\n" if left == 2 else "Nothing was changed\n")


def test_a_plan_with_nothing_left_has_nothing_to_revise(project, begun, editor):
    editor("")
    assert project.plainly("plan", "edit", begun, "--yes").out.startswith(
        "Dropping tasks parser, docs. No task is left: the plan ends here."
    )
    assert project.plainly("plan", "edit", begun).out == "No task is left to revise\n"


def test_a_plan_that_runs_is_not_edited(project, begun):
    with plan_held(begun, "run"):
        answer = project.plainly("plan", "edit", begun)
    assert answer.code == 1
    assert answer.complaint.startswith("plans: in use by process ")


@pytest.mark.parametrize("verb", ["show", "edit"])
def test_a_file_that_is_no_plan_leaves_nothing_behind(project, verb):
    file = project.file("plan.yaml", "tasks: []")
    answer = project.plainly("plan", verb, file)
    assert (answer.code, answer.complaint) == (1, f"{file}: tasks: none; name at least one, with id and title")
    assert [each.name for each in file.parent.iterdir()] == ["plan.yaml"]
