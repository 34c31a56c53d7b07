"""Tell an agent at the start of its session where the loop is."""

from pathlib import Path

from ralph_tracker.agents.feedback import feedback
from ralph_tracker.agents.hosts.host import Environment, Heard, Verdict
from ralph_tracker.agents.hosts.session_presence import Presence
from ralph_tracker.agents.read_situation import current_situation, tokens_of
from ralph_tracker.store.loop_status import running, summary_at
from ralph_tracker.tracker import Tracker


def session_started(event: Heard, where: Presence, environment: Environment) -> Verdict | None:
    """Return the status of the loop for the agent; measure the baseline if a loop is wanted and none is running.

    A session that resumes after compaction does not start a loop. Raises as `Tracker.pre_loop` does.
    """
    tracker = Tracker(Path(where.root), environment=environment)
    if where.loop is None:
        if event.get("source") == "compact":
            return None
        tracker.pre_loop(None)
    tracker.require_loop()
    store = tracker.store()
    summary = running(summary_at(store.paths))
    text = feedback(current_situation(store, summary, tracker.root), tokens_of(store))
    return Verdict("tell", "SessionStart", text)
