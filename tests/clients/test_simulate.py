"""Sessions of the real clients, recorded: `fixtures/steering`."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ralph_tracker.agents.recorded_session import read_session, read_stream
from ralph_tracker.runner.agent_commands import BACKENDS
from ralph_tracker.steering.session_events import ToolEnded, ToolStarted, TurnEnded, event_to_plain, read_events
from tests.clients.clients import CLIENTS, program_of
from tests.clients.conftest import RIGHT, made_project

PAGE = Path(__file__).resolve().parents[2] / "docs" / "steering.md"
RECORDED = Path(__file__).parents[2] / "fixtures" / "steering" / "claude-code-session.jsonl"
PRINTED = RECORDED.with_name("claude-code-printed.jsonl")
HOOKED = RECORDED.with_name("claude-code-hooks.jsonl")
HOOKS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch")
KEPT = {"assistant", "user", "result", "message_start", "message_delta"}
SHOWN = "/home/dev/project"
LOOKS = 6


def script_of(root, messages):
    """Look around, mend, test, and then read the same file again and again."""
    code, tests = str(root / "calc.py"), str(root / "test_calc.py")
    pytest = f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:randomly 2>&1 | sed 's/ in [0-9].*//'"

    def turn(number, text, call):
        return messages.Turn(text, call.calls, tokens=(400 + 10 * number, 200, 9000 + 900 * number, 40 + number))

    calls = [
        ("I look at the code and its tests.", messages.call("Read", file_path=code).and_call("Read", file_path=tests)),
        ("I run the tests.", messages.call("Bash", command=pytest)),
        ("add subtracts.", messages.call("Edit", file_path=code, old_string="a - b", new_string="a + b")),
        ("The text stands there twice.", messages.call("Read", file_path=str(root / "none.py"))),
        (
            "I mend it where it is.",
            messages.call(
                "Edit",
                file_path=code,
                old_string="def add(a, b):\n    return a - b",
                new_string="def add(a, b):\n    return a + b",
            ),
        ),
        ("I run the tests again.", messages.call("Bash", command=pytest)),
        *[("I make sure of the file.", messages.call("Read", file_path=code))] * LOOKS,
    ]
    return (*(turn(number, *each) for number, each in enumerate(calls)), messages.say("add adds now."))


def test_a_session_is_recorded_as_the_fixture_shows_it(project, messages, bless):
    script = script_of(project.root, messages)
    words = ["-p", "make the tests pass", "--permission-mode", "bypassPermissions", "--output-format", "stream-json"]
    more = ["--verbose", "--include-partial-messages"]
    with messages.playing(*script) as service:
        done = project._run(str(project.program), *words, *more, environment=project.environment(service.url))
    assert (done.returncode, service.played_out) == (0, True), done.stderr
    printed = done.stdout.replace(str(project.root), SHOWN).replace(sys.executable, "python")
    events = [*read_stream(printed.splitlines(), "what it printed")]
    assert sum(type(event) is TurnEnded for event in events) == len(script)
    assert [event.success for event in events if type(event) is ToolEnded].count(False) == 2
    if bless:
        RECORDED.write_text("".join(json.dumps(event_to_plain(event)) + "\n" for event in events))
    with RECORDED.open() as lines:  # calls of one turn end in any order
        assert sorted(map(str, events)) == sorted(map(str, read_events(lines, RECORDED.name)))


def test_the_page_of_steering_shows_how_a_session_is_recorded_and_replayed(project, messages):
    block = re.search(r"^```shell no-test\n# needs Claude Code\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    look = messages.call("Read", file_path=str(project.root / "calc.py"))
    with messages.playing(look, look, messages.say("done")) as service:
        done = project.shell(block[1], service.url)
    assert (done.returncode, service.played_out) == (0, True), done.stderr
    assert done.stdout.splitlines()[-1] == "medium task: 3 turns, 2 tool calls, 0 nudged, 0 forced"


def kind(line):
    """Return the type of a line, of a piece of an answer that of its event."""
    return line["event"]["type"] if line["type"] == "stream_event" else line["type"]


def course(lines):
    """Return what must be the same in every run: which tool began and ended in which turn, and how."""
    for line in lines:
        if "hook_event_name" in line:
            yield line["hook_event_name"], line.get("tool_use_id")
        else:
            blocks = [block for block in line.get("message", {}).get("content", []) if isinstance(block, dict)]
            yield kind(line), *(block.get("id") or block.get("tool_use_id") or block.get("text") for block in blocks)


def test_one_session_is_recorded_as_it_is_printed_and_as_hooks_hear_it(project, messages, bless):
    """For tests/agents/test_one_session.py, which reads both."""
    heard = project.root.parent / "heard"
    hook = {"type": "command", "command": f"(flock 9; cat >> '{heard}'; echo >> '{heard}') 9> '{heard}.lock'"}
    (project.root / ".claude").mkdir()
    settings = {"hooks": {event: [{"hooks": [hook]}] for event in HOOKS}}
    (project.root / ".claude" / "settings.json").write_text(json.dumps(settings))
    words = ["-p", "make the tests pass", "--permission-mode", "bypassPermissions", "--output-format", "stream-json"]
    with messages.playing(*script_of(project.root, messages)) as service:
        more = ["--verbose", "--include-partial-messages"]
        done = project._run(str(project.program), *words, *more, environment=project.environment(service.url))
    assert (done.returncode, service.played_out) == (0, True), done.stderr
    for recorded, text in ((PRINTED, done.stdout), (HOOKED, heard.read_text())):
        shown = text.replace(str(project.root), SHOWN).replace(str(project.home), "/home/dev")
        lines = [json.loads(line) for line in shown.replace(sys.executable, "python").splitlines() if line.strip()]
        lines = [line for line in lines if "type" not in line or kind(line) in KEPT]
        for line in lines:
            line.pop("transcript_path", None)
        if bless:
            recorded.write_text("".join(json.dumps(line) + "\n" for line in lines))
        known = [json.loads(line) for line in recorded.read_text().splitlines()]
        assert sorted(map(str, course(lines))) == sorted(map(str, course(known)))


PATCH = """apply_patch <<'EOP'
*** Begin Patch
*** Update File: calc.py
@@
 def add(a, b):
