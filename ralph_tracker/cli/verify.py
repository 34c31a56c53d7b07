"""ralph-tracker verify: check everything that is kept against its seals."""

from pathlib import Path
from typing import TypedDict

import click

from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.terminal import say, say_json, say_wrapped
from ralph_tracker.core.metrics import quantity
from ralph_tracker.errors import EXIT_FAILURE, EXIT_OK
from ralph_tracker.report.wording import in_ranges
from ralph_tracker.store.restore_mark import InterruptedRestoreDocument, interrupted_document, interrupted_restore
from ralph_tracker.store.summary import INTERRUPTED
from ralph_tracker.store.verify import Examination
from ralph_tracker.tracker import Tracker


class VerificationDocument(TypedDict):
    """`damaged` names files by the number of the iteration; of what gc collected only the records are there.

    `undo` are ids that cannot be brought back, `derived` files that are made from the others, `lost` files of which
    there is no copy. `interrupted` is the iteration that a killed command was recording, null if none; the next command
    finishes it. `repaired` is what `--repair` rebuilt, null without it; `notes` what it could not make as it was.
    """

    damaged: dict[str, list[str]]
    undo: list[str]
    derived: list[str]
    lost: list[str]
    collected: list[int]
    interrupted: int | None
    interrupted_restore: InterruptedRestoreDocument | None
    repaired: list[str] | None
    notes: list[str]


@click.command("verify")
@loop_options
@click.option(
    "--repair", is_flag=True, help="Rebuild what is damaged and can be made from the rest; the loop is locked."
)
def command(root: Path, loop_id: str | None, as_json: bool, repair: bool) -> int:
    """Check seals, and open every kept iteration as a restore would; exit code 1 if something is damaged.

    --repair rebuilds indexes, names, listings, trees, and contents of which a copy is in the working tree or beside a
    record. What does not match its hash is moved to the folder damaged of the store.
    """
    tracker = Tracker(root, loop_id)
    found, notes = tracker.verify(), []
    repaired: list[str] | None = [] if repair else None
    if repair and not found._replace(lost=()).is_whole:
        before = found
        notes = ["store/ignore was lost: the ignore rules of today take its place"] if tracker.repair() else []
        found = tracker.verify()._replace(lost=before.lost)
        repaired = before.rebuilt_in(found)
    collected, interrupted = sorted(tracker.store().collected_iterations()), interrupted_restore(tracker.store().paths)
    if as_json:
        document: VerificationDocument = {
            "damaged": {str(number): list(files) for number, files in found.iterations.items()},
            "undo": list(found.undo_ids),
            "derived": list(found.derived),
            "lost": list(found.lost),
            "collected": collected,
            "interrupted": found.interrupted,
            "interrupted_restore": interrupted_document(interrupted),
            "repaired": repaired,
            "notes": notes,
        }
        say_json(document)
        return EXIT_OK if found.is_whole else EXIT_FAILURE
    for line in (*(f"rebuilt: {each}" for each in repaired or ()), *notes):
        say(line)
    _print_examination(found, collected)
    if found.interrupted is not None:
        say(INTERRUPTED.format(found.interrupted))
    if interrupted is not None:
        say_wrapped(f"{interrupted.what} was interrupted: {interrupted.ways_out}")
    if found.is_whole:
        kept = tracker.store().summary().iteration + 1 - len(collected)
        say(f"{quantity(kept, 'iteration')} checked: every file is there and matches its hash")
    elif repaired is not None:
        say("  what is still damaged cannot be rebuilt: restore it from a backup; other iterations are not affected")
    else:
        say("  next: `ralph-tracker verify --repair` rebuilds what can be made from the rest")
    return EXIT_OK if found.is_whole else EXIT_FAILURE


def _print_examination(found: Examination, collected: list[int]) -> None:
    for number, files in found.iterations.items():
        say(f"iteration {number}: damaged or missing: {', '.join(files)}")
    for undo_id in found.undo_ids:
        say(f"{undo_id}: what it brings back is damaged or missing")
    if found.derived:
        say(f"damaged or missing, made from the rest: {', '.join(found.derived)}")
    if found.lost:
        say(f"damaged or missing, and in no other file: {', '.join(found.lost)}")
    if collected:
        say(f"collected by gc, their records stay: iterations {in_ranges(collected)}")
