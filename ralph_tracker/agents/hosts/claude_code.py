"""Describe the hooks of Claude Code, and what it does with our answers."""

import re
from typing import Final

from ralph_tracker.agents.hosts.host import (
    MARKETPLACE,
    MCP_SERVERS,
    MEASURES_S,
    NOTES_S,
    STATUS_ABOUT,
    Environment,
    Host,
    Plugin,
    Settings,
    claude_style_answer,
    grouped_entry,
)
from ralph_tracker.safe_files import own_file

CAP: Final = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
WIGGUM: Final = ".claude/ralph-loop.local.md"


def block_cap(environment: Environment) -> int | None:
    """Return how many consecutive stops the client lets a hook block, None for no limit."""
    number = re.match(r"\s*[+-]?\d+", environment.get(CAP, ""))
    cap = int(number[0]) if number else 8
    return cap if cap > 0 else None


def driver(root: object, session: str) -> dict[str, object] | None:
    """Return what to log of a loop that the ralph-wiggum plugin drives with its own Stop hook.

    None if there is none, it is inactive, or it is another session's. Its iteration is None if the file has none.
    """
    try:
        with open(f"{root}/{WIGGUM}", encoding="utf-8", errors="replace", opener=own_file) as file:
            first, *lines = file.read(1 << 16).splitlines() or [""]
    except OSError:
        return None
    keys = {}  # of the front matter
    for line in lines if first.strip() == "---" else ():
        if line.strip() == "---":
            break
        key, _, value = line.partition(":")
        keys[key.strip()] = value.strip().strip("\"'")
    if keys.get("active", "true") == "false" or keys.get("session_id", session) not in {"", session}:
        return None
    iteration = keys.get("iteration", "")
    return {"driven_by": "ralph-wiggum", "driven_at": int(iteration) if iteration.isdecimal() else None}


HOST: Final = Host(
    "claude-code",
    "Claude Code",
    claude_style_answer,
    project_variables=("CLAUDE_PROJECT_DIR",),
    ends_turns=True,
    cap=block_cap,
    cap_text="Claude Code lets a hook hold an agent {cap} times in a row without a tool call; the loop is still "
    f"running, a new prompt continues it. {CAP} raises the limit.",
    usage="ralph_tracker.agents.hosts.claude_code_transcript:usage_of",
    driver="ralph_tracker.agents.hosts.claude_code:driver",
    status_line="ralph_tracker.agents.hosts.claude_code_status_line:line",
    settings=Settings(
        project=".claude/settings.json",
        local=".claude/settings.local.json",
        user=".claude/settings.json",
        user_variables=(("CLAUDE_CONFIG_DIR", "settings.json"),),
        timeouts={
            "SessionStart": MEASURES_S,
            "UserPromptSubmit": NOTES_S,
            "PostToolUse": NOTES_S,
            "PostToolUseFailure": NOTES_S,
            "PostToolBatch": NOTES_S,
            "Stop": MEASURES_S,
            "StopFailure": NOTES_S,
        },
        entry=grouped_entry,
        extras=lambda command: {
            "statusLine": {
                "type": "command",
                "command": command.replace(" agent hook ", " agent status-line "),
                "padding": 0,
            }
        },
        plugin=Plugin(
            ".claude-plugin/plugin.json",
            "hooks/hooks.json",
            ("claude plugin marketplace add {folder}", "claude plugin install ralph-tracker@ralph-tracker"),
            documents={
                ".claude-plugin/marketplace.json": MARKETPLACE,
                ".mcp.json": {"mcpServers": MCP_SERVERS},
                "commands/ralph-status.md": f"""\
---
description: {STATUS_ABOUT}
allowed-tools: Bash(ralph-tracker status)
---

!`ralph-tracker status`

Tell this to the user as it is, and do nothing else.
""",
            },
            icon=".claude-plugin/icon.png",
        ),
        next_step="`RALPH_TRACKER_LOOP=1 claude` with its session",
    ),
)
