"""Print and ask at the terminal, for all verbs: escaped lines, tables of the screen's width, JSON, questions."""

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, TextIO

from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.short_text import shorten

if TYPE_CHECKING:  # what runs at every tool call imports this module
    from pathlib import Path

    from ralph_tracker.steering.plan_driver import Checkpoint, Person
    from ralph_tracker.store.read import ListedRecord
    from ralph_tracker.store.trust import Consent
    from ralph_tracker.tracker import Tracker

WIDTH: Final = 80
QUIET: Final = f"{__name__}.quiet"  # in the context of click
COLOURS: Final = {"red": 31, "green": 32, "cyan": 36, "CRITICAL": "1;31", "HIGH": 33}
_PATCH_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}
# They wait for keys; others may well edit a file by themselves.
_EDITORS_ON_TERMINALS: Final = frozenset(
    {"emacs", "helix", "hx", "jed", "joe", "kak", "mcedit", "micro", "nano", "ne", "nvi", "nvim", "pico", "vi", "vim"}
)
_TIED: Final = "\0"  # does not occur in escaped text


def say(text: str = "", colour: str = "") -> None:
    """Print a line, escaped so that text from the tree or the agent controls neither the terminal nor a CI server.

    `colour` is a name of COLOURS, or an alert's severity; it is for a terminal whose user has not refused colours.
    """
    code = COLOURS.get(colour) if _has_colours() else None
    _write(f"{_line(text)}\n" if code is None else f"\x1b[{code}m{_line(text)}\x1b[0m\n")


def _has_colours() -> bool:
    environment = os.environ
    refused = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return not refused and sys.stdout is not None and sys.stdout.isatty()


def say_command(command: str) -> None:
    """Print a command that the CI server is to obey, in one line whatever it contains."""
    _write(harmless(command) + "\n")


def say_json(document: Any) -> None:  # noqa: ANN401  # any plain document
    """Print a document as JSON; control characters, lone surrogates and commands to CI servers are escaped."""
    text = json.dumps(document, indent=2)
    if "##" in text:
        from ralph_tracker.report.escaping import LOG_COMMAND

        text = LOG_COMMAND.sub(r"#\\u0023", text)
    _write(text + "\n")


def flush() -> None:
    """Flush what was printed. Raises StoreError if that fails."""
    _on_stdout(lambda stream: stream.flush())


def _write(text: str) -> None:
    _on_stdout(lambda stream: stream.write(text))


def _on_stdout(act: Callable[[TextIO], object]) -> None:
    """Use the standard output; if it was closed by its reader, the exit code is still the answer."""
    _progress.last = ""
    if sys.stdout is None:  # closed by the caller
        return
    try:
        act(sys.stdout)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that Python's final flush reports nothing
        if not isinstance(error, BrokenPipeError):
            raise StoreError(f"standard output: {error.strerror}; recorded iterations are kept") from None


def complain(text: str) -> None:
    """Print an error: in one line, which a terminal gets wrapped."""
    with suppress(StoreError):  # show the error even if earlier output fails
        flush()
    if sys.stderr is not None:
        with suppress(OSError):
            line = f"ralph-tracker: {harmless(' '.join(text.splitlines()))}"
            lines = _wrapped(line, "", "  ") if sys.stderr.isatty() else [line]
            sys.stderr.write("".join(f"{each}\n" for each in lines))


def document_of(record: "ListedRecord") -> Mapping[str, Any]:
    """Return a record's document, printing any problem. Raises RecordError if it cannot be read at all."""
    document = record.require()
    if record.problem:
        complain(record.problem)
    return document


def harmless(text: str) -> str:
    """Return text without terminal control characters and commands to CI servers inside a line."""
    if text.isascii() and text.isprintable() and "##" not in text:
        return text
    from ralph_tracker.report.escaping import LOG_COMMAND, for_terminal

    return LOG_COMMAND.sub("# #", for_terminal(text))


def _line(text: str) -> str:
    if "::" not in text:
        return harmless(text)
    from ralph_tracker.report.escaping import for_log

    return for_log(text)


def say_text(text: str) -> None:
    """Print a text of several lines, each escaped."""
    for line in text.splitlines():
        say(line)


def say_source(text: str) -> None:
    """Print source code or a patch: split only at newlines, with tabs, otherwise escaped."""
    has_colours = _has_colours()
    for line in text.removesuffix("\n").split("\n") if text else ():
        code = COLOURS.get(_PATCH_COLOURS.get(line[:1], "")) if has_colours else None
        shown = "\t".join(map(_line, line.split("\t")))
        _write(f"{shown}\n" if code is None else f"\x1b[{code}m{shown}\x1b[0m\n")


def is_quiet() -> bool:
    """Return whether the user asked for the result alone; without click there is no such option."""
    if "click" not in sys.modules:
        return False
    import click

    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def progress() -> Callable[[str], None] | None:
    """Return the function that shows progress on a terminal, None in a pipe and where the user wants none."""
    if sys.stderr is None or not sys.stderr.isatty() or is_quiet():
        return None
    return _progress.show


class _ProgressLines:
    """Lines on a terminal; that of a check that runs is renewed in place while nothing else is printed."""

    last = ""

    def show(self, line: str) -> None:
        is_renewed = ": running" in self.last and line.partition(":")[0] == self.last.partition(":")[0]
        erase = "" if os.environ.get("TERM") == "dumb" else "\x1b[1A\x1b[2K"
        if not erase and ": running, " in line:
            return
        text = shorten(harmless(f"  {line}"), screen_width() - 1)
        print(f"{erase if is_renewed else ''}{text}", file=sys.stderr)  # noqa: T201  # checked to be a terminal
        self.last = line


_progress: Final = _ProgressLines()


