"""ralph-tracker init: find the project's tools and write the configuration."""

import os
import sys
from pathlib import Path

import click

from ralph_tracker.cli.output import say, say_wrapped
from ralph_tracker.config.load import CONFIG_FILE, PYPROJECT, config_of, load_config
from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.errors import ConfigError
from ralph_tracker.iteration.would_run import project_runs
from ralph_tracker.measure.detect import detect
from ralph_tracker.store.files import as_store_error, write_new
from ralph_tracker.store.loop_status import checked_root
from ralph_tracker.store.trust import Trust


@click.command("init")
@click.option("--root", type=click.Path(path_type=Path), default=Path(), help="The project's folder.")
@click.option("--yes", is_flag=True, help="Ask nothing.")
def command(root: Path, yes: bool) -> None:
    """Find the project's test runner, linter and type checker, and write ralph-tracker.yaml; nothing is overwritten."""
    folder = checked_root(root)
    config = load_config(folder)
    source = config.source
    # A pyproject.toml may list us as a dependency without configuring anything.
    if source is not None and (source != PYPROJECT or config.document != config_of({}, None).document):
        say(f"{source} is there already; nothing was changed")
        say("  next: ralph-tracker hook pre-loop")
        return
    found = detect(folder, os.environ)
    if not found.checks:
        raise ConfigError(f"nothing was written: {'; '.join(found.notes)}")
    for each in found.ecosystems:
        say(f"{each.name} {each.version}: {' '.join(each.call)}" if each.version else f"{each.name}: does not run")
    for name, check in found.checks.items():
        run = check["run"]
        say_wrapped(f"{name}: {run if isinstance(run, str) else ' '.join(run)}", indent=2)
    for note in found.notes:
        say_wrapped(note, indent=2)
    if not yes and sys.stdin.isatty() and not click.confirm(f"Write {CONFIG_FILE}?", default=True):
        say("Nothing was written")
        return
    checks = {name: dict(check) for name, check in found.checks.items()}
    with as_store_error(folder / CONFIG_FILE):
        write_new(folder / CONFIG_FILE, dump_yaml({"version": 1, "checks": checks}).encode())
    if not project_runs(folder, {}):  # else the project brought templates, which are shown first
        Trust(folder).mark_project()
    say(f"{CONFIG_FILE} written; commit it, and keep .aiwg/ out of version control")
    say("  next: ralph-tracker hook pre-loop")
