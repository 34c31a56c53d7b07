"""`ralph-tracker run --backend` with each of the four real clients: a whole loop, and what goes wrong with a client."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ralph_tracker.agents.feedback import RULES
from tests.clients.clients import CLIENTS, COPILOT, OPENCODE_PRICE, program_of
from tests.clients.conftest import (
    OURS,
    RIGHT,
    SUB_ONLY,
    TOLD,
    WRONG,
    WRONG_AGAIN,
    made_project,
    without_target,
    writing,
)
from tests.clients.messages import Turn, fail, hang, playing, say

FRESH, KEPT, CACHED, WRITTEN = Turn().tokens
TELL_TURNS = {"claude", "opencode", "copilot"}
TURN_USD = {
    "claude": (FRESH * 3 + KEPT * 3.75 + CACHED * 0.3 + WRITTEN * 15) / 1e6,
    "codex": ((FRESH + KEPT) * 1.25 + CACHED * 0.125 + WRITTEN * 10) / 1e6,
    "gemini": ((FRESH + KEPT) * 0.30 + CACHED * 0.03 + WRITTEN * 2.5) / 1e6,
    "opencode": ((FRESH + KEPT) * OPENCODE_PRICE["input"] + CACHED * 0.3 + WRITTEN * OPENCODE_PRICE["output"]) / 1e6,
}


class Driven:
    """A project that one of the clients refines; `begin` starts `run`, `drive` waits for it too."""

    def __init__(self, folder, name):
        self.name, self.client, self.runs = name, CLIENTS.get(name, COPILOT), []
        self.project = made_project(folder, self.client, program_of(name))
        self.project.extra["CLAUDE_CODE_MAX_RETRIES"] = "0"  # the others are told so in their settings
        (self.project.root / "PROMPT.md").write_text("Make all tests pass.\n")

    def playing(self, *script):
        return playing(*script, protocol=self.client.protocol)

    def begin(self, url, *options):
        self.client.settings(self.project.home, url)
        path = os.pathsep.join((str(self.project.program.parent), os.environ["PATH"]))
        words = [str(OURS), "run", "--pause", "0", *options]
        if "--resume" not in options:
            words += ["--backend", self.name, "--prompt-file", "PROMPT.md", "--", *self.client.own]
        run = subprocess.Popen(
            words,
            cwd=self.project.root,
            env=self.project.environment(url, PATH=path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.runs.append(run)
        return run

    def drive(self, url, *options):
        run = self.begin(url, *options)
        out, err = run.communicate(timeout=600)  # four sessions of a client on a machine that is busy
        return run.returncode, out, err


@pytest.fixture(params=list(CLIENTS))
def driven(request, tmp_path):
    made = Driven(tmp_path, request.param)
    yield made
    for run in made.runs:  # those of a test that failed
        if run.poll() is None:
            run.kill()


def at_least(*names, among=tuple(CLIENTS)):
    """Go through something with these clients each time, with the others in `make suite NAME=agents-full`."""
    clients = [each if each in names else pytest.param(each, marks=pytest.mark.deep) for each in among]
    return pytest.mark.parametrize("driven", clients, indirect=True)


@at_least("claude", "codex", among=(*CLIENTS, "copilot"))
def test_a_whole_loop_with_a_rollback_ends_one_run_after_the_right_fix(driven):
    script = (
        *(writing("calc.py", WRONG_AGAIN), say("one")),
        *(writing("test_calc.py", SUB_ONLY), say("all pass")),
        *(writing("calc.py", RIGHT), say("done"), say("done, as I said")),
    )
    project = driven.project
    without_target(project)
    with driven.playing(*script) as service:
        code, out, err = driven.drive(service.url)
    assert code == 0, out + err
    assert service.played_out, service.told
    # Every iteration is a session of its own: its first request has the whole prompt somewhere.
    for number, golden in enumerate(TOLD, 2):
        before = f"Make all tests pass.\n\nWhat ralph-tracker measured before this iteration, the number {number}:\n"
        told = golden.replace("stop again without", "stop without")  # a new session has not stopped yet
        assert f"{before}{RULES}\n{told}" in service.prompts[2 * number - 2]
    assert [each["iteration"] for each in project.history] == [0, 1, 2, 3, 4]
    assert project.history[3]["previous_iteration"] == 1
    assert project.status["status"] == "finished"
    assert (project.root / ".aiwg" / "output" / "calc.py").read_text() == RIGHT
    for each, turns in zip(project.history[1:], (2, 2, 2, 1), strict=True):
        if driven.name != "copilot":  # which prints no tokens
            took = {"input_tokens": turns * (FRESH + KEPT + CACHED), "output_tokens": turns * WRITTEN}
            assert {key: each["usage"][key] for key in took} == took
        assert each["usage"].get("turns") == (turns if driven.name in TELL_TURNS else None)
        cost = TURN_USD.get(driven.name)
        assert each["usage"].get("cost_usd") == (None if cost is None else pytest.approx(turns * cost))
    assert "Stopped: Done: nothing changed and everything passes" in out


def test_copilot_keeps_its_session_and_tells_no_cost(tmp_path):
    driven = Driven(tmp_path, "copilot")
    script = (writing("calc.py", WRONG + "\n\nZERO = 0\n"), say("one"), writing("calc.py", RIGHT), say("done"))
    with driven.playing(*script) as service:
        code, out, err = driven.drive(service.url, "--max-iterations", "5", "--continue")
    assert code == 0, out + err
    assert service.played_out, service.told
    assert service.prompts[2].count("Make all tests pass.") == 2, "the second run goes on with the session of the first"
    assert "Stopped: Target reached" in out
    for each in driven.project.history[1:]:
        assert (each["usage"]["turns"], each["usage"].get("cost_usd")) == (2, None)


def until(holds, what, seconds=120):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def agents_of(run):
    """Return the processes that `run` has started: the agent's first one, and what watches over it."""
    words = ["ps", "-o", "pid=", "--ppid", str(run.pid)]
    return [int(each) for each in subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()]


