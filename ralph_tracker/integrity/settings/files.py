"""Which files hold settings, and what each says under keys that do not depend on the file that holds them."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.literals import literals_of
from ralph_tracker.integrity.settings.merged import merged
from ralph_tracker.integrity.settings.sections import sections_of
from ralph_tracker.integrity.settings.values import Settings, Value, flat
from ralph_tracker.integrity.source_tests import Unparsable

Reader = Callable[[str], dict[str, Value]]
TOOL: Final = "tool."
_PYPROJECT: Final = {
    ("tool", "pytest", "ini_options"): "pytest",
    ("tool", "pytest"): "pytest",
    ("tool", "coverage"): "coverage",
    ("tool", "ruff"): "ruff",
    ("tool", "mypy"): "mypy",
    ("tool", "flake8"): "flake8",
    ("tool", "pyright"): "pyright",
    ("tool", "basedpyright"): "pyright",
    ("tool", "bandit"): "bandit",
    ("tool", "interrogate"): "interrogate",
    ("tool", "black"): "black",
    ("lints",): "lints",
    ("workspace", "lints"): "lints",
}
_SECTIONS: Final = {"tool:pytest": "pytest", "tool:interrogate": "interrogate"} | {
    name: name for name in ("pytest", "flake8", "mypy", "bandit", "interrogate")
}
_PACKAGE: Final = {
    "jest": "jest",
    "vitest": "vitest",
    "nyc": "nyc",
    "c8": "nyc",
    "eslintConfig": "eslint",
    "mocha": "mocha",
}
_XML_COMMENT: Final = Pattern(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_XML: Final = Pattern(
    r"<(skip|skipTests|skipITs|maven\.test\.skip|testFailureIgnore|exclude|minimum|haltOnFailure)>([^<]*)</\1>"
)


def is_settings(path: str) -> bool:
    """Tell whether a file's name is that of settings."""
    return _reader(path.rpartition("/")[2]) is not None


@lru_cache(maxsize=128)
def settings_of(path: str, text: str) -> Settings:
    """Return what a file of settings says, nothing for other files. Raises Unparsable."""
    read = _reader(path.rpartition("/")[2])
    return merged(read(text)) if read is not None else {}


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, TypeError) as error:
        raise Unparsable(str(error)) from None


def _at(document: Any, way: tuple[str, ...]) -> Any:  # noqa: ANN401  # any document
    for name in way:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document


def _pyproject(text: str) -> dict[str, Value]:
    document = _toml(text)
    found: dict[str, Value] = {}
    for way, prefix in _PYPROJECT.items():
        found |= flat(_at(document, way), prefix)
    found |= _overrides(_at(document, ("tool", "mypy", "overrides")))
    found |= _without_section(flat(_at(document, ("tool", "pylint")), "pylint"))
    tools = document.get("tool")
    return found | {f"{TOOL}{name}": True for name in (tools if isinstance(tools, Mapping) else ())}


def _overrides(tables: Any) -> dict[str, Value]:  # noqa: ANN401  # any TOML value
    """Return mypy's settings for single modules, each under its module's name."""
    found: dict[str, Value] = {}
    for table in tables if isinstance(tables, list) else ():
        modules = table.get("module", ()) if isinstance(table, Mapping) else ()
        for module in [modules] if isinstance(modules, str) else modules if isinstance(modules, list) else ():
            found |= flat({key: value for key, value in table.items() if key != "module"}, f"mypy[{module}]")
    return found


def _without_section(settings: Mapping[str, Value]) -> dict[str, Value]:
    """Return pylint's settings without the sections that they stand in, which say nothing."""
    return {f"pylint.{key.rpartition('.')[2].replace('_', '-').lower()}": value for key, value in settings.items()}


def _ruff(text: str) -> dict[str, Value]:
    return flat(_toml(text), "ruff") | {f"{TOOL}ruff": True}


def _pytest_toml(text: str) -> dict[str, Value]:
    return flat(_toml(text).get("pytest"), "pytest")


