"""ralph-tracker agent: install into a coding agent, uninstall, and answer its hooks."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.agents.hosts.host import HOSTS, RUNNERS, Host, host, host_names
from ralph_tracker.agents.hosts.installation import Installation, PluginFolder, Scope
from ralph_tracker.agents.hosts.settings_text import absolute, portable_command, settings_of
from ralph_tracker.cli.app import answer_host
from ralph_tracker.cli.next_step import say_next
from ralph_tracker.cli.terminal import say
from ralph_tracker.errors import InputError, nearest
from ralph_tracker.store.find import checked_root

PROGRAM: Final = "ralph-tracker"


def _host(_: click.Context, __: click.Parameter, name: str) -> Host:
    if name in RUNNERS:
        raise click.BadParameter(f"the settings of {name} are yours: name `ralph-tracker agent hook {name}` in them")
    if name not in HOSTS and name not in host_names():
        raise click.BadParameter(f"no agent {name!r}{nearest(name, list(host_names()))}")
    return host(name)


host_argument = click.argument("name", callback=_host)
place_options: Final[tuple[Callable[[Any], Any], ...]] = (
    click.option(
        "--root", type=click.Path(path_type=Path), default=Path(), help="The project; else the current folder."
    ),
    click.option("--local", is_flag=True, help="Settings of the project that are not committed."),
    click.option("--user", is_flag=True, help="The settings of the user, for all projects."),
    click.option(
        "--plugin", type=click.Path(path_type=Path), metavar="DIR", help="Write a plugin to this folder instead."
    ),
)


def _with_place_options(function: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(place_options):
        function = option(function)
    return function


@click.group("agent", help=f"Install the tracker into a coding agent: {', '.join(HOSTS)}.")
def command() -> None:
    """Install the tracker into a coding agent."""


@command.command("install")
@host_argument
@_with_place_options
def install(name: Host, root: Path, plugin: Path | None, *, local: bool, user: bool) -> None:
    """Add our hooks to the settings of agent NAME.

    Existing settings are kept.
    """
    scope = _scope(plugin, local=local, user=user)
    if plugin is not None:
        target = _plugin(name, plugin)
        say(target.install())
        say_next(" and ".join(f"`{step}`" for step in target.steps))
        return
    settings = settings_of(name)
    line = portable_command(name.name) if scope == "project" else absolute(program_path(), name.name)
    say(Installation.of(name, scope, checked_root(root), os.environ).install(line))
    if scope == "project" and shutil.which(PROGRAM) is None:
        say_next(f"{PROGRAM} is not on PATH, where these hooks look for it: add it, or use --local")
    say_next(f"`ralph-tracker hook pre-loop` starts a loop, or {settings.next_step}")


@command.command("uninstall")
@host_argument
@_with_place_options
def uninstall(name: Host, root: Path, plugin: Path | None, *, local: bool, user: bool) -> None:
    """Remove exactly what was added.

    From the settings of agent NAME; later edits are kept.
    """
    scope = _scope(plugin, local=local, user=user)
    if plugin is not None:
        say(_plugin(name, plugin).uninstall())
        return
    say(Installation.of(name, scope, checked_root(root), os.environ).uninstall())


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


def _scope(plugin: Path | None, *, local: bool, user: bool) -> Scope:
    given = [word for word, is_given in (("--local", local), ("--user", user), ("--plugin", plugin)) if is_given]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} exclude each other")
    return "user" if user else "local" if local else "project"


def _plugin(agent: Host, folder: Path) -> PluginFolder:
    plugin = settings_of(agent).plugin
    if plugin is None:
        raise click.UsageError(f"{agent.title} has no plugins; use --local or --user")
    return PluginFolder(agent, folder.absolute(), plugin)
