"""ralph-tracker history: every iteration in a line."""

from pathlib import Path
from typing import Any

import click

from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import complain, say, say_json

COLUMNS = ("iteration", "class", "tests", "coverage", "errors", "quality", "adjusted", "decision", "")


@click.command("history")
@loop_options
def command(root: Path, loop_id: str | None, as_json: bool) -> None:
    """List the iterations, the best marked; scores are as of now.

    A record that is damaged is named; the others go on.
    """
    from ralph_tracker.cli.listing import as_of_now, listing

    found = listing(root, loop_id)
    records = as_of_now(found)
    for problem in found.problems:
        complain(problem)
    if as_json:
        say_json([record.document for record in records if record.document is not None])
        return
    table = [COLUMNS, *(_line(record.number, record.document) for record in records)]
    widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
    for row in table:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _line(number: int, document: Any) -> tuple[str, ...]:  # noqa: ANN401  # a record's document or None
    from ralph_tracker.report.view import iteration_view

    if document is None:
        return (str(number), "damaged", "", "", "", "", "", "", "")
    view, record = iteration_view(document), document["iteration_metrics"]
    testing = record.get("testing") or {}
    tests = (
        f"{testing['tests_passed']}/{testing['test_count']}"
        if {"tests_passed", "test_count"} <= testing.keys()
        else "n/a"
    )
    rows = {row.label: row.current for row in view.rows}
    return (
        str(view.iteration),
        view.classification,
        tests,
        rows["Coverage"],
        rows["Errors"],
        view.quality_score,
        view.adjusted_score,
        view.action,
        "← best" if record.get("is_best_iteration") else "",
    )