-    return a - b
+    return a + b
*** End Patch
EOP
"""


def looking_around(name, root, messages):
    """Look, test, fix, test, and then read the same file again and again; each client with tools of its own."""
    code = str(root / "calc.py")
    run = f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:randomly 2>&1 | sed 's/ in [0-9].*//'"
    test, call = messages.shell(run), messages.call
    look, fix = {
        "codex": (messages.shell("cat calc.py"), messages.shell(PATCH)),
        "gemini": (call("read_file", file_path=code), call("write_file", file_path=code, content=RIGHT)),
        "opencode": (call("read", filePath=code), call("write", filePath=code, content=RIGHT)),
    }[name]
    return replace(look, text="I look."), test, fix, test, *[look] * 4, messages.say("add adds now.")


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["codex", "gemini", "opencode"])
def test_what_the_other_clients_print_is_recorded_as_the_fixtures_show_it(name, tmp_path, messages, bless):
    client, recorded = CLIENTS[name], RECORDED.with_name(f"{name}-printed.jsonl")
    project = made_project(tmp_path, client, program_of(name))
    words = [word.replace("{prompt}", "make the tests pass") for word in BACKENDS[name].command(client.own)]
    words = ["make the tests pass" if word == "-" else word for word in words]
    script = looking_around(name, project.root, messages)
    with messages.playing(*script, protocol=client.protocol) as service:
        client.settings(project.home, service.url)
        done = project._run(str(project.program), *words[1:], environment=project.environment(service.url))
    assert (done.returncode, service.played_out) == (0, True), done.stdout + done.stderr
    printed = done.stdout.replace(str(project.root), SHOWN).replace(sys.executable, "python")
    printed = printed.replace(str(project.home), "/home/dev")
    lines = [line for line in printed.splitlines() if line.startswith("{")]
    if bless:
        recorded.write_text("\n".join(lines) + "\n")

    def course(lines):
        """Return what must be the same in every run: all but the ids of calls."""
        events = read_session(lines, "it")
        return [event._replace(call="") if isinstance(event, ToolStarted | ToolEnded) else event for event in events]

    assert course(lines) == course(recorded.read_text().splitlines())
