"""The events in messages and hooks of claude-agent-sdk."""

import asyncio
import sys
from types import ModuleType, SimpleNamespace

import pytest

from ralph_tracker.agents.claude_sdk_session import HOOK_TIMEOUT_S, ClaudeEvents
from ralph_tracker.errors import InputError
from ralph_tracker.steering.human_oversight import SILENCE_S
from ralph_tracker.steering.session_events import FileChanged, FileRead, ToolEnded, ToolStarted, TurnEnded, digest_of


def started(call, name="Bash", given=None):
    return ToolStarted(call, name, digest_of(given or {"command": call}))


def ended(call, name="Bash", *, success=True, given=None, result="done", tree=None):
    return ToolEnded(call, name, success, digest_of(given or {"command": call}), digest_of(result), tree)


def heard(*messages, **options):
    events = []
    reading = ClaudeEvents(events.append, **options)
    for message in messages:
        reading.message(message)
    return events


def hooked(reading, event, call, **more):
    given = {"hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": call}, "tool_use_id": call}
    return asyncio.run(reading.hook(given | more, call, {"signal": None}))


def test_a_turn_is_what_was_said_its_tools_and_its_end(sdk):
    events = heard(
        sdk.system(), sdk.says("I look", "m1"), sdk.calls("a", turn="m1"), sdk.gives("a"), sdk.says("Done", "m2")
    )
    assert events == [started("a"), ended("a"), TurnEnded("I look", None, 1120, None)]


def test_the_end_of_a_tool_is_the_end_of_its_turn_and_not_the_next_answer(sdk):
    """Or an evaluator that stops it would pay for one more."""
    events = heard(sdk.calls("a", turn="m1"), sdk.gives("a"))
    assert isinstance(events[-1], TurnEnded)


def test_a_message_that_comes_block_by_block_is_one_turn(sdk):
    script = (
        *(sdk.says("one", "m1"), sdk.message(sdk.thinking("hm"), turn="m1"), sdk.says("two", "m1")),
        *(sdk.calls("a", turn="m1"), sdk.calls("b", turn="m1"), sdk.gives("a"), sdk.gives("b", is_error=True)),
        *(sdk.says("three", "m2"), sdk.ends()),
    )
    turns = [event for event in heard(*script) if isinstance(event, TurnEnded)]
    assert [turn.text for turn in turns] == ["one\ntwo", "three"]


def test_a_tool_that_ends_before_the_next_block_comes_makes_no_second_turn(sdk):
    script = sdk.calls("a", turn="m1"), sdk.gives("a"), sdk.calls("b", turn="m1"), sdk.gives("b"), sdk.says("x", "m2")
    events = heard(*script, sdk.ends())
    assert [type(event).__name__ for event in events] == [
        *("ToolStarted", "ToolEnded", "TurnEnded", "ToolStarted", "ToolEnded", "TurnEnded")
    ]


def test_partial_messages_tell_the_tokens_and_then_the_turn_waits_for_them(sdk):
    script = (
        *(sdk.starts("m1"), sdk.calls("a", turn="m1"), sdk.gives("a"), sdk.calls("b", turn="m1")),
        *(sdk.took(40), sdk.gives("b"), sdk.starts("m2"), sdk.says("x", "m2"), sdk.took(2), sdk.ends()),
    )
    turns = [event for event in heard(*script) if isinstance(event, TurnEnded)]
    assert [(turn.output_tokens, turn.context_tokens) for turn in turns] == [(40, 1160), (2, 1122)]


def test_tokens_that_come_after_the_tools_end_the_turn(sdk):
    events = heard(sdk.starts("m1"), sdk.calls("a", turn="m1"), sdk.gives("a"), sdk.took(40))
    assert events[-1] == TurnEnded("", 40, 1160, None)


def test_without_them_tokens_are_not_known_though_messages_have_a_number(sdk):
    """It stands there before the answer has been written: 1, whatever comes."""
    (turn,) = heard(sdk.says("x", "m1"), sdk.ends())
    assert (turn.output_tokens, turn.context_tokens) == (None, 1120)


def test_messages_without_an_id_are_turns_each(sdk):
    assert heard(sdk.says("x"), sdk.says("y"), sdk.ends()) == [
        *(TurnEnded("x", None, 1120), TurnEnded("y", None, 1120)),
    ]


def test_messages_without_usage_tell_nothing_of_the_context(sdk):
    assert heard(sdk.message(sdk.text("x")), sdk.ends(0.5)) == [TurnEnded("x", None, None, 0.5)]


@pytest.mark.parametrize("is_error", [None, False, True])
def test_success_is_the_clients_own_flag_whatever_the_words_are(sdk, is_error):
    script = sdk.calls("a", turn="m1"), sdk.gives("a", "permission denied: not found", is_error)
    assert heard(*script)[1].success is (not is_error)


