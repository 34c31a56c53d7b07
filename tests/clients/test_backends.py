"""`ralph-tracker run --backend` with each of the four real clients: a whole loop, and what goes wrong with a client."""

import os
import subprocess

import pytest

from tests.clients.clients import CLIENTS, OPENCODE_PRICE
from tests.clients.conftest import OURS, RIGHT, WRONG, made_project, writing
from tests.clients.messages import Turn, playing, say

SUB_ONLY = "from calc import sub\n\n\ndef test_sub():\n    assert sub(3, 2) == 1\n"
FRESH, KEPT, CACHED, WRITTEN = Turn().tokens
TURNS = {"claude": 2, "opencode": 2}  # the others tell no number of turns
TURN_USD = {
    "claude": 0.001375,
    "codex": ((FRESH + KEPT + CACHED) * 1.25 + WRITTEN * 10) / 1e6,
    "gemini": ((FRESH + KEPT + CACHED) * 0.30 + WRITTEN * 2.5) / 1e6,
    "opencode": ((FRESH + KEPT) * OPENCODE_PRICE["input"] + CACHED * 0.3 + WRITTEN * OPENCODE_PRICE["output"]) / 1e6,
}


class Driven:
    """A project that one of the clients refines; `begin` starts `run`, `drive` waits for it too."""

    def __init__(self, folder, name):
        self.name, self.client = name, CLIENTS[name]
        self.project = made_project(folder, self.client, self.client.installed())
        (self.project.root / "PROMPT.md").write_text("Make all tests pass.\n")

    def playing(self, *script):
        return playing(*script, protocol=self.client.protocol)

    def begin(self, url, *options):
        self.client.settings(self.project.home, url)
        path = os.pathsep.join((str(self.project.program.parent), os.environ["PATH"]))
        words = [str(OURS), "run", "--pause", "0", *options]
        if "--resume" not in options:
            words += ["--backend", self.name, "--prompt-file", "PROMPT.md", "--", *self.client.own]
        return subprocess.Popen(
            words,
            cwd=self.project.root,
            env=self.project.environment(url, PATH=path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def drive(self, url, *options):
        run = self.begin(url, *options)
        out, err = run.communicate(timeout=180)
        return run.returncode, out, err


@pytest.fixture(params=list(CLIENTS))
def driven(request, tmp_path):
    return Driven(tmp_path, request.param)


def test_a_whole_loop_with_a_rollback_ends_with_the_right_fix(driven):
    script = (
        *(writing("calc.py", WRONG + "\n\nZERO = 0\n"), say("one")),
        *(writing("test_calc.py", SUB_ONLY), say("all pass")),
        *(writing("calc.py", RIGHT), say("done")),
    )
    with driven.playing(*script) as service:
        code, out, err = driven.drive(service.url, "--max-iterations", "5")
    assert code == 0, out + err
    assert service.played_out, service.told
    # Every iteration is a session of its own: its first request has the whole prompt somewhere.
    first, second, third = service.prompts[::2]
    assert "Make all tests pass." in first
    for prompt in (first, second):
        assert "\nFailing tests:\n- test_calc.py:5 test_calc::test_add: assert -1 == 3" in prompt
    assert (
        "Rolled back: the files are those of iteration 1 again, without what iteration 2 changed: test_calc.py."
        in third
    )
    assert "- CRITICAL it2-test_deletion: Test count decreased from 2 to 1" in third
    assert "- test_calc::test_add: it failed before, and is deleted or skipped" in third
    project = driven.project
    assert [each["iteration"] for each in project.history] == [0, 1, 2, 3]
    assert project.history[3]["previous_iteration"] == 1
    assert project.status["status"] == "finished"
    assert (project.root / ".aiwg" / "output" / "calc.py").read_text() == RIGHT
    took = {"input_tokens": 2 * (FRESH + KEPT + CACHED), "output_tokens": 2 * WRITTEN}
    for each in project.history[1:]:
        assert {key: each["usage"][key] for key in took} == took
        assert each["usage"].get("turns") == TURNS.get(driven.name)
        assert each["usage"]["cost_usd"] == pytest.approx(2 * TURN_USD[driven.name])
    assert "Stopped: Target reached" in out
