"""A session of claude-agent-sdk that a person stops: its hooks show the tools and refuse the next one."""

import asyncio

from ralph_tracker.agents.claude_sdk_session import ClaudeEvents
from ralph_tracker.steering import AgentCallbacks, Interaction


def given(event, call, **more):
    """Return what the hook of a tool is given."""
    return {"hook_event_name": event, "tool_use_id": call, "tool_name": "Bash", "tool_input": {"command": "ls"}, **more}


def test_tools_are_shown_and_after_a_cancel_the_next_one_is_refused_with_the_summary():
    seen, stop = [], []

    async def start(name):
        seen.append(name)

    async def end(name, success):
        seen.append(success)

    async def cancelled():
        return bool(stop)

    async def session():
        interaction = Interaction(AgentCallbacks(start, end, cancelled))
        reading = ClaudeEvents(interaction.fold, refuse=interaction.refuse)
        answers = [await reading.hook(given("PreToolUse", "1"), None, None)]
        answers.append(await reading.hook(given("PostToolUse", "1", tool_response="a b"), None, None))
        answers.append(await reading.hook(given("PreToolUse", "2"), None, None))
        stop.append("stop")
        answers.append(await reading.hook(given("PostToolUseFailure", "2", error="exit 1"), None, None))
        answers.append(await reading.hook(given("PreToolUse", "3"), None, None))
        return answers

    *others, last = asyncio.run(session())
    assert others == [{}] * 4
    assert seen == ["Bash", True, "Bash", False]
    assert "deny" in str(last)
    assert "Cancelled. Was working on: Bash ✓ → Bash ✗" in str(last)
