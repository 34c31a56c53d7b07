"""ralph-tracker restore: restore the working tree to an earlier iteration."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import click

from ralph_tracker.cli.next_step import of_loop
from ralph_tracker.cli.options import IterationNumber, loop_options
from ralph_tracker.cli.terminal import say, say_json
from ralph_tracker.core.metrics import quantity
from ralph_tracker.short_text import first_few
from ralph_tracker.store.iteration_snapshots import IterationSnapshots, UndoDocument
from ralph_tracker.store.snapshots.snapshot_types import as_utf8, shown
from ralph_tracker.tracker import Tracker

# How many of the files that go are named.


class RestoreDocument(TypedDict):
    """`undo` is the id that brings back the files from before, `deleted` are those that are gone now.

    After an interrupted restore those are the files before that one, and `edits` is the id of what was edited
    since, null if nothing was.
    """

    iteration: int | None
    undone: str | None
    undo: str
    edits: str | None
    deleted: list[str]


@click.command("restore")
@click.argument("number", type=IterationNumber(min=0), required=False)
@loop_options
@click.option("--undo", metavar="ID", help="Restore the files from before a restore.")
@click.option("--list", "listing", is_flag=True, help="List the undo ids, with their time and what they restore.")
def command(
    number: int | None, root: Path, loop_id: str | None, as_json: bool, undo: str | None, listing: bool
) -> None:
    """Restore the working tree to iteration NUMBER; the next iteration continues from it.

    What that deletes is listed first. The current files are saved, including ignored ones in the way; the printed id
    restores them.
    """
    if (number is not None) + (undo is not None) + listing != 1:
        raise click.UsageError("name an iteration, --undo ID or --list")
    tracker = Tracker(root, loop_id)
    if listing:
        _list(IterationSnapshots(tracker.store()).undo_list(), as_json=as_json)
        return

    def announce(paths: Sequence[str]) -> None:
        deleted.extend(paths)
        if paths and not as_json:
            say(f"Deletes {quantity(len(paths), 'file')}: {first_few([shown(path) for path in paths], 40)}")

    deleted: list[str] = []
    found = tracker.undo(undo, announce) if undo is not None else tracker.restore(number or 0, announce)
    if as_json:
        document: RestoreDocument = {
            "iteration": number,
            "undone": undo,
            "undo": found.undo,
            "edits": found.edits,
            "deleted": [as_utf8(path) for path in deleted],
        }
        say_json(document)
        return
    if undo is None:
        goes_on = "; the next iteration continues from it" if tracker.store().summary().status == "running" else ""
        say(f"The working tree is iteration {number} now{goes_on}")
    else:
        say(f"The working tree is as it was before {undo} was kept")
    say(f"  undo with `ralph-tracker restore --undo {found.undo}{of_loop(loop_id)}`")
    if found.edits is not None:
        say(f"  edits since the interrupted restore: `ralph-tracker restore --undo {found.edits}{of_loop(loop_id)}`")


def _list(undos: Sequence[UndoDocument], *, as_json: bool) -> None:
    if as_json:
        say_json(undos)
        return
    for each in undos:
        more = "; the restore was interrupted" if each["interrupted"] else ""
        if each["files"] is None:
            held = "damaged or missing; see `ralph-tracker verify`"
        else:
            changed = f" with {each['changed']} changed" if each["changed"] else ""
            back = "" if each["iteration"] is None else f"back to iteration {each['iteration']}{changed}, "
            held = f"{back}{quantity(each['files'], 'file')}"
        say(f"{each['undo']}  {each['at']}  {held}{more}")
    if not undos:
        say("no undo ids: nothing was restored in this loop")
