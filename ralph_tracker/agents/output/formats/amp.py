"""Amp, `amp --execute … --stream-json`: Claude Code's events without a cost, and `error` as a text.

From the types of @sourcegraph/amp-sdk 0.1.0-20260126121723; not seen in a run, which needs an account.

Input tokens: with what was read from and written to the cache, which its field is taken to leave out as Anthropic's
does.
"""

from ralph_tracker.agents.output.formats.anthropic_events import Reader, session
from ralph_tracker.agents.output.values import Object

__all__ = ["Reader", "sniff"]


def sniff(event: Object) -> bool:
    """Whether it is an event of a thread: its sessions are called T-…."""
    return session(event) and str(event.get("session_id")).startswith("T-")
