"""How a person at the terminal is asked about a plan: the checkpoint, the list to edit, the confirmation."""

import sys
from typing import TYPE_CHECKING, Final

import click

from ralph_tracker.cli.output import harmless
from ralph_tracker.errors import InputError

if TYPE_CHECKING:
    from ralph_tracker.steering.checkpoints import Checkpoint
    from ralph_tracker.steering.driving import Person

_QUESTION: Final = "Continue, adjust or abort?"


def edited(text: str) -> str | None:
    """Return a text as a person leaves it in $VISUAL or $EDITOR, None where it was not saved. Raises InputError."""
    try:
        return click.edit(text, extension=".txt")
    except click.ClickException as error:
        raise InputError(f"{error.format_message()}; set EDITOR to one that works") from None


def confirmed(question: str) -> bool:
    """Ask on standard error; the end of input and Ctrl-C are a no."""
    try:
        return click.confirm(harmless(question), default=False, err=True)
    except click.Abort:
        return False


def answered(checkpoint: "Checkpoint") -> str | None:
    """Show a checkpoint on standard error and return the answer, None at the end of input and at Ctrl-C."""
    for line in checkpoint.text.splitlines():
        click.echo(harmless(line), err=True)
    try:
        return str(click.prompt(_QUESTION, default="", show_default=False, prompt_suffix=" ", err=True))
    except click.Abort:
        return None


def person_here() -> "Person | None":
    """Return how to ask the person at the terminal, None where there is none."""
    from ralph_tracker.steering.driving import Person

    if sys.stdin is None or not sys.stdin.isatty():
        return None

    async def ask(checkpoint: "Checkpoint") -> str | None:
        return answered(checkpoint)

    async def edit(text: str) -> str | None:
        return edited(text)

    async def confirm(question: str) -> bool:
        return confirmed(question)

    return Person(ask, edit, confirm)
