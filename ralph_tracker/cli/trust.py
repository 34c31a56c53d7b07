"""ralph-tracker trust: show what a project and its loop would run, and accept it."""

import os
from pathlib import Path

import click

from ralph_tracker.cli.next_step import say_next
from ralph_tracker.cli.options import place_options
from ralph_tracker.cli.terminal import say
from ralph_tracker.errors import LoopError
from ralph_tracker.iteration.trust_listing import loop_runs, project_runs
from ralph_tracker.runner.saved_run import read_progress
from ralph_tracker.store.find import checked_root, find_loop
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.trust import Trust
from ralph_tracker.store.write import LoopStore

_YES, _NO = "trusted", "not trusted"


@click.command("trust")
@place_options
@click.option("--show", is_flag=True, help="Show it only.")
@click.option("--revoke", is_flag=True, help="Forget what is trusted in this project.")
def command(root: Path, loop_id: str | None, *, show: bool, revoke: bool) -> None:
    """Show what this project and its loop would run, and accept it.

    Nothing is asked again for what you set up yourself: with init, pre-loop or run.
    """
    if show and revoke:
        raise click.UsageError("--show and --revoke exclude each other")
    trust = Trust(checked_root(root))
    if revoke:
        say("Nothing here is trusted any more" if trust.revoke() else "Nothing was trusted here")
        return
    try:
        paths: LoopPaths | None = find_loop(root, loop_id, os.environ)
    except LoopError:
        if loop_id is not None:
            raise
        paths = None
    project = project_runs(trust.root)
    known = trust.has_project()
    _print_trust("project", known, project)
    if not show:
        trust.mark_project()
        trust.require_project(project)
    if paths is not None:
        _loop_too(trust, paths, show=show)
    if show:
        say_next("`ralph-tracker trust` accepts it, --revoke forgets it")
        return
    say("Accepted; --revoke forgets it")


def _loop_too(trust: Trust, paths: LoopPaths, *, show: bool) -> None:
    _print_trust(f"loop {paths.loop_id}", trust.has_loop(paths), loop_runs(LoopStore(paths)))
    journal = read_progress(paths)
    if journal is not None:
        known = trust.has_agent(journal.loop_id, journal.settings.command, journal.settings.prompt_file)
        _print_trust("`run --resume`", known, [" ".join(journal.settings.command)])
    if not show:
        trust.mark_loop(paths)
        if journal is not None:
            trust.mark_agent(paths.loop_id, journal.settings.command, journal.settings.prompt_file)


def _print_trust(what: str, known: bool, runs: list[str]) -> None:
    say(f"{what}: {_YES if known else _NO}, {'would run' if runs else 'runs nothing'}")
    for line in runs:
        say(f"  {line}")
