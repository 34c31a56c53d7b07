"""Describe the environment of a loop, recorded so that numbers can be compared later."""

import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ralph_tracker.measure.checks import Check
from ralph_tracker.measure.commands import command_of, located
from ralph_tracker.measure.lent_environments import SITES, prefixes
from ralph_tracker.version import __version__


def environment_facts() -> dict[str, str]:
    """Return the versions that a loop's document records."""
    return {
        "ralph_tracker": __version__,
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": f"{platform.system()} {platform.machine()}",
    }


_WORD: Final = re.compile(r"[\w./+-]+")
_PYTHON: Final = re.compile(r"(python|pypy)[\d.]*$")


# What npm, pnpm and yarn write about what they have installed.
_INSTALLED: Final = (".package-lock.json", ".modules.yaml", ".yarn-integrity")


def tool_versions(root: Path, checks: Sequence[Check], environment: Mapping[str, str]) -> str:
    """Return a digest of the programs that the checks start and of the packages beside them.

    Programs are told apart by path, size and time: none is run.
    """
    names = sorted({name for name in map(command_of, checks) if name is not None})
    programs = [_program(located(name, root, environment)) for name in names]
    environments = {*prefixes(root, checks, environment), *(file.parent for file in root.glob("*/pyvenv.cfg"))}
    packages = {site.name for prefix in environments for site in _packages(prefix)}
    node = [_content(root / "node_modules" / name) for name in _INSTALLED]
    return hashlib.sha256(json.dumps([programs, sorted(packages), node]).encode()).hexdigest()


def portable_tools(root: Path, checks: Sequence[Check], environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return the content of the programs that checks start and the packages beside them, to compare two machines.

    Each name is a program (its digest; None: not found) or a package (its version). Where a shell starts the commands,
    every word of them that is a program counts.
    """
    found: dict[str, str | None] = {}
    environments = {file.parent for file in root.glob("*/pyvenv.cfg")}
    for check in checks:
        env, cwd = {**environment, **check.env}, root / check.cwd
        in_shell = isinstance(check.run, str)
        for word in _WORD.findall(check.run) if isinstance(check.run, str) else check.run[:1]:
            path = located(word, cwd, env)
            if path is None:
                found |= {} if in_shell else {f"program {word}": None}
                continue
            data = Path(path).read_bytes()
            head, _, body = data.partition(b"\n") if data.startswith(b"#!") else (b"", b"", data)
            found[f"program {word}"] = hashlib.sha256(body).hexdigest()  # the head has the interpreter's path
            if _PYTHON.match(Path(path).name):
                environments.add(Path(path).parent.parent)
            elif b"python" in head:
                environments.add(Path(os.fsdecode(head[2:].split()[0])).parent.parent)
    for place in environments:
        for site in _packages(place):
            name, _, version = site.stem.partition("-")
            found[f"package {name}"] = version
    return {**found, **{f"node_modules/{name}": _content(root / "node_modules" / name) for name in _INSTALLED}}


def _packages(prefix: Path) -> list[Path]:
    return [
        site for pattern in SITES for kind in ("dist-info", "egg-info") for site in prefix.glob(f"{pattern}/*.{kind}")
    ]


def _program(path: str | None) -> list[object] | None:
    if path is None:
        return None
    status = Path(path).stat()
    return [str(Path(path).resolve()), status.st_size, status.st_mtime_ns]


def _content(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None
