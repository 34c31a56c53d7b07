"""init: a file to begin with, what came since added to it, and a new one where that is asked for."""

import difflib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.config.load import SCHEMA_FILE, load_config

FILE = "ralph-tracker.yaml"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return a project with a Makefile, and put a make on PATH that succeeds."""
    programs, folder = tmp_path / "programs", tmp_path / "project"
    for each in (programs, folder):
        each.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (folder / "Makefile").write_text("test:\n\ttrue\n")
    provide(programs, "make", "echo GNU Make 4.3")
    return folder


def provide(folder, name, line):
    (folder / name).write_text(f"#!/bin/sh\n{line}\n")
    (folder / name).chmod(0o755)


def init(root, *words):
    return run(["init", "--yes", "--root", str(root), *words])


def test_a_project_without_a_report_gets_its_own_command_and_a_template(root, capsys):
    assert init(root) == 0
    assert "make test counts by its exit status only" in capsys.readouterr().out
    text = (root / FILE).read_text()
    assert "#   tests:\n#     run: make test\n" in text
    assert load_config(root).document["checks"]["test-command"]["kind"] == "build"


def test_where_nothing_is_recognised_a_template_is_written_that_works_once_filled_in(root, capsys):
    (root / "Makefile").unlink()
    assert init(root) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "no tool is recognised" in said
    assert "fill in the template in ralph-tracker.yaml" in said
    assert "`ralph-tracker init --test-command 'COMMAND'`" in said
    text = (root / FILE).read_text()
    assert load_config(root).document["checks"] == {}
    for block in text.split("# checks:\n")[1:]:  # each template without its comment signs
        lines = [line.removeprefix("# ") for line in block.splitlines() if line.startswith("#   ")]
        (root / FILE).write_text("\n".join(["checks:", *lines, ""]).replace("COMMAND", "make it"))
        (check,) = load_config(root).document["checks"].values()
        assert check["run"] == "make it"
    (root / FILE).write_text(text)
    assert init(root) == 1
    assert (root / FILE).read_text() == text
    (root / "Makefile").write_text("test:\n\ttrue\n")
    assert init(root) == 0
    assert list(load_config(root).document["checks"]) == ["test-command"]
    assert run(["trust", "--show", "--root", str(root)]) == 0
    assert "project: trusted" in capsys.readouterr().out


def test_a_command_that_is_named_stands_for_the_tests(root, capsys):
    (root / "deno.json").write_text("{}")
    provide(root.parent / "programs", "deno", "echo deno 2.9.6")
    assert init(root, "--test-command", "./run-tests --all") == 0
    assert "./run-tests --all counts by its exit status only" in " ".join(capsys.readouterr().out.split())
    checks = load_config(root).document["checks"]
    assert {name: (check["run"], check["kind"]) for name, check in checks.items()} == {
        "test-command": ("./run-tests --all", "build")
    }
    assert run(["trust", "--show", "--root", str(root)]) == 0
    assert "project: trusted" in capsys.readouterr().out  # who names a command has accepted it


def test_update_adds_what_came_since_shows_it_and_keeps_the_rest(root, capsys):
    init(root)
    with (root / FILE).open("a") as file:
        file.write("# mine\nloop: {max_iterations: 3}\n")
    before = (root / FILE).read_text()
    capsys.readouterr()
    assert init(root, "--update") == 0
    assert "is complete; nothing was changed" in capsys.readouterr().out
    (root / "deno.json").write_text("{}")
    provide(root.parent / "programs", "deno", "echo deno 2.9.6")
    assert init(root, "--update") == 0
    said = capsys.readouterr().out
    assert "+  tests:\n" in said
    changed = list(difflib.ndiff(before.splitlines(), (root / FILE).read_text().splitlines()))
    assert {line[0] for line in changed} == {" ", "+"}
    assert list(load_config(root).document["checks"]) == ["test-command", "tests", "coverage"]
    assert load_config(root).document["loop"]["max_iterations"] == 3


def test_update_adds_nothing_that_needs_what_is_there_otherwise(root, capsys):
    (root / "deno.json").write_text("{}")
    provide(root.parent / "programs", "deno", "echo deno 2.9.6")
    (root / FILE).write_text("checks:\n  tests: {run: [deno, test], reports: ['-']}\n")
    assert init(root, "--update") == 0
    assert "coverage was not added: it needs tests as shown above" in capsys.readouterr().out
    assert list(load_config(root).document["checks"]) == ["tests"]


def test_force_starts_anew_and_shows_the_difference(root, capsys):
    (root / FILE).write_text("checks:\n  tests: {run: [gone], reports: ['-']}\n")
    assert init(root) == 0
    assert "--update adds new tools, --force writes a new file" in capsys.readouterr().out
    assert init(root, "--force") == 0
    assert "-  tests: {run: [gone], reports: ['-']}" in capsys.readouterr().out
    assert list(load_config(root).document["checks"]) == ["test-command"]


def test_force_replaces_a_file_that_cannot_be_read(root):
    (root / FILE).write_text("checks: [")
    assert init(root) == 1
    assert init(root, "--force") == 0


@pytest.mark.parametrize(("words", "code"), [(["--update", "--force"], 2), (["--update"], 1)])
def test_what_cannot_be_done_is_refused(root, words, code):
    (root / "pyproject.toml").write_text("[tool.ralph-tracker.loop]\nmax_iterations = 3\n")
    assert init(root, *words) == code
    assert not (root / FILE).exists()


def test_the_first_line_names_the_schema_which_is_there_and_not_for_git(root):
    init(root)
    first = (root / FILE).read_text().splitlines()[0]
    assert first == f"# yaml-language-server: $schema={SCHEMA_FILE}"
    schema = json.loads((root / SCHEMA_FILE).read_text())
    assert "checks" in schema["properties"]
    assert (root / ".aiwg/ralph/.gitignore").read_text() == "*\n"
    (root / SCHEMA_FILE).unlink()  # as in a clone
    init(root)
    assert json.loads((root / SCHEMA_FILE).read_text()) == schema


@pytest.mark.parametrize(
    ("ignored", "said"),
    [
        (None, "written"),
        ("", "written; commit it, and add .aiwg/ to .gitignore"),
        ("*.py\n!.aiwg\n", "written; commit it, and add .aiwg/ to .gitignore"),
        (".aiwg/\n", "written; commit it"),
        ("**/.a*g\n", "written; commit it"),
    ],
)
def test_what_git_ignores_already_is_not_asked_for(root, capsys, monkeypatch, ignored, said):
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{Path(shutil.which('git', path=os.defpath)).parent}")
    part = root / "part"
    if ignored is not None:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        (root / ".gitignore").write_text(ignored)
    part.mkdir()
    (root / "Makefile").rename(part / "Makefile")
    assert init(part) == 0
    assert f"{FILE} {said}" in capsys.readouterr().out.splitlines()
