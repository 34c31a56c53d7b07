"""`agent hook` and `agent status-line` without click: they run at every tool call, and must never fail.

The exit code is always 0: a host treats 2 as a message to its agent.
"""

import os
import sys
from collections.abc import Sequence

from ralph_tracker.agents.hosts.registry import HOSTS, RUNNERS, answering, showing
from ralph_tracker.cli.output import complain
from ralph_tracker.errors import EXIT_OK, RalphTrackerError


def answer_host(verb: str, words: Sequence[str]) -> int:
    """Answer the named host; an error is one line on standard error."""
    try:
        name = words[0] if len(words) == 1 else ""
        if name not in HOSTS and name not in RUNNERS:
            from difflib import get_close_matches

            known = [*HOSTS, *RUNNERS]
            near = get_close_matches(" ".join(words), known, n=1)
            which = f"did you mean {near[0]}?" if near else ", ".join(known)
            complain(f"agent {verb}: name one agent: {which}")
            return EXIT_OK
        answer = answering(name) if verb == "hook" else showing(name)
        if answer is None:
            complain(f"agent {verb}: {name} has no status line; `ralph-tracker status` shows the loop")
        else:
            _print(answer(os.environ, 0))
    except RalphTrackerError as error:
        complain(f"agent {verb}: {error}")
    except BaseException as error:  # noqa: BLE001  # the exit code must be 0
        complain(f"agent {verb}: {type(error).__name__}: {error}")
    return EXIT_OK


def _print(text: str) -> None:
    """Print an answer at once; if nobody reads it, ignore that."""
    if not text or sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
