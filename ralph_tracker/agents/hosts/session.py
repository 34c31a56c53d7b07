"""Handle the start of a session and a person's prompt."""

from pathlib import Path
from typing import Final

from ralph_tracker.agents.hosts.host import Environment, Heard, Verdict
from ralph_tracker.agents.hosts.journal import note_event
from ralph_tracker.agents.hosts.loop_of_session import Presence
from ralph_tracker.agents.hosts.turn_guidance import continuation_of
from ralph_tracker.steering.continuation import classify_task_complexity
from ralph_tracker.store.loop_status import running, summary_at

# Other sources are the client itself, such as ended background work. Older clients send no source.
_BY_A_PERSON: Final = frozenset({None, "user", "sdk"})
_BY_THE_CLIENT: Final = "<task-notification>"


def prompted(loop: str, event: Heard) -> None:
    """Log a new prompt, at which continuation starts again."""
    prompt, source = event.get("prompt"), event.get("source")
    if not isinstance(prompt, str) or source not in _BY_A_PERSON or prompt.startswith(_BY_THE_CLIENT):
        return
    steering = continuation_of(loop)
    if steering.enabled:
        note_event(loop, event, complexity=classify_task_complexity(prompt, rules=steering.rules))


def session_started(event: Heard, where: Presence, environment: Environment) -> Verdict | None:
    """Return the status of the loop for the agent; measure the baseline if a loop is wanted and none is running.

    A session that resumes after compaction does not start a loop. Raises as `Tracker.pre_loop` does.
    """
    # Once per session; prompts do without.
    from ralph_tracker.agents.feedback import feedback  # noqa: PLC0415
    from ralph_tracker.agents.situation import standing_of, tokens_of  # noqa: PLC0415
    from ralph_tracker.tracker import Tracker  # noqa: PLC0415

    tracker = Tracker(Path(where.root), environment=environment)
    if where.loop is None:
        if event.get("source") == "compact":
            return None
        tracker.pre_loop(None)
    tracker.require_loop()
    store = tracker.store()
    summary = running(summary_at(store.paths))
    text = feedback(standing_of(store, summary, tracker.root), tokens_of(store))
    return Verdict("tell", "SessionStart", text)
