"""How a session begins: the state of the loop is told, and a person's prompt is noted."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ralph_tracker.agents.claude_code.journal import note_event
from ralph_tracker.agents.claude_code.presence import Presence
from ralph_tracker.agents.claude_code.turn_guidance import continuation_of
from ralph_tracker.agents.feedback import failing_tests, standing_told
from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.steering.continuation import classify_task_complexity
from ralph_tracker.store.loop_status import paths_of, running, summary_at

# Else the client speaks in its own name: work in the background has ended. Older ones tell no source.
_BY_A_PERSON: Final = frozenset({None, "user", "sdk"})
_BY_THE_CLIENT: Final = "<task-notification>"


def prompted(loop: str, event: Mapping[str, Any]) -> None:
    """Note that something new is asked for; from here on the continuation begins anew."""
    prompt, source = event.get("prompt"), event.get("source")
    if not isinstance(prompt, str) or source not in _BY_A_PERSON or prompt.startswith(_BY_THE_CLIENT):
        return
    steering = continuation_of(loop)
    if steering.enabled:
        note_event(loop, event, complexity=classify_task_complexity(prompt, rules=steering.rules))


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