@pytest.mark.parametrize(
    ("tool", "key", "kind"),
    [
        ("Read", "file_path", FileRead),
        ("Write", "file_path", FileChanged),
        ("Edit", "file_path", FileChanged),
        ("NotebookEdit", "notebook_path", FileChanged),
    ],
)
def test_tools_of_files_tell_of_their_file_where_they_succeed(sdk, tool, key, kind):
    given = {key: "src/a.py", "content": "x"}
    call = sdk.calls("a", tool, "m1", given)
    assert heard(call, sdk.gives("a"))[:3] == [
        *(started("a", tool, given), kind("src/a.py"), ended("a", tool, given=given)),
    ]
    assert [type(event) for event in heard(call, sdk.gives("a", is_error=True))[:2]] == [ToolStarted, ToolEnded]


@pytest.mark.parametrize("given", [{"file_path": None}, {"pattern": "x"}])
def test_a_tool_of_files_without_a_path_is_a_tool(sdk, given):
    assert [type(event) for event in heard(sdk.calls("a", "Read", "m1", given), sdk.gives("a"))] == [
        *(ToolStarted, ToolEnded, TurnEnded),
    ]


@pytest.mark.parametrize(("kind", "success"), [("web_search_result", True), ("web_search_tool_result_error", False)])
def test_a_tool_of_the_service_begins_and_ends_in_one_answer(sdk, kind, success):
    use, result = sdk.server_use("s", "web_search", {"command": "s"}), sdk.server_result("s", {"type": kind})
    assert heard(sdk.message(use, result, sdk.text("found"), turn="m1"), sdk.ends()) == [
        started("s", "web_search"),
        ended("s", "web_search", success=success, result={"type": kind}),
        TurnEnded("found"),
    ]


def test_subagents_and_the_clients_own_words_are_of_no_turn(sdk):
    script = (
        sdk.calls("a", turn="m2", parent_tool_use_id="task"),
        sdk.gives("a", parent_tool_use_id="task"),
        sdk.says("API Error: overloaded", "m3", model="<synthetic>"),
        sdk.user("a prompt"),
        sdk.user([sdk.text("[Request interrupted by user]")]),
        sdk.gives("of another session"),
    )
    assert heard(*script, sdk.ends(0.5)) == []
    reading = ClaudeEvents((events := []).append)
    hooked(reading, "PreToolUse", "a", agent_id="sub")
    assert events == []


def test_the_cost_comes_with_the_last_turn_and_sums_up_over_prompts(sdk):
    script = sdk.says("x", "m1"), sdk.says("y", "m2"), sdk.ends(0.5), sdk.says("z", "m3"), sdk.ends(0.75)
    reading = ClaudeEvents((events := []).append)
    assert reading.cost_usd is None
    for message in script:
        reading.message(message)
    assert [turn.cost_usd for turn in events] == [None, 0.5, 0.25]
    assert reading.cost_usd == 0.75


def test_a_price_makes_the_cost_known_before_the_end_and_the_client_has_the_last_word(sdk):
    script = (
        *(sdk.starts("m1"), sdk.says("x", "m1"), sdk.took(10)),
        *(sdk.starts("m2"), sdk.says("y", "m2"), sdk.took(20), sdk.ends(1.0)),
    )
    turns = heard(*script, price=lambda model, usage: usage["output_tokens"] / 100 if model == "claude" else None)
    assert [turn.cost_usd for turn in turns] == pytest.approx([0.1, 0.9])
    assert [turn.cost_usd for turn in heard(sdk.says("x", "m1"), sdk.says("y", "m2"), price=lambda *_: 9.0)] == [None]


def test_hooks_and_messages_tell_of_a_tool_once(sdk):
    events = []
    reading = ClaudeEvents(events.append)
    assert hooked(reading, "PreToolUse", "a") == {}
    reading.message(sdk.calls("a", turn="m1"))
    assert hooked(reading, "PostToolUse", "a", tool_response={"stdout": "done"}) == {}
    reading.message(sdk.gives("a"))
    reading.message(sdk.calls("b", turn="m2"))
    hooked(reading, "PreToolUse", "b")
    hooked(reading, "PostToolUseFailure", "b", error="Exit code 3")
    reading.message(sdk.gives("b", "Exit code 3", is_error=True))
    assert events == [
        *(started("a"), ended("a", result={"stdout": "done"}), TurnEnded("", None, 1120)),
        *(started("b"), ended("b", success=False, result="Exit code 3"), TurnEnded("", None, 1120)),
    ]


