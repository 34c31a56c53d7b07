"""`agent hook` and `agent status-line` without click: they run at every tool call, and must never fail.

The exit code is always 0: a host treats 2 as a message to its agent.
"""

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import Final

from ralph_tracker.cli.output import complain
from ralph_tracker.errors import EXIT_OK, RalphTrackerError

# The functions that answer, by verb and agent.
HOSTS: Final[Mapping[str, Mapping[str, str]]] = {
    "hook": {
        "claude-code": "ralph_tracker.agents.claude_code.hook:answer",
        "ralph-orchestrator": "ralph_tracker.agents.ralph_orchestrator.hook:answer",
    },
    "status-line": {
        "claude-code": "ralph_tracker.agents.claude_code.status_line:line",
    },
}


def answer_host(verb: str, words: Sequence[str]) -> int:
    """Answer the named host; an error is one line on standard error."""
    try:
        name, hosts = words[0] if len(words) == 1 else "", HOSTS[verb]
        if name in hosts:
            _print(_answering(hosts[name])(os.environ))
        elif name in HOSTS["hook"]:
            complain(f"agent {verb}: {name} shows none of ours; `ralph-tracker status` says where its loop stands")
        else:
            complain(f"agent {verb}: name one agent: {_named(' '.join(words), hosts)}")
    except RalphTrackerError as error:
        complain(f"agent {verb}: {error}")
    except BaseException as error:  # noqa: BLE001  # the exit code must be 0
        complain(f"agent {verb}: {type(error).__name__}: {error}")
    return EXIT_OK


def _answering(place: str) -> Callable[[Mapping[str, str]], str]:
    module, _, function = place.partition(":")
    found: Callable[[Mapping[str, str]], str] = getattr(import_module(module), function)
    return found


def _named(word: str, hosts: Collection[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, hosts, n=1)
    return f"did you mean {near[0]}?" if near else ", ".join(hosts)


def _print(text: str) -> None:
    """Print an answer at once; if nobody reads it, ignore that."""
    if not text or sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
