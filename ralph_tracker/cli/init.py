"""ralph-tracker init: find the project's tools and write the configuration."""

import difflib
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click
import yaml

from ralph_tracker.cli.terminal import consent, say, say_wrapped
from ralph_tracker.config.load import CONFIG_FILE, FOR_EDITORS, PYPROJECT, SCHEMA_FILE, config_of, load_config
from ralph_tracker.config.schema import ConfigDocument
from ralph_tracker.config.yaml_io import dump_yaml, load_yaml
from ralph_tracker.errors import ConfigError, StoreError
from ralph_tracker.iteration.trust_listing import project_runs
from ralph_tracker.measure.detect import DetectedChecks, detect, with_command, without_failing_linters
from ralph_tracker.safe_files import as_store_error, hide_from_tools, text_of, write_new, write_whole
from ralph_tracker.store.find import checked_root
from ralph_tracker.store.json_documents import to_json
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.snapshots.user_repository import repository_around
from ralph_tracker.store.trust import Trust


@click.command("init")
@click.option("--root", type=click.Path(path_type=Path), default=Path(), help="The project's folder.")
@click.option("--yes", is_flag=True, help="Ask nothing.")
@click.option("--update", is_flag=True, help="Add checks for tools that came since; change nothing else.")
@click.option("--force", is_flag=True, help="Replace ralph-tracker.yaml by a new one.")
@click.option("--test-command", metavar="COMMAND", help="Measure by its exit status, not by the tests that are found.")
def command(root: Path, yes: bool, update: bool, force: bool, test_command: str | None) -> None:
    """Find the project's tests, linters and type checkers, and write ralph-tracker.yaml.

    An existing file is left alone, unless --update or --force is given; both show what changes. If no tool is
    recognised, a file with a template is written, to be filled in.
    """
    if update and force:
        raise click.UsageError("--update and --force exclude each other")
    folder = checked_root(root)
    old = text_of(folder / CONFIG_FILE)
    source = None if force else _existing_config(folder)
    # A template, or only other settings: there is no check that would be changed.
    has_none = source == CONFIG_FILE and not load_config(folder).document["checks"]
    if source is not None and not update and not has_none:
        write_schema(folder)
        say(f"{source} already exists; nothing was changed")
        say("  next: `ralph-tracker hook pre-loop`; --update adds new tools, --force writes a new file")
        return
    if source == PYPROJECT:  # only with --update
        raise ConfigError(f"{PYPROJECT} holds the configuration, and --update adds to {CONFIG_FILE} only")
    if update:  # an own file, or one that came with the project
        Trust(folder, consent(trust=False)).require_project(project_runs(folder))
    found = without_failing_linters(detect(folder, os.environ), folder, os.environ)
    asks = not yes and sys.stdin.isatty()
    if test_command is None and not found.checks and asks:
        test_command = click.prompt("Which command runs the tests? (none: Enter)", default="", show_default=False)
    if test_command:
        found = with_command(found, test_command)
    if not found.checks:
        _lead_on(folder, found, old)
    _show(found)
    if old is not None and (update or has_none):
        text = _new_text(found, old, folder)
    else:
        text = config_text(_plain(found), found.templates)
    if text == old:
        say(f"{CONFIG_FILE} is complete; nothing was changed")
        return
    if old is not None:
        for line in difflib.unified_diff(
            old.splitlines(), text.splitlines(), CONFIG_FILE, CONFIG_FILE, lineterm="", n=1
        ):
            say(line)
    if asks and not click.confirm(f"Write {CONFIG_FILE}?", default=True):
        say("Nothing was written")
        return
    _write(folder, text)
    if not update and not project_runs(folder, {}):  # else the project brought commands or templates, to be shown first
        trust = Trust(folder)
        trust.mark_project()
        trust.require_project(project_runs(folder))
    done = "written" if old is None else "changed"
    say(f"{CONFIG_FILE} {done}{_for_git(folder)}")
    say("  next: `ralph-tracker hook pre-loop`")


def _for_git(folder: Path) -> str:
    """Return what a repository still needs, "" in a project without one."""
    repository = repository_around(folder.resolve())
    if repository is None:
        return ""
    output = f"{repository.prefix}.aiwg/output"  # the folder of all loops ignores itself
    with suppress(StoreError):
        if repository.ask("check-ignore", "-q", "--no-index", output).status == 0:
            return "; commit it"
    return "; commit it, and add .aiwg/ to .gitignore"


def _lead_on(folder: Path, found: DetectedChecks, old: str | None) -> NoReturn:
    """Write the template where no tool is recognised. Raises ConfigError: nothing can be measured yet."""
    name_it = "`ralph-tracker init --test-command 'COMMAND'` measures by an exit status"
    if found.ecosystems:
        raise ConfigError(f"nothing was written: {'; '.join(found.notes)}; without that, {name_it}")
    text = config_text({}, found.templates)
    if old is None:
        _write(folder, text)
    unknown = f"no tool is recognised in {folder.resolve()} (docs/ecosystems.md lists those that are)"
    if old in {None, text}:
        raise ConfigError(f"{unknown}; fill in the template in {CONFIG_FILE}, or name the command: {name_it}")
    raise ConfigError(f"{unknown}, and {CONFIG_FILE} has no checks; add them, or name the command: {name_it}")


