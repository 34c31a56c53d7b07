"""Name the hosts: one line each."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from ralph_tracker.agents.hosts.host import Environment, Host, named

HOSTS: Final[Mapping[str, str]] = {
    "claude-code": "ralph_tracker.agents.claude_code.host:HOST",
    "codex": "ralph_tracker.agents.codex:HOST",
    "gemini": "ralph_tracker.agents.gemini:HOST",
    "opencode": "ralph_tracker.agents.opencode:HOST",
    "cursor": "ralph_tracker.agents.cursor:HOST",
    "copilot": "ralph_tracker.agents.copilot:HOST",
}
RUNNERS: Final[Mapping[str, str]] = {
    "ralph-orchestrator": "ralph_tracker.agents.ralph_orchestrator:answer",
}
"""Loop runners, whose hooks call us at their iterations; their settings are the user's."""
Answering = Callable[[Environment, int], str]


def host(name: str) -> Host:
    """Return a host. Raises KeyError for an unknown one."""
    found: Host = named(HOSTS[name])
    return found


def answering(name: str) -> Answering:
    """Return the function that answers the hooks of a host or a runner. Raises KeyError for an unknown one."""
    if name in RUNNERS:
        runner: Answering = named(RUNNERS[name])
        return runner
    from ralph_tracker.agents.hosts.hook_entry import answer  # noqa: PLC0415  # as above

    return partial(answer, host(name))


def showing(name: str) -> Answering | None:
    """Return the function that prints the status line of a host, None if it has none."""
    place = host(name).status_line if name in HOSTS else None
    found: Any = None if place is None else named(place)
    return found  # type: ignore[no-any-return]
