"""Programs that a project is measured with: whether they are there, and what they say of their version."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ralph_tracker.formats.colour import plain
from ralph_tracker.measure.own_environment import is_our_bin, without_ours

PROBE_TIMEOUT_S: Final = 60
_VERSION: Final = re.compile(r"(?<![\w.])(?:v|go)?(\d+(?:\.\w+)*)")


def program(name: str, environment: Mapping[str, str]) -> str | None:
    """Return a program on PATH, leaving out the environment that we run in; None where there is none."""
    folders = environment.get("PATH", "").split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(part for part in folders if not is_our_bin(part)))


def version_of(
    call: Sequence[str], root: Path, environment: Mapping[str, str], ask: Sequence[str] = ("--version",)
) -> str | None:
    """Return the first number in what a program says of its version, None where it does not run."""
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