def notes_of(driven):
    """Return what each iteration notes of its agent, without what it notes of its measurement."""
    notes = [each["notes"] for each in driven.project.history[1:]]
    return [[note for note in each if not note.startswith("not_measured_again: ")] for each in notes]


# What is told of status 500, of 429, and of a session that changes nothing; Codex calls 500 a high demand.
TROUBLE = {
    "claude": ["crashed", "rate-limited", "changed nothing"],
    "codex": ["rate-limited", "rate-limited", "changed nothing"],
    "gemini": ["crashed", "rate-limited", "changed nothing"],
    "opencode": ["changed nothing"],  # it tries again by itself
}
RIGHT_FIX = writing("calc.py", RIGHT), say("done")


@at_least("claude")
def test_a_service_that_fails_or_asks_to_wait_is_tried_again_and_no_change_is_an_iteration(driven):
    script = fail(500), fail(429), say("nothing to do"), *RIGHT_FIX
    with driven.playing(*script) as service:
        code, out, err = driven.drive(service.url, "--max-iterations", "3", "--silence-minutes", "2")
    assert code == 0, out + err
    assert service.played_out, service.told
    assert [each["iteration"] for each in driven.project.history] == [0, 1, 2]
    told = [re.match(r"agent: ([\w -]+?)(?=:| \(|$)", note)[1] for note in notes_of(driven)[0]]
    assert told == TROUBLE[driven.name]


@at_least("codex")
def test_a_key_that_is_refused_needs_a_person_and_resume_goes_on(driven):
    with driven.playing(fail(401), *RIGHT_FIX) as service:
        code, out, err = driven.drive(service.url, "--max-iterations", "3")
        assert code == 12, out + err
        assert "A person is needed: Escalate to human - blocked: needs a person: " in out
        assert "next: `ralph-tracker run --resume` continues" in out
        code, out, err = driven.drive(service.url, "--resume")
    assert code == 0, out + err
    assert service.played_out, service.told
    assert [each["iteration"] for each in driven.project.history] == [0, 1, 2]


@at_least("codex")
def test_a_client_that_hangs_or_is_killed_is_run_again(driven):
    with driven.playing(hang(), hang(), *RIGHT_FIX) as service:
        silence = "1" if driven.name == "opencode" else "0.5"  # which prints nothing while it starts
        run = driven.begin(service.url, "--max-iterations", "1", "--silence-minutes", silence, "--retries", "9")
        until(lambda: len(service.requests) == 2, "the second run of the agent", seconds=300)
        for process in agents_of(run):
            os.kill(process, signal.SIGKILL)
        out, err = run.communicate(timeout=180)
    assert run.returncode == 0, out + err
    assert service.played_out, service.told
    *failed, done = notes_of(driven)[0]
    assert failed[0].startswith("agent: hung (silent for ")
    assert failed[-1].startswith("agent: crashed (killed by SIGKILL after ")
    assert done == "agent: done"


@at_least("codex")
def test_a_run_that_is_killed_leaves_no_client_and_goes_on(driven):
    with driven.playing(writing("calc.py", WRONG + "\n"), hang(), *RIGHT_FIX) as service:
        run = driven.begin(service.url, "--max-iterations", "2")
        until(lambda: len(service.requests) == 2, "the agent's second request")
        agents = agents_of(run)
        run.kill()
        run.communicate()
        until(lambda: not any(Path(f"/proc/{agent}").exists() for agent in agents), "the agent's end")
        code, out, err = driven.drive(service.url, "--resume")
    assert code == 0, out + err
    assert service.played_out, service.told
    assert notes_of(driven) == [["interrupted: the run was stopped from outside", "agent: done"]]
    turns = 3 if driven.name in TELL_TURNS else 2  # the others print no usage before their end
    assert driven.project.history[1]["usage"]["input_tokens"] == turns * (FRESH + KEPT + CACHED)


@at_least("claude", "codex")
def test_one_session_of_the_client_is_kept_over_the_iterations(driven):
    script = writing("calc.py", WRONG + "\n\nZERO = 0\n"), say("the first answer"), *RIGHT_FIX
    with driven.playing(*script) as service:
        code, out, err = driven.drive(service.url, "--max-iterations", "3", "--continue")
    assert code == 0, out + err
    assert service.played_out, service.told
    again = service.prompts[2]
    assert "the first answer" in json.dumps(service.requests[2])
    assert again.count("ralph-tracker measures this project each time you stop") == 1
    assert "What ralph-tracker measured before this iteration, the number 2:" in service.told[2]
    took = {"input_tokens": 2 * (FRESH + KEPT + CACHED), "output_tokens": 2 * WRITTEN}
    cost = driven.project.history[1]["usage"]["cost_usd"]  # a client's newest version may ask another model
    for each in driven.project.history[1:]:
        assert {key: each["usage"][key] for key in took} == took
        assert each["usage"]["cost_usd"] == pytest.approx(cost)
