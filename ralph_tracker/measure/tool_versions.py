"""Name the tools that checks would run, so that results of other versions are not taken for theirs."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ralph_tracker.measure.checks import Check
from ralph_tracker.measure.commands import command_of, located
from ralph_tracker.measure.scratch import SITES, prefixes

# What npm, pnpm and yarn write about what they have installed.
_INSTALLED: Final = (".package-lock.json", ".modules.yaml", ".yarn-integrity")


def tool_versions(root: Path, checks: Sequence[Check], environment: Mapping[str, str]) -> str:
    """Return a digest of the programs that the checks start and of the packages beside them.

    Programs are told apart by path, size and time: none is run.
    """
    names = sorted({name for name in map(command_of, checks) if name is not None})
    programs = [_program(located(name, root, environment)) for name in names]
    environments = {*prefixes(root, checks, environment), *(file.parent for file in root.glob("*/pyvenv.cfg"))}
    packages = {site.name for prefix in environments for pattern in SITES for site in _packages(prefix, pattern)}
    node = [_content(root / "node_modules" / name) for name in _INSTALLED]
    return hashlib.sha256(json.dumps([programs, sorted(packages), node]).encode()).hexdigest()


def _program(path: str | None) -> list[object] | None:
    if path is None:
        return None
    status = Path(path).stat()
    return [str(Path(path).resolve()), status.st_size, status.st_mtime_ns]


def _packages(prefix: Path, pattern: str) -> list[Path]:
    return [*prefix.glob(f"{pattern}/*.dist-info"), *prefix.glob(f"{pattern}/*.egg-info")]


def _content(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None
