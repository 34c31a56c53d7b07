"""What a Python project can be measured with: its own interpreter, its own tools, nothing of ours."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.measure.detect import detect as detect_all
from ralph_tracker.measure.ecosystems.python import detect, is_python_project, project_python

ALL = ("pytest", "coverage", "pytest_cov", "ruff", "mypy")


def program(path: Path, text: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def python_with(path: Path, *modules: str) -> Path:
    """Make an interpreter that knows those modules."""
    known = ", ".join(f'"{name}"' for name in (*modules, "3.12.1"))
    return program(path, f"echo '[{known}]'")


_TOX = ".tox/py312/lib/python3.12/site-packages/pytest/__init__.py"
_NOX = ".nox/tests-3-12/lib/python3.12/site-packages/pytest/__init__.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text("x = 1\n")
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a folder that is all of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("files", "programs", "expected"),
    [
        pytest.param(["uv.lock"], ["uv", "python3"], ("uv", "run", "python"), id="uv.lock"),
        pytest.param(["uv.lock", ".venv/bin/python"], ["uv"], ("uv", "run", "python"), id="uv.lock before .venv"),
        pytest.param(["uv.lock", ".venv/bin/python"], [], (".venv/bin/python",), id="uv.lock without uv"),
        pytest.param(["poetry.lock"], ["poetry"], ("poetry", "run", "python"), id="poetry.lock"),
        pytest.param(["poetry.lock"], ["python3"], ("python3",), id="poetry.lock without poetry"),
        pytest.param(["pdm.lock"], ["pdm"], ("pdm", "run", "python"), id="pdm.lock"),
        pytest.param([_TOX], ["python3"], (".tox/py312/bin/python",), id="of tox"),
        pytest.param([_NOX, ".nox/docs/bin/python"], ["python3"], (".nox/tests-3-12/bin/python",), id="of nox"),
        pytest.param([_TOX, ".venv/bin/python"], ["python3"], (".venv/bin/python",), id=".venv before tox"),
        pytest.param([".venv/bin/python"], ["python3"], (".venv/bin/python",), id=".venv before PATH"),
        pytest.param(["venv/bin/python"], ["python3"], ("venv/bin/python",), id="venv"),
        pytest.param([], ["python3", "python"], ("python3",), id="python3 on PATH"),
        pytest.param([], ["python"], ("python",), id="python on PATH"),
        pytest.param([], [], None, id="none"),
    ],
)
def test_the_interpreter_is_the_projects(root, path, files, programs, expected):
    for name in files:
        program(root / name)
    for name in programs:
        program(path / name)
    found = project_python(root, {"PATH": str(path)})
    assert (found and tuple(Path(found[0]).name if found[0].startswith("/") else word for word in found[:1])) == (
        expected and expected[:1]
    )
    assert (found or ())[1:] == (expected or ())[1:]


@pytest.mark.parametrize(
    ("tool", "asked", "made", "call"),
    [
        ("hatch", "default", ["demo"], ("hatch", "run", "python")),
        (
            "hatch",
            "hatch-test",
            ["hatch-test.py3.14", "hatch-test.py3.12"],
            ("hatch", "run", "hatch-test.py3.12:python"),
        ),
        ("poetry", "--path", ["demo-x-py3.12"], ("poetry", "run", "python")),
    ],
)
@pytest.mark.parametrize("has_pytest", [True, False])
def test_an_environment_kept_elsewhere_is_called_by_the_tool_that_made_it(
    root, path, tmp_path, tool, asked, made, call, has_pytest
):
    (root / "pyproject.toml").write_text(f"[tool.{tool}.x]\n")
    folders = [tmp_path / "kept elsewhere" / name for name in made]
    if has_pytest:
        program(folders[-1] / "lib/python3.12/site-packages/pytest/__init__.py")
    lines = "; ".join(f"echo '{folder}'" for folder in folders)
    program(path / tool, f'case "$*" in *{asked}) {lines};; esac')
    program(path / "python3")
    expected = call if has_pytest else ("python3",)
    assert project_python(root, {"PATH": str(path)}) == expected


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="not in a virtual environment")
def test_our_own_environment_is_neither_interpreter_nor_tool(root, path):
    own = Path(sys.prefix) / "bin"
    python_with(path / "python3", "pytest")
    found = detect(root, {"PATH": os.pathsep.join([str(own), str(path)])})
    assert found.call == (str(path / "python3"),)
    assert set(found.tools) == {"pytest"}
    assert project_python(root, {"PATH": str(own)}) is None


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="not in a virtual environment")
@pytest.mark.parametrize(("tools", "said"), [(("pytest",), True), (("pytest", "coverage", "ruff"), False)])
def test_that_our_own_environment_does_not_count_is_said_where_tools_are_missing(root, path, tools, said):
    python_with(path / "python3", *tools)
    notes = detect_all(root, {"PATH": str(path), "VIRTUAL_ENV": sys.prefix}).notes
    assert any(note.startswith(f"the active environment {sys.prefix} is ralph-tracker's own") for note in notes) == said


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="not in a virtual environment")
def test_our_own_environment_is_taken_where_it_is_the_projects(root):
    (root / ".venv").symlink_to(sys.prefix)
    assert project_python(root, {"PATH": ""}) == (".venv/bin/python",)


@pytest.mark.parametrize(
    ("modules", "checks"),
    [
        (ALL, ["tests", "coverage", "lint"]),
        (("pytest",), ["tests"]),
        (("pytest", "ruff"), ["tests", "lint"]),
        (("coverage",), []),
        ((), []),
    ],
)
def test_checks_are_those_of_the_tools_that_are_there(root, path, modules, checks):
    python_with(path / "python3", *modules)
    found = detect(root, {"PATH": str(path)})
    assert list(found.checks) == checks
    assert found.version == "3.12.1"
    missing = {"pytest", "coverage", "ruff"} - set(modules)
    assert {note.split()[0] for note in found.notes} == missing
    assert all("pip install" in note for note in found.notes)


@pytest.mark.parametrize(
    ("files", "own"),
    [
        ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--cov=app"\n'}, True),
        ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["-q", "--cov"]\n'}, True),
        ({"pytest.ini": "[pytest]\naddopts =\n    -q\n    --cov=app\n"}, True),
        ({"setup.cfg": "[tool:pytest]\naddopts = --cov=app\n"}, True),
        ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--no-cov'\n"}, False),
        ({"pyproject.toml": "[tool]\npytest = 5\n"}, False),
        ({"pyproject.toml": "not [ toml"}, False),
        ({"setup.cfg": "no section\n"}, False),
        ({}, False),
    ],
)
def test_coverage_is_measured_once(root, path, files, own):
    python_with(path / "python3", *ALL)
    for name, text in files.items():
        (root / name).write_text(text)
    tests = detect(root, {"PATH": str(path)}).checks["tests"]
    assert ("coverage" in tests["run"]) != own
    assert tests["env"] == {"COVERAGE_FILE": "{reports}/.coverage"}


@pytest.mark.parametrize(
    ("options", "goes_on"),
    [("-x", True), ("-q --maxfail=3", True), ("--exitfirst -q", True), ("-q", False), ("--xfail-strict", False)],
)
def test_pytest_goes_on_after_a_failing_test(root, path, options, goes_on):
    python_with(path / "python3", *ALL)
    (root / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\n")
    assert ("--maxfail=0" in detect(root, {"PATH": str(path)}).checks["tests"]["run"]) == goes_on


@pytest.mark.parametrize(
    "files",
    [
        {"pytest.toml": '[pytest]\naddopts = ["--cov=app"]\n'},
        {".pytest.toml": '[pytest]\naddopts = ["--cov=app"]\n'},
        {"tox.ini": "[pytest]\naddopts = --cov=app\n"},
    ],
    ids=lambda files: next(iter(files)),
)
def test_a_plugin_that_the_project_asks_for_is_named_where_it_is_not_there(root, path, files):
    python_with(path / "python3", "pytest", "coverage", "ruff")
    for name, text in files.items():
        (root / name).write_text(text)
    environment = {"PATH": str(path)}
    assert detect(root, environment).notes == (
        "pytest-cov not found: pip install pytest-cov into the project's environment",
    )
    python_with(path / "python3", *ALL)
    assert detect(root, environment).notes == ()


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="not in a virtual environment")
def test_a_tool_that_follows_the_active_environment_does_not_follow_ours(root, path):
    (root / "poetry.lock").touch()
    modules = ", ".join(f'"{name}"' for name in (*ALL, "3.12.1"))
    program(path / "poetry", f"test -z \"$VIRTUAL_ENV\" && echo '[{modules}]'")
    found = detect_all(root, {"PATH": str(path), "VIRTUAL_ENV": sys.prefix})
    assert [each.version for each in found.ecosystems] == ["3.12.1"]
    assert detect(root, {"PATH": str(path), "VIRTUAL_ENV": "/another"}).version is None


needs_ruff = pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff is not importable here")


@needs_ruff
def test_measuring_mends_nothing_where_the_project_has_set_ruff_to_mend(root):
    (root / ".venv").symlink_to(sys.prefix)
    (root / "ruff.toml").write_text("fix = true\n")
    (root / "app.py").write_text("import os\n")
    run = detect(root, {"PATH": ""}).checks["lint"]["run"]
    done = subprocess.run(run, cwd=root, capture_output=True, check=False)
    assert [finding["code"] for finding in json.loads(done.stdout)] == ["F401"]
    assert (root / "app.py").read_text() == "import os\n"


def test_tests_that_are_kept_of_earlier_iterations_are_not_run(root):
    (root / ".venv").symlink_to(sys.prefix)
    (root / "pytest.ini").write_text("[pytest]\nnorecursedirs = build\n")
    for folder in (root, root / ".aiwg/ralph"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "test_app.py").write_text("def test_one():\n    pass\n")
    run = [part.replace("{reports}", str(root)) for part in detect(root, {"PATH": ""}).checks["tests"]["run"]]
    done = subprocess.run([*run, "-p", "no:randomly"], cwd=root, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout


@pytest.mark.parametrize(
    ("files", "run_as"),
    [
        ({}, None),
        ({"mypy.ini": ""}, ["--output=json", "."]),
        ({"setup.cfg": "[mypy]\nstrict = true\n"}, ["--output=json", "."]),
        ({"setup.cfg": "[options]\npackages = find:\n[mypy]\nstrict = true\n"}, ["--output=json", "."]),
        ({"setup.cfg": "[options]\npackages = find:\n"}, None),
        ({"pyproject.toml": "[tool.mypy]\nfiles = ['src']\n"}, ["--output=json"]),
        ({"mypy.ini": "[mypy]\npackages = app\n"}, ["--output=json"]),
    ],
)
def test_types_are_checked_only_where_the_project_asks_for_it(root, path, files, run_as):
    python_with(path / "python3", *ALL)
    for name, text in files.items():
        (root / name).write_text(text)
    check = detect(root, {"PATH": str(path)}).checks.get("types")
    assert (check and check["run"][3:]) == run_as


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["pyproject.toml"], True),
        (["requirements.txt"], True),
        (["main.py"], True),
        (["src/app/core.py"], True),
        (["tests/test_a.py"], True),
        (["go.mod", "main.go"], False),
        (["package.json", "node_modules/x/gyp/a.py"], False),
        ([], False),
    ],
)
def test_a_python_project_is_known_by_its_files(tmp_path, files, expected):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert is_python_project(tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("exit 3", "does not run here"), ("echo nothing", "does not run here"), ("echo", "does not")]
)
def test_an_interpreter_that_does_not_run_is_named(root, path, text, expected):
    program(path / "python3", text)
    found = detect(root, {"PATH": str(path)})
    assert not found.checks
    assert expected in found.notes[0]


def test_a_folder_of_a_tools_name_is_no_tool(root):
    (root / "coverage").mkdir()
    (root / "pytest_cov").mkdir()
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/python").symlink_to(Path(sys.base_prefix) / "bin/python3")
    assert "coverage" not in detect(root, {"PATH": "", "PYTHONNOUSERSITE": "1"}).tools


def test_a_project_without_an_interpreter_is_told_so(root, path):
    found = detect(root, {"PATH": str(path)})
    assert (found.checks, found.version) == ({}, None)
    assert found.notes == (f"no Python found for {root}; install it, or make a .venv there",)


def test_a_folder_without_python_is_none(tmp_path, path):
    assert detect(tmp_path, {"PATH": str(path)}) is None


@pytest.mark.parametrize(
    ("files", "programs", "run"),
    [
        ({"noxfile.py": "", "tests/test_a.py": "import unittest\n"}, ["nox"], ["nox"]),
        ({"tox.ini": ""}, ["tox"], ["tox"]),
        ({"tests/test_a.py": "def test_a(): pass\n"}, [], None),
    ],
    ids=["nox", "tox", "pytest alone"],
)
def test_without_pytest_the_tests_count_by_the_exit_status_of_their_own_command(root, path, files, programs, run):
    python_with(path / "python3")
    for name in programs:
        program(path / name)
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    found = detect(root, {"PATH": str(path)})
    check = found.checks.get("test-command")
    assert (check and [*check["run"]]) == run
    assert any("counts by its exit status only" in note for note in found.notes) == (run is not None)
    assert len(found.templates) == (run is not None)


MANAGE = "import django\n"
SETTINGS = "[tool.pytest.ini_options]\nDJANGO_SETTINGS_MODULE = 'site.settings'\n"


@pytest.mark.parametrize(
    ("files", "modules", "run", "cwd"),
    [
        ({"manage.py": MANAGE}, ["django"], ["manage.py", "test", "--noinput"], None),
        ({"manage.py": MANAGE}, ["django", "pytest"], ["manage.py", "test", "--noinput"], None),
        ({"site/manage.py": MANAGE}, ["django", "pytest"], ["manage.py", "test", "--noinput"], "site"),
        ({"manage.py": MANAGE, "pyproject.toml": SETTINGS}, ["django", "pytest"], None, None),
        ({"manage.py": MANAGE, "requirements.txt": "pytest-django\n"}, ["django", "pytest"], None, None),
        (
            {"tox.ini": "[testenv]\ncommands = {envpython} -m django test --settings=t.s {posargs}\n"},
            ["django", "pytest"],
            ["-m", "django", "test", "--noinput", "--settings=t.s"],
            None,
        ),
        (
            {"tox.ini": "[testenv]\ncommands = coverage run runtests.py -v\n", "runtests.py": "import unittest\n"},
            ["pytest"],
            ["runtests.py", "-v"],
            None,
        ),
        (
            {
                "tox.ini": "[testenv]\nchangedir = tests\ncommands = {envpython} runtests.py {posargs}\n",
                "tests/runtests.py": "from django.test.runner import get_runner\n",
            },
            ["pytest"],
            ["runtests.py"],
            "tests",
        ),
        (
            {"tox.ini": "[testenv]\ncommands = python demo/manage.py test shop\n", "demo/manage.py": MANAGE},
            ["django"],
            ["demo/manage.py", "test", "--noinput", "shop"],
            None,
        ),
        (
            {"noxfile.py": "def t(s):\n    s.run('python', '-m', 'unittest', 'discover', 'tests')\n"},
            ["pytest"],
            ["-m", "unittest", "discover", "tests"],
            None,
        ),
        ({"tests/test_a.py": "import unittest\n"}, [], ["-m", "unittest"], None),
        ({"tests/test_a.py": "import unittest\n"}, ["pytest"], None, None),
        ({"tox.ini": "[testenv]\ncommands = pytest tests\n"}, ["django", "pytest"], None, None),
    ],
)
def test_the_runner_is_the_one_that_the_maintainers_call(root, path, files, modules, run, cwd):
    python_with(path / "python3", *modules)
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    check = detect(root, {"PATH": str(path)}).checks["tests"]
    helper = ["python3", "{helpers}/unittest_junit.py", "{reports}/junit.xml"]
    assert check["run"][:3] == (["python3", "-m", "pytest"] if run is None else helper)
    assert run is None or check["run"][3:] == run
    assert check.get("cwd") == cwd


def test_djangos_tests_are_covered_and_its_interpreter_is_found_from_its_folder(root):
    program(root / "site/manage.py", MANAGE)
    python_with(root / ".venv/bin/python", "django", "coverage")
    checks = detect(root, {"PATH": ""}).checks
    helper = ["../.venv/bin/python", "{helpers}/unittest_junit.py", "{reports}/junit.xml"]
    assert checks["tests"]["run"] == [*helper, "-m", "coverage", "run", "manage.py", "test", "--noinput"]
    assert checks["tests"]["env"] == checks["coverage"]["env"]
    assert checks["coverage"]["run"].startswith("../.venv/bin/python -m coverage combine")
    assert checks["coverage"]["cwd"] == "site"


def test_the_own_runner_has_the_variables_of_tox(root, path):
    python_with(path / "python3", "django", "coverage")
    text = "[testenv]\nsetenv = DJANGO_SETTINGS_MODULE = t.s\ncommands = coverage run {envbindir}/django-admin test -v2"
    (root / "tox.ini").write_text(text)
    tests = detect(root, {"PATH": str(path)}).checks["tests"]
    assert tests["env"] == {"DJANGO_SETTINGS_MODULE": "t.s", "COVERAGE_FILE": "{reports}/.coverage"}
    assert tests["run"][-5:] == ["-m", "django", "test", "--noinput", "-v2"]


def test_pytest_has_them_too(root, path):
    python_with(path / "python3", "pytest", "coverage", "django")
    (root / "tox.ini").write_text("[testenv]\nsetenv = DJANGO_SETTINGS_MODULE = t.s\ncommands = pytest\n")
    tests = detect(root, {"PATH": str(path)}).checks["tests"]
    assert tests["env"] == {"DJANGO_SETTINGS_MODULE": "t.s", "COVERAGE_FILE": "{reports}/.coverage"}


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        ("pytest tests", ["tests"]),
        ("py.test -v tests docs/a.md --cov src", ["tests", "docs/a.md"]),
        ("pytest {posargs:tests} -n 2 --doctest-modules", ["--doctest-modules", "tests"]),
        ("pytest -rA tests\n pytest --ds=t.s docs", ["tests", "docs"]),
        ("pytest tests\n pytest", []),
        ("pytest absent -c docs", []),
        ("pytest", []),
    ],
)
def test_pytest_collects_what_the_maintainers_have_it_collect(root, path, commands, words):
    python_with(path / "python3", "pytest")
    for name in ("tests", "src", "docs"):
        (root / name).mkdir()
    (root / "docs/a.md").touch()
    (root / "tox.ini").write_text(f"[testenv]\ncommands =\n {commands}\n")
    run = detect(root, {"PATH": str(path)}).checks["tests"]["run"]
    assert run[3:-2] == words


def test_a_part_of_a_repository_has_the_environment_of_its_root(root, path):
    (root / ".git").mkdir()
    (root / "backend").mkdir()
    program(root / ".venv/bin/python")
    assert project_python(root / "backend", {"PATH": str(path)}) == ("../.venv/bin/python",)
    (root / "backend/.git").touch()
    program(path / "python3")
    assert project_python(root / "backend", {"PATH": str(path)}) == ("python3",)


def test_the_members_of_a_workspace_of_uv_are_measured_in_their_folders(root, path):
    python_with(root / ".venv/bin/python", "pytest")
    (root / ".git").mkdir()
    (root / "uv.lock").touch()
    (root / "pyproject.toml").write_text('[tool.uv.workspace]\nmembers = ["backend"]\n')
    (root / "backend").mkdir()
    (root / "backend/pyproject.toml").write_text('[dependency-groups]\ndev = ["ruff"]\n')
    seen = detect(root, {"PATH": str(path)})
    assert (seen.checks["tests"]["cwd"], seen.checks["tests"]["run"][0]) == ("backend", "../.venv/bin/python")
    assert "backend: ruff not found: uv sync" in seen.notes
    program(path / "uv")
    assert project_python(root / "backend", {"PATH": str(path)}) == ("uv", "run", "python")


def test_missing_django_is_named(root, path):
    python_with(path / "python3", "pytest", "coverage", "ruff")
    (root / "manage.py").write_text(MANAGE)
    (root / "requirements.txt").write_text("Django~=5.0\n")
    assert detect(root, {"PATH": str(path)}).notes == ("django not found: pip install -r requirements.txt",)


def test_the_plugin_measures_coverage_where_the_project_declares_it(root, path):
    python_with(path / "python3", *ALL)
    (root / "requirements-dev.txt").write_text("pytest-cov\n")
    checks = detect(root, {"PATH": str(path)}).checks
    assert checks["tests"]["run"][:5] == ["python3", "-m", "pytest", "--cov", "--cov-report="]
    assert checks["tests"]["env"] == {"COVERAGE_FILE": "{reports}/.coverage"}


@pytest.mark.parametrize(
    ("tox", "lint", "types"),
    [
        ("ruff check --fix src\n mypy --strict --install-types src", ["src"], ["--strict", "src"]),
        ("ruff format .\n mypy", [], ["."]),
        ("flake8 --max-line-length 99 src", ["flake8", "src"], None),
    ],
)
def test_lint_and_types_have_the_words_of_the_maintainers(root, path, tox, lint, types):
    python_with(path / "python3", *ALL, "flake8")
    (root / "tox.ini").write_text(f"[testenv]\ncommands =\n {tox}\n")
    checks = detect(root, {"PATH": str(path)}).checks
    linter = [word for word in checks["lint"]["run"] if word in {"flake8", "src"}]
    assert linter == lint
    assert "types" not in checks if types is None else checks["types"]["run"][4:] == types


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="not in a virtual environment")
def test_a_path_of_this_machine_is_named_where_only_that_means_the_projects_interpreter(root, path):
    python_with(path / "python3", "pytest")
    ours = os.pathsep.join([str(Path(sys.prefix) / "bin"), str(path)])
    assert any("is a path of this machine" in note for note in detect(root, {"PATH": ours}).notes)
    assert not any("is a path of this machine" in note for note in detect(root, {"PATH": str(path)}).notes)
