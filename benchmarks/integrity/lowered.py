"""What a step between two trees demands less of checks: gates, rules of linters and type checkers, jobs, tests.

The settings of all files of a tree are read into one table by tool, so that what moves to another file is no change.
"""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from relaxing import Relaxation
from trees import Tree, is_settings

Settings = Mapping[tuple[str, str], tuple[str, Any]]  # (tool, key): (file, value)
_TOOLS: Final = ("coverage", "flake8", "mypy", "pytest", "ruff", "pylint", "pyright")
_RENAMED: Final = {"tool:pytest": "pytest", "pytest.ini_options": "pytest"}
_UPPER: Final = re.compile(r"(max_line_length|line_length|max_complexity|max_doc_length|max_args|max_branches)$")
_LOWER: Final = re.compile(r"fail_under$")
_STRICT: Final = re.compile(
    r"(^|\.)(strict\w*|disallow_\w+|warn_\w+|check_untyped_defs|no_implicit_\w+|extra_checks|xfail_strict|branch)$"
)
_SELECT: Final = re.compile(r"(^|\.)(extend_)?select$")
_IGNORE: Final = re.compile(r"(^|\.)(extend_)?ignore$|disable_error_code$|(^|\.)disable$|^report\.omit$|^run\.omit$")
_OWN: Final = {"flake8": ("E", "F", "W"), "ruff": ("E4", "E7", "E9", "F")}
_CODE: Final = re.compile(r"^[A-Z]{1,6}\d*$")
_FAMILY: Final = re.compile(r"^[A-Z]{1,6}$")
_NARROWING: Final = re.compile(r"(?:^|\s)(-k|--deselect|--ignore(?:-glob)?|-m)(?:[ =]|$)")
_LEVELS: Final = {"error": 3, "warning": 2, "information": 1, "none": 0, "false": 0, "true": 3}


def lowered_gates(old: Tree, new: Tree) -> Iterator[Relaxation]:
    """Yield what a step lowers among the settings of checks, where the tool is set up on both sides."""
    before, after = settings_of(old), settings_of(new)
    tools = {tool for tool, _ in before} & {tool for tool, _ in after}
    for (tool, key), (path, value) in before.items():
        if tool in tools and _is_lower(tool, key, value, after):
            yield Relaxation("G1", after.get((tool, key), (path, None))[0], f"{tool}.{key}")
    for (tool, key), (path, value) in after.items():
        if tool in tools and _is_exempt(tool, key, value, before):
            yield Relaxation("G1", path, f"{tool}.{key}")
    yield from _targets_of_codecov(old, new)
    yield from _floors_of_commands(old, new, before)
    yield from _narrowed(before, after)
    yield from _jobs(old, new)


def settings_of(tree: Tree) -> Settings:
    """Return the settings of a tree by tool and key."""
    found: dict[tuple[str, str], tuple[str, Any]] = {}
    for path, data in tree.items():
        if is_settings(path) and "/" not in path:
            for section, key, value in _entries(path, data.decode("utf-8", "replace")):
                tool, _, inside = section.partition(".")
                if tool in _TOOLS:
                    found[tool, ".".join(filter(None, (inside, key)))] = (path, value)
    return found


def _entries(path: str, text: str) -> Iterator[tuple[str, str, Any]]:
    """Yield section, key and value; a section begins with the name of its tool."""
    if path.endswith(".toml"):
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return
        for section, key, value in _flat(document if path.endswith("ruff.toml") else document.get("tool", {}), ""):
            yield _section(f"ruff.{section}" if path.endswith("ruff.toml") else section), _key(key), value
    elif path.endswith((".cfg", ".ini", ".coveragerc", ".flake8")):
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        try:
            parser.read_string(text)
        except configparser.Error:
            return
        for name in parser.sections():
            section = name if path != ".coveragerc" else f"coverage:{name}"
            for key, value in parser.items(name):
                yield _section(section.replace(":", ".") if section != "tool:pytest" else section), _key(key), value


