"""A whole loop by the hooks of each real client, installed, in a plugin, and both: they count once."""

import json
import subprocess
from dataclasses import replace

import pytest

from tests.clients.clients import CLAUDE, CODEX, COPILOT, GEMINI_CLI, OPENCODE, OPENCODE_PRICE
from tests.clients.conftest import RIGHT, made_project, writing
from tests.clients.messages import Turn, playing, say

pytestmark = pytest.mark.sampled

CLIENTS = {
    "claude-code": CLAUDE,
    "codex": CODEX,
    "gemini": GEMINI_CLI,
    "opencode": OPENCODE,
    "copilot": COPILOT,
}
WORDS = {
    "claude-code": ("-p", "make it", "--permission-mode", "bypassPermissions"),
    "codex": ("exec", "--json", "--model", "gpt-5-codex", "--sandbox", "danger-full-access", "make it"),
    "gemini": ("-p", "make it", "--model", "gemini-2.5-flash", "--approval-mode", "yolo"),
    "opencode": ("run", "make it"),
    "copilot": ("-p", "make it"),
}
PLUGGED = {  # the words that install a plugin from a folder
    "claude-code": (
        ("plugin", "marketplace", "add", "{folder}"),
        ("plugin", "install", "ralph-tracker@ralph-tracker"),
    ),
    "codex": (("plugin", "marketplace", "add", "{folder}"), ("plugin", "add", "ralph-tracker@ralph-tracker")),
    "gemini": (("extensions", "install", "{folder}", "--consent"),),
    "opencode": (("plugin", "{folder}"),),
    "copilot": (("plugin", "marketplace", "add", "{folder}"), ("plugin", "install", "ralph-tracker@ralph-tracker")),
}
HOOKS_OF_CODEX = {"settings": 5, "plugin": 5, "both": 9}  # with the user's own
SETTINGS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
}
STOPS = {"claude-code": "Stop", "codex": "Stop", "gemini": "AfterAgent"}
WRONG_AGAIN = "def add(a, b):\n    return a * b\n\n\ndef sub(a, b):\n    return a - b\n"
SUB_ONLY = "from calc import sub\n\n\ndef test_sub():\n    assert sub(3, 2) == 1\n"
FRESH, KEPT, CACHED, WRITTEN = Turn().tokens
OPENCODE_USD = ((FRESH + KEPT) * OPENCODE_PRICE["input"] + CACHED * 0.3 + WRITTEN * OPENCODE_PRICE["output"]) / 1e6


def everything(root):
    return {
        path: path.read_bytes() for path in root.rglob("*") if path.is_file() and not {".git", ".aiwg"} & {*path.parts}
    }


