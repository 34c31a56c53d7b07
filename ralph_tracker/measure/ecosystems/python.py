"""Python: pytest, coverage, ruff and mypy.

The interpreter is the project's own, and ralph-tracker's only if the project uses the same.
"""

import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ralph_tracker.measure.ecosystems.detected_ecosystem import Checks, Ecosystem, by_status, reported
from ralph_tracker.measure.installed_tools import PROBE_TIMEOUT_S, how_to_add, output_of, program
from ralph_tracker.safe_files import text_of

NAME: Final = "python"
_PROBE: Final = (
    "import importlib.util as u, json, sys;"
    # A folder of that name in the project is found too, but has no origin.
    "found = [m for m in sys.argv[1:] if (s := u.find_spec(m)) and s.origin];"
    "print(json.dumps(found + [sys.version.split()[0]]))"
)
_INSTALL: Final = "pip install {} into the project's environment"
_TOOLS: Final = ("pytest", "coverage", "pytest_cov", "ruff", "mypy")
_MARKERS: Final = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt", "Pipfile")
_LOCKS: Final = (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile.lock", "pipenv"))
_ENVIRONMENTS: Final = (".tox/py*", ".tox/test*", ".nox/test*", ".nox/*")
_HATCH: Final = ("hatch-test", "default", "test")
_CODE: Final = ("*.py", "src/*.py", "src/*/*.py", "tests/*.py", "test/*.py")
_MYPY_FILES: Final = ("mypy.ini", ".mypy.ini", "setup.cfg")
_PYTEST_SECTIONS: Final = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
_UNITTEST: Final = re.compile(r"^(?:import unittest|from unittest import)", re.MULTILINE)
_LOOKED_AT: Final = 100
_PYTEST_TABLES: Final = ("pytest.toml", ".pytest.toml")


def detect(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a Python project can be measured, None if it is not one."""
    if not is_python_project(root):
        return None
    python = project_python(root, environment)
    if python is None:
        return Ecosystem(NAME, notes=(f"no Python found for {root}; install it, or make a .venv there",))
    answer = _ask(root, python, environment)
    if answer is None:
        return Ecosystem(NAME, python, notes=(f"{' '.join(python)} does not run here; fix the environment first",))
    *modules, version = answer
    tools = _tools(python, modules, environment)
    wanted = ["pytest", "coverage", "ruff", *(["mypy"] if _uses_mypy(root) else [])]
    missing = [name for name in wanted if name not in tools]
    if "pytest" in tools and _asks_for_pytest_cov(root) and "pytest_cov" not in modules:
        missing.append("pytest-cov")
    notes = [f"{tool} not found: {how_to_add(python, tool) or _INSTALL.format(tool)}" for tool in missing]
    checks = _checks(root, python, tools, modules)
    command = None if "tests" in checks else _by_itself(root, python, environment)
    if command is None:
        return Ecosystem(NAME, python, version, tools, checks, tuple(notes))
    check, note, template = by_status(command, "python -m pytest --junitxml={reports}/junit.xml", "{reports}/junit.xml")
    return Ecosystem(NAME, python, version, tools, {**check, **checks}, (*notes, note), (template,))


def _by_itself(root: Path, python: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the command that runs the tests without pytest in the environment: nox, tox or unittest."""
    for files, tool in ((("noxfile.py",), "nox"), (("tox.ini", "tox.toml"), "tox")):
        if any((root / name).is_file() for name in files) and program(tool, environment):
            return (tool,)
    tests = (path for pattern in ("test*.py", "test*/test*.py", "test*/*/test*.py") for path in root.glob(pattern))
    cases = any(_UNITTEST.search(text_of(path) or "") for path in islice(tests, _LOOKED_AT))
    return (*python, "-m", "unittest") if cases else None


def is_python_project(root: Path) -> bool:
    """Return whether a folder looks like a project for Python tools."""
    return any((root / name).is_file() for name in _MARKERS) or any(next(root.glob(code), None) for code in _CODE)


def project_python(root: Path, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return how the project's own interpreter is called, None without one.

    The lock file of uv, poetry, pdm or pipenv → run by that tool, else the project's .venv, else the environment of
    hatch, poetry, tox or nox that has pytest, else PATH without our own environment.
    """
    for lock, tool in _LOCKS:
        if (root / lock).is_file() and shutil.which(tool, path=environment.get("PATH")):
            return (tool, "run", "python")
    for folder in (".venv", "venv"):
        candidate = root / folder / "bin" / "python"
        if candidate.exists():
            return (f"{folder}/bin/python",)
    made = _made_by_a_runner(root, environment)
    found = program("python3", environment) or program("python", environment)
    return made or ((found,) if found else None)


def _made_by_a_runner(root: Path, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return how Python is called in an environment that hatch, poetry, tox or nox made, None if none has pytest.

    What hatch and poetry keep outside the project is called by them: its path is another on every machine.
    """
    inside = [path for pattern in _ENVIRONMENTS for path in sorted(root.glob(pattern), reverse=True)]
    made: list[tuple[Path, tuple[str, ...]]] = [(path, (f"{path.relative_to(root)}/bin/python",)) for path in inside]
    if _pyproject(root, "tool", "hatch") and program("hatch", environment):
        for name in _HATCH:
            # a matrix has an environment for each version, of which few may have been made
            for path in _folders_named_by(("hatch", "env", "find", name), root, environment):
                call = "python" if name == "default" else f"{path.name}:python"
                made.append((path, ("hatch", "run", call)))
    if _pyproject(root, "tool", "poetry") and program("poetry", environment):  # libraries often keep no poetry.lock
        folders = _folders_named_by(("poetry", "env", "info", "--path"), root, environment)
        made += [(path, ("poetry", "run", "python")) for path in folders]
    return next((call for path, call in made if next(path.glob("lib/python*/site-packages/pytest"), None)), None)


def _folders_named_by(command: Sequence[str], root: Path, environment: Mapping[str, str]) -> list[Path]:
    lines = (output_of(command, root, environment) or "").splitlines()
    return [path for path in (Path(line.strip()) for line in lines) if path.is_absolute()]


def _ask(root: Path, python: Sequence[str], environment: Mapping[str, str]) -> list[str] | None:
    command = [*python, "-c", _PROBE, *_TOOLS]
    try:
        done = subprocess.run(  # noqa: S603  # the project's own interpreter
            command, cwd=root, env=dict(environment), capture_output=True, timeout=PROBE_TIMEOUT_S, check=True
        )
        answer: list[str] = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None
    return answer


def _tools(python: Sequence[str], modules: Sequence[str], environment: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return how each tool is called: as a module of the project's Python, else as a command on PATH."""
    tools: dict[str, tuple[str, ...]] = {}
    for name in ("pytest", "coverage", "ruff", "mypy"):
        if name in modules:
            tools[name] = (*python, "-m", name)
        elif name in {"ruff", "mypy"} and (found := program(name, environment)):
            tools[name] = (found,)
    return tools


def _checks(root: Path, python: Sequence[str], tools: Mapping[str, tuple[str, ...]], modules: Sequence[str]) -> Checks:
    checks: Checks = {}
    if "pytest" in tools:
        checks |= _test_checks(root, python, tools, modules)
    if "ruff" in tools:
        # unless told not to, ruff reads .aiwg, where earlier iterations are kept, and with `fix` set it would change
        # the project
        words = ["--no-cache", "--no-fix", "--extend-exclude=.aiwg", "--output-format=json"]
        run = [*tools["ruff"], "check", *words]
        checks["lint"] = reported(run, "-", "ruff-json")
    if "mypy" in tools and _uses_mypy(root):
        names_files = any({"files", "packages", "modules"} & table.keys() for table in _mypy_settings(root))
        run = [*tools["mypy"], "--output=json", *([] if names_files else ["."])]
        checks["types"] = reported(run, "-", "mypy-json")
    return checks


def _test_checks(
    root: Path, python: Sequence[str], tools: Mapping[str, tuple[str, ...]], modules: Sequence[str]
) -> Checks:
    """Return the checks that run pytest, under coverage if available, unless the project itself uses pytest-cov."""
    own_coverage = "pytest_cov" in modules and _asks_for_pytest_cov(root)
    measured = "coverage" in tools
    how = [*tools["coverage"], "run", "-m", "pytest"] if measured and not own_coverage else [*python, "-m", "pytest"]
    data = {"COVERAGE_FILE": "{reports}/.coverage"}
    tests: dict[str, Any] = {
        # no -q: it skips hooks of the project's conftest, which count in coverage that includes tests; --ignore,
        # because a project's own norecursedirs replaces the default, which skips .aiwg
        "run": [*how, *_goes_on(root), "--ignore=.aiwg", "--junitxml={reports}/junit.xml"],
        "reports": ["{reports}/junit.xml"],
        "format": "junit",
    }
    if not measured:
        return {"tests": tests}
    coverage = shlex.join(tools["coverage"])
    # -i: a file that a test wrote, ran and deleted has no source any more; the other files still count
    script = f"{coverage} combine -q >/dev/null 2>&1; {coverage} json -q -i -o {{reports}}/coverage.json"
    return {
        "tests": {**tests, "env": data},
        "coverage": {
            "run": script,
            "reports": ["{reports}/coverage.json"],
            "format": "coveragepy-json",
            "needs": ["tests"],
            "env": data,
        },
    }


def _pyproject(root: Path, *keys: str) -> Mapping[str, Any]:
    return _table(root / "pyproject.toml", *keys)


def _table(path: Path, *keys: str) -> Mapping[str, Any]:
    """Return a table of a TOML file, {} if it is missing or cannot be read."""
    try:
        table: Any = tomllib.loads(text_of(path) or "")
    except ValueError:
        return {}
    for key in keys:
        table = table.get(key) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else {}


def _section(path: Path, name: str) -> Mapping[str, str]:
    """Return a section of an ini file, {} if it is missing or cannot be read."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text_of(path) or "")
        return dict(parser[name])
    except (ValueError, KeyError, configparser.Error):
        return {}


def _asks_for_pytest_cov(root: Path) -> bool:
    """Return whether pytest's own settings measure coverage; commands in tox.ini do not count."""
    return "--cov" in _added_options(root)


def _goes_on(root: Path) -> tuple[str, ...]:
    """Return the option that has pytest go on after a failing test, where its own settings end the run there."""
    stops = re.search(r"(?:^|\s)(?:-x|--exitfirst|--maxfail)\b", _added_options(root))
    return () if stops is None else ("--maxfail=0",)


def _added_options(root: Path) -> str:
    """Return the `addopts` of pytest's settings, one after the other."""
    tables = [_pyproject(root, "tool", "pytest", "ini_options"), _pyproject(root, "tool", "pytest")]
    tables += [_table(root / file, "pytest") for file in _PYTEST_TABLES]
    sections = [_section(root / file, name) for file, name in _PYTEST_SECTIONS.items()]
    given: list[Any] = [table.get("addopts", "") for table in (*tables, *sections)]
    return " ".join(" ".join(map(str, each)) if isinstance(each, list) else str(each) for each in given)


def _mypy_settings(root: Path) -> list[Mapping[str, Any]]:
    return [_pyproject(root, "tool", "mypy"), *(_section(root / name, "mypy") for name in _MYPY_FILES)]


def _uses_mypy(root: Path) -> bool:
    return any(_mypy_settings(root)) or any((root / name).is_file() for name in _MYPY_FILES[:2])
