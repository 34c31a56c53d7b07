"""What Codex, Gemini CLI and opencode print, read as the events of a session: the same ones from each."""

import json
from pathlib import Path

import pytest

from ralph_tracker.agents.recorded_session import read_session
from ralph_tracker.errors import InputError
from ralph_tracker.steering.session_events import FileChanged, FileRead, ToolEnded, ToolStarted, TurnEnded
from tests.tables import table

RECORDED = Path(__file__).parents[2] / "fixtures" / "steering"
THREAD = {"type": "thread.started", "thread_id": "t"}
INIT = {"type": "init", "session_id": "s", "model": "m"}
CALL = {"id": "1", "type": "command_execution", "command": "make"}


def events_of(*lines):
    return list(read_session([json.dumps(line) for line in lines], "it"))


def kinds(*lines):
    return [type(event).__name__ for event in events_of(*lines)]


def item(kind, **values):
    return {"type": f"item.{kind}", "item": {**CALL, **values}}


@pytest.mark.parametrize("name", ["codex", "gemini", "opencode"])
def test_the_same_session_gives_the_same_events_from_each_client(name):
    """It looks, tests, fixes, tests, and then reads the same file four times."""
    with (RECORDED / f"{name}-printed.jsonl").open() as lines:
        events = list(read_session(lines, name))
    looked, tool = [ToolStarted, FileRead, ToolEnded, TurnEnded], [ToolStarted, ToolEnded, TurnEnded]
    fixed = [ToolStarted, FileChanged, ToolEnded, TurnEnded]
    assert [*map(type, events)] == [*looked, *tool, *fixed, *tool, *looked * 4, TurnEnded]
    assert {Path(event.path).name for event in events if isinstance(event, FileRead | FileChanged)} == {"calc.py"}
    turns = [event for event in events if isinstance(event, TurnEnded)]
    assert [turn.text for turn in turns] == ["I look.", *[""] * 7, "add adds now."]
    assert sum(turn.output_tokens or 0 for turn in turns) == 9 * 10
    ends = [event for event in events if isinstance(event, ToolEnded)]
    assert ends[1].arguments == ends[3].arguments
    assert ends[1].result != ends[3].result
    assert len({(end.arguments, end.result) for end in ends[4:]}) == 1


def test_calls_that_overlap_are_one_turn_of_codex():
    assert kinds(*(THREAD, item("started"), item("started", id="2"), item("completed", id="2"), item("completed"))) == [
        "ToolStarted",
        "ToolStarted",
        "ToolEnded",
        "ToolEnded",
        "TurnEnded",
    ]


def test_a_change_of_codex_without_a_start_has_one():
    changed = item("completed", type="file_change", changes=[{"path": "a.py"}, {"path": "b.py"}], status="completed")
    assert kinds(THREAD, changed) == ["ToolStarted", "FileChanged", "FileChanged", "ToolEnded", "TurnEnded"]


def test_two_messages_of_codex_are_two_turns_and_a_cut_run_keeps_the_last():
    said = [item("completed", type="agent_message", text=text) for text in ("a", "b")]
    assert [event.text for event in events_of(THREAD, *said)] == ["a", "b"]


@table(
    ("command", "files"),
    [
        ("cat a.py b.py", ["a.py", "b.py"]),
        ("/bin/bash -lc 'sed -n 1,80p src/a.py'", ["src/a.py"]),
        ("bash -lc \"head -n 20 'a b.py'\"", ["a b.py"]),
        ("bash -lc 'cat a.py | wc -l'", []),
        ("bash -lc 'cat a.py > b.py'", []),
        ("make a.py", []),
        ("cat 'a.py", []),
        ("bash -lc 'cat a.py' b", []),
    ],
)
def test_codex_reads_by_plain_commands_of_the_shell(command, files):
    done = item("completed", command=command, exit_code=0, status="completed")
    assert [event.path for event in events_of(THREAD, done) if isinstance(event, FileRead)] == files


def opencode(**state):
    part = {"callID": "1", "tool": "read", "state": {"input": {"filePath": "a.py"}, **state}}
    return {"type": "tool_use", "sessionID": "s", "part": part}


def gemini(**result):
    use = {"type": "tool_use", "tool_name": "read_file", "tool_id": "1", "parameters": {"file_path": "a.py"}}
    return INIT, use, {"type": "tool_result", "tool_id": "1", **result}


@table(
    ("lines", "success"),
    [
        ((THREAD, item("completed", command="cat a.py", exit_code=1, status="failed")), False),
        ((THREAD, item("completed", command="cat a.py", exit_code=0, status="completed")), True),
        (gemini(status="error"), False),
        (gemini(status="success"), True),
        ((opencode(status="error"),), False),
        ((opencode(status="completed", metadata={"exit": 2}),), False),
        ((opencode(status="completed"),), True),
    ],
)
def test_only_a_tool_that_succeeded_has_read_its_file(lines, success):
    events = events_of(*lines)
    assert [event.success for event in events if isinstance(event, ToolEnded)] == [success]
    assert [event.path for event in events if isinstance(event, FileRead)] == ["a.py"] * success


def test_pieces_of_a_message_of_gemini_are_one_text():
    pieces = [{"type": "message", "role": "assistant", "content": text, "delta": True} for text in ("I ", "look.")]
    assert [event.text for event in events_of(INIT, *pieces)] == ["I look."]


@table("first", [{"type": "session.start", "id": "1", "data": {}}, {"type": "x"}])
def test_what_nobody_can_replay_is_refused_and_not_shown_as_no_turns(first):
    with pytest.raises(InputError, match=r"^it, line 2: no session that can be replayed; give the events of a session"):
        list(read_session(["\n", json.dumps(first)], "it"))


def test_a_damaged_line_is_named():
    with pytest.raises(InputError, match=r"^it, line 2: no object of JSON; fix or drop that line$"):
        list(read_session([json.dumps(THREAD), "{"], "it"))
