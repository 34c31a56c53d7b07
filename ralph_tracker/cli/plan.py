"""ralph-tracker plan: show the progress of a plan, and revise its remaining tasks."""

import sys
from pathlib import Path
from typing import Final

import click

from ralph_tracker.cli.next_step import say_next
from ralph_tracker.cli.terminal import ask_yes_or_no, edit_text, say, say_json, say_table
from ralph_tracker.errors import InputError
from ralph_tracker.runner.saved_plan import SavedPlan, plan_held, plan_holder, read_plan, state_path, write_plan_state
from ralph_tracker.steering.plan import compute_progress_summary, format_progress_summary, plan_document, state_to_plain
from ralph_tracker.steering.plan_driver import (
    apply_plan_adjustment,
    checkpoint_of,
    format_adjustment,
    parse_plan_revision,
    plan_revision_text,
)

_UNCHANGED: Final = "Nothing was changed"
_file = click.argument("file", type=click.Path(path_type=Path))


@click.group("plan")
def command() -> None:
    """Show a plan, or revise its remaining tasks.

    A plan is a YAML file of tasks, done one after another.
    """


@command.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as `ralph-tracker schema` describes it.")
@_file
def show(file: Path, as_json: bool) -> None:
    """Show the progress of plan FILE and its cost."""
    saved = read_plan(file)
    state = saved.state
    summary = compute_progress_summary(state)
    if as_json:
        say_json(plan_document(state, summary))
        return
    say_changed(file, saved)
    holder = plan_holder(file)
    if holder is not None:
        say(f"In use by {holder}")
    say(format_progress_summary(summary))
    rows = [
        (
            str(number),
            each.id,
            "begun" if each.id == state.current else each.status,
            each.loops[-1] if each.loops else "",
            each.task.title,
        )
        for number, each in enumerate(state.tasks, 1)
    ]
    say_table([("#", "id", "status", "loop", "title"), *rows], right={0})
    checkpoint = checkpoint_of(state)
    if checkpoint is not None:
        say(f"A checkpoint waits for an answer: {checkpoint.text.splitlines()[1]}")
    if state.pending:
        say_next(
            "`ralph-tracker run --plan FILE -- AGENT` begins or continues it; `ralph-tracker serve` shows its loops"
        )


@command.command("edit")
@click.option("--yes", is_flag=True, help="Apply the edit without a question.")
@_file
def edit(file: Path, yes: bool) -> None:
    """Drop, skip or reorder the remaining tasks of plan FILE.

    The tasks are edited as a list, in $VISUAL or $EDITOR. None can be added, and finished tasks cannot be changed.
    """
    read_plan(file)
    with plan_held(file, "plan edit"):
        saved = read_plan(file)
        state = saved.state
        say_changed(file, saved)
        if not state.pending:
            say("No task is left to revise")
            return
        text = edit_text(plan_revision_text(state))
        revision = None if text is None else parse_plan_revision(state, text)
        for note in revision.notes if revision else ():
            say(note)
        if revision is None or revision.adjustment.is_empty:
            say(_UNCHANGED)
            return
        question = format_adjustment(state, revision.adjustment)
        if yes:
            say(question.removesuffix(" Confirm?"))
        elif not sys.stdin.isatty():
            raise InputError(f"{question} Nobody can answer here; say --yes")
        elif not ask_yes_or_no(question):
            say(_UNCHANGED)
            return
        write_plan_state(file, state_to_plain(apply_plan_adjustment(state, revision.adjustment)))
    say("The plan was revised")


def say_changed(file: Path, saved: "SavedPlan") -> None:
    """Print that a plan continues as it was begun, if its file has changed since."""
    if saved.has_changed:
        state = state_path(file)
        say(f"{file} has changed since it was begun; it continues as it was begun (remove {state} to start over)")
