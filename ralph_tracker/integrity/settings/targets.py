"""The named commands of a project: targets of make and just, scripts of package.json, tox, nox, hatch and others."""

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.syntax import FUNCTIONS, dotted, tree_of
from ralph_tracker.integrity.settings.commands import Command, commands_in
from ralph_tracker.integrity.settings.literals import literals_of
from ralph_tracker.integrity.settings.sections import sections_of
from ralph_tracker.integrity.settings.values import flat, scalars
from ralph_tracker.integrity.settings.workflows import is_workflow, workflow_of
from ralph_tracker.integrity.source_tests import Unparsable

Commands = tuple[Command, ...]
Targets = Mapping[str, Commands]
_MAKE_TARGET: Final = Pattern(r"^([\w./%$(){} -]+?)\s*::?(?![=:])", re.ASCII)
_JUST_TARGET: Final = Pattern(r"^@?([\w-]+)(\s+[^:=]*)?:(?!=)")
_SHELL_SCRIPT: Final = Pattern(r".+\.sh|(run[-_]?)?(tests?|lint|checks?)")
_HEADER: Final = 300
_MAX_RECIPES: Final = 200_000
_IGNORED: Final = "- prefix"
_TOML_SCRIPTS: Final = Pattern(
    r"tool\.(?:hatch\.envs\.[\w-]+\.scripts|poe\.tasks|pdm\.scripts|taskipy\.tasks|rye\.scripts|pixi\.tasks)\.(.+)"
)


@lru_cache(maxsize=128)
def targets_of(path: str, text: str) -> Targets:
    """Return the commands of a file by the name of what runs them, nothing for other files. Raises Unparsable."""
    if is_workflow(path):
        return {"": workflow_of(path, text).commands}
    read = _reader(path.rpartition("/")[2])
    return {name: commands for name, commands in read(text) if commands} if read is not None else {}


def holds_targets(path: str) -> bool:
    """Tell whether a file's name is that of named commands or of a workflow."""
    return is_workflow(path) or _reader(path.rpartition("/")[2]) is not None


@lru_cache(maxsize=1024)
def _reader(name: str) -> Callable[[str], Iterable[tuple[str, Commands]]] | None:
    for pattern, read in _READERS:
        if pattern.fullmatch(name):
            return read
    return None


def _make(text: str) -> Iterator[tuple[str, Commands]]:
    return _recipes(text, _MAKE_TARGET)


def _just(text: str) -> Iterator[tuple[str, Commands]]:
    return _recipes(text, _JUST_TARGET)


def _recipes(text: str, header: Pattern) -> Iterator[tuple[str, Commands]]:
    """Yield the recipes of a file whose targets stand at the line's beginning and their commands behind white space."""
    found: dict[str, list[str]] = {}
    recipe: list[str] = []
    for line in re.sub(r"\\\r?\n[ \t]*", " ", text[:_MAX_RECIPES]).splitlines():
        if line[:1] in {"\t", " "}:
            recipe.append(line.strip())
        elif match := header.match(line[:_HEADER]):
            recipe = found.setdefault(match[1].strip(), [])
        elif line.strip() and not line.startswith("#"):
            recipe = []
    for name, lines in found.items():
        yield name, tuple(command for line in lines for command in _recipe_line(line))


def _recipe_line(line: str) -> Commands:
    """Return the commands of a line whose failure goes unheard behind a leading minus."""
    bare = line.lstrip("@+- ")
    ignored = "-" in line[: len(line) - len(bare)]
    return _softened(commands_in(bare)) if ignored else commands_in(bare)


def _softened(commands: Commands) -> Commands:
    return tuple(each._replace(soft=each.soft or _IGNORED) for each in commands)


def _tox(text: str) -> Iterator[tuple[str, Commands]]:
    for section, items in sections_of(text):
        if section.startswith("testenv") and items.get("commands"):
            lines = re.sub(r"\\\r?\n\s*", " ", items["commands"]).splitlines()
            excused = items.get("ignore_outcome", "").strip().lower() == "true"
            commands = tuple(command for line in lines for command in _recipe_line(_without_factor(line.strip())))
            yield section, _softened(commands) if excused else commands


def _without_factor(line: str) -> str:
    """Return a line of tox without the condition in front (`py311-cov: pytest`)."""
    return re.sub(r"^[!\w.,{}-]+:\s+", "", line)


def _package(text: str) -> Iterator[tuple[str, Commands]]:
    for key, value in literals_of(text).items():
        if key.startswith("scripts.") and isinstance(value, str):
            yield key, commands_in(value)


def _pyproject(text: str) -> Iterator[tuple[str, Commands]]:
    try:
        document = tomllib.loads(text)
    except (ValueError, TypeError) as error:
        raise Unparsable(str(error)) from None
    tools: Any = document.get("tool")
    tox = tools.get("tox") if isinstance(tools, Mapping) else None
    if isinstance(tox, Mapping):
        legacy = tox.get("legacy_tox_ini")
        yield from _tox(legacy) if isinstance(legacy, str) else _native_tox(tox)
    for key, value in flat(document).items():
        if match := _TOML_SCRIPTS.fullmatch(key):
            script = "\n".join(str(each) for each in scalars(value))
            yield (
                match[1].removesuffix(".cmd").removesuffix(".shell"),
                tuple(command for line in script.splitlines() for command in _recipe_line(line)),
            )


def _native_tox(tox: Mapping[str, Any]) -> Iterator[tuple[str, Commands]]:
    environments = tox.get("env")
    named = environments.items() if isinstance(environments, Mapping) else ()
    for name, environment in (("env_run_base", tox.get("env_run_base")), *named):
        commands = environment.get("commands") if isinstance(environment, Mapping) else None
        lines = [each for each in commands if isinstance(each, list)] if isinstance(commands, list) else []
        yield name, tuple(command for line in lines for command in _recipe_line(_quoted(str(word) for word in line)))


def _quoted(words: Iterable[str]) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def _nox(text: str) -> Iterator[tuple[str, Commands]]:
    for function in tree_of(text).body:
        if isinstance(function, FUNCTIONS):
            calls = [
                node for node in ast.walk(function) if isinstance(node, ast.Call) and dotted(node) == "session.run"
            ]
            yield function.name, tuple(command for call in calls for command in _session_run(call))


def _session_run(call: ast.Call) -> Commands:
    words = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    excused = any(keyword.arg == "success_codes" for keyword in call.keywords)
    commands = commands_in(_quoted(words))
    return _softened(commands) if excused else commands


def _hooks(text: str) -> Iterator[tuple[str, Commands]]:
    from ralph_tracker.integrity.settings.hooks import hooks_of  # noqa: PLC0415  for YAML only

    return hooks_of(text)


def _script(text: str) -> Iterator[tuple[str, Commands]]:
    yield "script", commands_in(text)


_READERS: Final[tuple[tuple[Pattern, Callable[[str], Iterable[tuple[str, Commands]]]], ...]] = (
    (Pattern(r"GNUmakefile|[Mm]akefile|.+\.mk"), _make),
    (Pattern(r"\.?[Jj]ustfile"), _just),
    (Pattern(r"tox\.ini|setup\.cfg"), _tox),
    (Pattern(r"package\.json"), _package),
    (Pattern(r"pyproject\.toml"), _pyproject),
    (Pattern(r"noxfile\.py"), _nox),
    (Pattern(r"\.pre-commit-config\.ya?ml"), _hooks),
    (_SHELL_SCRIPT, _script),
)
