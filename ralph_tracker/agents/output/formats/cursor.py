"""Cursor's agent, `cursor-agent -p … --output-format stream-json` or `json`: much like Claude Code's events.

From the vendor's page on output formats and from public programs that read them (October 2026); not seen in a run,
which needs an account. A run that fails prints no result: its exit code and standard error tell. The usage of a
result (`inputTokens` …) is not on the vendor's page and younger than it. No cost, no count of turns.

Input tokens: with what was read from and written to the cache, which its field is taken to leave out.
"""

from typing import Final

from ralph_tracker.agents.output.formats import anthropic_events
from ralph_tracker.agents.output.formats.anthropic_events import initial, session
from ralph_tracker.agents.output.values import Object, inner, word

_OWN: Final = frozenset({"thinking", "tool_call"})
_NAMES: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "cacheWriteTokens": "cache_creation_input_tokens",
}


def sniff(event: Object) -> bool:
    """Whether it begins a session without saying which tools there are, or is a kind that only this program has."""
    first = initial(event)
    alone = event.get("type") == "result" and "request_id" in event and "num_turns" not in event
    return session({**event, "type": "user"}) and (
        ("apiKeySource" in first and "tools" not in first) or word(event, "type") in _OWN or alone
    )


class Reader(anthropic_events.Reader):
    """Hear its events."""

    def take(self, event: Object) -> None:
        usage = {_NAMES[key]: value for key, value in inner(event, "usage").items() if key in _NAMES}
        super().take({**event, "usage": usage} if usage else event)
