"""Run tests that the agent never sees: copied into a scratch tree of the iteration, and nowhere else."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from ralph_tracker.errors import ConfigError
from ralph_tracker.iteration.rerun import lent, scratch_tree
from ralph_tracker.measure.checks import Check, CheckResult, environment_for_checks, run_checks
from ralph_tracker.measure.environment import without_ours
from ralph_tracker.store.keeping import Keeper


def run_held_back(
    keeper: Keeper,
    tree: str,
    checks: Sequence[Check],
    environment: Mapping[str, str],
    output: Path,
    stack: ExitStack,
    progress: Callable[[str], None] | None = None,
) -> tuple[CheckResult, ...]:
    """Run each check in a copy of the tree with its folder of held-back tests copied over it.

    The reports are there as long as `stack` is open; none of them is kept with the iteration, where the agent could
    read it. Raises ConfigError for a folder that is missing or lies in the project, StoreError where the disk refuses.
    """
    results: list[CheckResult] = []
    for check in checks:
        source = folder_of(check, keeper.paths.root)
        folder, copy = stack.enter_context(scratch_tree(keeper, tree))
        variables = lent(keeper, copy, [check], environment, same_source=True)
        shutil.copytree(source, copy, dirs_exist_ok=True, symlinks=True)
        results += run_checks(
            [check._replace(needs=())],
            root=copy,
            folder=output / check.name,
            reports=folder / "reports",
            environment=without_ours(environment_for_checks(variables), keeper.paths.root),
            on_progress=progress,
        )
    return tuple(results)


def folder_of(check: Check, root: Path) -> Path:
    """Return the folder of a check's held-back tests. Raises ConfigError where it is missing or in the project."""
    folder = Path(check.held_back or "").expanduser()
    folder = (folder if folder.is_absolute() else root / folder).resolve()
    key = f"checks.{check.name}.held_back: {check.held_back}"
    if not folder.is_dir():
        raise ConfigError(f"{key} is no folder; name one that holds the tests, outside of the project")
    if folder.is_relative_to(root.resolve()):
        raise ConfigError(f"{key} lies in the project, where the agent can read it; move it outside")
    return folder
