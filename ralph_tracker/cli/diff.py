"""ralph-tracker diff: two iterations side by side."""

from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import say, say_json, say_source

TESTS_SHOWN: Final = 20


@click.command("diff")
@click.argument("before", type=click.IntRange(min=0), metavar="N")
@click.argument("after", type=click.IntRange(min=0), metavar="[M]", required=False)
@loop_options
@click.option("--stat", is_flag=True, help="Leave the patch out.")
def command(before: int, after: int | None, root: Path, loop_id: str | None, as_json: bool, stat: bool) -> None:
    """Show what differs from iteration N to M (the latest where none is named).

    Metrics and scores as of now, tests that changed outcome, files, and the patch.
    """
    from ralph_tracker.cli.listing import as_of_now, document_of, listing
    from ralph_tracker.comparing import diff_document, differences_of, side_by_side

    found = listing(root, loop_id)
    one, other = as_of_now(found, (found.one(before), found.one(after)))
    differences = differences_of(found.committed, one.number, other.number)
    diff = side_by_side(document_of(one), document_of(other), differences)
    if as_json:
        say_json({"loop_id": found.loop_id, **diff_document(diff, patches=not stat)})
        return
    _say(found.loop_id, diff)
    if not stat:
        for file in diff.differences.files or ():
            say_source(f"\n{file.patch}" if file.patch else "")


def _say(loop_id: str, diff: Any) -> None:  # noqa: ANN401  # an IterationDiff
    from ralph_tracker.cli.columns import say_table
    from ralph_tracker.cli.differing import say_differences
    from ralph_tracker.report.numbers import ABSENT

    before, after = (name or ABSENT for name in diff.classes)
    say(f"{loop_id}: iteration {diff.before} ({before}) → {diff.after} ({after})")
    header = ("", str(diff.before), str(diff.after), "change", "")
    rows = [_row(change) for change in (*diff.scores, *diff.metrics)]
    say_table([header, *rows], right={1, 2, 3})
    say_differences(diff.differences, TESTS_SHOWN, None)


def _row(change: Any) -> tuple[str, ...]:  # noqa: ANN401  # a MetricChange
    from ralph_tracker.core.metrics import BY_NAME
    from ralph_tracker.core.rounding import SCORE_DECIMALS
    from ralph_tracker.report.numbers import number, score, signed

    verdict = {"same": "", "changed": "", "unknown": ""}.get(change.verdict, change.verdict)
    spec = BY_NAME.get(change.name)
    if spec is None:
        moved = "" if change.change is None else f"{change.change:+.{SCORE_DECIMALS}f}" if change.change else "0"
        label = change.name.replace("_", " ").capitalize()
        return (label, score(change.before), score(change.after), moved, verdict)
    moved = "" if change.change is None else signed(change.change, spec)
    return (spec.label, number(change.before, spec), number(change.after, spec), moved, verdict)
