"""How every verb prints: lines made harmless for a terminal, documents as JSON."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

from ralph_tracker.errors import StoreError


def say(text: str = "") -> None:
    """Print a line; what came from the tree or the agent cannot move the cursor or hide."""
    _write(harmless(text) + "\n")


def say_json(document: Any) -> None:  # noqa: ANN401  # any plain document
    """Print a document as JSON; control characters and lone surrogates are escaped."""
    _write(json.dumps(document, indent=2) + "\n")


def flush() -> None:
    """Hand over what was printed. Raises StoreError where it is refused."""
    _on_stdout(lambda stream: stream.flush())


def _write(text: str) -> None:
    _on_stdout(lambda stream: stream.write(text))


def _on_stdout(act: Callable[[TextIO], object]) -> None:
    """Use the standard output; where nobody reads it any more, the answer is still in the exit code."""
    if sys.stdout is None:  # closed by the caller
        return
    try:
        act(sys.stdout)
    except BrokenPipeError:
        _abandon_output()
    except OSError as error:
        _abandon_output()
        raise StoreError(f"standard output: {error.strerror}; what was recorded stays on record") from None


def _abandon_output() -> None:
    """Let go of a standard output that takes nothing more, so that Python's own last flush says nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Print the one line of an error."""
    with suppress(StoreError):  # this line is worth more than what stood before it
        flush()
    if sys.stderr is not None:
        with suppress(OSError):
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


def say_source(text: str) -> None:
    """Print source code or a patch: its lines as they are cut by newlines alone, its tabs kept, the rest harmless."""
    for line in text.removesuffix("\n").split("\n") if text else ():
        _write("\t".join(map(harmless, line.split("\t"))) + "\n")


def progress() -> Callable[[str], None] | None:
    """Return how long work is shown: on a terminal only, silent in a pipe."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    return lambda line: print(harmless(f"  {line}"), file=sys.stderr)  # noqa: T201  # a terminal is asked for it
