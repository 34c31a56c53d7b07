"""Describe the environment of a loop, recorded so that numbers can be compared later."""

import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ralph_tracker.version import __version__


def environment_facts() -> dict[str, str]:
    """Return the versions that a loop's document records."""
    return {
        "ralph_tracker": __version__,
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": f"{platform.system()} {platform.machine()}",
    }


_ACTIVE: Final = "VIRTUAL_ENV"


def is_our_bin(folder: str) -> bool:
    """Return whether a folder of PATH belongs to our own virtual environment."""
    return sys.prefix != sys.base_prefix and Path(folder).resolve() == Path(sys.prefix).resolve() / "bin"


def without_ours(environment: Mapping[str, str], root: Path) -> dict[str, str]:
    """Return the environment without VIRTUAL_ENV if that is ours and not inside the project."""
    active = environment.get(_ACTIVE)
    if not active or not _is_ours(Path(active)) or _lies_in(Path(active), root):
        return dict(environment)
    return {name: value for name, value in environment.items() if name != _ACTIVE}


def _is_ours(folder: Path) -> bool:
    return sys.prefix != sys.base_prefix and folder.resolve() == Path(sys.prefix).resolve()


def _lies_in(folder: Path, root: Path) -> bool:
    return folder.absolute().is_relative_to(root.absolute()) or folder.resolve().is_relative_to(root.resolve())
