"""Find what git ignores and was edited: installed packages, which copies of a tree borrow, and settings of runners."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.integrity.deciding_files import loads_by_itself
from ralph_tracker.measure.linked_environments import beside_tree

_NODE: Final = "node_modules"
# What names the packages of a project, or locks them: with a change of these an installed package may change too.
NAMES_PACKAGES: Final = re.compile(
    r"(^|/)(package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.(json|lock)"
    r"|pyproject\.toml|setup\.(py|cfg)|[^/]*requirements[^/]*\.(txt|in)|(uv|poetry|pdm)\.lock|Pipfile(\.lock)?"
    r"|composer\.(json|lock)|Gemfile(\.lock)?|go\.(mod|sum)|Cargo\.(toml|lock))$"
)


_DESCRIBED: Final = re.compile(r"-[^-]+\.dist-info$")


class _File(NamedTuple):
    path: str
    changed_at: float


def edited_package_file(root: Path, projects: Collection[str], since: float) -> str | None:
    """Return a file of an installed package, relative to the root, that changed after others of that package.

    `projects` are the folders in which environments are looked for, `since` the file time after which an edit counts. A
    package that is installed anew changes as a whole. None if there is no such file; one that cannot be read is none.
    """
    for place in sorted({folder for project in projects for folder in _environments(root / project)}):
        if start := next((each for each in _start_up_files(place) if each.changed_at > since), None):
            return os.path.relpath(start.path, root)
        described = {_DESCRIBED.sub("", each.name).casefold(): each for each in _folders(place) if "-" in each.name}
        for package in _packages(place):
            files = list(_files(package))
            if about := described.get(package.name.casefold()):
                files += _files(about)  # written with it when it is installed
            edited = [each for each in files if each.changed_at > since]
            if edited and len(edited) < len(files):
                newest = max(edited, key=lambda each: (each.changed_at, each.path))
                return os.path.relpath(newest.path, root)
    return None


def changed_settings(root: Path, tree: Collection[str], since: float) -> list[str]:
    """Return the files that runners load by themselves, that a tree of these paths lacks, and that changed since."""
    found = set(beside_tree(root, {path.rpartition("/")[0] for path in tree}))
    beside = [root / path for path in sorted(found.difference(tree)) if loads_by_itself(path)]
    return [os.path.relpath(path, root) for path in beside if path.is_file() and path.lstat().st_ctime > since]


def _start_up_files(place: Path) -> Iterator[_File]:
    """Yield the files that Python runs at each start: in a package's place, and none that an editable install makes."""
    for name in ("*.pth", "sitecustomize.py", "usercustomize.py"):
        for each in sorted(place.glob(name)):
            with suppress(OSError):
                if not each.name.startswith("__editable__") and (
                    each.suffix == ".py" or b"import" in each.read_bytes()
                ):
                    yield _File(str(each), each.lstat().st_ctime)


def _environments(project: Path) -> Iterator[Path]:
    """Yield the folders of installed packages beside a project's files."""
    yield from (project / name for name in (_NODE, "vendor") if (project / name).is_dir())
    yield from (sites for config in project.glob("*/pyvenv.cfg") for sites in config.parent.glob("lib/*/site-packages"))


def _packages(place: Path) -> Iterator[Path]:
    """Yield the folders of packages, those in scopes and in packages among them; not the caches of tools."""
    for each in _folders(place):
        if each.name.startswith("@"):
            yield from _folders(each)
        else:
            yield each


def _folders(place: Path) -> Iterable[Path]:
    try:
        with os.scandir(place) as entries:
            found = [each.name for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError:
        return ()
    names = [name for name in found if not name.startswith(".")]
    return [place / name for name in sorted(names) if name != "__pycache__"]


def _files(package: Path) -> Iterator[_File]:
    """Yield the files of a package; what Python compiled is none, nor are packages that it brings along."""
    for folder, names, files in os.walk(package):
        names[:] = [name for name in names if name not in {"__pycache__", _NODE} and not name.startswith(".")]
        for name in files:
            path = os.path.join(folder, name)  # noqa: PTH118  # tens of thousands of files
            with suppress(OSError):  # a tool may take its own away meanwhile
                yield _File(path, os.lstat(path).st_ctime)
