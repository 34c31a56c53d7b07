"""Link the environments of a project (Python's, Node's, what cargo builds) into a copy of its tree."""

import ast
import contextlib
import errno
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ralph_tracker.errors import InputError
from ralph_tracker.measure.installed_tools import SITES, ask_program, find_program, prefixes
from ralph_tracker.measure.run_checks import Check
from ralph_tracker.safe_files import text_of

_NODE: Final = "node_modules"
_VENDOR: Final = "vendor"
# Composer finds the project's own sources from where these lie: they are copied, and the packages beside them lent.
_OF_COMPOSER: Final = frozenset({"autoload.php", "composer", "bin"})
_PROGRAMS: Final = ".bin"
# Keep uv from installing the copy into the lent environment, and Python from writing bytecode there.
_QUIET: Final = {"UV_NO_SYNC": "1", "PYTHONDONTWRITEBYTECODE": "1"}
# How these say where they keep a project's environment: beside all others, under a name made of the project's path.
_WHERE: Final = {
    "poetry": ("poetry", "env", "info", "--path"),
    "pipenv": ("pipenv", "--venv"),
    "hatch": ("hatch", "env", "find"),
}
_RUNS: Final = rf"(?<![\w./-])({'|'.join(_WHERE)}) run (?:([\w.+-]+):)?"
# Stands for such a program in a copy, for which it would make an environment without packages. Only programs of the
# environment are run without it: others are names of scripts that it knows.
_STAND_IN: Final = """#!/bin/sh
if [ "$1" = run ] && [ -x {bin}/"${{2#*:}}" ]; then
    program={bin}/"${{2#*:}}"
    shift 2
    exec "$program" "$@"
fi
exec {real} "$@"
"""
# Other dotted names in node_modules are caches of tools (.vite, .cache): the copy has its own.
_LENT_HIDDEN: Final = frozenset({".pnpm", ".prisma", ".store"})


