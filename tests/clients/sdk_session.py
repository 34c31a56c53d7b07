"""A program that has a session with the real claude-agent-sdk, as its argument says, and prints in JSON what came."""

import asyncio
import json
import sys
import time

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient

from ralph_tracker.agents.ask_model import claude_ask
from ralph_tracker.agents.claude_sdk_session import ClaudeEvents, run_session
from ralph_tracker.steering import (
    AllAgree,
    Continuation,
    Guidance,
    LLMProgressEvaluator,
    ProgressMonitor,
    event_to_plain,
)


class From:
    """Say no from a turn on, None: never."""

    def __init__(self, turn):
        self.turn = turn

    async def should_continue(self, info):
        return self.turn is None or info.turns_completed < self.turn, "going in circles"


async def session(wanted):
    events, answers, words = [], [], [wanted.get("nudge")]
    guidance = Guidance(Continuation())
    thinking_s, timeout = wanted.get("thinking_s"), wanted.get("hook_timeout_s")

    async def refuse(_tool):
        await asyncio.sleep(thinking_s)  # and then the person lets it run

    if thinking_s is not None:
        reading = ClaudeEvents(events.append, refuse=refuse)
    elif wanted.get("guided"):
        reading = ClaudeEvents(events.append, guidance.fold, nudge=guidance.nudge, refuse=guidance.refuse)
    else:
        reading = ClaudeEvents(events.append, nudge=lambda: words.pop() if words else None)
    options = {"cli_path": wanted["cli"], "cwd": wanted["cwd"], "permission_mode": "bypassPermissions"}
    if wanted["hooks"]:
        hooks = reading.hooks() if timeout is None else reading.hooks(timeout_s=timeout)
        options |= {"hooks": hooks, "include_partial_messages": True}

    async def ask(prompt):
        answers.append(await claude_ask(cli_path=wanted["cli"], cwd=wanted["cwd"])(prompt))
        return answers[-1]

    asking = [LLMProgressEvaluator(ask)] if wanted.get("ask") else []
    evaluator = AllAgree(*asking, From(wanted.get("no_at")), each_timeout_s=60.0)
    responses = []
    async with ClaudeSDKClient(ClaudeAgentOptions(**options)) as client:
        for prompt in wanted.get("prompts", ["make the tests pass"]):
            monitor = ProgressMonitor(evaluator, time.monotonic, evaluation_interval=2, timeout_s=60.0)
            responses.append(await run_session(client, prompt, monitor, reading))
    return {
        "events": [event_to_plain(event) for event in events],
        "answers": answers,
        "responses": [
            {
                "content": each.content,
                "error": each.error,
                "info": each.info._asdict(),
                "cost": each.result.total_cost_usd,
                "ended": [each.result.subtype, each.result.terminal_reason],
            }
            for each in responses
        ],
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(session(json.loads(sys.argv[1])))))  # noqa: T201  # what the test reads
