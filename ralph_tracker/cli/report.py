"""ralph-tracker report: a report as Markdown."""

import sys
from pathlib import Path
from typing import Literal, TypedDict

import click

from ralph_tracker.cli.listing import document_of, listing
from ralph_tracker.cli.next_step import say_next
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import complain, say_json, say_text
from ralph_tracker.iteration.would_run import UNTRUSTED_TEMPLATE, trusted_templates
from ralph_tracker.report.markdown import iteration_report
from ralph_tracker.store.files import as_store_error
from ralph_tracker.store.loop_status import checked_root


class ReportDocument(TypedDict):
    iteration: int
    format: Literal["md"]
    text: str


@click.command("report")
@click.argument("number", type=click.IntRange(min=0), required=False)
@loop_options
@click.option("--format", "form", type=click.Choice(["md"]), default="md", help="The format.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write it there.")
def command(
    number: int | None,
    root: Path,
    loop_id: str | None,
    as_json: bool,
    form: str,
    output: Path | None,
) -> None:
    """Print the report of iteration NUMBER (default: the latest)."""
    del form
    record = listing(root, loop_id).one(number)
    templates = trusted_templates(checked_root(root))
    if templates is None:
        complain(UNTRUSTED_TEMPLATE)
    text = iteration_report(document_of(record), templates)
    if output is not None:
        with as_store_error(output):
            output.write_text(text, encoding="utf-8", errors="replace")
    elif as_json:
        document: ReportDocument = {"iteration": record.number, "format": "md", "text": text}
        say_json(document)
    else:
        say_text(text)
        if sys.stdout is not None and sys.stdout.isatty():  # a file or pipe gets only the report
            say_next("`ralph-tracker status` says what to do now")
