"""The start of a session: the baseline where a loop is wanted, and where the loop stands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ralph_tracker.agents.claude_code.presence import Presence
from ralph_tracker.agents.failing import failing_tests
from ralph_tracker.agents.finding import standing_told
from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.store.standing import paths_of, running, summary_at


def session_started(event: Mapping[str, Any], where: Presence, environment: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the state of the loop for the agent; take the baseline where a loop is wanted and none is running.

    A session that goes on after its context was compacted begins no loop. Raises as `Tracker.pre_loop` does.
    """
    root = Path(where.root)
    if where.loop is None:
        if event.get("source") == "compact":
            return None
        from ralph_tracker.tracker import Tracker  # noqa: PLC0415  # most sessions take no baseline

        Tracker(root, environment=environment).pre_loop(None)
    paths = paths_of(root, None, environment)
    summary = running(summary_at(paths))
    try:
        failing = failing_tests(paths, summary.head)
    except RalphTrackerError:  # the state is worth telling without the names
        failing = None
    text = standing_told(summary, failing)
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
