"""One recorded session of Claude Code, heard in every way that there is: the same events, in the same order."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from ralph_tracker.agents.claude_sdk_session import ClaudeEvents
from ralph_tracker.agents.hosts.host import answer_function
from ralph_tracker.agents.hosts.session_event_log import lines_of
from ralph_tracker.agents.hosts.tool_batch_hook import events_of
from ralph_tracker.agents.recorded_session import read_stream
from ralph_tracker.steering import FileChanged, FileRead, ProgressMetrics, ToolEnded, ToolStarted, TurnEnded

RECORDED = Path(__file__).parents[2] / "fixtures" / "steering"
PRINTED = (RECORDED / "claude-code-printed.jsonl").read_text().splitlines()
HOOKS = [json.loads(line) for line in (RECORDED / "claude-code-hooks.jsonl").read_text().splitlines()]


def kind(name, *fields):
    return type(name, (), {"__init__": lambda self, **given: self.__dict__.update(dict.fromkeys(fields) | given)})


BLOCKS = {
    "text": kind("TextBlock", "text"),
    "tool_use": kind("ToolUseBlock", "id", "name", "input"),
    "tool_result": kind("ToolResultBlock", "tool_use_id", "content", "is_error"),
}
Assistant, User, Stream, Result = (
    kind(name, "message_id", "parent_tool_use_id", "usage")
    for name in ("AssistantMessage", "UserMessage", "StreamEvent", "ResultMessage")
)


def message_of(line):
    """Return a line as claude-agent-sdk does: its classes by their names."""
    parent = line.get("parent_tool_use_id")
    if line["type"] == "stream_event":
        return Stream(event=line["event"], parent_tool_use_id=parent)
    if line["type"] == "result":
        return Result(total_cost_usd=line["total_cost_usd"])
    told = line["message"]
    blocks = [
        BLOCKS[block["type"]](**{key: value for key, value in block.items() if key != "type"})
        for block in told["content"]
    ]
    if line["type"] == "user":
        return User(content=blocks, parent_tool_use_id=parent)
    return Assistant(
        content=blocks, message_id=told["id"], model=told["model"], usage=told["usage"], parent_tool_use_id=parent
    )


def printed():
    return [*read_stream(PRINTED, "it")]


def messages(*, hooks=()):
    """Return the events of the SDK's messages; its hooks come before the result that they tell of."""
    events, waiting = [], list(hooks)
    reading = ClaudeEvents(events.append)
    for message in map(message_of, map(json.loads, PRINTED)):
        answered = {getattr(block, "tool_use_id", None) for block in getattr(message, "content", ())} - {None}
        for given in [each for each in waiting if each["tool_use_id"] in answered]:
            asyncio.run(reading.hook(given, None, None))
            waiting.remove(given)
        reading.message(message)
    assert waiting == []
    return events


def hooked():
    return messages(hooks=[each for each in HOOKS if each["hook_event_name"] != "PostToolBatch"])


@pytest.fixture
def journal(tmp_path):
    """Return the events of the hooks that are installed, by way of what they note down."""
    loop = tmp_path / ".aiwg" / "ralph" / "mine"
    loop.mkdir(parents=True)
    (loop / "state.json").write_text('{"status": "running"}')
    environment = {"CLAUDE_PROJECT_DIR": str(tmp_path), "RALPH_LOOP_ID": "mine"}
    for given in HOOKS:
        if given["hook_event_name"] != "PreToolUse":  # which is none of those that are installed
            (tmp_path / "event").write_text(json.dumps(given))
            descriptor = os.open(tmp_path / "event", os.O_RDONLY)
            answer_function("claude-code")(environment, descriptor)
            os.close(descriptor)
    assert not (loop / "agent-errors.jsonl").exists()
    return [event for line in lines_of(str(loop), HOOKS[0]["session_id"]) for event in events_of(line)]


def without_results(events):
    """Return what every way tells: a hook has the result as data, a message as text; only messages have words.

    And only hooks tell a call that did not run from one that failed.
    """
    plain = [event._replace(result="", refused=False) if isinstance(event, ToolEnded) else event for event in events]
    return [TurnEnded() if isinstance(event, TurnEnded) else event for event in plain]


def course(events):
    """Return the course of calls: one way tells of a start when the model asks, another when the tool runs."""
    return [event for event in without_results(events) if not isinstance(event, ToolStarted)]


def test_printed_messages_are_the_messages_of_the_sdk():
    assert printed() == messages()


def test_with_hooks_the_same_is_heard_and_once():
    assert without_results(hooked()) == without_results(messages())


def turns_of(events):
    """Return the calls of each turn, whose order among themselves is that in which they happened to end."""
    turns = [[]]
    for event in events:
        turns[-1].append(str(event))
        if isinstance(event, TurnEnded):
            turns.append([])
    return [sorted(turn) for turn in turns]


def test_the_journal_of_installed_hooks_tells_the_same_calls_and_turns(journal):
    *before, last = course(printed())
    assert last == TurnEnded()  # without a tool: the stop follows, which is another hook's
    assert turns_of(course(journal)) == turns_of(before)


@pytest.mark.parametrize("way", ["printed", "messages", "hooked", "journal"])
def test_a_file_is_told_before_the_end_of_its_tool(way, journal):
    events = {"printed": printed, "messages": messages, "hooked": hooked, "journal": lambda: journal}[way]()
    told = [place for place, event in enumerate(events) if isinstance(event, FileRead | FileChanged)]
    assert len(told) == 9
    assert all(isinstance(events[place + 1], ToolEnded) and events[place + 1].success for place in told)


@pytest.mark.parametrize("way", ["printed", "messages", "hooked", "journal"])
def test_a_change_counts_before_the_repeat_is_judged(way, journal):
    """The test run after the edit is none, though the same command was there before."""
    events = {"printed": printed, "messages": messages, "hooked": hooked, "journal": lambda: journal}[way]()
    metrics, repeats = ProgressMetrics(), []
    for event in events:
        metrics.fold(event)
        repeats += [metrics.consecutive_file_revisits] * isinstance(event, TurnEnded)
    assert repeats[:12] == [*[0] * 7, *range(5)]
