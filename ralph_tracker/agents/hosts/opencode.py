"""Answer our plugin in opencode (opencode_plugin.js): it holds the session, as opencode has no hook for a stop."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ralph_tracker.agents.hosts.host import HookAnswer, HookEvent, Host, Plugin, Settings


def usage_of(event: HookEvent, _loop: Path, since: str, _began: float, counted: dict[str, Any]) -> dict[str, float]:
    """Return the usage since the last recorded iteration, {} if unknown; as `hosts.stop_hook.UsageReader`."""
    from ralph_tracker.agents.hosts.session_usage import ModelAnswer, usage_since  # noqa: PLC0415  # only at stops

    listed = event.get("answers")
    answers = [
        ModelAnswer(each["at"] / 1000, int(each["input"]), int(each["output"]), float(each["cost"]))
        for each in (listed if isinstance(listed, list) else ())
    ]
    return usage_since(event, answers, since, counted)


def format_answer(answer: HookAnswer) -> Mapping[str, Any]:
    """Return the answer to the plugin: what to do with which text."""
    return {answer.kind: answer.text}


def _text(command: str) -> str:
    from importlib.resources import files  # noqa: PLC0415  # only to install it: a third of what a hook imports

    template = files("ralph_tracker.agents.hosts").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    return template.replace('"COMMAND"', json.dumps(command))


HOST: Final = Host(
    "opencode",
    "opencode",
    format_answer,
    usage="ralph_tracker.agents.hosts.opencode:usage_of",
    settings=Settings(
        project=".opencode/plugin/ralph-tracker.js",
        user=".config/opencode/plugin/ralph-tracker.js",
        user_variables=(
            ("OPENCODE_CONFIG_DIR", "plugin/ralph-tracker.js"),
            ("XDG_CONFIG_HOME", "opencode/plugin/ralph-tracker.js"),
        ),
        text=_text,
        plugin=Plugin(
            "package.json",
            "index.js",
            ("opencode plugin {folder}",),
            keys={"type": "module", "main": "index.js"},
            is_quiet=False,  # it is loaded once
        ),
        next_step="`RALPH_TRACKER_LOOP=1 opencode` with its session",
    ),
)
