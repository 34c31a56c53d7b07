"""Amp, `amp --execute … --stream-json`: Claude Code's events without a cost, and `error` as a text.

From the types of @sourcegraph/amp-sdk 0.1.0-20260126121723; not tested in a run, which needs an account.

Input tokens include cache reads and writes; its field is assumed to exclude them, like Anthropic's.
"""

from ralph_tracker.agents.output.formats.claude_like_events import Reader, session
from ralph_tracker.agents.output.values import Object

__all__ = ["Reader", "sniff"]


def sniff(event: Object) -> bool:
    """Return whether it is an event of a thread: its session ids begin with T-."""
    return session(event) and str(event.get("session_id")).startswith("T-")
