"""ralph-tracker schema: the shape of what is handed in, and of what every `--json` prints."""

from typing import Final

import click

from ralph_tracker.cli.output import say_json

# Listed here so that help and completion need no pydantic; a test holds it against the table.
NAMES: Final = (
    "config",
    "metrics",
    "usage",
    "record",
    "decision",
    "selection",
    "status",
    "history",
    "show",
    "diff",
    "acceptance",
    "report",
    "restore",
    "verify",
    "gc",
    "doctor",
    "gate",
    "integrity",
    "read",
    "simulate",
    "plan",
)


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES), metavar="NAME")
def command(name: str) -> None:
    """Print the JSON Schema NAME.

    config, metrics and usage are handed in. record is printed by pre-loop and post-iteration; decision by
    loop-decision; selection by post-loop and select-best; the others by the verb of their name (acceptance: accept).
    """
    from ralph_tracker.cli.schemas import SCHEMAS

    say_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **SCHEMAS[name]()})
