"""ralph-tracker report: one iteration as Markdown, or the whole loop as a page (--html) or a comment (--for pr)."""

import os
import sys
from pathlib import Path
from typing import Any, Literal, TypedDict

import click

from ralph_tracker.cli.next_step import next_step, say_next
from ralph_tracker.cli.options import IterationNumber, loop_options
from ralph_tracker.cli.terminal import complain, document_of, say, say_json, say_text
from ralph_tracker.iteration.trust_listing import UNTRUSTED_TEMPLATE, trusted_templates
from ralph_tracker.report.markdown_reports import iteration_report
from ralph_tracker.report.wording import strength_in_words
from ralph_tracker.safe_files import as_store_error, refuse_link_out
from ralph_tracker.store.find import checked_root, find_loop
from ralph_tracker.store.iteration_snapshots import leave_alone
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.records_to_show import listing
from ralph_tracker.store.summary import summary_at, unrecorded_iteration
from ralph_tracker.store.write import LoopStore


class ReportDocument(TypedDict):
    iteration: int
    format: Literal["md"]
    text: str


@click.command("report")
@click.argument("number", type=IterationNumber(min=0), required=False)
@loop_options
@click.option("--format", "form", type=click.Choice(["md"]), default="md", help="The format.")
@click.option("--md", is_flag=True, help="As Markdown, which is the default.")
@click.option("--for", "reader", type=click.Choice(["pr"]), help="The whole loop as the comment of a pull request.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write the whole loop there as a page.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write it there.")
def command(
    number: int | None,
    root: Path,
    loop_id: str | None,
    as_json: bool,
    form: str,
    reader: str | None,
    html: Path | None,
    output: Path | None,
    *,
    md: bool,
) -> None:
    """Print the report of iteration NUMBER (default: the latest), or write the whole loop as a page or a comment."""
    del form, md
    refuse_link_out(root, html, output)
    if reader is not None:
        if number is not None or as_json or html is not None:
            raise click.UsageError("--for pr reports the whole loop: leave out NUMBER, --json and --html")
        from ralph_tracker.loop.reports import pull_request_comment  # as below

        paths = find_loop(root, loop_id, os.environ)
        _say_or_write(pull_request_comment(LoopStore(paths), _next_step(paths)), output)
        return
    if html is not None:
        if number is not None or as_json or output is not None:
            raise click.UsageError("--html writes the whole loop: leave NUMBER, --json and --output away")
        from ralph_tracker.loop.reports import loop_page  # a page needs more than a report

        paths = find_loop(root, loop_id, os.environ)
        page = loop_page(LoopStore(paths), _next_step(paths))
        with as_store_error(html):
            html.write_text(page, encoding="utf-8", errors="replace")
        leave_alone(paths, html)
        size = len(page.encode("utf-8", "replace")) / 1000
        say(f"{html}: {size:.0f} KB; open it in a browser, it needs no network")
        return
    found = listing(root, loop_id)
    record = found.one(number)
    templates = trusted_templates(checked_root(root))
    if templates is None:
        complain(UNTRUSTED_TEMPLATE)
    shown: Any = document_of(record)
    strength = None if found.committed is None else found.committed.strength(record.number)
    if strength is not None:
        notes = (
            *shown["iteration_metrics"]["notes"],
            *(f"test strength: {each}" for each in strength_in_words(strength)),
        )
        shown = {**shown, "iteration_metrics": {**shown["iteration_metrics"], "notes": notes}}
    text = iteration_report(shown, templates)
    if output is None and as_json:
        document: ReportDocument = {"iteration": record.number, "format": "md", "text": text}
        say_json(document)
        return
    _say_or_write(text, output)
    if output is not None:
        leave_alone(find_loop(root, loop_id, os.environ), output)
    if output is None and sys.stdout is not None and sys.stdout.isatty():  # a file or pipe gets only the report
        say_next("`ralph-tracker status` says what to do now")


def _say_or_write(text: str, output: Path | None) -> None:
    if output is None:
        say_text(text)
        return
    with as_store_error(output):
        output.write_text(text, encoding="utf-8", errors="replace")


def _next_step(paths: LoopPaths) -> str:
    summary = summary_at(paths)
    return next_step(summary, unrecorded_iteration(paths, summary), paths)
