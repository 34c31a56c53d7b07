"""Every host: its events as it writes them, our answers as it reads them, its settings as they were before."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ralph_tracker.agents.hosts.host import HOSTS, OWN_CAP, host
from ralph_tracker.agents.hosts.installation import Installation
from ralph_tracker.agents.hosts.settings_text import absolute, portable_command
from ralph_tracker.errors import InputError
from ralph_tracker.store.snapshots.gitignore_rules import IgnoreRules, Scope

OTHERS = [name for name in HOSTS if name != "claude-code"]
PROGRAM = Path("/opt/with space/bin/ralph-tracker")
USERS = """{
\t"mine": [1],
\t"version": 1,
\t"hooks": {"%s": [{"command": "true", "hooks": [{"type": "command", "command": "true"}]}]}
}""".replace("\n", "\r\n")
SHELL = {"command": "cat calc.py"}
# One session of each host: events as the clients write them (Cursor's from its documentation).
START, PROMPT, CALL, STOP = "start", "prompt", "call", "stop"
BASE = {
    "codex": {"session_id": "s", "cwd": "/p", "model": "m", "permission_mode": "default"},
    "gemini": {"session_id": "s", "cwd": "/p", "timestamp": "2026-11-25T16:57:22.269Z"},
    "opencode": {"session_id": "s"},
    "cursor": {"conversation_id": "s", "generation_id": "g", "workspace_roots": ["/p"], "cursor_version": "3.7.21"},
    "copilot": {"sessionId": "s", "timestamp": 1795626074101, "cwd": "/p"},
}
CALLED = {"tool_name": "shell", "tool_input": SHELL, "tool_use_id": "c"}
EVENTS = {
    "codex": {
        START: {"hook_event_name": "SessionStart", "source": "startup"},
        PROMPT: {"hook_event_name": "UserPromptSubmit", "turn_id": "t", "prompt": "Go."},
        CALL: {"hook_event_name": "PostToolUse", "turn_id": "t", **CALLED, "tool_response": "same"},
        STOP: {"hook_event_name": "Stop", "turn_id": "t", "stop_hook_active": False, "last_assistant_message": None},
    },
    "gemini": {
        START: {"hook_event_name": "SessionStart", "source": "startup"},
        PROMPT: {"hook_event_name": "BeforeAgent", "prompt": "Go."},
        CALL: {"hook_event_name": "AfterTool", **CALLED, "tool_response": {"llmContent": "same"}},
        STOP: {"hook_event_name": "AfterAgent", "prompt": "Go.", "prompt_response": "", "stop_hook_active": False},
    },
    "opencode": {
        START: {"hook_event_name": "SessionStart"},
        PROMPT: {"hook_event_name": "UserPromptSubmit", "prompt_id": "m", "prompt": "Go."},
        CALL: {"hook_event_name": "PostToolUse", **CALLED, "tool_response": {"output": "same"}},
        STOP: {"hook_event_name": "Stop", "prompt_id": "m", "answers": []},
    },
    "cursor": {
        START: {"hook_event_name": "sessionStart", "composer_mode": "agent"},
        PROMPT: {"hook_event_name": "beforeSubmitPrompt", "prompt": "Go.", "attachments": []},
        CALL: {"hook_event_name": "postToolUse", **CALLED, "tool_output": '{"exitCode":0}', "duration": 5},
        STOP: {"hook_event_name": "stop", "status": "completed", "loop_count": 0},
    },
    "copilot": {
        START: {"source": "new", "initialPrompt": "Go."},
        PROMPT: {"prompt": "Go."},
        CALL: {"toolName": "bash", "toolArgs": SHELL, "toolResult": {"resultType": "success"}},
        STOP: {"transcriptPath": "/none", "stopReason": "end_turn", "stop_hook_active": False},
    },
}
HOLDS = {
    "codex": lambda answer: answer if answer.pop("decision") == "block" else None,
    "gemini": lambda answer: answer if answer.pop("decision") == "deny" else None,
    "opencode": lambda answer: {"reason": answer.pop("block"), **answer},
    "cursor": lambda answer: {"reason": answer.pop("followup_message"), **answer},
    "copilot": lambda answer: answer if answer.pop("decision") == "block" else None,
}
TELLS = {
    "codex": lambda answer, name: answer["hookSpecificOutput"]["additionalContext"],
    "gemini": lambda answer, name: answer["hookSpecificOutput"]["additionalContext"],
    "opencode": lambda answer, name: answer["context"],
    "cursor": lambda answer, name: answer["additional_context"],
    "copilot": lambda answer, name: answer["additionalContext"],
}

each_host = pytest.mark.parametrize("name", OTHERS)


def played(session, name, event, **more):
    session.host = name
    printed = session.raw(json.dumps({**BASE[name], **EVENTS[name][event], **more}).encode())
    return json.loads(printed) if printed else None


@each_host
def test_outside_of_a_loop_nothing_is_said(session, name):
    assert [played(session, name, event) for event in EVENTS[name]] == [None] * 4


SHOW = {"claude-code", "codex", "gemini"}  # the hosts that show a person a message of a hook


@each_host
def test_a_stop_is_held_with_the_finding_and_a_right_one_let_go(session, name):
    session.begin(test_add=False)
    assert "ralph-tracker measures" in TELLS[name](played(session, name, START), START)
    assert played(session, name, PROMPT) is None
    held = HOLDS[name](played(session, name, STOP))
    assert held.keys() == {"reason"}, "some hosts refuse a key that they do not know"
    assert "test_add" in held["reason"]
    session.tests(test_add=True)
    said = played(session, name, STOP)
    shown = "ralph-tracker: Stopped: Target reached. Next: `ralph-tracker status` says more"
    assert said == ({"log": shown} if name == "opencode" else {"systemMessage": shown} if name in SHOW else None)
    assert session.state["status"] == "finished"
    assert session.troubles == []


def test_where_nothing_was_measured_the_agent_stops_and_its_person_reads_why(session):
    for report in session.root.glob("results.*"):
        report.unlink()
    session.tracker.pre_loop(None, allow_missing=True, limits={"max_iterations": 1})
    stop = {"hook_event_name": "Stop", "session_id": "s", "prompt_id": "p", "stop_hook_active": False}
    answer = json.loads(session.raw(json.dumps(stop).encode()))
    assert answer.keys() == {"systemMessage"}
    assert answer["systemMessage"].startswith("ralph-tracker: nothing was measured in ralph-001")
    assert (session.state["status"], session.troubles) == ("running", [])


@each_host
def test_calls_that_repeat_are_nudged_then_forced_beside_their_results(session, name):
    session.begin(test_add=False)
    told = [played(session, name, CALL) for _ in range(5)]
    assert told[:3] == [None] * 3
    nudge, force = (TELLS[name](answer, CALL) for answer in told[3:])
    assert nudge.startswith("Try another way")
    assert force.startswith("Call no more tools")
    if "hookSpecificOutput" in told[3]:
        assert told[3]["hookSpecificOutput"]["hookEventName"] == EVENTS[name][CALL]["hook_event_name"]
    assert session.troubles == []


@pytest.mark.parametrize("name", ["gemini", "cursor"])
@pytest.mark.slow
def test_the_own_cap_ends_a_session_that_calls_no_tool(session, name):
    (session.root / "ralph-tracker.yaml").write_text(
        (session.root / "ralph-tracker.yaml").read_text().replace("0.9}", "0.9, max_iterations: 50}")
        + "stall: {window: 40}\n"
    )
    session.begin(test_add=False)
    answers = [played(session, name, STOP, **({"loop_count": n} if name == "cursor" else {})) for n in range(OWN_CAP)]
    assert "This is the last time" in HOLDS[name](answers[-1])["reason"]
    after = played(session, name, STOP, **({"loop_count": 9} if name == "cursor" else {}))
    assert after is None or "decision" not in after
    assert session.state["status"] == "running"


def test_gemini_tells_a_failed_call_by_its_result(session):
    session.begin(test_add=False)
    played(session, "gemini", CALL, tool_response={"llmContent": "", "error": {"message": "no"}})
    assert session.noted()[0]["error"] is True


@pytest.mark.parametrize("status", ["aborted", "error"])
def test_cursors_stop_that_was_not_completed_is_no_iteration(session, status):
    session.begin(test_add=False)
    assert played(session, "cursor", STOP, status=status) is None
    assert session.state["iteration"] == 0


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


def everything(root):
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("linked", ["info", "info/exclude"])
def test_a_link_out_of_git_s_folder_is_not_written_through(tmp_path, project, linked):
    place = Installation.of(host("claude-code"), "local", project, {})
    theirs, link = tmp_path / "theirs", project / ".git" / linked
    theirs.mkdir()
    (theirs / "exclude").write_text("# mine\n")
    shutil.rmtree(project / ".git/info", ignore_errors=True)
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(theirs / linked.removeprefix("info").removeprefix("/"))
    before = everything(tmp_path)
    for act in (lambda: place.install(PROGRAM), place.uninstall):
        with pytest.raises(InputError, match=rf"{link}: a link to {link.resolve()}, .*; nothing was changed"):
            act()
    assert everything(tmp_path) == before


@pytest.mark.parametrize("scope", ["project", "local", "user"])
@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("had", [True, False], ids=["with settings", "without"])
def test_uninstalled_everything_is_as_it_was_to_the_byte(tmp_path, project, name, scope, had):
    place = Installation.of(host(name), scope, project, {"HOME": str(tmp_path / "home")})
    exclude = project / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_bytes(b"/mine")
    if had and host(name).settings.text is None:
        place.file.parent.mkdir(parents=True)
        place.file.write_text(USERS % next(iter(host(name).settings.timeouts)), newline="")
    before = everything(tmp_path)
    command = portable_command(name) if scope == "project" else absolute(PROGRAM, name)
    place.install(command)
    text = place.file.read_bytes().decode()
    assert ("/opt/" in text) is (scope != "project")
    assert place.install(command) == f"{place.file}: installed already, nothing was changed"
    if scope == "local":
        status = subprocess.run(["git", "status", "--porcelain"], cwd=project, capture_output=True, check=True).stdout
        assert status == b""
    assert place.uninstall() == f"{place.file}: taken out"
    assert everything(tmp_path) == before
    assert place.uninstall() == f"{place.file}: nothing of ralph-tracker is installed there"


@pytest.mark.parametrize("name", HOSTS)
def test_what_git_tracks_is_not_for_this_machine(tmp_path, project, name):
    place = Installation.of(host(name), "local", project, {"HOME": str(tmp_path)})
    place.file.parent.mkdir(parents=True)
    place.file.write_text("{}")
    subprocess.run(["git", "add", "-f", place.file], cwd=project, check=True)
    before = everything(project)
    with pytest.raises(InputError, match="git tracks it"):
        place.install(absolute(PROGRAM, name))
    assert everything(project) == before


@pytest.mark.parametrize("name", ["opencode", "copilot"])
def test_a_file_of_somebody_else_is_not_written_over(tmp_path, name):
    place = Installation.of(host(name), "project", tmp_path, {"HOME": str(tmp_path)})
    place.file.parent.mkdir(parents=True)
    place.file.write_text("mine")
    with pytest.raises(InputError, match="not written by ralph-tracker"):
        place.install(portable_command(name))
    assert place.uninstall().endswith("nothing of ralph-tracker is installed there")
    assert place.file.read_text() == "mine"


def test_where_the_program_is_missing_a_committed_hook_is_one_line(tmp_path):
    (tmp_path / "sh").symlink_to("/bin/sh")
    done = subprocess.run(
        ["/bin/sh", "-c", portable_command("codex")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "ralph-tracker is not installed here, its hook does nothing\n"


def test_a_committed_hook_calls_the_program_on_the_path(tmp_path):
    program = tmp_path / "ralph-tracker"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"]))
    done = subprocess.run(
        ["/bin/sh", "-c", portable_command("codex")], env={"PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "agent hook codex\n"


def at(second):
    return f"2999-01-01T00:00:{second:02}.000Z"


def codex_count(second, total):
    usage = {
        "last_token_usage": {"input_tokens": 100, "output_tokens": 10},
        "total_token_usage": {"total_tokens": total},
    }
    return {"timestamp": at(second), "type": "event_msg", "payload": {"type": "token_count", "info": usage}}


def gemini_answer(second, name):
    tokens = {"input": 100, "output": 7, "cached": 50, "thoughts": 3, "tool": 0, "total": 110}
    return {"id": name, "timestamp": at(second), "type": "gemini", "tokens": tokens}


def copilot_record(second, name):
    usage = {"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 50, "cost": 0.0}
    return {"type": "session.usage_record", "id": name, "timestamp": at(second), "data": {"usage": usage}}


# An answer that is counted, the same once more, another kind of line, one of before the loop; then one more answer.
TRANSCRIPTS = {
    "codex": ([codex_count(1, 110), codex_count(2, 110), {"payload": {}}], codex_count(3, 220)),
    "gemini": ([gemini_answer(1, "a"), gemini_answer(1, "a"), {"$set": {}}], gemini_answer(3, "b")),
    "copilot": ([copilot_record(1, "a"), {"type": "hook.end", "data": {}}], copilot_record(3, "b")),
}


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_each_iteration_has_the_answers_that_no_other_has(session, tmp_path, name):
    session.begin(test_add=False, test_sub=False)
    first, more = TRANSCRIPTS[name]
    early = json.loads(json.dumps(first[0]).replace("2999", "2001").replace('"a"', '"z"').replace("110", "99"))
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("".join(json.dumps(line) + "\n" for line in (early, *first)) + "damage\n")
    key = "transcriptPath" if name == "copilot" else "transcript_path"
    took = []
    for number in (1, 2):
        session.tests(test_add=False, **{f"test_{number}": True})
        played(session, name, STOP, **{key: str(transcript)})
        usage = session.record(number)["usage"]
        took.append([usage[each] for each in ("input_tokens", "output_tokens", "turns")])
        with transcript.open("a") as file:
            file.write(json.dumps(more) + "\n")
    assert took == [[100, 10, 1], [100, 10, 1]]
    assert session.troubles == []


def test_opencode_sends_its_answers_and_their_cost(session):
    session.begin(test_add=False)
    answer = {"at": 32503680000000, "input": 100, "output": 10, "cost": 0.25}
    played(session, "opencode", STOP, answers=[{**answer, "at": 1000}, answer, answer])
    usage = session.record(1)["usage"]
    assert (usage["input_tokens"], usage["turns"], usage["cost_usd"]) == (200, 2, 0.5)


@pytest.mark.parametrize("scope", ["project", "local"])
@pytest.mark.parametrize("name", HOSTS)
def test_no_rollback_touches_the_settings_of_a_host(name, scope, tmp_path):
    place = Installation.of(host(name), scope, tmp_path, {})
    for file in (place.file, place.note):
        assert Scope(IgnoreRules(b"")).foreign_reason(file.relative_to(tmp_path).as_posix()) is not None
