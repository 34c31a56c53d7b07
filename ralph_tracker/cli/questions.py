"""Ask the person at the terminal: whether to trust what would run, and what a plan waits for.

The hooks of every iteration import this module, so that click is imported where it asks.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ralph_tracker.cli.output import harmless, progress
from ralph_tracker.errors import InputError

if TYPE_CHECKING:
    from ralph_tracker.steering.plan_driver import Checkpoint, Person
    from ralph_tracker.store.trust import Consent
    from ralph_tracker.tracker import Tracker

_QUESTION: Final = "Continue, adjust or abort?"


def tracker_of(root: Path, loop_id: str | None, *, trust: bool = False) -> "Tracker":
    """Return the tracker of a loop (None: the one that is meant); progress and questions are for a terminal."""
    from ralph_tracker.tracker import Tracker  # loop-decision does without it

    return Tracker(root, loop_id, progress=progress(), trust=consent(trust=trust))


def consent(*, trust: bool) -> "Consent":
    """Return how to decide about what the user does not trust: by the option, else by asking at a terminal, else no."""
    if trust:
        return True
    here = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    return _ask_consent if here else False


def _ask_consent(what: str, runs: Sequence[str]) -> bool:
    """Show what would run on standard error, and ask; the end of input and Ctrl-C count as no."""
    import click

    for line in (f"{what} would run these commands, which you have not accepted yet:", *(f"  {run}" for run in runs)):
        click.echo(harmless(line), err=True)
    return ask_yes_or_no("Trust it?")


def edit_text(text: str) -> str | None:
    """Return a text as edited in $VISUAL or $EDITOR, None if it was not saved. Raises InputError."""
    import click

    try:
        return click.edit(text, extension=".txt")
    except click.ClickException as error:
        raise InputError(f"{error.format_message()}; set EDITOR to one that works") from None


def ask_yes_or_no(question: str) -> bool:
    """Ask on standard error; the end of input and Ctrl-C count as no."""
    import click

    try:
        return click.confirm(harmless(question), default=False, err=True)
    except click.Abort:
        return False


def ask_checkpoint(checkpoint: "Checkpoint") -> str | None:
    """Show a checkpoint on standard error and return the answer, None at the end of input and at Ctrl-C."""
    import click

    for line in checkpoint.text.splitlines():
        click.echo(harmless(line), err=True)
    try:
        return str(click.prompt(_QUESTION, default="", show_default=False, prompt_suffix=" ", err=True))
    except click.Abort:
        return None


def person_here() -> "Person | None":
    """Return the ways to ask the person at the terminal, None if there is none."""
    if not sys.stdin.isatty():
        return None
    from ralph_tracker.steering.plan_driver import Person

    async def ask(checkpoint: "Checkpoint") -> str | None:
        return ask_checkpoint(checkpoint)

    async def edit(text: str) -> str | None:
        return edit_text(text)

    async def confirm(question: str) -> bool:
        return ask_yes_or_no(question)

    return Person(ask, edit, confirm)
