"""Python: pytest, Django's or unittest's own runner, coverage, ruff or flake8, and mypy, as the project runs them.

The interpreter is the project's own, and ralph-tracker's only if the project uses the same.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from itertools import chain, islice, pairwise, product
from pathlib import Path
from typing import Any, Final

from ralph_tracker.measure.ecosystems.detected_ecosystem import Checks, Ecosystem, by_status, made_of, reported
from ralph_tracker.measure.ecosystems.package_json import without
from ralph_tracker.measure.ecosystems.python_project import (
    Command,
    declared_install,
    declares,
    ini_of,
    maintainers_commands,
    maintainers_environment,
    repository_folders,
    table_of,
    words_after,
    workspace_members,
)
from ralph_tracker.measure.find_reports import HELPERS
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
_MARKERS: Final = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt", "Pipfile")
_ENVIRONMENTS: Final = (".tox/py*", ".tox/test*", ".nox/test*", ".nox/*")
_CODE: Final = ("*.py", "src/*.py", "src/*/*.py", "tests/*.py", "test/*.py")
_MYPY_FILES: Final = ("mypy.ini", ".mypy.ini", "setup.cfg")
_PYTEST_SECTIONS: Final = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
_UNITTEST: Final = re.compile(r"^(?:import unittest|from unittest import)", re.MULTILINE)
_TEST_SCRIPT: Final = re.compile(r"(?:[\w./-]*/)?(?:run_?tests?|test)\.py")
# What the runner of unittest or Django asks on a terminal, and which no one answers here.
_ASKS_NOTHING: Final = "--noinput"
_COLLECTS: Final = re.compile(r"--doctest-modules|--(?:doctest-glob|ds|import-mode)=.*")
_PYTEST_FLAG: Final = re.compile(r"-[vqsxl]+|-r\w+|--(?:verbose|quiet|exitfirst|doctest-modules)")
_MYPY_FLAGS: Final = frozenset(
    {"--install-types", "--non-interactive", "--pretty", "--no-pretty", "--no-error-summary", "--error-summary"}
)
_MYPY_VALUED: Final = frozenset({"--output", "-O", "--junit-xml", "--cache-dir", "--html-report", "--txt-report"})
_RUFF_FLAGS: Final = frozenset({"--fix", "--unsafe-fixes", "--diff", "--watch", "-w", "--show-fixes", "--fix-only"})
_RUFF_VALUED: Final = frozenset({"--output-format", "--output-file", "-o"})
_FLAKE8_VALUED: Final = frozenset({"--format", "--output-file", "--tee"})


def detect(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a Python project can be measured, None if it is not one."""
    if not is_python_project(root):
        return None
    if members := [(at, part) for at in workspace_members(root) if (part := detect(root / at, environment))]:
        return made_of(members[0][1], members)
    python = project_python(root, environment)
    if python is None:
        return Ecosystem(NAME, notes=(f"no Python found for {root}; install it, or make a .venv there",))
    answer = _ask(root, python, environment)
    if answer is None:
        return Ecosystem(NAME, python, notes=(f"{' '.join(python)} does not run here; fix the environment first",))
    *modules, version = answer
    tools = _tools(python, modules, environment)
    commands = maintainers_commands(root)
    own = _own_runner(root, modules, commands, has_pytest="pytest" in tools)
    command = None if own is not None or "pytest" in tools else _by_itself(root, environment)
    if own is None and command is None and "pytest" not in tools and _has_cases(root):
        own = ("-m", "unittest")
    wanted = [*(["pytest"] if own is None else []), "coverage", *_linters(root, commands)]
    wanted += ["mypy"] if _uses_mypy(root, commands) else []
    missing = [name for name in wanted if name not in tools]
    if "pytest" in tools and _asks_for_pytest_cov(root) and "pytest_cov" not in modules:
        missing.append("pytest-cov")
    if own is None and "django" not in modules and _manage_py(root) is not None:
        missing.insert(0, "django")
    how = {tool: declared_install(root, tool) or how_to_add(python, tool) or _INSTALL.format(tool) for tool in missing}
    notes = [f"{tool} not found: {command}" for tool, command in how.items()]
    notes += _shadowed(python)
    checks = _checks(root, python, tools, modules, commands, own)
    if command is None:
        return Ecosystem(NAME, python, version, tools, checks, tuple(notes))
    check, note, template = by_status(command, "python -m pytest --junitxml={reports}/junit.xml", "{reports}/junit.xml")
    return Ecosystem(NAME, python, version, tools, {**check, **checks}, (*notes, note), (template,))


