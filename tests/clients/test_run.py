"""`ralph-tracker run` with the real Claude Code: beside its hooks, as its page says, and through a plan."""

import json
from pathlib import Path

import pytest

from tests.clients.conftest import OURS, RIGHT, WRONG

PAGE = Path(__file__).resolve().parents[2] / "docs" / "run.md"
PLAN = """\
tasks:
- {id: add, title: Mend add, checks: [tests]}
- {id: news, title: Tell of it, checks: [tests, test -s NEWS.md]}
"""


@pytest.fixture
def driven(project):
    """Return what runs a loop with the client; it gives the exit code and what was printed."""
    (project.root / "PROMPT.md").write_text("Make all tests pass.\n")

    def drive(
        url, *options, wanted=("--output-format", "stream-json", "--verbose"), prompt=("--prompt-file", "PROMPT.md")
    ):
        agent = [str(project.program), "-p", "--permission-mode", "bypassPermissions", *wanted]
        words = [str(OURS), "run", *prompt, "--pause", "0", *options, "--", *agent]
        return project._run(*words, environment=project.environment(url))

    return drive


def test_installed_hooks_leave_a_driven_session_alone(project, messages, write, driven):
    """Or each iteration would be measured twice, and the client kept from ending."""
    project.ours("agent", "install", "claude-code")
    with messages.playing(write("calc.py", WRONG + "\n"), messages.say("one"), messages.say("two")) as service:
        done = driven(service.url, "--max-iterations", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert service.played_out, service.told
    assert [each["iteration"] for each in project.history] == [0, 1, 2]
    assert project.history[2]["notes"][0] == "agent: changed nothing"
    assert {line["event"] for line in project.noted("agent-events.jsonl")} >= {"PostToolUse"}


@pytest.mark.deep  # with `--backend` it is tried each time
def test_a_provider_that_is_overloaded_is_waited_for(project, messages, write, driven):
    """The client gives up by itself after some tries of its own; then the whole run is tried again."""
    project.extra["CLAUDE_CODE_MAX_RETRIES"] = "0"
    script = messages.fail(429), write("calc.py", RIGHT), messages.say("done")
    with messages.playing(*script) as service:
        done = driven(service.url, "--max-iterations", "1", wanted=("--output-format", "json"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "agent: rate-limited" in done.stderr
    assert [each["iteration"] for each in project.history] == [0, 1]


def test_a_client_that_is_not_logged_in_needs_a_person(project, messages, driven):
    project.extra["ANTHROPIC_API_KEY"] = ""
    with messages.playing() as service:
        done = driven(service.url, wanted=("--output-format", "json"))
    assert done.returncode == 12, done.stdout + done.stderr
    assert "A person is needed: Escalate to human - blocked: needs a person: " in done.stdout
    assert json.loads((project.loop / "run.json").read_text())["iteration"] == 2


def test_the_page_of_run_shows_how_the_client_is_driven(project, messages, write):
    shown = PAGE.read_text().partition("# with these agents installed\n")[2].partition("\nralph-tracker")[0]
    assert "claude -p" in shown
    (project.root / "PROMPT.md").write_text("Make all tests pass.\n")
    with messages.playing(write("calc.py", RIGHT), messages.say("done")) as service:
        done = project.shell(shown, service.url)
    assert (done.returncode, service.played_out) == (0, True), done.stderr
    assert "Stopped: Target reached" in done.stdout
    assert (project.status["status"], project.status["iteration"]) == ("finished", 1)


def test_a_plan_of_two_tasks_each_until_its_checks_hold(project, messages, write, driven):
    """The second session is told what the first task changed; the budget and the summary know what both cost."""
    (project.root / "plan.yaml").write_text(PLAN)
    script = (
        *(write("calc.py", RIGHT), messages.say("added")),
        *(write("NEWS.md", ""), messages.say("noted")),
        *(write("NEWS.md", "add adds"), messages.say("noted")),
    )
    with messages.playing(*script) as service:
        done = driven(service.url, "--plan", "plan.yaml", "--max-cost-usd", "1", prompt=())
    assert done.returncode == 0, done.stdout + done.stderr
    assert service.played_out, service.told
    first, second, third = service.prompts[::2]
    assert "# Task: Mend add" in first
    assert "\nFailing tests" in first
    assert " test_calc::test_add: " in first
    assert "## Done before this task\n- Mend add (complete)\n  changed files: calc.py" in second
    assert "The task is not done until these pass:\n- test -s NEWS.md: exit 1 after " in third
    state = json.loads(project.ours("plan", "show", "--json", "plan.yaml"))
    assert [(each["status"], each["loops"]) for each in state["tasks"]] == [
        ("complete", ["plan-add"]),
        ("complete", ["plan-news"]),
    ]
    assert state["summary"]["cumulative_cost"] == pytest.approx(6 * 0.001375)
    assert "The plan is done. Progress: 2/2 tasks done | $0.01 spent" in done.stdout
