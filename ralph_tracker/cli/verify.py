"""ralph-tracker verify: check everything that is kept against its seals."""

from pathlib import Path
from typing import TypedDict

import click

from ralph_tracker.cli.gc import numbers
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import say, say_json, say_wrapped
from ralph_tracker.errors import EXIT_FAILURE, EXIT_OK
from ralph_tracker.store.restoring import InterruptedRestoreDocument, interrupted_document, interrupted_restore
from ralph_tracker.tracker import Tracker


class VerificationDocument(TypedDict):
    """`damaged` names files by the number of the iteration; of what gc collected only the records are there."""

    damaged: dict[str, list[str]]
    collected: list[int]
    interrupted_restore: InterruptedRestoreDocument | None


@click.command("verify")
@loop_options
def command(root: Path, loop_id: str | None, as_json: bool) -> int:
    """Check seals, hashes and kept files of every iteration; exit code 1 if something is damaged."""
    tracker = Tracker(root, loop_id)
    damage, collected = tracker.verify(), sorted(tracker.store().collected())
    interrupted = interrupted_restore(tracker.store().paths)
    if as_json:
        damaged = {str(number): list(files) for number, files in damage.items()}
        document: VerificationDocument = {
            "damaged": damaged,
            "collected": collected,
            "interrupted_restore": interrupted_document(interrupted),
        }
        say_json(document)
        return EXIT_FAILURE if damage else EXIT_OK
    for number, files in damage.items():
        say(f"iteration {number}: damaged or missing: {', '.join(files)}")
    if collected:
        say(f"collected by gc, their records stay: iterations {numbers(collected)}")
    if interrupted is not None:
        say_wrapped(f"{interrupted.what} was interrupted: {interrupted.ways_out}")
    if not damage:
        say("Everything that is kept is whole")
    return EXIT_FAILURE if damage else EXIT_OK
