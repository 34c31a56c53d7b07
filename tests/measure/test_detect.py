"""What a Python project can be measured with: its own interpreter, its own tools, nothing of ours."""

import os
import sys
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.config.load import load_config
from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.measure.configured import checks_from
from ralph_tracker.measure.detect import detect, is_python_project, project_python, version_of

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


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="not in a virtual environment")
def test_our_own_environment_is_neither_interpreter_nor_tool(root, path):
    own = Path(sys.prefix) / "bin"
    python_with(path / "python3", "pytest")
    found = detect(root, {"PATH": os.pathsep.join([str(own), str(path)])})
    assert found.python == (str(path / "python3"),)
    assert set(found.tools) == {"pytest"}
    assert project_python(root, {"PATH": str(own)}) is None


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
        ({"tox.ini": "[testenv]\ncommands = pytest --cov=app\n"}, False),
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


def test_what_init_writes_is_a_valid_configuration_without_anchors(root, path, monkeypatch, capsys):
    python_with(path / "python3", *ALL)
    (root / "mypy.ini").touch()
    monkeypatch.setenv("PATH", str(path))
    assert run(["init", "--yes", "--root", str(root)]) == 0
    assert "next: ralph-tracker hook pre-loop" in capsys.readouterr().out
    text = (root / "ralph-tracker.yaml").read_text()
    assert "&" not in text.replace("2>&1", "")
    assert "*id" not in text
    config = load_config(root)
    assert [check.name for check in checks_from(config.document)] == ["tests", "coverage", "lint", "types"]
    assert run(["init", "--yes", "--root", str(root)]) == 0
    assert "ralph-tracker.yaml is there already; nothing was changed" in capsys.readouterr().out
    assert (root / "ralph-tracker.yaml").read_text() == text


def test_init_refuses_a_folder_without_python_with_the_next_step(tmp_path, path, monkeypatch, capsys):
    python_with(path / "python3", *ALL)
    monkeypatch.setenv("PATH", str(path))
    (tmp_path / "go.mod").touch()
    assert run(["init", "--yes", "--root", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert "no Python project found" in told
    assert "write checks into ralph-tracker.yaml" in told
    assert not (tmp_path / "ralph-tracker.yaml").exists()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('[dependency-groups]\ndev = ["ralph-tracker"]\n', True),
        ("[tool.ralph-tracker.loop]\nmax_iterations = 3\n", False),
    ],
    ids=["a dependency", "a configuration"],
)
def test_init_knows_a_dependency_from_a_configuration(root, path, monkeypatch, text, written):
    python_with(path / "python3", *ALL)
    monkeypatch.setenv("PATH", str(path))
    (root / "pyproject.toml").write_text(text)
    assert run(["init", "--yes", "--root", str(root)]) == 0
    assert (root / "ralph-tracker.yaml").exists() == written


@pytest.mark.parametrize(
    ("text", "version"),
    [("echo tool 1.2.3", "1.2.3"), ("echo 'tool, version 4.5'", "4.5"), ("echo none", None), ("exit 1", None)],
)
def test_the_version_of_a_tool_is_what_it_says(path, text, version):
    call = [str(program(path / "tool", text))]
    assert version_of(call, path, {"PATH": str(path)}) == version
    assert version_of(["/no/such/tool"], path, {}) is None


def test_the_checks_found_are_plain_values(root, path):
    python_with(path / "python3", *ALL)
    checks = {name: dict(check) for name, check in detect(root, {"PATH": str(path)}).checks.items()}
    assert dump_yaml(checks)
