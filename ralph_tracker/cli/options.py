"""The options that several verbs share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]


def loop_options(command: Command) -> Command:
    """Add --root, --loop-id and --json."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON, as `ralph-tracker schema` describes it."),
        click.option("--loop-id", metavar="ID", help="The loop; else RALPH_LOOP_ID, else the current one."),
        click.option("--root", type=click.Path(path_type=Path), default=Path(), help="The project's folder."),
    ):
        command = option(command)
    return command
