"""Sessions with the real claude-agent-sdk and the real client of Claude Code, evaluated as they run."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VERSION = os.environ.get("RALPH_TRACKER_CLAUDE_AGENT_SDK", "0.2.187")
PROGRAM = Path(__file__).with_name("sdk_session.py")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "steering.md"
TURN_USD = 0.001375  # of a turn of the stand-in


@pytest.fixture(scope="session")
def sdk():
    """Return the folder of the SDK, installed once beside the tests' environment; skip where that cannot be."""
    folder = Path(sys.prefix) / "clients" / f"claude-agent-sdk-{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            words = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
            words += ["--target", str(folder / "packages"), f"claude-agent-sdk=={VERSION}"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
            if done.returncode:
                pytest.skip(f"pip does not install claude-agent-sdk {VERSION}: {done.stderr.strip()[-200:]}")
            # The client that is driven is the one of the other tests; a second one takes hundreds of megabytes.
            shutil.rmtree(folder / "packages" / "claude_agent_sdk" / "_bundled", ignore_errors=True)
            (folder / "whole").touch()
    return folder / "packages"


@pytest.fixture
def session(project, sdk):
    """Return what has a session in the project and returns what came of it."""

    def have(service, *, hooks=True, **wanted):
        told = {"cli": str(project.program), "cwd": str(project.root), "hooks": hooks, **wanted}
        words = [sys.executable, str(PROGRAM), json.dumps(told)]
        done = project._run(*words, environment=project.environment(service.url, PYTHONPATH=str(sdk)))
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return have


@pytest.fixture
def turn(messages):
    """Make a turn that says something and runs a command."""

    def make(text, command):
        return messages.Turn(text=text, calls=(("Bash", {"command": command}),))

    return make


@pytest.mark.parametrize("hooks", [True, False], ids=["hooks and partial messages", "messages alone"])
def test_the_evaluator_interrupts_it_and_the_partial_work_and_the_cost_arrive(project, messages, session, turn, hooks):
    script = turn("one", "touch one"), turn("two", "touch two"), turn("three", "sleep 60; touch three")
    with messages.playing(*script, messages.say("done")) as service:
        found = session(service, hooks=hooks, no_at=2)
    (response,) = found["responses"]
    assert response["error"] == "Stopped by progress evaluator: going in circles"
    assert response["content"].split("\n")[:2] == ["one", "two"]
    assert response["ended"][0] == "error_during_execution"
    assert len(service.requests) <= 3
    assert (project.root / "one").exists()
    assert (project.root / "two").exists()
    assert not (project.root / "three").exists()
    assert response["cost"] >= 2 * TURN_USD * 0.999
    assert response["info"]["cost_so_far"] == pytest.approx(response["cost"])
    assert response["info"]["tokens_generated"] >= 20


@pytest.mark.parametrize("hooks", [True, False], ids=["hooks and partial messages", "messages alone"])
def test_an_evaluator_that_agrees_leaves_it_alone(project, messages, session, turn, hooks):
    file = str(project.root / "calc.py")
    both = messages.call("Read", file_path=file).and_call("Bash", command="exit 3")
    with messages.playing(turn("one", "touch one"), both, messages.say("done")) as service:
        found = session(service, hooks=hooks)
    assert service.played_out, service.told
    (response,) = found["responses"]
    assert (response["error"], response["content"], response["ended"]) == (None, "one\ndone", ["success", "completed"])
    assert response["cost"] == response["info"]["cost_so_far"] == pytest.approx(3 * TURN_USD)
    assert (response["info"]["turns_completed"], response["info"]["tokens_generated"]) == (3, 30)
    events = found["events"]
    turns = [event for event in events if event["event"] == "turn_ended"]
    assert [event["text"] for event in turns] == ["one", "", "done"]
    assert [event.get("output_tokens") for event in turns] == ([10] * 3 if hooks else [None] * 3)
    assert [event["name"] for event in events if event["event"] == "tool_started"] == ["Bash", "Read", "Bash"]
    ends = {event["call"]: event["success"] for event in events if event["event"] == "tool_ended"}
    assert ends == {"toolu_0001_0": True, "toolu_0002_0": True, "toolu_0002_1": False}
    assert [event["path"] for event in events if event["event"] == "file_read"] == [file]


def test_a_nudge_reaches_the_model(messages, session, turn):
    with messages.playing(turn("one", "true"), messages.say("done")) as service:
        session(service, nudge="Come to an end now.")
    assert service.played_out, service.told
    assert "Come to an end now." in service.told[1]


def test_a_loop_is_nudged_once_and_then_no_tool_runs_any_more(project, messages, session, turn):
    script = [turn(f"look {number}", "cat calc.py; echo ran >> ../ran") for number in range(1, 7)]
    with messages.playing(*script, messages.say("done")) as service:
        found = session(service, guided=True)
    assert service.played_out, service.told
    nudge = "Try another way, or stop and say what is open: the last 3 calls repeat earlier ones"
    # A request has all that was said before: the sixth is the one that tells what came of the fifth call.
    assert [json.dumps(request["messages"]).count(nudge) for request in service.requests] == [0] * 5 + [1] * 2
    assert "Call no more tools" in service.told[6]
    assert len((project.root.parent / "ran").read_text().splitlines()) == 5
    assert found["responses"][0]["content"].endswith("done")


@pytest.mark.parametrize(("limit", "runs"), [(1, False), (None, True)], ids=["a limit of 1 s", "ours"])
def test_a_person_who_thinks_is_not_cut_by_the_limit_of_a_hook(project, messages, session, turn, limit, runs):
    """A hook that is cut counts as a no in the client: its own limit would end every checkpoint so."""
    with messages.playing(turn("one", "touch ran"), messages.say("done")) as service:
        session(service, thinking_s=3, hook_timeout_s=limit)
    assert (project.root / "ran").exists() is runs, service.told


def test_prompts_of_one_client_cost_their_own_part_each(messages, session):
    with messages.playing(messages.say("a"), messages.say("b")) as service:
        first, second = session(service, prompts=["one", "two"])["responses"]
    assert [first["content"], second["content"]] == ["a", "b"]
    assert first["info"]["cost_so_far"] == pytest.approx(TURN_USD)
    assert second["info"]["cost_so_far"] == pytest.approx(TURN_USD)
    assert second["cost"] == pytest.approx(2 * TURN_USD)


def test_claude_itself_is_asked_and_that_is_no_turn_of_the_session(messages, session, turn):
    with messages.playing(turn("one", "true"), turn("two", "true"), messages.say("done")) as service:
        found = session(service, ask=True)
    assert service.played_out, service.told
    assert found["answers"] == ["ok"]
    assert found["responses"][0]["info"]["turns_completed"] == 3
    assert found["responses"][0]["error"] is None


def test_the_page_of_steering_shows_what_works(project, messages, sdk, turn):
    block = re.search(r"^```python\n(# watched\.py\n.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    project.ours("hook", "pre-loop")
    path = os.pathsep.join((str(project.program.parent), os.environ["PATH"]))
    with messages.playing(turn("one", "true"), messages.say("done")) as service:
        environment = project.environment(service.url, PYTHONPATH=str(sdk), PATH=path)
        done = project._run(sys.executable, "-c", block[1], environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert service.played_out, service.told
    assert done.stdout == f"one\ndone\nIt ended by itself ${2 * TURN_USD:.4f}\n"
