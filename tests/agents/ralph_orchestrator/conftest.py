"""What ralph-orchestrator writes to a hook: every key that `HookInvocationPayload` of ralph-core has."""

from collections.abc import Callable
from typing import Any

import pytest

Payload = dict[str, Any]


def payload_of(name: str, current: int, *, loop: str = "primary-1", pid: int = 4242, root: object = "/repo") -> Payload:
    """Return the payload of an event; `current` is the number that the runner gives."""
    phase, _, event = name.partition(".")
    reason = {"loop.complete": "completion_promise", "loop.error": "interrupted"}.get(event)
    return {
        "schema_version": 1,
        "phase": phase,
        "event": event,
        "phase_event": name,
        "timestamp": "2026-02-28T15:30:00Z",
        "loop": {"id": loop, "is_primary": True, "workspace": str(root), "repo_root": str(root), "pid": pid},
        "iteration": {"current": current, "max": 100},
        "context": {
            "active_hat": "ralph",
            "selected_hat": None,
            "selected_task": None,
            "termination_reason": reason,
            "human_interact": None,
        },
        "metadata": {"accumulated": {}},
    }


@pytest.fixture(scope="session")
def payload() -> Callable[..., Payload]:
    """Return what makes payloads."""
    return payload_of
