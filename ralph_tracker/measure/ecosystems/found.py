"""The result of detecting an ecosystem, and helpers to find its programs."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ralph_tracker.formats.content import plain
from ralph_tracker.measure.environment import is_our_bin, without_ours

Checks = dict[str, dict[str, Any]]
PROBE_TIMEOUT_S: Final = 60
_VERSION: Final = re.compile(r"(?<![\w.])(?:v|go)?(\d+(?:\.\w+)*)")


@dataclass(frozen=True, slots=True)
class Ecosystem:
    """A detected ecosystem: how its own program is called, its version, and the tools it can run.

    `version` is None if that program does not run. `checks` are as in a configuration, empty if nothing can be
    measured; `notes` say what was not found and what to do about it.
    """

    name: str
    call: tuple[str, ...] = ()
    version: str | None = None
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def program(name: str, environment: Mapping[str, str]) -> str | None:
    """Return a program on PATH, ignoring our own virtual environment; None if there is none."""
    folders = environment.get("PATH", "").split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(part for part in folders if not is_our_bin(part)))


def version_of(
    call: Sequence[str], root: Path, environment: Mapping[str, str], ask: Sequence[str] = ("--version",)
) -> str | None:
    """Return the first number in a program's version output, None if it does not run."""
    try:
        done = subprocess.run(  # noqa: S603  # a tool of the project
            [*call, *ask],
            cwd=root,
            env=without_ours(environment, root),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.search(plain(done.stdout.decode("utf-8", "replace")))
    return None if found is None else found[1]
