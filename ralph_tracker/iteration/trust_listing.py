"""List what a project or a loop would run here, for whoever has to decide whether to trust it."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ralph_tracker.config.load import load_config
from ralph_tracker.measure.run_checks import command_text, configured_checks
from ralph_tracker.report.markdown_reports import USER_FOLDER
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.trust import Trust
from ralph_tracker.store.write import LoopStore

UNTRUSTED_TEMPLATE: Final = (
    f"templates in {USER_FOLDER} are not used, as you have not accepted them (`ralph-tracker trust`); "
    "the report is written as shipped"
)


def commands_of(document: Mapping[str, Any]) -> list[str]:
    """Return the commands of a configuration, a line each. Raises ConfigError for checks that are unusable."""
    told = document.get("notify", {})
    other = [f"notify.{name}: {_in_words(told[name])}" for name in ("command", "webhook") if told.get(name)]
    return [
        f"checks.{check.name}: {''.join(f'{name}={value} ' for name, value in check.env.items())}{command_text(check)}"
        for check in configured_checks(document)
    ] + other


def _in_words(run: str | list[str]) -> str:
    return run if isinstance(run, str) else shlex.join(run)


def project_runs(root: Path, document: Mapping[str, Any] | None = None) -> list[str]:
    """Return what a project at `root` would run: the commands of `document`, else of its own file, and its templates.

    Raises ConfigError for a configuration that cannot be used.
    """
    commands = commands_of(load_config(root).document if document is None else document)
    return commands + [f"template {path.name}" for path in sorted((root / USER_FOLDER).glob("*.j2"))]


def loop_runs(store: LoopStore) -> list[str]:
    """Return the commands that are frozen with a loop, () where metrics are handed in. Raises RecordError."""
    loop = ConfiguredLoop.read(store, lambda _: frozenset())
    return commands_of(loop.config.document) if loop.origin == "measured" else []


def trusted_templates(root: Path) -> Path | None:
    """Return the root whose templates may be rendered, None if the project has some that nobody trusts."""
    there = (root / USER_FOLDER).is_dir()
    return None if there and not Trust(root).has_project() else root