class Lived:
    """A project in which a client works with our hooks, by its settings, a plugin, or both; `ask` gives it a task."""

    def __init__(self, folder, name, way="settings"):
        self.name, self.client, self.way = name, CLIENTS[name], way
        self.project = made_project(folder, self.client, self.client.installed())
        self.mine = self.project.root.parent / "mine"
        self.settings = self.project.root / SETTINGS.get(name, "none")
        if name in SETTINGS:
            own = {"hooks": [{"type": "command", "command": f"touch '{self.mine}'"}]}
            self.settings.parent.mkdir()
            text = json.dumps({"hooks": {STOPS[name]: [own]}}, indent="\t")
            self.settings.write_bytes(text.replace("\n", "\r\n").encode())  # which no writer of ours would choose
        self.before = everything(self.project.root)
        if way != "plugin":
            self.project.ours("agent", "install", name)

    def plug(self, url):
        """Make our plugin, and install it as a person does."""
        folder = self.project.root.parent / "our plugin"
        self.project.ours("agent", "install", self.name, "--plugin", str(folder))
        if self.name == "codex":
            settings = self.project.home / ".codex" / "config.toml"
            settings.write_text(settings.read_text().replace("plugins = false", "plugins = true"))
        for words in PLUGGED[self.name]:
            done = self.project._run(
                str(self.project.program),
                *(word.format(folder=folder) for word in words),
                environment=self.project.environment(url),
            )
            assert done.returncode == 0, done.stdout + done.stderr

    def ask(self, url, **more):
        self.client.settings(self.project.home, url)
        if self.way != "settings":
            self.plug(url)
        if self.name == "codex":
            trusted_by_codex(self.project, url, HOOKS_OF_CODEX[self.way])
        done = self.project._run(
            str(self.project.program), *WORDS[self.name], environment=self.project.environment(url, **more)
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def playing(self, *script):
        return playing(*script, protocol=self.client.protocol)

    def closing(self):
        """Return the turns that only opencode asks for: its session closes with an answer."""
        return (say("closed"),) if self.name == "opencode" else ()


def trusted_by_codex(project, url, hooks):
    """Trust the folder and its hooks, as a person does in Codex with /hooks."""
    settings = project.home / ".codex" / "config.toml"
    settings.write_text(settings.read_text() + f'[projects."{project.root}"]\ntrust_level = "trusted"\n')
    server = subprocess.Popen(
        [project.program, "app-server"],
        cwd=project.root,
        env=project.environment(url),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def asked(number, method, **params):
        server.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        return next(found for line in server.stdout if (found := json.loads(line)).get("id") == number)["result"]

    try:
        asked(1, "initialize", clientInfo={"name": "t", "title": "t", "version": "0"})
        listed = asked(2, "hooks/list", cwds=[str(project.root)])["data"]
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for each in listed for hook in each["hooks"]}
        assert len(state) == hooks, listed
        edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
        asked(3, "config/batchWrite", edits=[edit], filePath=None, expectedVersion=None, reloadUserConfig=True)
    finally:
        server.stdin.close()
        server.wait(20)
        server.stdout.close()


@pytest.fixture(params=list(CLIENTS))
def name(request):
    return request.param


@pytest.mark.parametrize("way", ["settings", "plugin", "both"])
def test_a_wrong_fix_is_told_a_deleted_test_is_rolled_back_and_a_right_fix_is_let_go(tmp_path, name, way):
    lived = Lived(tmp_path, name, way)
    lived.project.ours("hook", "pre-loop")
    script = (
        *(replace(writing("calc.py", WRONG_AGAIN), text="I will multiply."), say("one")),
        *(writing("test_calc.py", SUB_ONLY), say("all pass")),
        *(writing("calc.py", RIGHT), say("done")),
    )
    with lived.playing(*script, *lived.closing()) as service:
        lived.ask(service.url)
    assert service.played_out, service.told
    project = lived.project
    first, back, undone = service.prompts[0], service.told[2], service.told[4]
    assert first.count("ralph-tracker measures this project") == 1
    assert "\nFailing tests:\n- test_calc.py:5 test_calc::test_add: assert 2 == 3" in back
    assert "Continue with the task; it is measured again when you stop." in back
    assert "- CRITICAL it2-failure_hidden: Iteration 2 removed 1 test that failed in iteration 1" in undone
    assert "): test_calc::test_add (test_calc.py)\n" in undone
    assert "Rolled back: the files are those of iteration 1 again" in undone
    assert "Why iteration 2 was rolled back:\n" in undone
    assert "def test_add" in (project.root / "test_calc.py").read_text()
    assert project.status["status"] == "finished"
    assert [each["iteration"] for each in project.history] == [0, 1, 2, 3]
    took = {"input_tokens": 2 * (FRESH + KEPT + CACHED), "output_tokens": 2 * WRITTEN, "turns": 2}
    for each in project.history[1:]:
        assert {key: each["usage"].get(key) for key in took} == took
        cost = pytest.approx(2 * OPENCODE_USD) if name == "opencode" else None
        assert each["usage"].get("cost_usd") == cost
    assert (project.root / ".aiwg" / "output" / "calc.py").read_text() == RIGHT
    assert project.noted("agent-errors.jsonl") == []
    assert lived.mine.exists() is (name in SETTINGS), "the user's own hook runs beside ours"
    assert len([each for each in project.noted("agent-events.jsonl") if each["event"] == "PostToolUse"]) == 3
    project.ours("agent", "uninstall", name)
    left = everything(project.root)
    assert left.get(lived.settings) == lived.before.get(lived.settings)
    assert {path for path in left if "ralph-tracker" in path.name} == {project.root / "ralph-tracker.yaml"}
