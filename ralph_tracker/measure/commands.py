"""Check whether the commands of checks exist, as far as possible without running them."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ralph_tracker.errors import ConfigError
from ralph_tracker.measure.checks import Check, environment_for_checks
from ralph_tracker.measure.process import SHELL

# The first word of a single plain shell command. With several commands the first may be optional: `a || b`.
_PLAIN_WORD: Final = re.compile(r"\s*([\w./+-]+)(?:[ \t][^;&|\n]*)?")


def command_of(check: Check) -> str | None:
    """Return the program that a check starts, None if only the shell knows."""
    if not isinstance(check.run, str):
        return check.run[0]
    word = _PLAIN_WORD.fullmatch(check.run)
    return None if word is None else word[1]


def is_there(check: Check, root: Path, environment: Mapping[str, str]) -> bool:
    """Return whether the program of a check will be found when it runs; True if only the shell knows.

    Values that the check fills in (`{reports}`) count as found.
    """
    name, cwd, env = command_of(check), root / check.cwd, {**environment, **check.env}
    if name is None or "{" in name or "{" in env.get("PATH", ""):
        return True
    if isinstance(check.run, str) and "/" not in name:  # the shell has built-in commands
        return _known_to_the_shell(name, env)
    return located(name, cwd, env) is not None


def located(name: str, cwd: Path, environment: Mapping[str, str]) -> str | None:
    """Return the path of a program, looked up from that folder; None if it is not found."""
    folders = [""] if "/" in name else os.get_exec_path(environment)
    paths = (cwd / folder / name for folder in folders)
    return next((str(path) for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


def _known_to_the_shell(name: str, environment: Mapping[str, str]) -> bool:
    asked = [SHELL, "-c", 'command -v -- "$1"', "sh", name]
    done = subprocess.run(  # noqa: S603  # the shell that will run it
        asked, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return done.returncode == 0


def require_commands(checks: Sequence[Check], root: Path, environment: Mapping[str, str]) -> None:
    """Raise ConfigError unless the program of each check exists, before anything runs.

    A relative path is only checked for the first check: an earlier check may create it.
    """
    env = environment_for_checks(environment)
    for place, check in enumerate(checks):
        name = command_of(check)
        made_by_another = name is not None and "/" in name and not name.startswith("/") and place > 0
        if not made_by_another and not is_there(check, root, env):
            raise absent(check.name, f"command not found: {name}")


def absent(name: str, problem: str | None) -> ConfigError:
    """Return the error for a check whose command does not exist."""
    return ConfigError(
        f"checks.{name}: {problem}; install it, fix checks.{name}.run (`ralph-tracker doctor` shows what is found), "
        "or use --allow-missing"
    )