def _ini(text: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for section, items in sections_of(text):
        prefix = _prefix(section)
        if prefix is not None:
            found |= {f"{prefix}.{key.replace('_', '-') if prefix == 'flake8' else key}": items[key] for key in items}
            found[TOOL + re.split(r"[.\[]", prefix)[0]] = True
        elif section.lower().startswith("pylint"):
            found |= _without_section(dict(items))
            found[f"{TOOL}pylint"] = True
    return found


def _prefix(section: str) -> str | None:
    """Return what the keys of a section of setup.cfg or tox.ini begin with, None where it holds no gate."""
    if section in _SECTIONS:
        return _SECTIONS[section]
    if section.startswith("coverage:"):
        return section.replace(":", ".", 1)
    return f"mypy[{section.removeprefix('mypy-')}]" if section.startswith("mypy-") else None


def _coveragerc(text: str) -> dict[str, Value]:
    found = {f"coverage.{section}.{key}": items[key] for section, items in sections_of(text) for key in items}
    return {key.replace("coverage.coverage:", "coverage."): value for key, value in found.items()}


def _pylintrc(text: str) -> dict[str, Value]:
    found: dict[str, str] = {}
    for _, items in sections_of(text):
        found |= items
    return _without_section(found) | {f"{TOOL}pylint": True}


def _package(text: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, value in literals_of(text).items():
        name, _, rest = key.partition(".")
        if name in _PACKAGE:
            found[f"{_PACKAGE[name]}.{rest}"] = value
    return found


def _prefixed(prefix: str) -> Reader:
    return lambda text: (
        {f"{prefix}.{key}": value for key, value in literals_of(text).items()} | {f"{TOOL}{prefix}": True}
    )


def _vitest(text: str) -> dict[str, Value]:
    found = literals_of(text)
    return {f"vitest.{key.removeprefix('test.')}": value for key, value in found.items() if key.startswith("test.")}


def _yaml(prefix: str) -> Reader:
    def read(text: str) -> dict[str, Value]:
        from ralph_tracker.integrity.settings.yaml_text import yaml_values  # noqa: PLC0415  for YAML only

        return flat(yaml_values(text), prefix)

    return read


def _hooks(text: str) -> dict[str, Value]:
    from ralph_tracker.integrity.settings.hooks import hook_settings  # noqa: PLC0415  for YAML only

    return hook_settings(text)


def _pom(text: str) -> dict[str, Value]:
    found: dict[str, list[str]] = {}
    for match in _XML.finditer(_XML_COMMENT.sub("", text)):
        found.setdefault(f"maven.{match[1]}", []).append(match[2].strip())
    return {key: tuple(values) for key, values in found.items()}


def _conftest(text: str) -> dict[str, Value]:
    from ralph_tracker.integrity.python.ignored import ignored_by_collection  # noqa: PLC0415  parses Python

    ignored = ignored_by_collection(text) if "collect_ignore" in text else ()
    return {"pytest.collect_ignore": ignored} if ignored else {}


_READERS: Final[tuple[tuple[Pattern, Reader], ...]] = tuple(
    (Pattern(pattern), read)
    for pattern, read in (
        (r"pyproject\.toml|Cargo\.toml", _pyproject),
        (r"\.?ruff\.toml", _ruff),
        (r"\.?pytest\.toml", _pytest_toml),
        (r"setup\.cfg|tox\.ini|\.?pytest\.ini|\.?mypy\.ini|\.flake8|\.bandit", _ini),
        (r"\.coveragerc", _coveragerc),
        (r"\.?pylintrc", _pylintrc),
        (r"conftest\.py", _conftest),
        (r"package\.json", _package),
        (r"jest(\.[\w-]+)*\.config(\.[\w-]+)*\.([cm]?[jt]s|json)", _prefixed("jest")),
        (r"vite(st)?\.config(\.[\w-]+)*\.[cm]?[jt]s|vitest\.workspace\.[cm]?[jt]s", _vitest),
        (r"eslint\.config\.[cm]?[jt]s|\.eslintrc(\.json|\.[cm]?js)?", _prefixed("eslint")),
        (r"\.eslintrc\.ya?ml", _yaml("eslint")),
        (r"\.mocharc\.(jsonc?|[cm]?js)|\.mocharc", _prefixed("mocha")),
        (r"\.mocharc\.ya?ml", _yaml("mocha")),
        (r"\.nycrc(\.json)?|\.c8rc\.json|nyc\.config\.[cm]?js", _prefixed("nyc")),
        (r"tsconfig([\w.-]*)\.json", _prefixed("tsconfig")),
        (r"pyrightconfig\.json", _prefixed("pyright")),
        (r"\.?codecov\.ya?ml", _yaml("codecov")),
        (r"\.golangci\.ya?ml", _yaml("golangci")),
        (r"\.?bandit\.ya?ml", _yaml("bandit")),
        (r"pom\.xml", _pom),
        (r"\.pre-commit-config\.ya?ml", _hooks),
    )
)


@lru_cache(maxsize=1024)
def _reader(name: str) -> Reader | None:
    return next((read for pattern, read in _READERS if pattern.fullmatch(name)), None)