def _existing_config(folder: Path) -> str | None:
    """Return the file that configures the project, None where there is none. Raises ConfigError if it is unusable."""
    config = load_config(folder)
    # A pyproject.toml may list us as a dependency without configuring anything.
    return None if config.source == PYPROJECT and config.document == config_of({}, None).document else config.source


def _show(found: DetectedChecks) -> None:
    for each in found.ecosystems:
        say(f"{each.name} {each.version}: {' '.join(each.call)}" if each.version else f"{each.name}: does not run")
    for name, check in found.checks.items():
        run = check["run"]
        where = f" (in {check['cwd']})" if "cwd" in check else ""
        say_wrapped(f"{name}{where}: {run if isinstance(run, str) else ' '.join(run)}", indent=2)
    for note in found.notes:
        say_wrapped(note, indent=2)


def _new_text(found: DetectedChecks, old: str, folder: Path) -> str:
    """Return the old file with the checks that it does not name.

    A check that needs one which stands there otherwise (coverage, where the tests ran without) is named, not added.
    """
    had = load_config(folder).document["checks"]
    checks = _plain(found)
    differing = {name for name in had if name in checks and had[name]["run"] != checks[name]["run"]}
    new = {name: check for name, check in checks.items() if name not in had}
    for name, check in list(new.items()):
        if others := differing.intersection(check.get("needs", ())):
            other = ", ".join(sorted(others))
            say_wrapped(f"{name} was not added: it needs {other} as shown above; yours is another command", indent=2)
            del new[name]
    return with_added_checks(old, new, CONFIG_FILE)


def _plain(found: DetectedChecks) -> dict[str, Any]:
    return {name: dict(check) for name, check in found.checks.items()}


def _write(folder: Path, text: str) -> None:
    with as_store_error(folder / CONFIG_FILE):
        there = (folder / CONFIG_FILE).exists()
        (write_whole if there else write_new)(folder / CONFIG_FILE, text.encode())
    write_schema(folder)


def write_schema(folder: Path) -> None:
    """Write the JSON Schema of the configuration to where its first line names it, for editors."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **ConfigDocument.model_json_schema()}
    with as_store_error(folder / SCHEMA_FILE):
        hide_from_tools(ProjectPaths(folder).base)
        write_whole(folder / SCHEMA_FILE, to_json(document))


def config_text(checks: Mapping[str, Any], templates: Sequence[str] = ()) -> str:
    """Return a new configuration of these checks; templates follow as comments, ready to be put in place."""
    document = {"version": 1, **({"checks": dict(checks)} if checks else {})}
    text = FOR_EDITORS + dump_yaml(document)
    for template in templates:
        lines = (line if line.startswith("#") else f"#   {line}" for line in template.splitlines())
        text += "\n" + "".join(f"{line}\n" for line in lines)
    return text


def with_added_checks(text: str, checks: Mapping[str, Any], name: str) -> str:
    """Return the text of a configuration with more checks, everything else as it was written.

    Raises ConfigError where they cannot be put in without rewriting the file.
    """
    if not checks:
        return text
    at, indent, opening = _place(text, name)
    block = "".join(f"{indent}{line}" for line in dump_yaml(dict(checks)).splitlines(keepends=True))
    before = text[:at] if text[:at].endswith("\n") or not text[:at] else f"{text[:at]}\n"
    result = f"{before}{opening}{block}{text[at:]}"
    had = load_yaml(text, name) or {}
    wanted = {**had, "checks": {**(had.get("checks") or {}), **checks}}
    if load_yaml(result, name) != wanted:
        raise _cannot(name)
    return result


def _place(text: str, name: str) -> tuple[int, str, str]:
    """Return where checks are added, how far they are indented, and the line that goes before them."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    if root is not None and (not isinstance(root, yaml.MappingNode) or root.flow_style):
        raise _cannot(name)
    found = next((value for key, value in pairs if key.value == "checks"), None)
    if found is None:
        return len(text), "  ", "checks:\n"
    if not isinstance(found, yaml.MappingNode) or found.flow_style or not found.value:
        raise _cannot(name)
    last = found.value[-1][1]
    end = text.find("\n", _content_end(last) - 1)
    return (len(text) if end < 0 else end + 1), " " * found.value[0][0].start_mark.column, ""


def _content_end(node: yaml.Node) -> int:
    """Return where a value ends; a block's own mark is after the comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _content_end(last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    return end


def _cannot(name: str) -> ConfigError:
    return ConfigError(f"{name}: checks cannot be added without rewriting the file; add them by hand, or use --force")
