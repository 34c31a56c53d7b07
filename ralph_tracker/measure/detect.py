"""What a project can be measured with: what `init` writes, and what a hook without a configuration uses.

The interpreter is the project's own, never the one that ralph-tracker runs in, unless that is the project's.
"""

import configparser
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

_PROBE: Final = (
    "import importlib.util as u, json, sys;"
    # A folder of that name in the project is found too, but is no tool: it has no origin.
    "found = [m for m in sys.argv[1:] if (s := u.find_spec(m)) and s.origin];"
    "print(json.dumps(found + [sys.version.split()[0]]))"
)
_TOOLS: Final = ("pytest", "coverage", "pytest_cov", "ruff", "mypy")
_PROBE_TIMEOUT_S: Final = 60
_MARKERS: Final = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt", "Pipfile")
_CODE: Final = ("*.py", "src/*.py", "src/*/*.py", "tests/*.py", "test/*.py")
_MYPY_FILES: Final = ("mypy.ini", ".mypy.ini", "setup.cfg")
_PYTEST_SECTIONS: Final = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}


@dataclass(frozen=True, slots=True)
class Found:
    """Hold what was found: how the project's Python is called, its version, and the tools it can run.

    `checks` are as a configuration has them, empty where nothing can be measured; `notes` say what was not found and
    what to do about it.
    """

    python: tuple[str, ...]
    version: str | None
    tools: Mapping[str, tuple[str, ...]]
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def detect(root: Path, environment: Mapping[str, str]) -> Found:
    """Look at a project and return how it can be measured."""
    python = project_python(root, environment)
    if not is_python_project(root) or python is None:
        why = "no Python found" if python is None else "no Python project found"
        return Found((), None, {}, notes=(f"{why} in {root}; write checks into ralph-tracker.yaml",))
    answer = _ask(root, python, environment)
    if answer is None:
        return Found(python, None, {}, notes=(f"{' '.join(python)} does not run here; mend the environment first",))
    *modules, version = answer
    tools = _tools(python, modules, environment)
    checks = _checks(root, python, tools, modules)
    missing = [f"{tool} not found: pip install {tool} into the project's environment" for tool in _missing(root, tools)]
    return Found(python, version, tools, checks, tuple(missing))


def is_python_project(root: Path) -> bool:
    """Tell whether a folder looks like one that Python tools can measure."""
    return any((root / name).is_file() for name in _MARKERS) or any(next(root.glob(code), None) for code in _CODE)


