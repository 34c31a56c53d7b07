"""ralph-tracker agent: install into a coding agent, uninstall, and answer its hooks."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.agents.claude_code.install import Installation, install_plugin, uninstall_plugin
from ralph_tracker.cli.agent_hook import HOSTS, answer_host
from ralph_tracker.cli.next_step import say_next
from ralph_tracker.cli.output import say
from ralph_tracker.config.short_words import nearest
from ralph_tracker.errors import InputError
from ralph_tracker.store.loop_status import checked_root

PROGRAM: Final = "ralph-tracker"
INSTALLED: Final = ("claude-code",)  # the hosts whose settings we edit


def _host(_: click.Context, __: click.Parameter, name: str) -> str:
    if name not in INSTALLED and name in HOSTS["hook"]:
        raise click.BadParameter(f"the settings of {name} are yours: name `ralph-tracker agent hook {name}` in them")
    if name not in INSTALLED:
        raise click.BadParameter(f"no agent {name!r}{nearest(name, list(INSTALLED))}")
    return name


host_argument = click.argument("name", callback=_host)
place_options: Final[tuple[Callable[[Any], Any], ...]] = (
    click.option(
        "--root", type=click.Path(path_type=Path), default=Path(), help="The project; else the current folder."
    ),
    click.option("--user", is_flag=True, help="The settings of the user, for all projects."),
    click.option("--plugin", type=click.Path(path_type=Path), metavar="DIR", help="A plugin folder in their place."),
)


def _placed(function: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(place_options):
        function = option(function)
    return function


@click.group("agent")
def command() -> None:
    """Install the tracker into a coding agent: claude-code."""


@command.command("install")
@host_argument
@_placed
def install(name: str, root: Path, plugin: Path | None, *, user: bool) -> None:
    """Add our hooks to the settings of agent NAME.

    Existing settings are kept.
    """
    del name
    _refuse_both(plugin, user=user)
    program = program_path()
    if plugin is not None:
        folder = plugin.absolute()
        say(install_plugin(folder, program))
        say_next(f"start it with `claude --plugin-dir {folder}`")
        return
    say(_installation(Installation, root, user=user).install(program))
    say_next("`ralph-tracker hook pre-loop` starts a loop, or `RALPH_TRACKER_LOOP=1 claude` with its session")


@command.command("uninstall")
@host_argument
@_placed
def uninstall(name: str, root: Path, plugin: Path | None, *, user: bool) -> None:
    """Remove exactly what was added.

    From the settings of agent NAME; later edits are kept.
    """
    del name
    _refuse_both(plugin, user=user)
    if plugin is not None:
        say(uninstall_plugin(plugin.absolute()))
        return
    say(_installation(Installation, root, user=user).uninstall())


@command.command("hook")
@click.argument("name")
def hook(name: str) -> int:
    """Answer an event from the hooks of agent NAME.

    The event is read from standard input. The exit code is always 0.
    """
    return answer_host("hook", [name])


@command.command("status-line")
@click.argument("name")
def status_line(name: str) -> int:
    """Print the status line of agent NAME.

    Its payload is read from standard input.
    """
    return answer_host("status-line", [name])


def program_path() -> Path:
    """Return the absolute path of this program, as hooks may run without a PATH. Raises InputError."""
    beside = Path(sysconfig.get_path("scripts")) / PROGRAM
    found = beside if os.access(beside, os.X_OK) else shutil.which(sys.argv[0])
    if found is None or Path(found).name != PROGRAM:
        raise InputError(f"{beside}: not there; install ralph-tracker with pip, so that hooks have a program to call")
    return Path(found).absolute()


def _installation(kind: Any, root: Path, *, user: bool) -> Any:  # noqa: ANN401  # an Installation of any host
    return kind.of_user(os.environ) if user else kind.of_project(checked_root(root), os.environ)


def _refuse_both(plugin: Path | None, *, user: bool) -> None:
    if plugin is not None and user:
        raise click.UsageError("--user and --plugin exclude each other")
