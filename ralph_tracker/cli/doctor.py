"""ralph-tracker doctor: check what a loop needs, with the next step for what is missing."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import takewhile
from pathlib import Path
from typing import Final, Literal, TypedDict

import click

from ralph_tracker import plugins
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.terminal import say, say_json
from ralph_tracker.config.load import NO_DIGEST, config_digest, load_config
from ralph_tracker.errors import EXIT_FAILURE, EXIT_OK, LoopError, RalphTrackerError
from ralph_tracker.loop.status import missing_files
from ralph_tracker.measure.detect import detect
from ralph_tracker.measure.installed_tools import (
    MissingModule,
    command_of,
    find_program,
    is_there,
    missing_modules,
    version_of,
)
from ralph_tracker.measure.run_checks import Check, configured_checks, environment_for_checks
from ralph_tracker.store.find import checked_root, find_loop
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.restore_mark import interrupted_restore
from ralph_tracker.store.snapshots.user_repository import repository_around
from ralph_tracker.store.summary import attempted_iteration, interrupted_iteration
from ralph_tracker.store.trust import Trust
from ralph_tracker.store.write import LoopStore

State = Literal["ok", "warning", "missing"]
_REQUIREMENT: Final = re.compile(r"(?P<name>[\w.-]+)\s*>=\s*(?P<oldest>[\d.]+)(?P<marker>.*)")


class Line(TypedDict):
    what: str
    state: State
    found: str
    next_step: str | None


class ExaminationDocument(TypedDict):
    healthy: bool
    lines: list[Line]


@click.command("doctor")
@loop_options
def command(root: Path, loop_id: str | None, as_json: bool) -> int:
    """Check the interpreter, the tools, the configuration, git, the loop and our own packages.

    Exit code 1 if one is missing.
    """
    folder = checked_root(root)
    untrusted = _trust_warnings(folder)
    configuration = _configuration(folder, os.environ, may_start=not untrusted)
    # Without checks those of the tools that are found would run, so that they are needed.
    tools = untrusted or _tools(folder, os.environ, needed=configuration[0]["state"] == "warning")
    lines = [*configuration, *tools, _git(folder, os.environ), _store(folder, loop_id)]
    lines += packages(requirements_of("ralph-tracker"), version_of_package)
    lines += _plugins()
    healthy = all(line["state"] != "missing" for line in lines)
    if as_json:
        document: ExaminationDocument = {"healthy": healthy, "lines": lines}
        say_json(document)
    for line in () if as_json else lines:
        say(f"{line['state']:<7}  {line['what']}: {line['found']}")
        if line["next_step"]:
            say(f"         next: {line['next_step']}")
    return EXIT_OK if healthy else EXIT_FAILURE


def _line(state: State, what: str, found: str, next_step: str | None = None) -> Line:
    return {"what": what, "state": state, "found": found, "next_step": next_step}


def _trust_warnings(root: Path) -> list[Line]:
    """Return a warning in place of what would start programs that came with a project, [] in a project of one's own."""
    try:
        brings = config_digest(root) != NO_DIGEST or ProjectPaths(root).base.is_dir()
    except RalphTrackerError:
        brings = True
    if not brings or Trust(root).has_project():
        return []
    step = "`ralph-tracker trust --show` lists what it would run, `ralph-tracker trust` accepts it"
    return [_line("warning", "trust", "you have not accepted this project; its tools were not started", step)]


def _configuration(root: Path, environment: Mapping[str, str], *, may_start: bool) -> list[Line]:
    """Check what a loop would measure with: the configured checks, or else those that would be detected.

    Only with `may_start` are interpreters asked for the modules that checks run.
    """
    try:
        config = load_config(root)
        checks = configured_checks(config.document)
    except RalphTrackerError as error:
        return [_line("missing", "configuration", str(error), "fix the file")]
    if not checks:
        found = (
            "no ralph-tracker.yaml; the detected checks are used"
            if config.source is None
            else f"{config.source}, which names no check"
        )
        step = "`ralph-tracker init` writes them to ralph-tracker.yaml"
        return [_line("warning", "configuration", found, step)]
    counted = f"{config.source}, {len(checks)} check{'' if len(checks) == 1 else 's'}"
    env = environment_for_checks(environment, root)
    lacking = missing_modules(checks, root, env) if may_start else {}
    commands = [_command(check, root, environment, lacking.get(check.name)) for check in checks]
    return [_line("ok", "configuration", counted), *commands]