def link_environments(
    root: Path,
    copy: Path,
    checks: Sequence[Check],
    environment: Mapping[str, str],
    *,
    same_source: bool = False,
    with_files: bool = False,
    builds: Path | None = None,
) -> dict[str, str]:
    """Lend the environments of a project to a copy of it, and return the variables for checks that run there.

    `same_source` says that the copy holds the source of the working tree: paths that cannot be redirected are correct
    then, and small ignored files are copied too, as with `with_files`; call this before removing anything from the
    copy. `builds` is a folder outside the project that outlives the copy: cargo reuses its builds there by file times,
    so the copy's files must be newer. Without `same_source` this raises InputError if an environment imports packages
    from the project's tree in a way that cannot be redirected.
    """
    linked_environments = list(_environments(root, copy))
    for path in linked_environments:
        if path.name == _NODE:
            _lend_packages(root, copy, path, same_source=same_source)
        elif path.name == _VENDOR:
            _lend_vendor(root / path, copy / path)
        else:
            (copy / path).symlink_to((root / path).absolute(), target_is_directory=True)
    if same_source or with_files:
        _copy_files(root, copy)
    environment = _run_as_here(root, copy, checks, environment)
    places = {*(root / path for path in linked_environments), *prefixes(root, checks, environment)}
    own = dict.fromkeys(source for prefix in sorted(places) for source in _editable(prefix, root, same_source))
    paths = [str(copy / source) for source in own]
    given = [environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else []
    python = {"PYTHONPATH": os.pathsep.join([*paths, *given])} if paths else {}
    cargo = {} if builds is None else {"CARGO_TARGET_DIR": str(builds.absolute() / "cargo")}
    return {**environment, **_QUIET, **python, **cargo}


def _run_as_here(root: Path, copy: Path, checks: Sequence[Check], environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return variables with which poetry, pipenv or hatch run programs of the project's environment in the copy.

    All checks use one environment, as `init` writes them.
    """
    for check in checks:
        found = re.search(_RUNS, check.run if isinstance(check.run, str) else " ".join(check.run))
        real = None if found is None else find_program(found[1], root, environment)
        prefix = None if found is None or real is None else _kept_elsewhere(found[1], found[2], root, environment)
        if found is None or real is None or prefix is None:
            continue
        folder = copy.with_name(f"{copy.name}-run")
        folder.mkdir(exist_ok=True)
        text = _STAND_IN.format(bin=shlex.quote(str(prefix / "bin")), real=shlex.quote(real))
        (folder / found[1]).write_text(text)
        (folder / found[1]).chmod(0o755)
        path = os.pathsep.join(filter(None, (str(folder), str(prefix / "bin"), environment.get("PATH"))))
        return {**environment, "PATH": path, "VIRTUAL_ENV": str(prefix)}
    return environment


def _kept_elsewhere(tool: str, name: str | None, root: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the environment that a tool has made for the project, None if there is none."""
    named = [name or "default"] if tool == "hatch" else []
    asked = ask_program([*_WHERE[tool], *named], root, environment)
    if asked is None or asked.returncode:
        return None
    prefix = Path((os.fsdecode(asked.stdout).strip().splitlines() or [""])[-1])
    with contextlib.suppress(OSError):  # a folder that may not be looked into
        return prefix if prefix.is_absolute() and (prefix / "bin").is_dir() else None
    return None


def _environments(root: Path, copy: Path) -> Iterator[Path]:
    """Yield the environments next to the copy's folders, relative to the root, except those that the copy has."""
    for folder in _folders(copy):
        if not (root / folder).is_dir():
            continue
        with os.scandir(root / folder) as entries:
            # Links to folders among them.
            names = [each.name for each in entries if not each.is_file(follow_symlinks=False) and Path(each).is_dir()]
        for name in sorted(names):
            # The second is Ruby's, whatever else lies beside it.
            is_one = name in {_NODE, _VENDOR} or (folder.name, name) == (_VENDOR, "bundle")
            # The last is a submodule or a clone, whose files no copy of an iteration has.
            place = root / folder / name
            is_one = is_one or (place / "pyvenv.cfg").is_file() or (place / ".git").exists()
            if is_one and not os.path.lexists(copy / folder / name):
                yield folder / name


def _folders(copy: Path) -> list[Path]:
    """Return all folders of a copy, relative to it, except those of installed packages."""
    found = []
    for folder, names, files in os.walk(copy):
        names[:] = sorted(name for name in names if name not in {_NODE, ".git"})
        if "pyvenv.cfg" in files and Path(folder) != copy:
            names.clear()
        else:
            found.append(Path(folder).relative_to(copy))
    return found


def _lend_packages(root: Path, copy: Path, modules: Path, *, same_source: bool) -> None:
    """Make a folder of links to installed packages, so that the caches that tools keep there are the copy's own.

    What is a link into the tree, as a workspace's packages and their programs are, is linked to its source in the copy.
    A link that leads to itself is left out. Raises InputError for a package whose source the copy has not, unless it is
    the same.
    """
    (copy / modules).mkdir()
    for path in sorted((root / modules).iterdir()):
        is_folder_of_them = path.name.startswith("@") or path.name == _PROGRAMS
        if is_folder_of_them and path.is_dir() and not path.is_symlink():
            (copy / modules / path.name).mkdir()
            listed = sorted(path.iterdir())
        else:
            listed = [path] if not path.name.startswith(".") or path.name in _LENT_HIDDEN or path.is_file() else []
        for package in listed:
            source = _source_of(package, root, copy)
            if source is None and not same_source and path.name != _PROGRAMS:
                raise InputError(
                    f"{package.relative_to(root)} is a link into the working tree, to what a copy of an iteration has "
                    "not: none can be measured apart from it"
                )
            if not _is_endless(package):
                (copy / package.relative_to(root)).symlink_to(source or package.absolute())


def _lend_vendor(vendor: Path, place: Path) -> None:
    place.mkdir()
    for path in sorted(vendor.iterdir()):
        if path.name not in _OF_COMPOSER:
            (place / path.name).symlink_to(path.absolute(), target_is_directory=path.is_dir())
        elif path.is_dir():
            shutil.copytree(path, place / path.name, symlinks=True)
        else:
            shutil.copy2(path, place / path.name)


def _source_of(package: Path, root: Path, copy: Path) -> Path | None:
    """Return what a package's name is to mean in the copy, None for a link to what the copy has not."""
    if not package.is_symlink() or _is_endless(package):
        return package.absolute()
    target = package.resolve()
    if not target.is_relative_to(root.resolve()) or _NODE in target.relative_to(root.resolve()).parts:
        return package.absolute()
    source = copy.absolute() / target.relative_to(root.resolve())
    return source if source.exists() else None


def endless_links(root: Path) -> list[str]:
    """Return the links among a project's packages that lead to themselves, so that no copy can have what they mean."""
    modules = root / _NODE
    links = (path for pattern in ("*", "@*/*") for path in sorted(modules.glob(pattern)) if path.is_symlink())
    return [path.relative_to(root).as_posix() for path in links if _is_endless(path)]


def _is_endless(link: Path) -> bool:
    try:
        link.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def _copy_files(root: Path, copy: Path) -> None:
    """Copy the small files of the project that a copy lacks: settings, generated and compiled files."""
    for name in beside_tree(root, map(str, _folders(copy))):
        path, place = root / name, copy / name
        # Tests rarely read larger ignored files.
        if not os.path.lexists(place) and path.is_file() and path.stat().st_size <= 16 << 20:
            place.parent.mkdir(exist_ok=True)
            shutil.copy2(path, place)


def beside_tree(root: Path, folders: Iterable[str]) -> Iterator[str]:
    """Yield what lies in the folders of a tree, relative to the root, whether the tree holds it or not."""
    for folder in sorted(folders):
        below = "" if folder in {"", "."} else f"{folder}/"
        for name in _names_in(root / below):
            yield f"{below}{name}"
            # Git often ignores these as a whole; runners look for settings in them.
            if name in {".cargo", ".config"}:
                yield from (f"{below}{name}/{each}" for each in _names_in(root / below / name))


def _names_in(folder: Path) -> list[str]:
    """Return the names in a folder, none where it is no readable folder; a worktree's .git is a file."""
    try:
        return sorted(set(os.listdir(folder)) - {".git", ".coverage", ".DS_Store"})  # noqa: PTH208  # of many folders
    except OSError:
        return []


def _editable(prefix: Path, root: Path, same_source: bool) -> Iterator[Path]:  # noqa: FBT001
    """Yield the folders of a project that a Python environment imports from, relative to its root."""
    for site in (site for pattern in SITES for site in sorted(prefix.glob(pattern))):
        for file in sorted(site.glob("*.pth")):
            for line in (text_of(file) or "").splitlines():
                yield from _inside(line.strip(), root)
        for file in sorted(site.glob("__editable__*_finder.py")):
            for name, source in _mapping(text_of(file) or "").items():
                for path in _inside(source, root):
                    if path.name == name:
                        yield path.parent
                    elif not same_source:
                        raise InputError(
                            f"{file.name} takes {name} from {path} of the working tree: what is restored beside it "
                            "cannot be measured"
                        )


def _inside(name: str, root: Path) -> Iterator[Path]:
    path = Path(name)
    if path.is_absolute() and path.resolve().is_relative_to(root):
        yield path.resolve().relative_to(root)


def _mapping(text: str) -> Mapping[str, str]:
    found = re.search(r"(?m)^MAPPING(?:\s*:[^=]*)?\s*=\s*(\{.*\})\s*$", text)
    try:
        plain = ast.literal_eval(found[1]) if found else {}
    except (ValueError, SyntaxError):
        return {}
    return {name: source for name, source in plain.items() if isinstance(name, str) and isinstance(source, str)}
