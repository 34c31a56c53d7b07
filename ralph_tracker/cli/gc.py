"""ralph-tracker gc: remove kept files that are no longer needed; records stay."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from ralph_tracker.cli.next_step import of_loop, say_next
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.terminal import say, say_json, say_wrapped
from ralph_tracker.core.metrics import quantity
from ralph_tracker.loop.retention import KEEP_LAST, Collection, collect, collection_document
from ralph_tracker.report.wording import in_ranges


@click.command("gc")
@loop_options
@click.option("--yes", "carry_out", is_flag=True, help="Delete them; without, they are only listed.")
@click.option(
    "--keep-last",
    type=click.IntRange(min=1),
    default=KEEP_LAST,
    metavar="N",
    help=f"How many of the latest to keep: {KEEP_LAST}.",
)
def command(root: Path, loop_id: str | None, as_json: bool, carry_out: bool, keep_last: int) -> None:
    """Remove kept files of iterations that are no longer needed; their records are kept.

    The baseline, the best, the latest, and those that an open alert, a selection or an undo needs are kept.
    """
    now = datetime.now(UTC)
    found = collect(root, loop_id, now=now, environment=os.environ, carry_out=carry_out, keep_last=keep_last)
    if as_json:
        say_json(collection_document(found))
    else:
        again = "" if keep_last == KEEP_LAST else f" --keep-last {keep_last}"
        _print_collection(found, f"gc{again}{of_loop(loop_id)} --yes")


def _print_collection(found: Collection, command: str) -> None:
    if not found.keeps_files:
        say(f"{found.loop_id}: no files are kept, metrics were handed in; nothing to collect")
        return
    went = "deleted" if found.freed is not None else "to delete"
    if found.is_empty:
        say(f"{found.loop_id}: nothing to collect, {quantity(len(found.staying), 'iteration')} kept")
    if found.going:
        size = sum(found.going.values())
        say_wrapped(
            f"{found.loop_id}: files of iterations {in_ranges(found.going)} {went}, {size:,} bytes outside of the store"
        )
    if found.undos:
        say_wrapped(f"{quantity(len(found.undos), 'old undo snapshot')} {went}: {', '.join(found.undos)}", indent=2)
    if found.leftovers:
        say_wrapped(f"left by killed commands, {went}: {', '.join(found.leftovers)}", indent=2)
    for number, reasons in () if found.is_empty else found.staying.items():
        say_wrapped(f"kept: iteration {number}, {', '.join(reasons)}", indent=2)
    if found.freed is not None:
        say(f"  freed: {found.freed:,} bytes")
    elif not found.is_empty:
        say_next(f"`ralph-tracker {command}` deletes them; their records are kept")
