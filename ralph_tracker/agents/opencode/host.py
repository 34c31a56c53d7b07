"""opencode: it has no hook for a stop, so that a plugin of ours holds the session; see plugin.js."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from ralph_tracker.agents.hosts.host import Host, Settings, Verdict


def say(verdict: Verdict) -> Mapping[str, Any]:
    """Return the answer to the plugin: what to do with which text."""
    return {verdict.kind: verdict.text}


def _text(command: str) -> str:
    template = files("ralph_tracker.agents.opencode").joinpath("plugin.js").read_text(encoding="utf-8")
    return template.replace('"COMMAND"', json.dumps(command))


HOST: Final = Host(
    "opencode",
    "opencode",
    say,
    usage="ralph_tracker.agents.opencode.usage:usage_of",
    settings=Settings(
        project=".opencode/plugin/ralph-tracker.js",
        user=".config/opencode/plugin/ralph-tracker.js",
        user_variables=(
            ("OPENCODE_CONFIG_DIR", "plugin/ralph-tracker.js"),
            ("XDG_CONFIG_HOME", "opencode/plugin/ralph-tracker.js"),
        ),
        text=_text,
        next_step="`RALPH_TRACKER_LOOP=1 opencode` with its session",
    ),
)
