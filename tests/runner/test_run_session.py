"""`run --continue`: one session of the client over the iterations, a new one after a crash, no token counted twice."""

import json

import pytest

from ralph_tracker.agents.output.run_report import Ending, RunReport
from ralph_tracker.cli.app import run as command_line
from ralph_tracker.core.metrics import Usage
from ralph_tracker.runner.agent_commands import BACKENDS
from ralph_tracker.runner.attempt import AttemptVerdict, session_after
from ralph_tracker.runner.saved_run import add_usages, less, tells_sums
from tests.runner.conftest import step
from tests.tables import table

pytestmark = pytest.mark.slow


def spent(tokens):
    return {"cost_usd": None, "input_tokens": tokens, "output_tokens": tokens // 10, "turns": 1}


@pytest.fixture
def heard(project):
    """Return what drives scripted steps as a client that notes its words, and returns these run by run."""

    def drive(*steps, backend="claude", **more):
        shell, flag, script = project.scripted(*steps)
        own = (shell, flag, f'echo "$0 $*" >> {project.root.parent}/words; {script}', *BACKENDS[backend].ends)
        project.drive(own, backend=backend, **more)
        return (project.root.parent / "words").read_text().splitlines()

    return drive


def test_the_next_iteration_continues_the_session_and_is_not_told_the_rules_again(project, heard):
    assert heard(step(3, 1, spends=spent(100)), step(4, 0, spends=spent(100))) == ["/bin/sh ", "--resume s"]
    assert "ralph-tracker measures this project" not in (project.folder / "prompt.md").read_text()


def test_after_a_crash_the_session_is_a_new_one(project, heard):
    crashes = step(4, 0, spends=spent(100), tries=[step(exit=1)])
    words = heard(step(3, 1, spends=spent(100)), crashes)
    assert words == ["/bin/sh ", "--resume s", "/bin/sh "]
    assert "ralph-tracker measures this project" in (project.folder / "prompt.md").read_text()


def test_of_a_session_that_tells_its_sums_only_what_is_new_is_counted(project, heard):
    words = heard(step(3, 1, spends=spent(100)), step(4, 0, spends=spent(250)), backend="codex")
    assert words == ["- ", "resume s -"]
    assert [each["usage"]["input_tokens"] for each in project.records()[1:]] == [100, 150]


def test_the_models_that_the_client_reports_are_kept(project):
    tokens = {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}
    stats = {**tokens, "models": {"gemini-x": tokens}}
    said = {"type": "result", "status": "success", "timestamp": "2026-02-02T10:00:00Z", "stats": stats}
    project.drive(project.scripted(step(3, 1, prints=json.dumps(said)), step(4, 0)))
    assert project.progress()["models"] == ["gemini-x"]


def test_a_run_that_is_resumed_goes_on_in_the_session(project, heard):
    login = step(exit=1, prints="Invalid API key · Please run /login")
    heard(step(3, 1, spends=spent(100)), login, step(4, 0, spends=spent(100)))
    assert project.progress()["session"] == "s"
    project.drive(resume=True)
    assert (project.root.parent / "words").read_text().splitlines() == ["/bin/sh ", *["--resume s"] * 2]


def test_another_command_begins_a_session_of_its_own(project, heard):
    heard(step(3, 1, spends=spent(100)), step(exit=1, prints="Invalid API key · Please run /login"))
    assert project.drive(("/bin/sh", "-c", "echo $0 > words; rm report.xml"), resume=True)
    assert (project.root / "words").read_text() == "/bin/sh\n"
    assert project.progress()["settings"]["backend"] is None


@pytest.mark.parametrize("session", ["--dangerously-skip-permissions", "a b", "", 3])
def test_a_journal_whose_session_could_be_an_option_is_damaged(project, heard, session, capsys):
    heard(step(3, 1, spends=spent(100)), step(exit=1, prints="Invalid API key · Please run /login"))
    (project.folder / "run.json").write_text(json.dumps(project.progress() | {"session": session}))
    assert command_line(["run", "--resume", "--root", str(project.root)]) == 1
    assert "run.json: damaged; give the agent's command again" in capsys.readouterr().err


def test_without_a_backend_it_is_refused(project, capsys):
    assert command_line(["run", "--continue", "--root", str(project.root), "--", "true"]) == 2
    assert "--continue: only a --backend is known to continue its session; name one" in capsys.readouterr().err


V = AttemptVerdict


@table(
    ("verdict", "session"),
    [
        *((each, "new") for each in (V.DONE, V.UNCHANGED, V.OUT_OF_BUDGET)),
        *((each, None) for each in (V.CRASHED, V.SILENT, V.NOT_STARTED)),
        *((each, "old") for each in (V.HUNG, V.RATE_LIMITED, V.NEEDS_PERSON)),
    ],
)
def test_which_session_the_next_run_continues(verdict, session):
    assert session_after(verdict, "old", "new") == session


def test_tokens_and_cost_of_a_session_are_sums_turns_and_time_are_those_of_the_run():
    assert less(Usage(None, 10, 5, 3, 9.0), Usage(1.0, 4, None, 7, 8.0)) == Usage(None, 6, 5, 3, 9.0)


def test_money_has_no_noise_of_binary_fractions():
    assert less(Usage(0.3), Usage(0.1)).cost_usd == 0.2
    assert add_usages(Usage(0.1), Usage(0.2)).cost_usd == 0.3


@table(
    ("whole", "own", "told", "sums"),
    [
        (4480, 2240, 2240, True),
        (2240, 2240, 2240, False),
        (3000, 2240, 2240, False),  # with a subagent of its own
        (4480, None, 2240, False),
        (4480, 2240, None, False),
        (None, 2240, 2240, False),
    ],
)
def test_a_report_of_the_whole_session_holds_the_part_before_and_the_runs_own(whole, own, told, sums):
    report = RunReport(Usage(input_tokens=whole), Ending.DONE, own_input=own)
    assert tells_sums(report, Usage(input_tokens=told)) is sums


def test_each_new_session_of_claude_is_given_what_is_left_to_spend(project, monkeypatch):
    tools = project.root.parent / "bin"
    tools.mkdir()
    result = json.dumps({"type": "result", "session_id": "s", "subtype": "success", "total_cost_usd": 0.4})
    words = project.root.parent / "words"
    (tools / "claude").write_text(f"#!/bin/sh\necho $* >> '{words}'\ndate +%N >> notes\necho '{result}'\n")
    (tools / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    project.drive(BACKENDS["claude"].command(), max_iterations=2, max_cost_usd=1.0)
    assert [line.partition("--max-budget-usd ")[2].split()[0] for line in words.read_text().splitlines()] == [
        "1.00",
        "0.60",
    ]
