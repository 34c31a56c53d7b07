"""ralph-tracker mcp: answer an agent over the Model Context Protocol, read-only."""

import os
from pathlib import Path

import click

from ralph_tracker.cli.options import place_options
from ralph_tracker.errors import ConfigError
from ralph_tracker.store.loop_summary import checked_root


@click.command("mcp")
@place_options
def command(root: Path, loop_id: str | None) -> None:
    """Serve status, finding, gate, history and explain on standard input and output, until the agent closes them.

    Nothing is recorded, accepted, restored or configured. Needs the extra `mcp`.
    """
    folder = checked_root(root)
    try:
        from ralph_tracker.agents.mcp_server import server_of  # the SDK is an extra
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"mcp", "mcp_types", "anyio"}:
            raise
        raise ConfigError("the MCP SDK is missing; pip install 'ralph-tracker[mcp]'") from None
    server_of(folder, loop_id, os.environ).run("stdio")