def project_python(root: Path, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return how the project's own interpreter is called, None where there is none.

    uv.lock → uv run, poetry.lock → poetry run, else the project's .venv, else PATH without our own environment.
    """
    for lock, tool in (("uv.lock", "uv"), ("poetry.lock", "poetry")):
        if (root / lock).is_file() and shutil.which(tool, path=environment.get("PATH")):
            return (tool, "run", "python")
    for folder in (".venv", "venv"):
        candidate = root / folder / "bin" / "python"
        if candidate.exists():
            return (f"{folder}/bin/python",)
    found = program("python3", environment) or program("python", environment)
    return (found,) if found else None


def program(name: str, environment: Mapping[str, str]) -> str | None:
    """Return a program on PATH, leaving out the environment that we run in; None where there is none."""
    folders = environment.get("PATH", "").split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(part for part in folders if not _is_ours(part)))


def _is_ours(folder: str) -> bool:
    """Tell whether a folder of PATH belongs to the virtual environment that we run in."""
    if sys.prefix == sys.base_prefix:
        return False
    return Path(folder).resolve() == Path(sys.prefix).resolve() / "bin"


def _ask(root: Path, python: Sequence[str], environment: Mapping[str, str]) -> list[str] | None:
    command = [*python, "-c", _PROBE, *_TOOLS]
    try:
        done = subprocess.run(  # noqa: S603  # the project's own interpreter
            command, cwd=root, env=dict(environment), capture_output=True, timeout=_PROBE_TIMEOUT_S, check=True
        )
        answer: list[str] = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None
    return answer


def version_of(call: Sequence[str], root: Path, environment: Mapping[str, str]) -> str | None:
    """Return the first number in what a program says of its version, None where it does not run."""
    try:
        done = subprocess.run(  # noqa: S603  # a tool of the project
            [*call, "--version"],
            cwd=root,
            env=dict(environment),
            capture_output=True,
            timeout=_PROBE_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    words = done.stdout.decode("utf-8", "replace").replace(",", " ").split()
    return next((word for word in words if word[0].isdigit()), None)


def _tools(python: Sequence[str], modules: Sequence[str], environment: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return how each tool is called: as a module of the project's Python, else as a command on PATH."""
    tools: dict[str, tuple[str, ...]] = {}
    for name in ("pytest", "coverage", "ruff", "mypy"):
        if name in modules:
            tools[name] = (*python, "-m", name)
        elif name in {"ruff", "mypy"} and (found := program(name, environment)):
            tools[name] = (found,)
    return tools


def _missing(root: Path, tools: Mapping[str, Any]) -> list[str]:
    wanted = ["pytest", "coverage", "ruff", *(["mypy"] if _uses_mypy(root) else [])]
    return [name for name in wanted if name not in tools]


def _checks(
    root: Path, python: Sequence[str], tools: Mapping[str, tuple[str, ...]], modules: Sequence[str]
) -> dict[str, dict[str, Any]]:
    checks: dict[str, dict[str, Any]] = {}
    if "pytest" in tools:
        checks |= _test_checks(root, python, tools, modules)
    if "ruff" in tools:
        # ruff looks into .aiwg where nothing ignores that, and what is kept of earlier iterations is no finding of now
        run = [*tools["ruff"], "check", "--no-cache", "--extend-exclude=.aiwg", "--output-format=json"]
        checks["lint"] = {"run": run, "reports": ["-"], "format": "ruff-json"}
    if "mypy" in tools and _uses_mypy(root):
        run = [*tools["mypy"], "--output=json", *([] if _mypy_names_files(root) else ["."])]
        checks["types"] = {"run": run, "reports": ["-"], "format": "mypy-json"}
    return checks


def _test_checks(
    root: Path, python: Sequence[str], tools: Mapping[str, tuple[str, ...]], modules: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Run pytest under coverage where that is there; pytest-cov, where the project asks for it, measures itself."""
    own_coverage = "pytest_cov" in modules and _asks_for_pytest_cov(root)
    measured = "coverage" in tools
    how = [*tools["coverage"], "run", "-m", "pytest"] if measured and not own_coverage else [*python, "-m", "pytest"]
    data = {"COVERAGE_FILE": "{reports}/.coverage"}
    tests: dict[str, Any] = {
        "run": [*how, "-q", "--junitxml={reports}/junit.xml"],
        "reports": ["{reports}/junit.xml"],
        "format": "junit",
    }
    if not measured:
        return {"tests": tests}
    coverage = shlex.join(tools["coverage"])
    script = f"{coverage} combine -q >/dev/null 2>&1; {coverage} json -q -o {{reports}}/coverage.json"
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
    """Return a table of pyproject.toml, {} where it has none or cannot be read."""
    try:
        table: Any = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    for key in keys:
        table = table.get(key) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else {}


def _section(path: Path, name: str) -> Mapping[str, str]:
    """Return a section of an ini file, {} where it has none or cannot be read."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
        return dict(parser[name])
    except (OSError, ValueError, KeyError, configparser.Error):
        return {}


def _asks_for_pytest_cov(root: Path) -> bool:
    """Tell whether pytest itself is set to measure coverage; a command line in tox.ini is none of ours."""
    tables = [_pyproject(root, "tool", "pytest", "ini_options"), _pyproject(root, "tool", "pytest")]
    sections = [_section(root / file, name) for file, name in _PYTEST_SECTIONS.items()]
    return any("--cov" in str(table.get("addopts", "")) for table in (*tables, *sections))


def _mypy_settings(root: Path) -> list[Mapping[str, Any]]:
    return [_pyproject(root, "tool", "mypy"), *(_section(root / name, "mypy") for name in _MYPY_FILES)]


def _uses_mypy(root: Path) -> bool:
    return any(_mypy_settings(root)) or any((root / name).is_file() for name in _MYPY_FILES[:2])


def _mypy_names_files(root: Path) -> bool:
    return any({"files", "packages", "modules"} & table.keys() for table in _mypy_settings(root))
