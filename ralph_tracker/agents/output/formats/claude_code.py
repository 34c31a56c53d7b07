"""Claude Code, `claude -p … --output-format stream-json --verbose` or `json`.

Seen in runs of @anthropic-ai/claude-code 2.1.197 against a stand-in for its service: subtypes, `api_error_status`,
`errors`, the kinds of errors of `<synthetic>` messages, `api_retry`, and that the `usage` of a result leaves out the
message at which a budget ran out while `modelUsage` and `total_cost_usd` have it. `rate_limit_event` is from the text
of that program and the types of claude-agent-sdk 0.2.187. With `json --verbose` the events are one array.

Input tokens: with what was read from and written to the cache, which Anthropic's own field leaves out.
"""

from ralph_tracker.agents.output.formats.anthropic_events import Reader, session
from ralph_tracker.agents.output.values import Object

__all__ = ["Reader", "sniff"]


def sniff(event: Object) -> bool:
    """Whether it is an event of a session; programs that imitate these are tried before."""
    return session(event)
