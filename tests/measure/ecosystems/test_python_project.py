"""The commands of a project's maintainers, and what installs what they declare."""

import pytest

from ralph_tracker.measure.ecosystems.python_project import (
    declared_install,
    declares,
    maintainers_commands,
    maintainers_environment,
    workspace_members,
)

TOX = """[tox]
envlist = py3
[testenv:lint]
commands =
    ruff format --check .
    py311: ruff check --fix src {posargs:tests}
[testenv]
setenv = X = 1
commands =
    - {envpython} -W error -m coverage run --branch -m pytest \\
        -n auto {posargs}
    {[base]commands}
    "unfinished
"""
NOX = """import nox
@nox.session
def types(session):
    session.install("mypy")
    session.run("mypy", "--strict", "src", *session.posargs)
    session.run(name, "x")
    session.run("python", "tests/runtests.py", external=True)
"""


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        (
            {"tox.ini": TOX},
            [("pytest", "-n", "auto"), ("ruff", "format", "--check", "."), ("ruff", "check", "--fix", "src", "tests")],
        ),
        ({"noxfile.py": NOX}, [("mypy", "--strict", "src"), ("tests/runtests.py",)]),
        ({"noxfile.py": "def ("}, []),
        ({"tox.ini": "no section"}, []),
        (
            {"pyproject.toml": '[tool.tox]\nlegacy_tox_ini = """[testenv]\ncommands = flake8 src"""\n'},
            [("flake8", "src")],
        ),
        ({"tox.toml": '[env_run_base]\ncommands = [["pytest", "-q"], "x"]\n'}, [("pytest", "-q")]),
        ({"pyproject.toml": '[tool.tox.env.t]\ncommands = [["uv", "run", "--locked", "mypy"]]\n'}, [("mypy",)]),
        ({"tox.ini": "[testenv]\ncommands = {envbindir}/python {toxinidir}/manage.py test\n"}, [("manage.py", "test")]),
        (
            {
                "tox.ini": "[testenv]\nchangedir = tests\ncommands = {envpython} runtests.py {posargs}\n"
                "[testenv:lint]\nchangedir = {toxinidir}\ncommands = flake8 .\n",
                "tests/runtests.py": "",
            },
            [("tests/./runtests.py",), ("flake8", ".")],
        ),
        (
            {"tox.ini": "[testenv]\nchangedir = {envtmpdir}\ncommands = test.py\n  pytest x\n", "test.py": ""},
            [("test.py",), ("pytest", "x")],
        ),
        ({}, []),
    ],
    ids=[
        *("tox", "nox", "broken nox", "broken tox", "legacy", "toml", "run by uv", "script"),
        *("in a folder", "in one of tox", "none"),
    ],
)
def test_commands_are_those_of_tox_and_nox(tmp_path, files, commands):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert list(maintainers_commands(tmp_path)) == commands


@pytest.mark.parametrize(
    ("files", "how"),
    [
        ({"pyproject.toml": "[project]\ndependencies = ['PyTest>=8']\n"}, "pip install -e ."),
        ({"pyproject.toml": "[project.optional-dependencies]\ntest = ['pytest']\n"}, "pip install -e '.[test]'"),
        ({"pyproject.toml": "[dependency-groups]\ndev = ['pytest']\n"}, "pip install --group dev"),
        ({"pyproject.toml": "[dependency-groups]\ndev = ['pytest']\n", "uv.lock": ""}, "uv sync"),
        ({"pyproject.toml": "[dependency-groups]\nci = ['pytest']\n", "uv.lock": ""}, "uv sync --group ci"),
        (
            {"pyproject.toml": "[project.optional-dependencies]\nt = ['pytest']\n", "uv.lock": ""},
            "uv sync --extra t",
        ),
        (
            {"pyproject.toml": "[tool.poetry.group.test.dependencies]\npytest = '^8'\n", "poetry.lock": ""},
            "poetry install",
        ),
        ({"pyproject.toml": "[tool.poetry.group.test.dependencies]\npytest = '^8'\n"}, "poetry install"),
        (
            {
                "pyproject.toml": "[tool.poetry.group.t]\noptional = true\ndependencies = {pytest = '8'}\n",
                "poetry.lock": "",
            },
            "poetry install --with t",
        ),
        ({"pyproject.toml": "[tool.pdm.dev-dependencies]\ntest = ['pytest']\n", "pdm.lock": ""}, "pdm install -G test"),
        ({"Pipfile": "[dev-packages]\npytest = '*'\n"}, "pipenv install --dev"),
        ({"requirements-dev.txt": "# tests\npytest==8\n"}, "pip install -r requirements-dev.txt"),
        ({"requirements/test.txt": "pytest\n"}, "pip install -r requirements/test.txt"),
        ({"pyproject.toml": "[project]\ndependencies = ['pytest-cov', 3]\n"}, None),
        ({"pyproject.toml": "project = 3\n"}, None),
        ({}, None),
    ],
)
def test_what_is_declared_is_installed_as_the_project_installs(tmp_path, files, how):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert declared_install(tmp_path, "pytest") == how
    assert declares(tmp_path, "pytest") == (how is not None)


@pytest.mark.parametrize(("text", "found"), [("deps = pytest-cov>=4\n", True), ("deps = my-pytest-cov\n", False)])
def test_tox_declares_too(tmp_path, text, found):
    (tmp_path / "tox.ini").write_text(f"[testenv]\n{text}")
    assert declares(tmp_path, "pytest-cov") is found


@pytest.mark.parametrize(
    ("lines", "variables"),
    [
        ("A = b=c\n  HOME = {toxworkdir}\n  # no", {"A": "b=c"}),
        ("PYTHONPATH = {toxinidir}/src\n  B = {toxinidir}", {"PYTHONPATH": "src", "B": "."}),
        ("DB = {env:DB:sqlite}\n  C = {env:C}", {"DB": "sqlite"}),
        ("W =\\\n    error,\\\n    # why\n    ignore:a\n  py39: X = y", {"W": "error,ignore:a"}),
    ],
    ids=["plain", "of the root", "by default", "on several lines"],
)
def test_variables_are_those_that_tox_sets(tmp_path, lines, variables):
    assert maintainers_environment(tmp_path) == {}
    (tmp_path / "tox.ini").write_text(f"[testenv]\nsetenv =\n  {lines}\n")
    assert maintainers_environment(tmp_path) == variables


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ('[tool.uv.workspace]\nmembers = ["backend", "libs/*"]\nexclude = ["libs/old"]\n', ["backend", "libs/new"]),
        ('[project]\nname = "a"\n[tool.uv.workspace]\nmembers = ["backend"]\n', []),
        ('[tool.uv.workspace]\nmembers = ["../x", "/", "", 1]\n', []),
        ("[tool]\nuv = 1\n", []),
    ],
    ids=["without a package at its root", "with one", "elsewhere", "none"],
)
def test_members_are_those_of_a_workspace_without_a_package_of_its_own(tmp_path, text, members):
    for folder in ("backend", "libs/new", "libs/old", "frontend"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "pyproject.toml").write_text("")
    (tmp_path / "frontend/pyproject.toml").unlink()
    (tmp_path / "pyproject.toml").write_text(text)
    assert workspace_members(tmp_path) == members