def _flat(table: Mapping[str, Any], section: str) -> Iterator[tuple[str, str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{section}.{key}".lstrip("."))
        elif key == "overrides" and isinstance(value, list):
            for each in value:
                module = each.get("module", "")
                modules = module if isinstance(module, list) else [module]
                for name in modules:
                    yield from _flat({k: v for k, v in each.items() if k != "module"}, f"{section}.[{name}]")
        else:
            yield section, key, value


def _section(name: str) -> str:
    name = _RENAMED.get(name, name).replace("mypy-", "mypy.")
    return name.replace("ruff.lint.", "ruff.").replace("ruff.lint", "ruff").rstrip(".")


def _key(name: str) -> str:
    return name.replace("-", "_").lower() if not _CODE.match(name) else name


def _is_lower(tool: str, key: str, value: Any, after: Settings) -> bool:
    """Tell whether a setting of the old tree demands less in the new one."""
    now = after.get((tool, key), ("", None))[1]
    if _LOWER.search(key) or key == "addopts":
        return _threshold(now) < _threshold(value)
    if _UPPER.search(key):
        return _number(now, missing=float("inf")) > _number(value, missing=float("inf"))
    if _STRICT.search(key):
        strict = any(name == "strict" and _is_on(each[1]) for (kind, name), each in after.items() if kind == tool)
        return _is_on(value) and not _is_on(now) and not (now is None and strict)
    if _SELECT.search(key) and tool in {"ruff", "flake8"}:
        return bool(_lost_codes(tool, value, after))
    if tool == "pyright" and key.startswith("report"):
        return _level(value) > _level(now)
    return tool == "pytest" and key == "filterwarnings" and "error" in _words(value) and "error" not in _words(now)


def _lost_codes(tool: str, value: Any, after: Settings) -> set[str]:
    kept = _chosen(tool, after)
    return {code for code in _words(value) if "ALL" not in kept and not code.startswith(tuple(kept))}


def _chosen(tool: str, settings: Settings) -> set[str]:
    """Return the codes that a linter looks for: its own choice where none is made."""
    made = {key: _words(each[1]) for (kind, key), each in settings.items() if kind == tool and _SELECT.search(key)}
    own = () if any(not key.endswith("extend_select") for key in made) else _OWN[tool]
    return set(own).union(*made.values())


def _is_exempt(tool: str, key: str, value: Any, before: Settings) -> bool:
    """Tell whether a setting of the new tree exempts something that was checked before."""
    last = before.get((tool, key), ("", None))[1]
    if tool == "mypy" and key.endswith("ignore_errors"):
        return _is_on(value) and not _is_on(last)
    if not _IGNORE.search(key):
        return False
    codes = _words(value) - _words(last)
    if tool in {"ruff", "flake8"}:
        chosen = _chosen(tool, before)
        return any(_FAMILY.match(code) and (code in chosen or "ALL" in chosen) for code in codes)
    return bool(codes)


def _narrowed(before: Settings, after: Settings) -> Iterator[Relaxation]:
    """Yield what makes pytest collect less than before."""
    path, options = after.get(("pytest", "addopts"), ("", ""))
    last = before.get(("pytest", "addopts"), ("", ""))[1]
    news, olds = (
        _NARROWING.findall(" ".join(each) if isinstance(each, list) else str(each)) for each in (options, last)
    )
    if len(news) > len(olds):
        yield Relaxation("T3", path, "pytest.addopts")
    for key in ("testpaths", "python_files", "python_functions", "python_classes"):
        path, value = after.get(("pytest", key), ("", None))
        last = before.get(("pytest", key), ("", None))[1]
        if value is not None and last is not None and _words(value) < _words(last):
            yield Relaxation("T3", path, f"pytest.{key}")


_TARGET: Final = re.compile(r"(?m)^\s*target:\s*[\"']?(\d+(?:\.\d+)?)")


def _targets_of_codecov(old: Tree, new: Tree) -> Iterator[Relaxation]:
    for path in ("codecov.yml", ".codecov.yml", ".github/codecov.yml"):
        if path in old:
            before, after = (
                [float(each) for each in _TARGET.findall(tree.get(path, b"").decode("utf-8", "replace"))]
                for tree in (old, new)
            )
            if sum(after) < sum(before):
                yield Relaxation("G1", path, "codecov target")


_FLOOR: Final = re.compile(r"--(?:cov-)?fail-under[= ](\d+(?:\.\d+)?)")
_FLOOR_SET: Final = re.compile(r"(?m)^\s*fail_under\s*=\s*(\d+(?:\.\d+)?)")


def _floors_of_commands(old: Tree, new: Tree, settings: Settings) -> Iterator[Relaxation]:
    """Yield the command that asked for more coverage than anything does now, where coverage is still spoken of."""
    before, after = _floors(old), _floors(new)
    told = _threshold(settings.get(("pytest", "addopts"), ("", None))[1])
    spoken = any("coverage" in text or "--cov" in text for text in after.values())
    highest = max((floor for path in after for floor in _floors_in(after[path], _FLOOR, _FLOOR_SET)), default=0.0)
    for path, text in before.items():
        floor = max(_floors_in(text, _FLOOR), default=0.0)
        if spoken and floor > highest and floor != told:
            yield Relaxation("G1", path, "fail-under of a command")


def _floors(tree: Tree) -> dict[str, str]:
    """Return the texts of settings that hold commands, less the lines about pylint."""
    texts = {path: _uncommented(data) for path, data in tree.items() if is_settings(path)}
    return {path: "\n".join(line for line in text.splitlines() if "pylint" not in line) for path, text in texts.items()}


def _floors_in(text: str, *patterns: re.Pattern[str]) -> list[float]:
    return [float(each) for pattern in patterns for each in pattern.findall(text)]


_CHECK: Final = re.compile(r"\b(pytest|tox|nox|mypy|pyright|ruff|flake8|pylint|coverage|unittest|hatch|make)\b")


def _jobs(old: Tree, new: Tree) -> Iterator[Relaxation]:
    """Yield checks of workflows that no workflow runs any longer, and those that may fail now."""
    runs = _runs(old)
    words = {word for path, data in new.items() if _is_workflow(path) for word in _CHECK.findall(_uncommented(data))}
    if not any(_is_workflow(path) for path in new):
        gone = [path for path, data in old.items() if _is_workflow(path) and _CHECK.search(_uncommented(data))]
        yield from (Relaxation("G2", path, "no workflow") for path in gone)
    elif words:
        yield from (Relaxation("G2", runs[line], line) for line in runs if set(_CHECK.findall(line)) - words)
    for path, data in new.items():
        if _is_workflow(path) and path in old:
            now, last = _decoded(data), _decoded(old[path])
            for mark in ("continue-on-error: true", "|| true"):
                if now.count(mark) > last.count(mark):
                    yield Relaxation("G2", path, mark)


def _runs(tree: Tree) -> dict[str, str]:
    """Return the lines of workflows that run a check, with their files."""
    return {
        line.strip(): path
        for path, data in tree.items()
        if _is_workflow(path)
        for line in _uncommented(data).splitlines()
        if "run:" in line and "install" not in line and _CHECK.search(line)
    }


def _is_workflow(path: str) -> bool:
    return path.startswith(".github/workflows/")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _uncommented(data: bytes) -> str:
    return "\n".join(line for line in _decoded(data).splitlines() if not line.lstrip().startswith("#"))


def _words(value: Any) -> set[str]:
    if isinstance(value, list):
        return {str(each) for each in value}
    return {word for word in re.split(r"[\s,]+", str(value)) if word} if value is not None else set()


def _threshold(value: Any) -> float:
    """Return the coverage that is asked for, by itself or among options of pytest, 0 where none is."""
    found = re.search(r"--cov-fail-under[= ](\d+(?:\.\d+)?)", _joined(value))
    return float(found[1]) if found else _number(value)


def _joined(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else str(value)


def _number(value: Any, missing: float = 0.0) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return missing


def _is_on(value: Any) -> bool:
    return str(value).lower() in {"true", "1", "yes", "on"}


def _level(value: Any) -> int:
    return _LEVELS.get(str(value).lower(), 0)
