"""What the ecosystems of one project say together, and what `init` and `doctor` make of it."""

import json
import os
import subprocess
import sys

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.config.load import load_config
from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.measure.detect import detect
from ralph_tracker.measure.report_totals import measured_kind
from ralph_tracker.measure.run_checks import configured_checks, in_order

PYTHON = """case "$1 $2" in
"-m ruff") echo '[]';;
"-m mypy") ;;
*) echo '["pytest", "coverage", "pytest_cov", "ruff", "mypy", "3.12.1"]';;
esac"""
NODE = {
    "package.json": '{"devDependencies": {"jest": "30", "eslint": "10", "typescript": "5"}}',
    "node_modules/.bin/jest": "",
    "node_modules/.bin/eslint": "",
    "node_modules/.bin/tsc": "",
    "eslint.config.js": "",
    "tsconfig.json": "{}",
}
ALL = {"python3": PYTHON, "node": "echo v22.1.0", "go": "echo go version go1.24.1 linux/amd64"}


@pytest.fixture
def three(tree, on_path):
    """Return a project of three ecosystems and the environment with their programs."""
    return tree({"app.py": "", "mypy.ini": "", "go.mod": "module m\n", **NODE}), on_path(**ALL)


def test_each_ecosystem_has_checks_of_its_own_under_names_of_their_own(three):
    found = detect(*three)
    assert [each.name for each in found.ecosystems] == ["python", "node", "go"]
    python = ["tests", "coverage", "lint", "types"]
    node = ["tests-node", "coverage-node", "lint-node", "types-node"]
    assert list(found.checks) == [*python, *node, "tests-go", "coverage-go"]
    document = {"checks": {name: dict(check) for name, check in found.checks.items()}}
    kinds = {check.name: measured_kind(check) for check in in_order(configured_checks(document))}
    assert kinds == {name: name.partition("-")[0] for name in found.checks}
    assert found.checks["coverage-node"]["needs"] == ["tests-node"]
    assert found.checks["coverage-go"]["needs"] == ["tests-go"]


def test_no_two_checks_write_the_same_report(three):
    reports = [name for check in detect(*three).checks.values() for name in check["reports"] if name != "-"]
    assert len(set(reports)) == len(reports) == 6


def test_the_checks_of_one_ecosystem_keep_their_names(tree, on_path):
    found = detect(tree({"go.mod": "module m\n"}), on_path(go="echo go version go1.24.1 linux/amd64"))
    assert list(found.checks) == ["tests", "coverage"]
    assert all("kind" not in check for check in found.checks.values())


def test_notes_of_all_ecosystems_are_told(tree, on_path):
    found = detect(tree({"app.py": "", "go.mod": "module m\n"}), on_path(python3="exit 1"))
    assert ["does not run here" in note or "no Go found" in note for note in found.notes] == [True, True]
    assert found.checks == {}


def test_a_folder_of_no_ecosystem_is_told_what_to_do(tmp_path, on_path):
    found = detect(tmp_path, on_path())
    assert (found.ecosystems, found.checks) == ((), {})
    assert str(tmp_path) in found.notes[0]
    assert "`ralph-tracker init --test-command COMMAND`" in found.notes[0]


def test_the_checks_found_are_plain_values(three):
    checks = {name: dict(check) for name, check in detect(*three).checks.items()}
    assert dump_yaml(checks)


def test_what_init_writes_is_a_valid_configuration_without_anchors(three, monkeypatch, capsys):
    root, environment = three
    monkeypatch.setenv("PATH", environment["PATH"])
    assert run(["init", "--yes", "--root", str(root)]) == 0
    told = capsys.readouterr().out
    assert "next: `ralph-tracker hook pre-loop`" in told
    assert [line.partition(":")[0] for line in told.splitlines()[:1]] == ["python 3.12.1"]
    text = (root / "ralph-tracker.yaml").read_text()
    assert "&" not in text.replace("2>&1", "")
    assert "*id" not in text
    names = [check.name for check in configured_checks(load_config(root).document)]
    assert names[:4] == ["tests", "coverage", "lint", "types"]
    assert run(["init", "--yes", "--root", str(root)]) == 0
    assert "ralph-tracker.yaml already exists; nothing was changed" in capsys.readouterr().out
    assert (root / "ralph-tracker.yaml").read_text() == text


