"""ralph-tracker serve: the loops of a project as live pages for a browser, read-only."""

import os
import secrets
from pathlib import Path

import click

from ralph_tracker.cli.options import place_options
from ralph_tracker.cli.status import document_at
from ralph_tracker.cli.terminal import flush, say
from ralph_tracker.errors import ConfigError
from ralph_tracker.runner.read_activity import activity_of
from ralph_tracker.store.find import checked_root, find_loop
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.summary import summary_at


@click.command("serve")
@place_options
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port; else any free one.")
def command(root: Path, loop_id: str | None, port: int) -> None:
    """Show the loops of the project in a browser, as they are now, until Ctrl-C.

    Nothing is ever written. Only this machine is answered, and only with the token of the printed address. Needs the
    extra `web`.
    """
    project = ProjectPaths(checked_root(root))
    page = "/" if loop_id is None else f"/loops/{find_loop(root, loop_id, os.environ).loop_id}"
    try:
        from ralph_tracker.web.server import Sources, application, open_socket, serve  # an extra
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"starlette", "uvicorn", "sse_starlette", "anyio"}:
            raise
        raise ConfigError("the web server is missing; pip install 'ralph-tracker[web]'") from None
    listener, token = open_socket(port), secrets.token_urlsafe(24)
    port = listener.getsockname()[1]
    own = f"ralph-{secrets.token_hex(6)}.localhost"  # browsers take it for this machine, and no other server has it
    say(f"Serving the loops of {project.root}, read-only, until Ctrl-C:")
    say(f"  http://{own}:{port}{page}?token={token}")
    flush()
    sources = Sources(document_at, lambda paths: activity_of(paths, summary_at(paths), os.environ))
    try:
        serve(application(project, sources, token, own, port), listener)
    except KeyboardInterrupt:
        say("Ended")
