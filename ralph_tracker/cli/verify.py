"""ralph-tracker verify: check everything that is kept against its seals."""

from pathlib import Path
from typing import TypedDict

import click

from ralph_tracker.cli.gc import numbers
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import say, say_json
from ralph_tracker.errors import EXIT_FAILURE, EXIT_OK
from ralph_tracker.tracker import Tracker


class VerificationDocument(TypedDict):
    """`damaged` names files by the number of the iteration; of what gc collected only the records are there."""

    damaged: dict[str, list[str]]
    collected: list[int]


@click.command("verify")
@loop_options
def command(root: Path, loop_id: str | None, as_json: bool) -> int:
    """Check seals, hashes and kept files of every iteration; exit code 1 if something is damaged."""
    tracker = Tracker(root, loop_id)
    damage, collected = tracker.verify(), sorted(tracker.store().collected())
    if as_json:
        damaged = {str(number): list(files) for number, files in damage.items()}
        document: VerificationDocument = {"damaged": damaged, "collected": collected}
        say_json(document)
        return EXIT_FAILURE if damage else EXIT_OK
    for number, files in damage.items():
        say(f"iteration {number}: damaged or missing: {', '.join(files)}")
    if collected:
        say(f"collected by gc, their records stay: iterations {numbers(collected)}")
    if not damage:
        say("Everything that is kept is whole")
    return EXIT_FAILURE if damage else EXIT_OK
