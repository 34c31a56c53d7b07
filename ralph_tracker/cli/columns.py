"""Lines and tables for a screen of 80 columns, whatever stands in them."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from ralph_tracker.cli.output import harmless, say

WIDTH: Final = 80
_CUT: Final = "…"
_COMMAND: Final = re.compile(r"`[^`]*`")
_TIED: Final = "\0"  # no harmless text has it


def say_wrapped(text: str, indent: int = 0, hang: int = 2) -> None:
    """Print a text in lines of the screen's width, those after the first `hang` deeper.

    A long word stays whole, and so does a command between backticks.
    """
    first, rest, text = " " * indent, " " * (indent + hang), harmless(text)
    if text and len(first + text) <= WIDTH and " ".join(text.split()) == text:
        say(first + text)
        return
    from textwrap import wrap  # most lines fit

    lines = wrap(
        _COMMAND.sub(lambda command: command[0].replace(" ", _TIED), text),
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        say(line.replace(_TIED, " "))


def say_table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> None:
    """Print rows of as many cells each, those of the columns `right` to the right.

    A table that is too wide loses space between its columns first, then the end of its widest cells.
    """
    table = [[harmless(cell) for cell in row] for row in rows]
    widths = [min(WIDTH, max(map(len, column))) for column in zip(*table, strict=True)]
    gaps = len(widths) - 1
    gap = 2 if sum(widths) + 2 * gaps <= WIDTH else 1
    while sum(widths) + gap * gaps > WIDTH:
        widths[widths.index(max(widths))] -= 1
    for row in table:
        cells = [
            _fitted(cell, width, to_the_right=number in right)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        say((" " * gap).join(cells).rstrip())


def _fitted(cell: str, width: int, *, to_the_right: bool) -> str:
    shown = cell if len(cell) <= width else f"{cell[: width - 1]}{_CUT}"
    return shown.rjust(width) if to_the_right else shown.ljust(width)
