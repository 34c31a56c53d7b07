"""ralph-tracker show: one iteration, the score down to its components."""

from pathlib import Path

import click

from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import complain, say, say_json
from ralph_tracker.errors import RecordError


@click.command("show")
@click.argument("number", type=click.IntRange(min=0), required=False)
@loop_options
def command(number: int | None, root: Path, loop_id: str | None, as_json: bool) -> None:
    """Show iteration NUMBER as it was recorded (the latest where none is named)."""
    from ralph_tracker.cli.listing import listing
    from ralph_tracker.report.view import iteration_view

    record = listing(root, loop_id).one(number)
    if record.document is None:
        raise RecordError(record.problem or f"iteration {record.number} cannot be read")
    if record.problem:
        complain(record.problem)
    if as_json:
        say_json(record.document)
        return
    it = iteration_view(record.document)
    say(f"iteration {it.iteration} ({it.timestamp}): {it.classification}, verified: {it.verified}")
    say(f"quality {it.total}, adjusted {it.adjusted_score}{f': {it.adjusted_because}' if it.adjusted_because else ''}")
    for row in (*it.rows, *it.more_rows):
        say(
            f"  {row.label:<14} {row.current:>9}  previous {row.previous:>9} ({row.change})  baseline {row.baseline:>9}"
        )
    components = record.document["iteration_metrics"].get("components") or {}
    for dimension in it.dimensions:
        say(f"  {dimension.label:<14} {dimension.score:>9}  weight {dimension.weight}")
    for name, value in components.items():
        say(f"    {name:<24} {'not measured, counts 0' if value is None else f'{value:g}'}")
    for alert in it.all_alerts:
        say(f"  {alert.severity} {alert.id} ({alert.state}): {alert.message}{f' ({alert.note})' if alert.note else ''}")
    say(f"decision: {it.action} ({it.confidence}): {it.reason}")
