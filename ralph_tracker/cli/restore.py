"""ralph-tracker restore: restore the working tree to an earlier iteration."""

from pathlib import Path
from typing import TypedDict

import click

from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import say, say_json
from ralph_tracker.tracker import Tracker


class RestoreDocument(TypedDict):
    """`undo` is the id that brings back what stood there before."""

    iteration: int | None
    undone: str | None
    undo: str


@click.command("restore")
@click.argument("number", type=click.IntRange(min=0), required=False)
@loop_options
@click.option("--undo", metavar="ID", help="Bring back what stood there before a restore.")
def command(number: int | None, root: Path, loop_id: str | None, as_json: bool, undo: str | None) -> None:
    """Restore the working tree to iteration NUMBER; the next iteration continues from it.

    The current files are saved first, including ignored ones in the way; the printed id restores them.
    """
    if (number is None) == (undo is None):
        raise click.UsageError("name an iteration, or --undo ID")
    tracker = Tracker(root, loop_id)
    undo_id = tracker.undo(undo) if undo is not None else tracker.restore(number or 0)
    if as_json:
        document: RestoreDocument = {"iteration": number, "undone": undo, "undo": undo_id}
        say_json(document)
        return
    if undo is None:
        say(f"The working tree is iteration {number} now; the next iteration goes on from it")
    else:
        say(f"Brought back what stood there before {undo}")
    say(f"  undo: ralph-tracker restore --undo {undo_id}")
