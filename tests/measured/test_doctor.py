"""What doctor says of a healthy project and of each thing that can be missing."""

import json

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.cli.doctor import packages, requirements_of, version_of_package

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]


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
    assert lines["loop"]["found"] == "ralph-001, running, iteration 0, files kept"


@pytest.mark.parametrize(
    ("content", "what", "state"),
    [
        ("checks: {tests: {run: [no-such-command]}}\n", "check tests", "missing"),
        ("checks: {lint: {run: [python3, -m, no_such_module]}}\n", "check lint", "missing"),
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


def test_a_loop_whose_metrics_are_handed_in_keeps_no_files(workshop, doctor):
    workshop.tracker.pre_loop({"testing": {"test_count": 3, "tests_passed": 3, "tests_failed": 0}})
    assert doctor()[1]["loop"]["found"] == "ralph-001, running, iteration 0, no files kept"


def test_git_that_is_missing_would_be_better(workshop, doctor, without_git, monkeypatch, capsys):
    workshop.commit().start()
    monkeypatch.setenv("PATH", without_git)
    code, lines = doctor()
    assert (code, lines["git"]["state"]) == (0, "warning")
    assert run(["doctor", "--root", str(workshop.root)]) == 0
    assert "warning  git: not found\n         next: install git: what a repository tracks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("continuation: {max_step: 3}", "continuation.max_step: unknown key"),
        ("continuation: {weights: {velocity: 0.9}}", "continuation.weights: the weights sum to"),
        ("checkpoints: {unattended: sometimes}", "checkpoints.unattended: should be 'abort' or 'continue'"),
        ("loop: {max_cost_usd: -1}", "loop.max_cost_usd: "),
    ],
)
def test_what_is_wrong_in_the_sections_of_steering_is_one_line(workshop, doctor, content, said):
    workshop.write("ralph-tracker.yaml", f"{content}\n")
    code, lines = doctor()
    assert code == 1
    assert said in lines["configuration"]["found"]


@pytest.mark.parametrize(
    ("requirement", "version", "state"),
    [
        ("rich>=13.7", "15.0.1", None),
        ("rich>=13.7", "13.7", None),
        ("rich>=13.7", "13.7.0rc1", None),
        ("rich>=13.7", "13.6.9", "missing"),
        ("rich>=13.7", None, "missing"),
        ("claude-agent-sdk>=0.2; extra == 'claude'", "0.2.187", None),
        ("claude-agent-sdk>=0.2; extra == 'claude'", None, None),
        ("claude-agent-sdk>=0.2; extra == 'claude'", "0.1.9", "warning"),
        ("anything", None, None),
    ],
)
def test_a_package_that_is_missing_or_too_old_is_named_and_an_extra_may_be_missing(requirement, version, state):
    lines = packages([requirement], lambda _: version)
    assert [line["state"] for line in lines] == ([] if state is None else [state])
    for line in lines:
        name = requirement.partition(">")[0]
        assert line["what"] == f"package {name}"
        assert line["found"].startswith(version or "not installed")
        assert f"-m pip install '{name}>=" in line["next_step"]


def test_what_is_installed_beside_this_program_suffices(doctor):
    assert [what for what in doctor()[1] if what.startswith("package ")] == []


def test_what_is_not_installed_has_no_version_and_requires_nothing():
    assert (version_of_package("no-such-package"), requirements_of("no-such-package")) == (None, ())
    assert version_of_package("pytest") == pytest.__version__
    assert any(each.startswith("rich>=") for each in requirements_of("ralph-tracker"))


def test_a_repository_that_git_cannot_read_is_a_warning_that_names_the_line(workshop, doctor):
    workshop.commit()
    with (workshop.root / ".git/config").open("a") as config:
        config.write("[core\n")
    code, lines = doctor()
    assert (code, lines["git"]["state"]) == (0, "warning")
    assert "bad config line" in lines["git"]["found"]
