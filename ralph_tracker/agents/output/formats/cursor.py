"""Cursor's agent, `cursor-agent -p … --output-format stream-json` or `json`: much like Claude Code's events.

From the vendor's page on output formats and from public programs that read them (October 2026); not tested in a run,
which needs an account. A failed run prints no result, only its exit code and standard error. The usage of a result
(`inputTokens` …) is newer than the vendor's page. There is no cost and no number of turns.

Input tokens include cache reads and writes; its field is assumed to exclude them.
"""

from typing import Final

from ralph_tracker.agents.output.formats import claude_like_events
from ralph_tracker.agents.output.formats.claude_like_events import initial, session
from ralph_tracker.agents.output.values import Object, inner, word

_OWN: Final = frozenset({"thinking", "tool_call"})
_NAMES: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "cacheWriteTokens": "cache_creation_input_tokens",
}


def sniff(event: Object) -> bool:
    """Return whether it begins a session without a list of tools, or is a kind that only this program has."""
    first = initial(event)
    alone = event.get("type") == "result" and "request_id" in event and "num_turns" not in event
    return session({**event, "type": "user"}) and (
        ("apiKeySource" in first and "tools" not in first) or word(event, "type") in _OWN or alone
    )


class Reader(claude_like_events.Reader):
    """A reader of its events."""

    def take(self, event: Object) -> None:
        usage = {_NAMES[key]: value for key, value in inner(event, "usage").items() if key in _NAMES}
        super().take({**event, "usage": usage} if usage else event)
