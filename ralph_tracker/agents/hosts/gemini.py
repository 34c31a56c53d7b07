"""Translate the hooks of Gemini CLI: its names for events, timeouts in milliseconds, `deny` to hold a stop."""

from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.agents.hosts.host import (
    MCP_SERVERS,
    MEASURES_S,
    NOTES_S,
    STATUS_ABOUT,
    HookAnswer,
    HookEvent,
    Host,
    Plugin,
    Settings,
    claude_style_answer,
)

_MILLISECONDS: Final = 1000
_OURS: Final = {
    "SessionStart": "SessionStart",
    "BeforeAgent": "UserPromptSubmit",
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
}
_THEIRS: Final = {ours: theirs for theirs, ours in _OURS.items()} | {"PostToolUseFailure": "AfterTool"}


def parse_event(payload: HookEvent) -> HookEvent | None:
    """Return an event in our form. Its `stop_hook_active` is false in the first retry too, and is left out."""
    name = _OURS.get(str(payload.get("hook_event_name")))
    if name is None:
        return None
    heard = {key: value for key, value in payload.items() if key != "stop_hook_active"}
    result = heard.get("tool_response")
    if name == "PostToolUse" and isinstance(result, dict) and result.get("error"):
        return {**heard, "hook_event_name": "PostToolUseFailure", "error": result["error"]}
    return {**heard, "hook_event_name": name}


def format_answer(answer: HookAnswer) -> Mapping[str, Any]:
    """Return the answer of a hook."""
    return claude_style_answer(answer, block="deny", event=_THEIRS.get(answer.event, answer.event))


def usage_of(event: HookEvent, _loop: object, since: str, _began: float, counted: dict[str, Any]) -> dict[str, float]:
    """Return the usage since the last recorded iteration, {} if unknown; as `hosts.stop_hook.UsageReader`."""
    from ralph_tracker.agents.hosts.session_usage import ModelAnswer, at_of, usage_in_transcript  # noqa: PLC0415

    def read(line: Any) -> tuple[object, ModelAnswer] | None:  # noqa: ANN401  # any JSON value
        tokens = line["tokens"]
        output = int(tokens["output"]) + int(tokens.get("thoughts") or 0)
        return line["id"], ModelAnswer(at_of(line["timestamp"]), int(tokens["input"]), output)

    return usage_in_transcript(event, since, counted, read)


HOST: Final = Host(
    "gemini",
    "Gemini CLI",
    format_answer,
    parse_event,
    project_variables=("GEMINI_PROJECT_DIR",),
    usage="ralph_tracker.agents.hosts.gemini:usage_of",
    settings=Settings(
        project=".gemini/settings.json",
        user=".gemini/settings.json",
        user_variables=(("GEMINI_CLI_HOME", ".gemini/settings.json"),),
        timeouts={
            "SessionStart": MEASURES_S * _MILLISECONDS,
            "BeforeAgent": NOTES_S * _MILLISECONDS,
            "AfterTool": NOTES_S * _MILLISECONDS,
            "AfterAgent": MEASURES_S * _MILLISECONDS,
        },
        entry=lambda command, event, timeout: {  # noqa: ARG005
            "hooks": [{"name": "ralph-tracker", "type": "command", "command": command, "timeout": timeout}]
        },
        plugin=Plugin(
            "gemini-extension.json",
            "hooks/hooks.json",
            ("gemini extensions install {folder}",),
            keys={"mcpServers": MCP_SERVERS},
            documents={
                "commands/ralph-status.toml": f"""\
description = "{STATUS_ABOUT}"
prompt = "Tell this to the user as it is, and do nothing else: !{{ralph-tracker status}}"
"""
            },
        ),
        next_step="`RALPH_TRACKER_LOOP=1 gemini` with its session, in a folder that it trusts (/permissions)",
    ),
)