def _command(check: Check, root: Path, environment: Mapping[str, str], lacking: MissingModule | None) -> Line:
    what, name = f"check {check.name}", command_of(check)
    if not is_there(check, root, environment):
        return _line("missing", what, f"{name} not found", f"install it, or fix checks.{check.name}.run")
    if lacking is not None:
        return _line("missing", what, str(lacking), f"{lacking.added_by}; or fix checks.{check.name}.run")
    if isinstance(check.run, str):
        return _line("ok", what, f"/bin/sh runs {check.run}")
    found = find_program(check.run[0], root / check.cwd, {**environment, **check.env})
    return _line("ok", what, found or check.run[0])


def _tools(root: Path, environment: Mapping[str, str], *, needed: bool) -> list[Line]:
    """Check the project's own tools, which are required if no check is configured."""
    state: State
    found, lines = detect(root, environment), []
    for each in found.ecosystems:
        if each.version is not None:
            lines.append(_line("ok", each.name, f"{each.version}, {' '.join(each.call)}"))
        for name, call in each.tools.items():
            version = version_of(call, root, environment)
            state, step = ("ok", None) if version else ("warning", f"run `{' '.join(call)} --version`")
            lines.append(_line(state, name, f"{version or 'does not run'}, {' '.join(call)}", step))
    state = "warning" if found.checks else "missing"
    parts = [note.partition("; " if "; " in note else ": ") for note in found.notes]
    return lines + [_line(state, "tools", what, step) for what, _, step in parts if needed]


def _git(root: Path, environment: Mapping[str, str]) -> Line:
    """Check git and the repository, which are needed for branches but not for keeping files."""
    version = version_of(["git"], Path("/"), environment)
    if not version:
        step = "install git: what a repository tracks is read with it, and a branch is made with it"
        return _line("warning", "git", "not found", step)
    repository = repository_around(root)
    trouble = repository.trouble() if repository else None
    if trouble:
        return _line("warning", "git", f"{version}, {trouble}", "fix that: no branch can be made until then")
    return _line("ok", "git", version)


def _store(root: Path, loop_id: str | None) -> Line:
    """Check the loop that is meant, without taking its lock."""
    try:
        paths = find_loop(root, loop_id, os.environ)
        summary = LoopStore(paths).summary()
    except LoopError as error:
        return _line("warning", "loop", *str(error).split("; ", 1))
    except RalphTrackerError as error:
        return _line("missing", "loop", str(error), "ralph-tracker verify")
    missing = missing_files(paths)
    kept = "files kept" if paths.store.is_dir() or missing else "no files kept"
    where = f"{summary.loop_id}, {summary.status}, iteration {summary.iteration}, {kept}"
    interrupted = interrupted_restore(paths)
    if missing is not None:
        return _line("missing", "loop", f"{where}; {missing}", "ralph-tracker verify --repair")
    if interrupted is not None:
        found = f"{where}; {interrupted.what} was interrupted, undo id {interrupted.undo_ids.undo}"
        return _line("warning", "loop", found, interrupted.ways_out)
    number = interrupted_iteration(paths)
    if number is not None:
        return _line(
            "warning", "loop", f"{where}; iteration {number} was interrupted", "ralph-tracker hook post-iteration"
        )
    number = attempted_iteration(paths)
    if number is not None and number > summary.iteration:
        return _line("warning", "loop", f"{where}; iteration {number} was begun", "ralph-tracker hook post-iteration")
    return _line("ok", "loop", where)


def packages(requirements: Iterable[str], installed: Callable[[str], str | None]) -> list[Line]:
    """Return a line for each required package that is missing or too old.

    `installed` returns a package's version, None if it is missing, which is fine for a package of an extra.
    """
    lines = []
    for found in filter(None, map(_REQUIREMENT.match, requirements)):
        name, oldest, extra = found["name"], found["oldest"], "extra" in found["marker"]
        version = installed(name)
        if (version is None and not extra) or (version is not None and _numbers(version) < _numbers(oldest)):
            told = f"{version or 'not installed'}; {oldest} or newer is needed"
            step = f"{sys.executable} -m pip install '{name}>={oldest}'"
            lines.append(_line("warning" if extra else "missing", f"package {name}", told, step))
    return lines


def _plugins() -> Iterator[Line]:
    """Yield a line for each plug-in of another distribution, loaded to see that it can be."""
    for group in plugins.GROUPS:
        for name in plugins.names(group):
            place = f"{group.removesuffix('s')} {name}"
            try:
                plugins.load(group, name)
            except plugins.PluginError as error:
                yield _line("missing", place, str(error))
            else:
                yield _line("ok", place, f"a plug-in of {plugins.distribution(group, name)}")


def requirements_of(name: str) -> Iterable[str]:
    """Return the requirements of an installed package, () if it runs from source."""
    try:
        return requires(name) or ()
    except PackageNotFoundError:
        return ()


def version_of_package(name: str) -> str | None:
    """Return the version of an installed package, None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, takewhile(str.isdecimal, version.split("."))))
