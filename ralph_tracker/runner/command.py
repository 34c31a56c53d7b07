"""The agent's command: how the prompt gets into it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import InputError

PROMPT: Final = "{prompt}"
PROMPT_FILE: Final = "{prompt_file}"
# Linux takes no longer argument: 32 pages with the byte that ends it.
_LONGEST_ARGUMENT: Final = 131_071


class Prepared(NamedTuple):
    """Hold what is started: `argv`, and the file that is its standard input, None for an empty one."""

    argv: tuple[str, ...]
    stdin: Path | None


def prepared(command: Sequence[str], prompt: str, prompt_file: Path) -> Prepared:
    """Put the prompt where the command wants it; `prompt_file` holds the same text.

    `{prompt}` becomes the text and `{prompt_file}` the absolute path, also inside a word. A command with neither gets
    the prompt on its standard input. Raises InputError for a text that is too long for an argument, or has a NUL.
    """
    placed = [word for word in command if PROMPT in word or PROMPT_FILE in word]
    if not placed:
        return Prepared(tuple(command), prompt_file)
    if any(PROMPT in word for word in placed):
        _refuse_unfit(prompt)
    # The path first: a prompt may speak of placeholders, a path of ours does not.
    argv = (word.replace(PROMPT_FILE, str(prompt_file)).replace(PROMPT, prompt) for word in command)
    return Prepared(tuple(argv), None)


def _refuse_unfit(prompt: str) -> None:
    if "\0" in prompt:
        raise InputError(f"the prompt holds a NUL and cannot be an argument; use {PROMPT_FILE} or standard input")
    size = len(prompt.encode("utf-8", "surrogateescape"))
    if size > _LONGEST_ARGUMENT:
        raise InputError(
            f"the prompt has {size:,} bytes, more than an argument can have ({_LONGEST_ARGUMENT:,}); "
            f"use {PROMPT_FILE}, or leave {PROMPT} out and it comes on standard input"
        )
