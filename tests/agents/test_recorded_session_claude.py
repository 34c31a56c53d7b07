"""What `claude -p --output-format stream-json` prints, as events."""

import json
from pathlib import Path

import pytest

from ralph_tracker.agents.recorded_session import read_stream
from ralph_tracker.errors import InputError
from ralph_tracker.steering import FileChanged, FileRead, ToolEnded, ToolStarted, TurnEnded, digest_of
from tests.tables import table

RECORDED = Path(__file__).parents[2] / "fixtures" / "agent_output"


def said(name, *blocks, parent=None, model="m", tokens=100):
    usage = {"input_tokens": tokens, "cache_read_input_tokens": 1000, "output_tokens": 1}
    message = {"id": name, "model": model, "content": list(blocks), "usage": usage}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent}


def uses(call, name, **given):
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def gave(call, content="done", **more):
    block = {"type": "tool_result", "tool_use_id": call, "content": content, **more}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def events_of(*messages):
    return [*read_stream(map(json.dumps, messages), "it")]


def kinds(events):
    return [type(event) for event in events]


def test_a_real_session():
    with (RECORDED / "claude-code-done.out").open() as lines:
        started, changed, ended, first, last = read_stream(lines, "it")
    assert (started.name, ended.name, ended.success) == ("Write", "Write", True)
    assert (
        started.arguments == ended.arguments == digest_of({"file_path": "/home/dev/project/a.txt", "content": "429\n"})
    )
    assert changed == FileChanged("/home/dev/project/a.txt")
    assert first == TurnEnded("I write the file.", None, 1730)
    assert last.text.startswith("Done: ")


def test_a_message_that_is_printed_block_by_block_is_one_turn():
    text = {"type": "text", "text": "I look."}
    events = events_of(said("m1", text), said("m1", uses("t1", "Read", file_path="a")), gave("t1"), said("m2", text))
    assert kinds(events) == [ToolStarted, FileRead, ToolEnded, TurnEnded, TurnEnded]
    assert events[3] == TurnEnded("I look.", None, 1100)


def test_output_tokens_are_told_where_messages_are_streamed():
    begun = {"type": "stream_event", "event": {"type": "message_start", "message": {"id": "m1"}}}
    delta = {"type": "stream_event", "event": {"type": "message_delta", "usage": {"output_tokens": 40}}}
    end = {"type": "result", "total_cost_usd": 0.5}
    assert events_of(begun, said("m1"), delta, end) == [TurnEnded("", 40, 1140, 0.5)]


@table(
    ("name", "given", "error", "told"),
    [
        ("Read", {"file_path": "a"}, False, [FileRead("a")]),
        ("Read", {"file_path": "a"}, True, []),
        ("Edit", {"file_path": "a"}, False, [FileChanged("a")]),
        ("Edit", {"file_path": "a"}, True, []),
        ("NotebookEdit", {"notebook_path": "a"}, False, [FileChanged("a")]),
        ("Bash", {"command": "rm a"}, False, []),
        ("Read", {"file_path": 1}, False, []),
    ],
)
def test_files_are_told_by_the_tools_that_name_them_where_they_succeed(name, given, error, told):
    events = events_of(said("m1", uses("t1", name, **given)), gave("t1", is_error=error))
    assert events[-2].success is not error
    assert events[1:-2] == told


@table(
    "message",
    [
        {"type": "assistant"},
        {"type": "assistant", "message": 1},
        {"type": "assistant", "message": {"id": 1, "content": [1, {"type": "text", "text": 1}, {"type": "tool_use"}]}},
        {"type": "user", "message": {"content": "words"}},
        {"type": "user", "message": {"content": [{"type": "tool_result"}]}},
        {"type": "stream_event", "event": {"type": "message_start"}},
        {"type": "stream_event", "event": 1},
        {"type": "result", "total_cost_usd": "1"},
        {"type": ["assistant"]},
    ],
    ids=json.dumps,
)
def test_what_is_not_as_it_should_be_is_passed_over(message):
    events = events_of(said("m1"), message, said("m2"))
    assert TurnEnded("", None, 1100) in events
    assert {type(event) for event in events} <= {ToolStarted, ToolEnded, TurnEnded}


def test_a_tool_counts_once_and_what_answers_no_call_is_no_tool():
    events = events_of(said("m1", uses("t1", "Bash")), said("m1", uses("t1", "Bash")), gave("t2"), gave("t1"))
    assert kinds(events) == [ToolStarted, ToolEnded, TurnEnded]


def test_subagents_and_errors_of_the_client_are_no_turns():
    assert events_of(said("m1", parent="t1"), said("m2", model="<synthetic>"), {"type": "system"}) == []


@table("line", ["[]", "{", "1", "[" * 100_000], ids=["list", "cut", "number", "deep"])
def test_a_line_that_is_no_object_is_named(line):
    with pytest.raises(InputError, match=r"^it, line 2: no object of JSON; fix or drop that line$"):
        list(read_stream(['{"type": "system"}', line], "it"))
