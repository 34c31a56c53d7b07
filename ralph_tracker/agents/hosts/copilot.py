"""Translate the hooks of GitHub Copilot CLI: a file of their own, events that are known by their keys."""

import json
from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.agents.hosts.host import (
    MARKETPLACE,
    MCP_SERVERS,
    MEASURES_S,
    NOTES_S,
    HookAnswer,
    HookEvent,
    Host,
    Plugin,
    Settings,
)

_TIMEOUTS: Final = {
    "sessionStart": MEASURES_S,
    "userPromptSubmitted": NOTES_S,
    "postToolUse": NOTES_S,
    "postToolUseFailure": NOTES_S,
    "agentStop": MEASURES_S,
}
# Its events have no name; each of these has a key that no other of those that are installed has.
_BY_KEY: Final = {
    "stopReason": "Stop",
    "toolResult": "PostToolUse",
    "error": "PostToolUseFailure",
    "prompt": "UserPromptSubmit",
    "source": "SessionStart",
}
_NAMES: Final = {
    "sessionId": "session_id",
    "transcriptPath": "transcript_path",
    "stopHookActive": "stop_hook_active",
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "toolResult": "tool_response",
}


def parse_event(payload: HookEvent) -> HookEvent | None:
    """Return an event in our form."""
    name = next((event for key, event in _BY_KEY.items() if key in payload), None)
    return (
        None if name is None else {"hook_event_name": name, **{_NAMES.get(key, key): payload[key] for key in payload}}
    )


def format_answer(answer: HookAnswer) -> Mapping[str, Any] | None:
    """Return the answer of a hook; Copilot shows none of it to a person."""
    if answer.kind == "block":
        return {"decision": "block", "reason": answer.text}
    return {"additionalContext": answer.text} if answer.kind == "context" else None


def usage_of(event: HookEvent, _loop: object, since: str, _began: float, counted: dict[str, Any]) -> dict[str, float]:
    """Return the usage since the last recorded iteration, {} if unknown; as `hosts.stop_hook.UsageReader`."""
    from ralph_tracker.agents.hosts.session_usage import ModelAnswer, at_of, usage_in_transcript  # noqa: PLC0415

    def read(line: Any) -> tuple[object, ModelAnswer] | None:  # noqa: ANN401  # any JSON value
        if line["type"] != "session.usage_record":
            return None
        usage = line["data"]["usage"]
        return line["id"], ModelAnswer(at_of(line["timestamp"]), int(usage["inputTokens"]), int(usage["outputTokens"]))

    return usage_in_transcript(event, since, counted, read)


def _text(command: str) -> str:
    hooks = {
        event: [{"type": "command", "bash": command, "timeoutSec": timeout}] for event, timeout in _TIMEOUTS.items()
    }
    return json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"


HOST: Final = Host(
    "copilot",
    "GitHub Copilot CLI",
    format_answer,
    parse_event,
    project_variables=("COPILOT_PROJECT_DIR",),
    usage="ralph_tracker.agents.hosts.copilot:usage_of",
    settings=Settings(
        project=".github/hooks/ralph-tracker.json",
        user=".copilot/hooks/ralph-tracker.json",
        user_variables=(("COPILOT_HOME", "hooks/ralph-tracker.json"),),
        text=_text,
        plugin=Plugin(
            "plugin.json",
            "hooks.json",
            ("copilot plugin marketplace add {folder}", "copilot plugin install ralph-tracker@ralph-tracker"),
            keys={"hooks": "hooks.json", "mcpServers": ".mcp.json"},
            documents={
                ".github/plugin/marketplace.json": MARKETPLACE,
                ".mcp.json": {"mcpServers": MCP_SERVERS},
            },
        ),
        next_step="`RALPH_TRACKER_LOOP=1 copilot` with its session, in a folder that it trusts",
    ),
)
