"""How every verb prints: lines made harmless for a terminal, documents as JSON."""

import json
import sys
from typing import Any


def say(text: str = "") -> None:
    """Print a line; what came from the tree or the agent cannot move the cursor or hide."""
    sys.stdout.write(harmless(text) + "\n")


def say_json(document: Any) -> None:  # noqa: ANN401  # any plain document
    """Print a document as JSON; control characters and lone surrogates are escaped."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def complain(text: str) -> None:
    """Print the one line of an error."""
    sys.stdout.flush()
    sys.stderr.write(f"ralph-tracker: {harmless(' '.join(text.splitlines()))}\n")


def harmless(text: str) -> str:
    """Return text without anything that a terminal would act on."""
    if text.isascii() and text.isprintable():
        return text
    from ralph_tracker.report.escape import for_terminal

    return for_terminal(text)


def say_text(text: str) -> None:
    """Print a text of several lines, each harmless."""
    for line in text.splitlines():
        say(line)
