"""ralph-tracker mcp: answer an agent over the Model Context Protocol with what the read-only verbs answer."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ralph_tracker.cli.options import place_options
from ralph_tracker.errors import EXIT_NOT_MEASURED, EXIT_OK, EXIT_REGRESSION, ConfigError, RalphTrackerError
from ralph_tracker.store.find import checked_root
from ralph_tracker.version import __version__

if TYPE_CHECKING:
    from mcp.server import MCPServer  # an extra

_INSTRUCTIONS: Final = (
    "ralph-tracker measures every iteration of this loop with the project's own checks. Ask `feedback` for what to fix "
    "next and `gate` whether your changes would pass. Nothing here records, accepts, restores or configures anything."
)
_PROGRAM: Final = (sys.executable, "-P", "-c", "from ralph_tracker.cli.app import main; main()")


@click.command("mcp")
@place_options
def command(root: Path, loop_id: str | None) -> None:
    """Serve status, finding, gate, history and explain on standard input and output, until the agent closes them.

    Nothing is recorded, accepted, restored or configured. Needs the extra `mcp`.
    """
    folder = checked_root(root)
    try:
        server = server_of(folder, loop_id, os.environ)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"mcp", "mcp_types", "anyio"}:
            raise
        raise ConfigError("the MCP SDK is missing; pip install 'ralph-tracker[mcp]'") from None
    server.run("stdio")


def server_of(root: Path, loop_id: str | None, environment: Mapping[str, str]) -> "MCPServer":
    """Return a server whose tools answer for one project, and one loop of it (None: the current one).

    Raises ModuleNotFoundError without the SDK.
    """
    import anyio
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations

    from ralph_tracker.cli.feedback import feedback_text

    loop = () if loop_id is None else ("--loop-id", loop_id)

    async def answer(*words: str) -> Any:  # noqa: ANN401  # a JSON document
        """Return the document of a verb, which runs in a process of its own: standard output is the protocol's here."""
        command = [*_PROGRAM, *words, "--json", "--root", str(root), *loop]
        done = await anyio.run_process(command, stdin=subprocess.DEVNULL, check=False, env=dict(environment))
        if done.returncode not in {EXIT_OK, EXIT_REGRESSION, EXIT_NOT_MEASURED}:
            raise ToolError(done.stderr.decode("utf-8", "replace").strip())
        return json.loads(done.stdout)

    async def status() -> Any:  # noqa: ANN401
        """Return the state of the loop: last and best iteration, open alerts, the decision and the next step."""
        return await answer("status")

    def what_to_fix() -> str:
        """Tell what holds the last iteration back: failing tests with their messages, errors, findings, lost tests."""
        try:
            return feedback_text(root, loop_id, environment)
        except RalphTrackerError as error:
            raise ToolError(str(error)) from None

    async def gate() -> Any:  # noqa: ANN401
        """Run the project's checks on the files as they are, and say whether they would pass; nothing is recorded."""
        return await answer("gate")

    async def history(last: int = 20) -> Any:  # noqa: ANN401
        """List the records of the last iterations, oldest first."""
        return {"iterations": await answer("history", "--last", str(last))}  # a list would be an item each

    async def explain(iteration: int | None = None) -> Any:  # noqa: ANN401
        """Explain one iteration (default: the last): score by component, alerts with reasons, changes, checks."""
        return await answer("show", *([] if iteration is None else [str(iteration)]))

    server = MCPServer("ralph-tracker", instructions=_INSTRUCTIONS, version=__version__)
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    runs_checks = ToolAnnotations(destructive_hint=False, open_world_hint=False)
    for tool in (status, history, explain):
        server.add_tool(tool, annotations=reads, structured_output=False)
    server.add_tool(what_to_fix, name="feedback", annotations=reads, structured_output=False)
    server.add_tool(gate, annotations=runs_checks, structured_output=False)
    return server
