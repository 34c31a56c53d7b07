"""Measure a copy of a project with the environment of the project itself, which is not a part of what is kept.

What git ignores is not in the copy. Environments (`.venv`, `node_modules`) are lent to it by symbolic link; packages
that they take from the project's own tree have to come from the copy, or the wrong code would be measured.
"""

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ralph_tracker.errors import InputError
from ralph_tracker.measure.checks import Check
from ralph_tracker.measure.commands import command_of, located

_NODE: Final = "node_modules"
_SITES: Final = ("lib/python*/site-packages", "lib/python*/dist-packages")
_MAPPING: Final = re.compile(r"^MAPPING(?:\s*:[^=]*)?\s*=\s*(\{.*\})\s*$", re.MULTILINE)
_INTERPRETERS: Final = ("python", "python3")
# uv would install the copy into the environment that it is lent.
_QUIET: Final = {"UV_NO_SYNC": "1"}


def lend(root: Path, copy: Path, checks: Sequence[Check], environment: Mapping[str, str]) -> dict[str, str]:
    """Link the environments of a project into a copy of it, and return the variables with which checks run there.

    Raises InputError where an environment takes packages from the project's tree in a way that cannot be redirected.
    """
    folders = sorted({Path(), *(Path(check.cwd) for check in checks)})
    lent = [folder / name for folder in folders for name in _environments(root / folder)]
    for path in lent:
        _link(root / path, copy / path)
    sources = [source for path in lent if path.name == _NODE for source in _linked_packages(root / path, root)]
    if sources:
        raise InputError(f"{sources[0]} is a link into the working tree: what is restored beside it cannot be measured")
    prefixes = {*(root / path for path in lent), *_prefixes(root, checks, environment)}
    own = dict.fromkeys(source for prefix in sorted(prefixes) for source in _editable(prefix, root))
    paths = [str(copy / source) for source in own]
    given = [environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else []
    python = {"PYTHONPATH": os.pathsep.join([*paths, *given])} if paths else {}
    return {**environment, **_QUIET, **python}


def _environments(folder: Path) -> Iterator[str]:
    """Yield the environments that lie directly in a folder."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if (path / "pyvenv.cfg").is_file() or (path.name == _NODE and path.is_dir()):
            yield path.name


def _link(source: Path, place: Path) -> None:
    if place.parent.is_dir() and not os.path.lexists(place):
        place.symlink_to(source.absolute(), target_is_directory=True)


def _linked_packages(modules: Path, root: Path) -> Iterator[Path]:
    """Yield the packages of a workspace, which lie in the project's tree."""
    for path in (*sorted(modules.glob("*")), *sorted(modules.glob("@*/*"))):
        target = path.resolve()
        if path.is_symlink() and target.is_relative_to(root) and _NODE not in target.relative_to(root).parts:
            yield path.relative_to(root)


def _prefixes(root: Path, checks: Sequence[Check], environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield where the environments of the interpreters lie that checks may start."""
    names = {name for name in map(command_of, checks) if name is not None}
    for name in sorted(names.union(_INTERPRETERS)):
        found = located(name, root, environment)
        if found is not None:
            yield Path(found).parent.parent
            yield Path(found).resolve().parent.parent
    if environment.get("VIRTUAL_ENV"):
        yield Path(environment["VIRTUAL_ENV"])


def _editable(prefix: Path, root: Path) -> Iterator[Path]:
    """Yield the folders of a project that a Python environment imports from, relative to its root."""
    for site in (site for pattern in _SITES for site in sorted(prefix.glob(pattern))):
        for file in sorted(site.glob("*.pth")):
            for line in _text(file).splitlines():
                yield from _inside(line.strip(), root)
        for file in sorted(site.glob("__editable__*_finder.py")):
            for name, source in _mapping(_text(file)).items():
                for path in _inside(source, root):
                    if path.name != name:
                        raise InputError(
                            f"{file.name} takes {name} from {path} of the working tree: what is restored beside it "
                            "cannot be measured"
                        )
                    yield path.parent


def _inside(name: str, root: Path) -> Iterator[Path]:
    path = Path(name)
    if path.is_absolute() and path.resolve().is_relative_to(root):
        yield path.resolve().relative_to(root)


def _mapping(text: str) -> Mapping[str, str]:
    found = _MAPPING.search(text)
    try:
        plain = ast.literal_eval(found[1]) if found else {}
    except (ValueError, SyntaxError):
        return {}
    return {name: source for name, source in plain.items() if isinstance(name, str) and isinstance(source, str)}


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
