"""Translate the hooks of Cursor: they answer with the next message.

From cursor.com/docs/hooks; never run with the real client.
"""

from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.agents.hosts.host import MEASURES_S, NOTES_S, HookAnswer, HookEvent, Host, Settings

_OURS: Final = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "stop": "Stop",
}


def parse_event(payload: HookEvent) -> HookEvent | None:
    """Return an event in our form; a stop that was aborted or failed is none."""
    name = _OURS.get(str(payload.get("hook_event_name")))
    if name is None or (name == "Stop" and payload.get("status") != "completed"):
        return None
    heard = {**payload, "hook_event_name": name, "session_id": payload.get("conversation_id")}
    if name == "Stop":
        loops = payload.get("loop_count")
        return {**heard, "stop_hook_active": isinstance(loops, int) and loops > 0}
    if name == "PostToolUseFailure":
        return {**heard, "error": payload.get("error_message")}
    return {**heard, "tool_response": payload.get("tool_output")} if name == "PostToolUse" else heard


def format_answer(answer: HookAnswer) -> Mapping[str, Any] | None:
    """Return the answer of a hook; Cursor shows no message after a failed call, and none to a person."""
    if answer.kind == "block":
        return {"followup_message": answer.text}
    is_heard = answer.kind == "context" and answer.event in {"SessionStart", "PostToolUse"}
    return {"additional_context": answer.text} if is_heard else None


HOST: Final = Host(
    "cursor",
    "Cursor",
    format_answer,
    parse_event,
    project_variables=("CURSOR_PROJECT_DIR",),
    settings=Settings(
        project=".cursor/hooks.json",
        user=".cursor/hooks.json",
        timeouts={
            "sessionStart": MEASURES_S,
            "beforeSubmitPrompt": NOTES_S,
            "postToolUse": NOTES_S,
            "postToolUseFailure": NOTES_S,
            "stop": MEASURES_S,
        },
        entry=lambda command, event, timeout: {
            "command": command,
            "timeout": timeout,
            **({"loop_limit": None} if event == "stop" else {}),  # its own default is 5; ours counts
        },
        top={"version": 1},
        next_step="Cursor started with RALPH_TRACKER_LOOP=1 with its session",
    ),
)
