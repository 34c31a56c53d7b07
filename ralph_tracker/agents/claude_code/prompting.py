"""A prompt of a session in a loop: how large a task it is; its words are not kept."""

from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.agents.claude_code.guiding import continuation_of
from ralph_tracker.agents.claude_code.journal import note_event
from ralph_tracker.steering.continuation_complexity import classify_task_complexity

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
