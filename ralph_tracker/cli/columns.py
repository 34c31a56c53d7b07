"""Lines and tables for a screen of 80 columns, or as many as a terminal has, whatever stands in them."""

import os
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final

from ralph_tracker.cli.output import harmless, say

WIDTH: Final = 80
_NARROWEST: Final = 40
_DIGITS: Final = 4
_CUT: Final = "…"
_COMMAND: Final = re.compile(r"`[^`]*`")
_TIED: Final = "\0"  # no harmless text has it


def screen_width() -> int:
    """Return the columns of the screen: what COLUMNS says, else what the terminal has; 80 in a pipe, at least 40."""
    told = os.environ.get("COLUMNS", "")
    columns = int(told[:_DIGITS]) if told.isdecimal() else 0
    with suppress(OSError, ValueError, AttributeError):  # no terminal, or no standard output at all
        columns = columns or os.get_terminal_size(sys.stdout.fileno()).columns
    return max(columns or WIDTH, _NARROWEST)


def say_wrapped(text: str, indent: int = 0, hang: int = 2) -> None:
    """Print a text in lines of the screen's width, at most 80 columns, those after the first `hang` deeper.

    A long word stays whole, and so does a command between backticks.
    """
    first, rest, text = " " * indent, " " * (indent + hang), harmless(text)
    width = min(WIDTH, screen_width())
    if text and len(first + text) <= width and " ".join(text.split()) == text:
        say(first + text)
        return
    from textwrap import wrap  # most lines fit

    lines = wrap(
        _COMMAND.sub(lambda command: command[0].replace(" ", _TIED), text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        say(line.replace(_TIED, " "))


def say_table(rows: Sequence[Sequence[str]], right: Collection[int] = (), yielding: Sequence[int] = ()) -> list[str]:
    """Print rows of as many cells each, those of the columns `right` to the right.

    A table that is too wide loses space between its columns first, then whole columns of `yielding` from the first on,
    then the end of its widest cells. The heads of the columns that were left out are returned.
    """
    table = [[harmless(cell) for cell in row] for row in rows]
    limit = screen_width()
    widths = {place: min(limit, max(map(len, column))) for place, column in enumerate(zip(*table, strict=True))}
    left_out = []
    for place in yielding:
        if _total(widths, gap=1) > limit:
            left_out.append(table[0][place])
            del widths[place]
    gap = 2 if _total(widths, gap=2) <= limit else 1
    while _total(widths, gap) > limit:
        widths[max(widths, key=widths.__getitem__)] -= 1
    for row in table:
        cells = (_fitted(row[place], width, to_the_right=place in right) for place, width in widths.items())
        say((" " * gap).join(cells).rstrip())
    return left_out


def _total(widths: Mapping[int, int], gap: int) -> int:
    return sum(widths.values()) + gap * (len(widths) - 1)


def cut(text: str, width: int) -> str:
    """Return a text that is at most that wide, the end left out where it is longer."""
    return text if len(text) <= width else f"{text[: width - 1]}{_CUT}"


def _fitted(cell: str, width: int, *, to_the_right: bool) -> str:
    shown = cut(cell, width)
    return shown.rjust(width) if to_the_right else shown.ljust(width)