def screen_width() -> int:
    """Return the width of the screen: COLUMNS, or else the terminal's; 80 in a pipe, at least 40."""
    told = os.environ.get("COLUMNS", "")
    columns = int(told[:4]) if told.isdecimal() else 0
    with suppress(OSError, ValueError, AttributeError):  # no terminal, or no standard output
        columns = columns or os.get_terminal_size(sys.stdout.fileno()).columns
    return max(columns or WIDTH, 40)


def say_wrapped(text: str, indent: int = 0, hang: int = 2, colour: str = "") -> None:
    """Wrap a text at the screen's width, at most 80 columns; later lines are indented by `hang` more.

    Long words and commands in backticks are not broken.
    """
    for line in _wrapped(harmless(text), " " * indent, " " * (indent + hang)):
        say(line, colour)


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    width = min(WIDTH, screen_width())
    if text and len(first + text) <= width and " ".join(text.split()) == text:
        return [first + text]
    from textwrap import wrap  # most lines fit

    lines = wrap(
        re.sub(r"`[^`]*`", lambda command: command[0].replace(" ", _TIED), text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_TIED, " ") for line in lines]


def say_table(
    rows: Sequence[Sequence[str]],
    right: Collection[int] = (),
    yielding: Sequence[int] = (),
    shorter: Callable[[str], str] | None = None,
    colours: Sequence[str] = (),
) -> list[str]:
    """Print rows of equal length, with the columns in `right` right-aligned; `colours` are those of the rows.

    A table that is too wide first loses space between columns, then what `shorter` takes from its cells, then whole
    columns in the order of `yielding`, then the ends of its widest cells. What was left out is returned: "decimals" for
    shorter cells, and the titles of columns.
    """
    table = [[harmless(cell) for cell in row] for row in rows]
    limit = screen_width()
    widths, left_out = _widths(table, limit), []
    if shorter is not None and _total(widths, gap=1) > limit:
        less = [[shorter(cell) for cell in row] for row in table]
        left_out = ["decimals"] if less != table else []
        table, widths = less, _widths(less, limit)
    for place in yielding:
        if _total(widths, gap=1) > limit:
            left_out.append(table[0][place])
            del widths[place]
    gap = 2 if _total(widths, gap=2) <= limit else 1
    while _total(widths, gap) > limit:
        widths[max(widths, key=widths.__getitem__)] -= 1
    for row, colour in zip_longest(table, colours, fillvalue=""):
        shown = {place: shorten(row[place], width) for place, width in widths.items()}
        cells = (
            text.rjust(widths[place]) if place in right else text.ljust(widths[place]) for place, text in shown.items()
        )
        say((" " * gap).join(cells).rstrip(), colour)
    return left_out


def _widths(table: Sequence[Sequence[str]], limit: int) -> dict[int, int]:
    return {place: min(limit, max(map(len, column))) for place, column in enumerate(zip(*table, strict=True))}


def _total(widths: Mapping[int, int], gap: int) -> int:
    return sum(widths.values()) + gap * (len(widths) - 1)


def tracker_of(root: "Path", loop_id: str | None, *, trust: bool = False) -> "Tracker":
    """Return the tracker of a loop (None: the one that is meant); progress and questions are for a terminal."""
    from ralph_tracker.tracker import Tracker  # loop-decision does without it

    return Tracker(root, loop_id, progress=progress(), trust=consent(trust=trust), tell=complain)


def consent(*, trust: bool) -> "Consent":
    """Return how to decide about what the user does not trust: by the option, else by asking at a terminal, else no."""
    if trust:
        return True
    here = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    return _ask_consent if here else False


def _ask_consent(what: str, runs: Sequence[str]) -> bool:
    """Show what would run on standard error, and ask; the end of input and Ctrl-C count as no."""
    import click

    for line in (f"{what} would run these commands, which you have not accepted yet:", *(f"  {run}" for run in runs)):
        click.echo(harmless(line), err=True)
    return ask_yes_or_no("Trust it?")


def edit_text(text: str) -> str | None:
    """Return a text as edited in $VISUAL or $EDITOR, None if it was not saved.

    Raises InputError, also without a terminal if the editor needs one: it would wait for a key for ever.
    """
    import click

    words = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi").split()
    program = words[0].rpartition("/")[2] if words else ""
    if program in _EDITORS_ON_TERMINALS and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(f"{program} needs a terminal, and this is none; set EDITOR to a program that needs none")
    try:
        return click.edit(text, extension=".txt")
    except click.ClickException as error:
        raise InputError(f"{error.format_message()}; set EDITOR to one that works") from None


def ask_yes_or_no(question: str) -> bool:
    """Ask on standard error; the end of input and Ctrl-C count as no."""
    import click

    try:
        return click.confirm(harmless(question), default=False, err=True)
    except click.Abort:
        return False


def ask_checkpoint(checkpoint: "Checkpoint") -> str | None:
    """Show a checkpoint on standard error and return the answer, None at the end of input and at Ctrl-C."""
    import click

    for line in checkpoint.text.splitlines():
        click.echo(harmless(line), err=True)
    try:
        return str(
            click.prompt("Continue, adjust or abort?", default="", show_default=False, prompt_suffix=" ", err=True)
        )
    except click.Abort:
        return None


def person_here() -> "Person | None":
    """Return the ways to ask the person at the terminal, None if there is none."""
    if not sys.stdin.isatty():
        return None
    from ralph_tracker.steering.plan_driver import Person

    async def ask(checkpoint: "Checkpoint") -> str | None:
        return ask_checkpoint(checkpoint)

    async def edit(text: str) -> str | None:
        return edit_text(text)

    async def confirm(question: str) -> bool:
        return ask_yes_or_no(question)

    return Person(ask, edit, confirm)