def test_init_says_what_a_recognised_project_lacks_and_writes_nothing(tree, on_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", on_path(node="echo v22.1.0")["PATH"])
    root = tree({"package.json": '{"scripts": {"test": "jest"}, "devDependencies": {"jest": "30"}}'})
    assert run(["init", "--yes", "--root", str(root)]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "nothing was written: jest not found: npm install" in told
    assert "`ralph-tracker init --test-command 'COMMAND'`" in told
    assert not (root / "ralph-tracker.yaml").exists()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('[dependency-groups]\ndev = ["ralph-tracker"]\n', True),
        ("[tool.ralph-tracker.loop]\nmax_iterations = 3\n", False),
    ],
    ids=["a dependency", "a configuration"],
)
def test_init_knows_a_dependency_from_a_configuration(tree, on_path, monkeypatch, text, written):
    monkeypatch.setenv("PATH", on_path(python3=PYTHON)["PATH"])
    root = tree({"pyproject.toml": text})
    assert run(["init", "--yes", "--root", str(root)]) == 0
    assert (root / "ralph-tracker.yaml").exists() == written


def test_doctor_shows_each_ecosystem_and_the_next_step_of_each_note(tree, on_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", on_path(node="echo v22.1.0", cargo="exit 1")["PATH"])
    root = tree({**NODE, "tsconfig.json": "{}", "Cargo.toml": ""})
    (root / "node_modules/.bin/tsc").unlink()
    run(["doctor", "--json", "--root", str(root)])
    lines = {line["found"]: line for line in json.loads(capsys.readouterr().out)["lines"]}
    assert lines["22.1.0, node"]["what"] == "node"
    assert lines["typescript not found"]["next_step"] == "npm install"
    assert lines[f"no cargo found for {root}"]["next_step"] == "install Rust, and have cargo on PATH"


def test_pipes_in_the_place_of_settings_are_not_waited_for(tmp_path):
    names = ["go.mod", "go.work", "pyproject.toml", "setup.cfg", "pytest.ini", "package.json", "jest.config.js"]
    for name in [*names, "tsconfig.json", "Cargo.toml", "pom.xml", "build.gradle", "settings.gradle"]:
        os.mkfifo(tmp_path / name)
    look = "import pathlib, sys; from ralph_tracker.measure.detect import detect; detect(pathlib.Path(sys.argv[1]), {})"
    subprocess.run([sys.executable, "-c", look, tmp_path], check=True, timeout=20)


SPLIT = {
    "backend/pyproject.toml": "",
    "backend/test_a.py": "",
    "frontend/package.json": '{"scripts": {"test": "node --test"}}',
    "node_modules/x/package.json": '{"scripts": {"test": "node --test"}}',
    ".hidden/go.mod": "module m\n",
}


def test_parts_of_a_repository_without_a_project_at_its_root_are_measured_each_in_its_folder(tree, on_path):
    found = detect(tree(SPLIT), on_path(**ALL))
    assert [each.name for each in found.ecosystems] == ["backend", "frontend"]
    assert {name: check["cwd"] for name, check in found.checks.items() if name.startswith("tests")} == {
        "tests": "backend",
        "tests-frontend": "frontend",
    }
    document = {"checks": {name: dict(check) for name, check in found.checks.items()}}
    kinds = {check.name: measured_kind(check) for check in in_order(configured_checks(document))}
    assert kinds == {name: name.partition("-")[0] for name in found.checks}


def test_parts_of_one_folder_and_those_below_a_folder_of_parts_have_names_of_their_own(tree, on_path):
    files = {
        "app/test_a.py": "",
        "web/test_b.py": "",
        "web/package.json": '{"scripts": {"test": "node --test"}}',
        "services/api/go.mod": "module m\n",
    }
    found = detect(tree(files), on_path(**ALL))
    assert [each.name for each in found.ecosystems] == ["app", "services-api", "web", "web-node"]
    assert [name for name in found.checks if name.startswith("tests")] == [
        "tests",
        "tests-services-api",
        "tests-web",
        "tests-web-node",
    ]


def test_parts_that_cannot_be_measured_say_what_they_lack_and_a_root_with_tests_has_none(tree, on_path):
    bare = {"web/package.json": '{"devDependencies": {"jest": "30"}}', "app/test_a.py": ""}
    assert "web: jest not found: npm install" in detect(tree(bare), on_path(**ALL)).notes
    assert {check.get("cwd") for check in detect(tree({"test_c.py": ""}), on_path(**ALL)).checks.values()} == {None}