def test_a_message_that_comes_after_its_tool_has_ended_starts_it_no_second_time(sdk):
    events = []
    reading = ClaudeEvents(events.append)
    hooked(reading, "PreToolUse", "a")
    hooked(reading, "PostToolUse", "a", tool_response="done")
    for message in (sdk.calls("a", turn="m1"), sdk.gives("a")):
        reading.message(message)
    assert events == [started("a"), ended("a"), TurnEnded("", None, 1120)]


def test_a_nudge_goes_to_the_model_beside_the_result_and_nothing_does_where_there_is_none():
    words = iter(["Come to an end.", None, ""])
    reading = ClaudeEvents(nudge=lambda: next(words))
    hooked(reading, "PreToolUse", "a")
    told = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "Come to an end."}}
    assert hooked(reading, "PostToolUse", "a", tool_response="x") == told
    assert hooked(reading, "PostToolUse", "b", tool_response="x") == {}
    assert hooked(reading, "PostToolUseFailure", "c", error="x") == {}


@pytest.mark.parametrize("heard_before", [True, False])
def test_a_tool_that_is_refused_does_not_run_and_the_model_is_told_why(sdk, heard_before):
    asked, words = [], ["Call no more tools", None]

    async def refuse(tool):
        asked.append(tool)
        return words.pop(0)

    events = []
    reading = ClaudeEvents(events.append, refuse=refuse)
    if heard_before:
        reading.message(sdk.calls("a", turn="m1"))
    denied = {"permissionDecision": "deny", "permissionDecisionReason": "Call no more tools"}
    assert hooked(reading, "PreToolUse", "a") == {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denied}}
    assert hooked(reading, "PreToolUse", "b") == {}
    assert asked == [started("a"), started("b")]
    for call in "ab":
        hooked(reading, "PostToolUseFailure", call, error="x")
    assert [event.refused for event in events if isinstance(event, ToolEnded)] == [True, False]


def test_the_tree_is_named_where_somebody_looks(sdk):
    script = sdk.calls("a", turn="m1"), sdk.gives("a")
    assert heard(*script, tree=lambda: "tree1")[1] == ended("a", tree="tree1")


def broken(*_):
    raise OSError("gone")


def test_what_follows_and_fails_is_logged_and_hinders_nobody(sdk, caplog):
    events = []
    reading = ClaudeEvents(broken, events.append, tree=broken, nudge=broken, refuse=broken, price=broken)
    assert hooked(reading, "PreToolUse", "a") == {}
    assert hooked(reading, "PostToolUse", "a", tool_response="done") == {}
    for message in (sdk.starts("m1"), sdk.says("x", "m1"), sdk.took(3), sdk.says("y", "m2")):
        reading.message(message)
    assert events == [started("a"), ended("a"), TurnEnded("x", 3, 1123)]
    assert "the session continues" in caplog.text


def test_calls_that_never_end_and_those_that_have_are_forgotten_in_the_end(sdk):
    events = []
    reading = ClaudeEvents(events.append)
    for number in range(3000):
        hooked_call = sdk.message(sdk.server_use(f"s{number}", "web_search", {}), turn=None)
        reading.message(hooked_call)
    reading.message(sdk.message(sdk.server_result("s0", {}), sdk.server_result("s2999", {})))
    assert [event.call for event in events if isinstance(event, ToolEnded)] == ["s2999"]


def test_a_sink_may_come_for_a_while_and_hears_each_event_once(sdk):
    first, second = [], []
    reading = ClaudeEvents(first.append)
    with reading.with_sink(first.append), reading.with_sink(second.append):
        reading.message(sdk.says("x", "m1"))
        reading.message(sdk.says("y", "m2"))
    reading.message(sdk.says("z", "m3"))
    assert [turn.text for turn in first] == ["x", "y"]
    assert [turn.text for turn in second] == ["x"]


def test_hooks_are_those_of_tools(monkeypatch):
    package = ModuleType("claude_agent_sdk")
    package.HookMatcher = SimpleNamespace
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", package)
    reading = ClaudeEvents()
    hooks = reading.hooks()
    assert list(hooks) == ["PreToolUse", "PostToolUse", "PostToolUseFailure"]
    ours = [SimpleNamespace(hooks=[reading.hook], timeout=HOOK_TIMEOUT_S)]
    assert all(matchers == ours for matchers in hooks.values())
    assert [each.timeout for (each,) in reading.hooks(timeout_s=1).values()] == [1, 1, 1]


def test_the_client_waits_longer_for_a_hook_than_a_person_may_be_silent():
    assert HOOK_TIMEOUT_S > 2 * SILENCE_S  # an unclear answer is asked again, and waits anew


def test_hooks_without_the_sdk_are_refused_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    with pytest.raises(InputError, match="pip install"):
        ClaudeEvents().hooks()
