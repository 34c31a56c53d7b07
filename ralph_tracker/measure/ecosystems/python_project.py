"""What the files of a Python project say: the commands that its maintainers run, and where a tool is declared."""

import ast
import configparser
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeGuard

from ralph_tracker.safe_files import text_of

Command = tuple[str, ...]
# Words of coverage before the module or script that it runs.
_COVERAGE: Final = ("coverage", "run")
_POSARGS: Final = re.compile(r"\{posargs(?::([^{}]*))?\}")
_ROOT_NAMES: Final = {"{toxinidir}/": "", "{toxinidir}": ".", "{tox_root}/": "", "{tox_root}": "."}
_REQUIREMENTS: Final = ("*requirements*.txt", "requirements/*.txt")
_LOCKS: Final = (
    ("uv.lock", "uv sync", " --group {}", " --extra {}"),
    ("poetry.lock", "poetry install", " --with {}", " --extras {}"),
    ("pdm.lock", "pdm install", " -G {}", " -G {}"),
    ("Pipfile", "pipenv install --dev", "", ""),
)


def table_of(path: Path, *keys: str) -> Mapping[str, Any]:
    """Return a table of a TOML file, {} if it is missing or cannot be read."""
    try:
        table: Any = tomllib.loads(text_of(path) or "")
    except ValueError:
        return {}
    for key in keys:
        table = table.get(key) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else {}


def repository_folders(root: Path) -> list[Path]:
    """Return a folder and those above it, up to the root of its repository; alone where it is in none."""
    folders = [root, *root.absolute().parents]
    return folders[: next((at for at, folder in enumerate(folders) if (folder / ".git").exists()), 0) + 1]


def workspace_members(root: Path) -> list[str]:
    """Return the folders of a workspace of uv whose root is no package itself, sorted."""
    document = table_of(root / "pyproject.toml")
    if "project" in document:
        return []
    settings = _in(_in(_in(document, "tool"), "uv"), "workspace")
    found, left_out = (
        {
            path.parent
            for each in _list(settings.get(key))
            if _is_below(each)
            for path in root.glob(f"{each}/pyproject.toml")
        }
        for key in ("members", "exclude")
    )
    return sorted(path.relative_to(root).as_posix() for path in found - left_out)


def _is_below(pattern: object) -> TypeGuard[str]:
    return isinstance(pattern, str) and bool(pattern) and pattern[0] != "/" and ".." not in pattern.split("/")


def ini_of(text: str | None) -> configparser.RawConfigParser:
    """Return the sections of an ini file, none if it cannot be read."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text or "")
    except (ValueError, configparser.Error):
        parser.clear()
    return parser


def maintainers_commands(root: Path) -> tuple[Command, ...]:
    """Return the commands of tox and nox, those of the tests first, each without what starts an interpreter for it.

    One with a substitution that only tox can make is left out, as is what the person who calls it adds.
    """
    return tuple(
        command for words in chain(_of_tox(root), _of_nox(root / "noxfile.py")) if (command := _without_launcher(words))
    )


def maintainers_environment(root: Path) -> dict[str, str]:
    """Return the variables that tox sets for the tests, without those that only tox can fill in."""
    section = ini_of(text_of(root / "tox.ini"))
    lines = (section.get("testenv", key, fallback="").replace("\\\n", "") for key in ("setenv", "set_env"))
    pairs = (_substituted(line).partition("=")[::2] for text in lines for line in text.splitlines())
    known = {name.strip(): value.strip() for name, value in pairs if "{" not in value}
    return {name: value for name, value in known.items() if re.fullmatch(r"\w+", name)}


def _substituted(line: str) -> str:
    """Return a line of tox with the root's name filled in, and with the values that variables have by default."""
    line = re.sub(r"\{env:\w+:([^{}]*)\}", r"\1", line)
    for name, place in _ROOT_NAMES.items():
        line = line.replace(name, place)
    return line


def words_after(tool: Sequence[str], commands: Sequence[Command]) -> Command | None:
    """Return the words that follow those of a tool in the first command that calls it, None if none does."""
    size = len(tool)
    return next((command[size:] for command in commands if command[:size] == tuple(tool)), None)


def _of_tox(root: Path) -> Iterator[Sequence[str]]:
    legacy = table_of(root / "pyproject.toml", "tool", "tox").get("legacy_tox_ini")
    parsers = [ini_of(text_of(root / name)) for name in ("tox.ini", "setup.cfg")]
    parsers += [ini_of(legacy)] if isinstance(legacy, str) else []
    for parser in parsers:
        names = [name for name in parser.sections() if name == "testenv" or name.startswith("testenv:")]
        for name in sorted(names, key="testenv".__ne__):
            text = parser.get(name, "commands", fallback="").replace("\\\n", " ")
            lines = [words for line in text.splitlines() if (words := _filled(line))]
            folder = parser.get(name, "changedir", fallback=parser.get("testenv", "changedir", fallback=""))
            yield from (_placed(root, _substituted(folder), words) for words in lines)
    for settings in (table_of(root / "tox.toml"), table_of(root / "pyproject.toml", "tool", "tox")):
        environments = settings.get("env")
        tables = [settings.get("env_run_base"), *(environments.values() if isinstance(environments, Mapping) else ())]
        for commands in (table.get("commands") for table in tables if isinstance(table, Mapping)):
            for command in commands if isinstance(commands, list) else ():
                if isinstance(command, list):
                    yield [word for word in command if isinstance(word, str)]