def _shadowed(python: Sequence[str]) -> list[str]:
    """Return a note where an interpreter is named by its path, since its name on PATH means our own."""
    if not Path(python[0]).is_absolute():
        return []
    note = (
        f"{python[0]} is a path of this machine: {Path(python[0]).name} on PATH is ralph-tracker's own; make a .venv "
        "in the project, or link only the program onto PATH (README, Install), and run init --force then"
    )
    return [note]


def _own_runner(root: Path, modules: Sequence[str], commands: Sequence[Command], *, has_pytest: bool) -> Command | None:
    """Return the runner of unittest or Django that the project tests with, as a module (`-m NAME`) or a script.

    A script that is started in its own folder is named `folder/./script`.
    None where that is pytest, which also runs the tests of unittest, or where no file names one.
    """
    if has_pytest and _uses_pytest(root, commands):
        return None
    for command in commands:
        if command[:2] in {("django", "test"), ("django-admin", "test")} and "django" in modules:
            return ("-m", "django", "test", _ASKS_NOTHING, *command[2:])
        script = command[0].rpartition("/")[2]
        if (script, *command[1:2]) == ("manage.py", "test") and "django" in modules and (root / command[0]).is_file():
            return (*command[:2], _ASKS_NOTHING, *command[2:])
        if command[:1] == ("unittest",):
            return ("-m", *command)
        if _TEST_SCRIPT.fullmatch(command[0]) and _is_of_unittest(root / command[0]):
            return command
    manage = _manage_py(root)
    if manage is not None and "django" in modules:
        # Django finds the tests below the folder where it is called.
        return ("/./".join(manage.relative_to(root).parts), "test", _ASKS_NOTHING)
    return None


def _is_of_unittest(script: Path) -> bool:
    text = text_of(script) or ""
    return _UNITTEST.search(text) is not None or "django" in text


def _manage_py(root: Path) -> Path | None:
    """Return the script of a Django project, in its folder or one below; None without one."""
    paths = (root / "manage.py", *sorted(root.glob("[!.]*/manage.py")))
    return next((path for path in paths if "django" in (text_of(path) or "")), None)


def _uses_pytest(root: Path, commands: Sequence[Command]) -> bool:
    """Return whether the project tests with pytest: its settings, its plugin for Django, or what tox and nox run."""
    if words_after(["pytest"], commands) is not None or words_after(["py.test"], commands) is not None:
        return True
    if _manage_py(root) is None and not commands:
        return True
    return any(_pytest_tables(root)) or declares(root, "pytest") or declares(root, "pytest-django")


