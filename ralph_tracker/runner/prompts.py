"""What the agent is told before an iteration: the user's prompt, and what came of the one before."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ralph_tracker.errors import InputError

_HEADING: Final = "What ralph-tracker measured before this iteration, the number {number}:"
_LACKS: Final = "Not done before these hold:"
_RUNS: Final = "The run before this one in the same iteration: {why}. What it left in the files is still there."


def user_prompt(path: str | None, root: Path) -> str:
    """Return the user's prompt, read anew for each iteration as people edit it meanwhile; empty without a file.

    Raises InputError where it cannot be read.
    """
    if path is None:
        return ""
    file = root / path
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name the prompt with --prompt-file") from None


def prompt_of(user: str, finding: str, number: int, before: Sequence[str], lacks: Sequence[str] = ()) -> str:
    """Return the whole prompt of an iteration.

    `before` says what became of runs that were for it already, `lacks` what has to hold and does not.
    """
    told = [_HEADING.format(number=number), finding]
    if lacks:
        told += [_LACKS, *(f"- {each}" for each in lacks)]
    if before:
        told.append(_RUNS.format(why=before[-1]))
    own = user.rstrip("\n")
    return "\n".join([own, "", *told, ""] if own else [*told, ""])
