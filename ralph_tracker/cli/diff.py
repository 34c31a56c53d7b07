"""ralph-tracker diff: compare two iterations of a loop: metrics, scores, tests, files and the patch."""

from pathlib import Path
from typing import Final

import click

from ralph_tracker.cli.options import IterationNumber, loop_options
from ralph_tracker.cli.terminal import document_of, say, say_json, say_source, say_table, say_wrapped
from ralph_tracker.core.metrics import BY_NAME
from ralph_tracker.iteration.diff import (
    Differences,
    IterationDiff,
    MetricChange,
    OutcomeChange,
    diff_document,
    differences_of,
    side_by_side,
)
from ralph_tracker.report.wording import ABSENT, number, signed_text
from ralph_tracker.short_text import percent
from ralph_tracker.store.records_to_show import as_of_now, listing
from ralph_tracker.store.snapshots.file_changes import FileChange
from ralph_tracker.store.snapshots.snapshot_types import LINK_MODE

_MARKS: Final = {"added": "A", "modified": "M", "deleted": "D", "renamed": "R", "type_changed": "T"}
_EXECUTABLE: Final = "100755"


def say_differences(found: Differences, tests_shown: int, files_shown: int | None) -> None:
    """Print the tests that changed outcome and the files that changed, up to the given numbers (None: all)."""
    if found.tests is None:
        say_wrapped(f"tests: {found.tests_note}")
    else:
        counts = [f"{len(changes)} {_words(kind)}" for kind, changes in found.tests.items() if changes]
        say(f"tests: {', '.join(counts) or 'the same outcomes'}")
        for kind, changes in found.tests.items():
            for change in changes[:tests_shown]:
                say(f"  {_words(kind)}: {change.id}{_aside(kind, change)}")
            _say_rest(len(changes) - tests_shown, _words(kind))
    if found.files is None:
        say_wrapped(f"files: {found.files_note}")
        return
    amounts = [(_words(status), sum(file.status == status for file in found.files)) for status in _MARKS]
    say(f"files: {', '.join(f'{amount} {word}' for word, amount in amounts if amount) or 'the same content'}")
    for file in found.files[:files_shown]:
        lines = file.content if file.content != "text" else f"+{file.added} -{file.deleted}"
        say(f"  {_MARKS[file.status]} {lines:>11}  {file.name}{_mode(file)}")
    if files_shown is not None:
        _say_rest(len(found.files) - files_shown, "files")


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _aside(kind: str, change: OutcomeChange) -> str:
    """Return what the kind's name does not say: the outcome of a new test, or that a test was skipped before."""
    if kind == "new":
        return f" ({change.after})"
    return " (was skipped)" if change.before == "skipped" and kind != "gone" else ""


def _say_rest(rest: int, what: str) -> None:
    if rest > 0:
        say(f"  and {rest} more {what}")


def _mode(file: FileChange) -> str:
    if file.status == "type_changed":
        return " (now a link)" if file.new_mode == LINK_MODE else " (now a file)"
    if file.new_mode is None or (file.old_mode == _EXECUTABLE) is (file.new_mode == _EXECUTABLE):
        return ""
    return " (executable)" if file.new_mode == _EXECUTABLE else " (no longer executable)"


@click.command("diff")
@click.argument("before", type=IterationNumber(min=0), metavar="N")
@click.argument("after", type=IterationNumber(min=0), metavar="[M]", required=False)
@loop_options
@click.option("--stat", is_flag=True, help="Leave the patch out.")
def command(before: int, after: int | None, root: Path, loop_id: str | None, as_json: bool, stat: bool) -> None:
    """Show the differences from iteration N to M (default: the latest).

    Current metrics and scores, tests that changed outcome, files, and the patch.
    """
    found = listing(root, loop_id)
    one, other = as_of_now(found, (found.one(before), found.one(after)))
    differences = differences_of(found.committed, one.number, other.number)
    diff = side_by_side(document_of(one), document_of(other), differences)
    if as_json:
        say_json(diff_document(found.loop_id, diff, patches=not stat))
        return
    _print_diff(found.loop_id, diff)
    if not stat:
        for file in diff.differences.files or ():
            say_source(f"\n{file.patch}" if file.patch else "")


def _print_diff(loop_id: str, diff: IterationDiff) -> None:
    before, after = (name or ABSENT for name in diff.classes)
    say(f"{loop_id}: iteration {diff.before} ({before}) → {diff.after} ({after})")
    header = ("", str(diff.before), str(diff.after), "change", "")
    scores = [change for change in diff.scores if change.name == "adjusted_score"] or diff.scores[:1]
    rows = [_row(change) for change in (*scores, *diff.metrics)]
    say_table([header, *rows], right={1, 2, 3})
    say_differences(diff.differences, 20, None)


def _row(change: MetricChange) -> tuple[str, ...]:
    verdict = {"same": "", "changed": "", "unknown": ""}.get(change.verdict, change.verdict)
    spec = BY_NAME.get(change.name)
    if spec is None:
        moved = "" if change.change is None else f"{change.change * 100:+.1f}" if change.change else "0"
        sides = (percent(None if side is None else float(side)) for side in (change.before, change.after))
        return ("Score", *sides, moved, verdict)
    moved = "" if change.change is None else signed_text(change.change, spec)
    return (spec.label, number(change.before, spec), number(change.after, spec), moved, verdict)