def _by_itself(root: Path, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the command that runs tests which cannot be counted in this environment: nox or tox."""
    for files, tool in ((("noxfile.py",), "nox"), (("tox.ini", "tox.toml"), "tox")):
        if any((root / name).is_file() for name in files) and program(tool, environment):
            return (tool,)
    return None


def _has_cases(root: Path) -> bool:
    """Return whether a file of tests imports unittest."""
    tests = (path for pattern in ("test*.py", "test*/test*.py", "test*/*/test*.py") for path in root.glob(pattern))
    return any(_UNITTEST.search(text_of(path) or "") for path in islice(tests, 100))


def is_python_project(root: Path) -> bool:
    """Return whether a folder looks like a project for Python tools."""
    return any((root / name).is_file() for name in _MARKERS) or any(next(root.glob(code), None) for code in _CODE)


def project_python(root: Path, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return how the project's own interpreter is called, None without one.

    The lock file of uv, poetry, pdm or pipenv → run by that tool, else the .venv of the project or of its repository,
    else the environment of hatch, poetry, tox or nox that has pytest, else PATH without our own environment.
    """
    folders = repository_folders(root)
    for lock, tool in (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile.lock", "pipenv")):
        # uv alone knows the packages of a workspace from their folders
        is_locked = (root / lock).is_file() or (tool == "uv" and any(map(workspace_members, folders[1:])))
        if is_locked and shutil.which(tool, path=environment.get("PATH")):
            return (tool, "run", "python")
    for folder, environment_ in product(folders, (".venv", "venv")):
        if (path := folder / environment_ / "bin" / "python").exists():
            return (os.path.relpath(path, root),)
    made = _made_by_a_runner(root, environment)
    named = ((name, program(name, environment)) for name in ("python3", "python"))
    name, found = next(((name, found) for name, found in named if found), (None, None))
    if name is not None and found is not None:
        # a name works on every machine, unless it means our own environment here
        return made or ((name if shutil.which(name, path=environment.get("PATH")) == found else found),)
    return made


def _made_by_a_runner(root: Path, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return how Python is called in an environment that hatch, poetry, tox or nox made, None if none has pytest.

    What hatch and poetry keep outside the project is called by them: its path is another on every machine.
    """
    inside = [path for pattern in _ENVIRONMENTS for path in sorted(root.glob(pattern), reverse=True)]
    made: list[tuple[Path, tuple[str, ...]]] = [(path, (f"{path.relative_to(root)}/bin/python",)) for path in inside]
    if _pyproject(root, "tool", "hatch") and program("hatch", environment):
        for name in ("hatch-test", "default", "test"):
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
    command = [*python, "-c", _PROBE, "pytest", "coverage", "pytest_cov", "ruff", "mypy", "flake8", "django"]
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
    for name in ("pytest", "coverage", "ruff", "mypy", "flake8"):
        if name in modules:
            tools[name] = (*python, "-m", name)
        elif name in {"ruff", "mypy"} and program(name, environment):
            tools[name] = (name,)
    return tools


def _checks(
    root: Path,
    python: Sequence[str],
    tools: Mapping[str, tuple[str, ...]],
    modules: Sequence[str],
    commands: Sequence[Command],
    own: Command | None,
) -> Checks:
    checks: Checks = {}
    if own is not None:
        checks |= _own_test_checks(python, tools, own, maintainers_environment(root))
    elif "pytest" in tools:
        tests = _test_checks(root, python, tools, modules, commands)
        if variables := maintainers_environment(root):
            tests["tests"]["env"] = {**variables, **tests["tests"].get("env", {})}
        checks |= tests
    linter = next((name for name in (*_linters(root, commands), "ruff") if name in tools), None)
    if linter is not None:
        checks["lint"] = _LINTS[linter](tools[linter], commands)
    if "mypy" in tools and _uses_mypy(root, commands):
        names_files = any({"files", "packages", "modules"} & table.keys() for table in _mypy_settings(root))
        words = without(words_after(["mypy"], commands) or (), _MYPY_FLAGS, _MYPY_VALUED)
        run = [*tools["mypy"], "--output=json", *(words or ([] if names_files else ["."]))]
        checks["types"] = reported(run, "-", "mypy-json")
    return checks


def _linters(root: Path, commands: Sequence[Command]) -> list[str]:
    """Return the linter that the project uses; ruff where it shows none."""
    ruff = words_after(["ruff"], commands) is not None or declares(root, "ruff") or _pyproject(root, "tool", "ruff")
    if ruff or any((root / name).is_file() for name in ("ruff.toml", ".ruff.toml")):
        return ["ruff"]
    return ["flake8"] if words_after(["flake8"], commands) is not None else ["ruff"]


def _ruff(call: Sequence[str], commands: Sequence[Command]) -> dict[str, Any]:
    # unless told not to, ruff reads .aiwg, where earlier iterations are kept, and with `fix` set it would change the
    # project
    words = without(words_after(["ruff", "check"], commands) or (), _RUFF_FLAGS, _RUFF_VALUED)
    run = [*call, "check", "--no-cache", "--no-fix", "--extend-exclude=.aiwg", "--output-format=json", *words]
    return reported(run, "-", "ruff-json")


def _flake8(call: Sequence[str], commands: Sequence[Command]) -> dict[str, Any]:
    words = without(words_after(["flake8"], commands) or (), frozenset({"--quiet", "-q"}), _FLAKE8_VALUED)
    return reported([*call, "--extend-exclude=.aiwg", "--format=default", *words], "-", "flake8-text")


_LINTS: Final = {"ruff": _ruff, "flake8": _flake8}


def _own_test_checks(
    python: Sequence[str], tools: Mapping[str, tuple[str, ...]], own: Command, variables: Mapping[str, str]
) -> Checks:
    """Return the checks that run the project's own runner, whose results a program of ours writes down."""
    folder, _, script = own[0].rpartition("/./")
    up = "../" * len(Path(folder).parts)
    call = [f"{up}{word}" if "/" in word and word[0] != "/" else word for word in python]
    words = [script, *own[1:]]
    traced = ["-m", "coverage", "run"] if "coverage" in tools else []
    tests: dict[str, Any] = {
        "run": [*call, f"{HELPERS}/unittest_junit.py", "{reports}/junit.xml", *traced, *words],
        "reports": ["{reports}/junit.xml"],
        "format": "junit",
    }
    cwd = {"cwd": folder} if folder else {}
    env = {"env": dict(variables)} if variables else {}
    return _with_coverage({**tests, **cwd, **env}, [*call, "-m", "coverage"] if traced else None)


def _test_checks(
    root: Path,
    python: Sequence[str],
    tools: Mapping[str, tuple[str, ...]],
    modules: Sequence[str],
    commands: Sequence[Command],
) -> Checks:
    """Return the checks that run pytest, with pytest-cov where the project declares it, else under coverage."""
    how = [*python, "-m", "pytest"]
    if "coverage" in tools and not ("pytest_cov" in modules and _asks_for_pytest_cov(root)):
        # tests that count on the depth of the stack fail in a program that coverage runs, and pass with the plugin
        by_plugin = "pytest_cov" in modules and declares(root, "pytest-cov")
        how = [*how, "--cov", "--cov-report="] if by_plugin else [*tools["coverage"], "run", "-m", "pytest"]
    tests: dict[str, Any] = {
        # no -q: it skips hooks of the project's conftest, which count in coverage that includes tests; --ignore,
        # because a project's own norecursedirs replaces the default, which skips .aiwg
        "run": [
            *how,
            *_pytest_words(root, commands),
            *_goes_on(root),
            "--ignore=.aiwg",
            "--junitxml={reports}/junit.xml",
        ],
        "reports": ["{reports}/junit.xml"],
        "format": "junit",
    }
    return _with_coverage(tests, tools.get("coverage"))


def _pytest_words(root: Path, commands: Sequence[Command]) -> list[str]:
    """Return what tox and nox have pytest collect: the paths, unless one of their commands names none."""
    runs = [words[1:] for words in commands if words[0] in {"pytest", "py.test"}]
    paths = [[word for before, word in pairwise(("", *run)) if _is_path(root, before, word)] for run in runs]
    options = [word for word in chain(*runs[:1]) if _COLLECTS.fullmatch(word)]
    return [*options, *(dict.fromkeys(chain(*paths)) if all(paths) else ())]


def _is_path(root: Path, before: str, word: str) -> bool:
    is_value = before[:1] == "-" and "=" not in before and _PYTEST_FLAG.fullmatch(before) is None
    return word[:1] != "-" and not is_value and (root / word).exists()


def _with_coverage(tests: dict[str, Any], call: Sequence[str] | None) -> Checks:
    """Return the check of the tests with one of the coverage that they leave, alone if that is not measured."""
    if call is None:
        return {"tests": tests}
    data = {"COVERAGE_FILE": "{reports}/.coverage"}
    coverage = shlex.join(call)
    # -i: a file that a test wrote, ran and deleted has no source any more; the other files still count
    script = f"{coverage} combine -q >/dev/null 2>&1; {coverage} json -q -i -o {{reports}}/coverage.json"
    report: dict[str, Any] = {
        "run": script,
        "reports": ["{reports}/coverage.json"],
        "format": "coveragepy-json",
        "needs": ["tests"],
        "env": data,
    }
    where = {"cwd": tests["cwd"]} if "cwd" in tests else {}
    return {"tests": {**tests, "env": {**tests.get("env", {}), **data}}, "coverage": {**report, **where}}


def _pyproject(root: Path, *keys: str) -> Mapping[str, Any]:
    return table_of(root / "pyproject.toml", *keys)


def _section(path: Path, name: str) -> Mapping[str, str]:
    """Return a section of an ini file, {} if it is missing or cannot be read."""
    parser = ini_of(text_of(path))
    return dict(parser[name]) if parser.has_section(name) else {}


def _pytest_tables(root: Path) -> list[Mapping[str, Any]]:
    """Return pytest's own settings; commands in tox.ini do not count."""
    tables = [_pyproject(root, "tool", "pytest", "ini_options"), _pyproject(root, "tool", "pytest")]
    tables += [table_of(root / file, "pytest") for file in ("pytest.toml", ".pytest.toml")]
    return [*tables, *(_section(root / file, name) for file, name in _PYTEST_SECTIONS.items())]


def _asks_for_pytest_cov(root: Path) -> bool:
    """Return whether pytest's own settings measure coverage."""
    return "--cov" in _added_options(root)


def _goes_on(root: Path) -> tuple[str, ...]:
    """Return the option that has pytest go on after a failing test, where its own settings end the run there."""
    stops = re.search(r"(?:^|\s)(?:-x|--exitfirst|--maxfail)\b", _added_options(root))
    return () if stops is None else ("--maxfail=0",)


def _added_options(root: Path) -> str:
    """Return the `addopts` of pytest's settings, one after the other."""
    given: list[Any] = [table.get("addopts", "") for table in _pytest_tables(root)]
    return " ".join(" ".join(map(str, each)) if isinstance(each, list) else str(each) for each in given)


def _mypy_settings(root: Path) -> list[Mapping[str, Any]]:
    return [_pyproject(root, "tool", "mypy"), *(_section(root / name, "mypy") for name in _MYPY_FILES)]


def _uses_mypy(root: Path, commands: Sequence[Command]) -> bool:
    is_run = words_after(["mypy"], commands) is not None
    return is_run or any(_mypy_settings(root)) or any((root / name).is_file() for name in _MYPY_FILES[:2])
