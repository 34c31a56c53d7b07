"""What doctor says of a healthy project and of each thing that can be missing."""

import json

import pytest

from ralph_tracker.cli.app import run


@pytest.fixture
def doctor(workshop, capsys):
    """Ask, and return the exit code with each line's state by what it is about."""

    def ask():
        code = run(["doctor", "--json", "--root", str(workshop.root)])
        document = json.loads(capsys.readouterr().out)
        assert document["healthy"] == (code == 0)
        assert all(line["next_step"] for line in document["lines"] if line["state"] != "ok")
        return code, {line["what"]: line for line in document["lines"]}

    return ask


def test_a_project_that_is_ready_is_told_so(workshop, doctor):
    workshop.start()
    code, lines = doctor()
    assert code == 0
    assert {lines[what]["state"] for what in ("configuration", "check tests", "git", "loop")} == {"ok"}
    assert lines["loop"]["found"] == "ralph-001, running, iteration 0, files kept with git"


@pytest.mark.parametrize(
    ("content", "what", "state"),
    [
        ("checks: {tests: {run: [no-such-command]}}\n", "check tests", "missing"),
        ("checks: {tests: {run: [true], timeout: soon}}\n", "configuration", "missing"),
        ("chekcs: {}\n", "configuration", "missing"),
        ("checks: {tests: {run: make test}}\n", "check tests", "ok"),
        ("version: 1\n", "configuration", "warning"),
    ],
)
def test_the_configuration_is_looked_at(workshop, doctor, content, what, state):
    workshop.write("ralph-tracker.yaml", content)
    code, lines = doctor()
    assert lines[what]["state"] == state
    assert code == 1 or state != "missing"


def test_a_loop_that_is_not_there_or_was_interrupted_is_a_warning(workshop, doctor):
    assert doctor()[1]["loop"]["state"] == "warning"
    workshop.start()
    workshop.paths.attempt.write_text('{"schema_version": 1, "iteration": 1}')
    assert doctor()[1]["loop"]["next_step"] == "ralph-tracker hook post-iteration"


def test_git_that_is_missing_would_be_better(workshop, doctor, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    _, lines = doctor()
    assert (lines["git"]["state"], lines["git"]["found"]) == ("warning", "not found")
    assert "a loop that begins then takes less space" in lines["git"]["next_step"]


def test_git_that_is_missing_is_needed_by_a_loop_that_was_begun_with_it(
    workshop, doctor, tmp_path, monkeypatch, capsys
):
    workshop.start()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    code, lines = doctor()
    assert (code, lines["git"]["state"]) == (1, "missing")
    assert run(["doctor", "--root", str(workshop.root)]) == 1
    assert "missing  git: not found\n         next: install git 2.34 or newer" in capsys.readouterr().out
