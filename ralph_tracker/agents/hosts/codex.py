"""Describe the hooks of Codex: they have the form of Claude Code's, and refuse keys that they do not know."""

from typing import Any, Final

from ralph_tracker.agents.hosts.host import (
    MARKETPLACE,
    MCP_SERVERS,
    MEASURES_S,
    NOTES_S,
    HookEvent,
    Host,
    Plugin,
    Settings,
    as_hook_event,
    claude_style_answer,
    grouped_entry,
)


def parse_event(payload: HookEvent) -> HookEvent | None:
    """Return an event in our form: what it calls a turn begins with a prompt."""
    return as_hook_event({**payload, "prompt_id": payload.get("turn_id")})


def usage_of(event: HookEvent, _loop: object, since: str, _began: float, counted: dict[str, Any]) -> dict[str, float]:
    """Return the usage since the last recorded iteration, {} if unknown; as `hosts.stop_hook.UsageReader`."""
    from ralph_tracker.agents.hosts.session_usage import ModelAnswer, at_of, usage_in_transcript  # noqa: PLC0415

    def read(line: Any) -> tuple[object, ModelAnswer] | None:  # noqa: ANN401  # any JSON value
        if line["payload"].get("type") != "token_count":
            return None
        info = line["payload"]["info"]
        last, so_far = info["last_token_usage"], info["total_token_usage"]["total_tokens"]
        # A count is written again when the rate limits change; the total is that of the answer before then.
        return so_far, ModelAnswer(at_of(line["timestamp"]), int(last["input_tokens"]), int(last["output_tokens"]))

    return usage_in_transcript(event, since, counted, read)


HOST: Final = Host(
    "codex",
    "Codex",
    claude_style_answer,
    parse_event,
    usage="ralph_tracker.agents.hosts.codex:usage_of",
    settings=Settings(
        project=".codex/hooks.json",
        user=".codex/hooks.json",
        user_variables=(("CODEX_HOME", "hooks.json"),),
        timeouts={
            "SessionStart": MEASURES_S,
            "UserPromptSubmit": NOTES_S,
            "PostToolUse": NOTES_S,
            "Stop": MEASURES_S,
        },
        entry=grouped_entry,
        plugin=Plugin(
            ".codex-plugin/plugin.json",
            "hooks/hooks.json",
            ("codex plugin marketplace add {folder}", "codex plugin add ralph-tracker@ralph-tracker"),
            keys={"hooks": "./hooks/hooks.json", "mcpServers": "./.mcp.json"},
            documents={
                ".agents/plugins/marketplace.json": {
                    **MARKETPLACE,
                    "plugins": [
                        {
                            "name": "ralph-tracker",
                            "source": {"source": "local", "path": "./"},
                            "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                            "category": "Productivity",
                        }
                    ],
                },
                ".mcp.json": {"mcpServers": MCP_SERVERS},
            },
        ),
        next_step="`RALPH_TRACKER_LOOP=1 codex` with its session; Codex runs no hook before you trust it: type /hooks",
    ),
)
