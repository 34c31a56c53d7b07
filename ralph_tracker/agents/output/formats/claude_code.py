"""Claude Code, `claude -p … --output-format stream-json --verbose` or `json`.

Tested in runs of @anthropic-ai/claude-code 2.1.197 against a mock server: subtypes, `api_error_status`, `errors`, the
kinds of errors of `<synthetic>` messages, `api_retry`, and that the `usage` of a result excludes the message that
exhausted the budget while `modelUsage` and `total_cost_usd` include it. `rate_limit_event` is from that program's text
and the types of claude-agent-sdk 0.2.187. With `json --verbose` the events are one array.

Input tokens include cache reads and writes, which Anthropic's field excludes.
"""

from ralph_tracker.agents.output.formats.claude_like_events import Reader, session
from ralph_tracker.agents.output.values import Object

__all__ = ["Reader", "sniff"]


def sniff(event: Object) -> bool:
    """Return whether it is an event of a session; programs that imitate these are checked first."""
    return session(event)