def _placed(root: Path, folder: str, words: Sequence[str]) -> Command:
    """Return a command of tox whose script, where it is started in another folder, is named `folder/./script`."""
    command = _without_launcher(words)
    if folder == "." or not _is_below(folder) or not command or not (root / folder / command[0]).is_file():
        return command
    return (f"{folder.rstrip('/')}/./{command[0]}", *command[1:])


def _filled(line: str) -> list[str]:
    """Return the words of a line of tox, [] for one that cannot be told."""
    line = _POSARGS.sub(lambda found: found[1] or "", re.sub(r"^[\w.,!{}-]+:\s+", "", line.strip()).lstrip("-! "))
    line = _substituted(line)
    for name in ("{envpython}", "{env_python}"):
        line = line.replace(name, "python")
    for name in ("{envbindir}/", "{env_bin_dir}/"):
        line = line.replace(name, "")
    try:
        words = [] if "{" in line else shlex.split(line)
    except ValueError:
        return []
    return words


def _of_nox(path: Path) -> Iterator[list[str]]:
    try:
        tree = ast.parse(text_of(path) or "")
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
            words = [_constant(each) for each in node.args if not isinstance(each, ast.Starred)]
            if words and all(words):
                yield [word for word in words if word is not None]


def _constant(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _without_launcher(words: Sequence[str]) -> Command:
    """Return a command that begins with its tool, or with its script."""
    rest = list(words)
    if set(rest[:2]) in ({"uv", "run"}, {"poetry", "run"}, {"pdm", "run"}, {"pipenv", "run"}, {"hatch", "run"}):
        rest = [word for at, word in enumerate(rest[2:]) if at or not word.startswith("-")]
    if rest and re.fullmatch(r"(?:.*/)?python[\d.]*", rest[0]):
        rest = _of_python(rest[1:])
    if tuple(rest[:2]) == _COVERAGE:
        rest = _of_python(rest[2:])
    return tuple(rest)


def _of_python(words: list[str]) -> list[str]:
    """Return what follows options of the interpreter or of coverage: a module's name, or a script."""
    valued = {"-W", "-X"}
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-m":
        at += 2 if words[at] in valued else 1
    return words[at + 1 :] if words[at : at + 1] == ["-m"] else words[at:]


def declared_install(root: Path, package: str) -> str | None:
    """Return the command that installs what the project declares, if the package is part of that, else None."""
    for kind, name, requirements in _declarations(root):
        if not any(_is(package, each) for each in requirements):
            continue
        for lock, command, group, extra in _LOCKS:
            if any((folder / lock).is_file() for folder in repository_folders(root)):
                how = {"group": group, "extra": extra}.get(kind, "")
                # Groups that these managers install without being asked for.
                return command + ("" if name == "dev" and kind == "group" else how.format(name))
        return {
            "file": f"pip install -r {name}",
            "extra": f"pip install -e '.[{name}]'",
            "group": f"pip install --group {name}",
            "poetry": "poetry install",
        }.get(kind, "pip install -e .")
    return None


def declares(root: Path, package: str) -> bool:
    """Return whether the project names a package among what it needs, or its files of tox and setup do."""
    if any(_is(package, each) for _, _, requirements in _declarations(root) for each in requirements):
        return True
    word = re.compile(rf"(?<![\w-]){re.escape(package)}(?![\w-])")
    return any(word.search(text_of(root / name) or "") for name in ("setup.cfg", "setup.py", "tox.ini", "noxfile.py"))


def _is(package: str, requirement: object) -> bool:
    found = re.match(r"[\w.-]+", requirement.strip()) if isinstance(requirement, str) else None
    return found is not None and re.sub(r"[-_.]+", "-", found[0]).lower() == package


def _declarations(root: Path) -> Iterator[tuple[str, str, Sequence[object]]]:
    """Yield the kind of each list of requirements (plain, group, extra, poetry, file), its name, and what it lists."""
    document = table_of(root / "pyproject.toml")
    project, tool = (_in(document, name) for name in ("project", "tool"))
    yield "plain", "", _list(project.get("dependencies"))
    yield from (("group", name, _list(each)) for name, each in _in(document, "dependency-groups").items())
    yield from (("extra", name, _list(each)) for name, each in _in(project, "optional-dependencies").items())
    yield "group", "dev", _list(_in(tool, "uv").get("dev-dependencies"))
    yield from (("group", name, _list(each)) for name, each in _in(_in(tool, "pdm"), "dev-dependencies").items())
    poetry = _in(tool, "poetry")
    yield "poetry", "", [*_in(poetry, "dependencies"), *_in(poetry, "dev-dependencies")]
    for name, group in _in(poetry, "group").items():
        needs = list(_in(group, "dependencies")) if isinstance(group, Mapping) else []
        yield ("group" if isinstance(group, Mapping) and group.get("optional") else "poetry"), name, needs
    pipfile = table_of(root / "Pipfile")
    yield "plain", "", [*_in(pipfile, "packages"), *_in(pipfile, "dev-packages")]
    for path in chain.from_iterable(sorted(root.glob(pattern)) for pattern in _REQUIREMENTS):
        yield "file", path.relative_to(root).as_posix(), (text_of(path) or "").splitlines()


def _in(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = table.get(key)
    return found if isinstance(found, Mapping) else {}


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []
