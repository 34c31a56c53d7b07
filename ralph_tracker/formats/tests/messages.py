"""Shorten a report's message of a failing test, to store and display it."""

import re
from textwrap import dedent
from typing import Final

from ralph_tracker.formats.report_bytes import plain

KEPT: Final = 200  # nobody reads more
LINES: Final = 12
CHARACTERS: Final = 600

_PYTEST: Final = re.compile(r"E(?: {3}|$)")
_PYTEST_PLACE: Final = re.compile(r"[^\s:]+:\d+: \w+$")
_COLOUR: Final = re.compile(r"\[(?:\d+;)*\d+m")  # the rest of a colour in XML, which cannot hold its first character
_TRACEBACK: Final = "Traceback (most recent call last):"
_FRAME: Final = re.compile(r"\s*(?:at |❯ |\d+: |\.\.\. \d+ more|# (?:\./|/))")
_LIBRARY: Final = re.compile(
    r"node_modules|node:internal|\(<anonymous>\)$|at (?:new Promise|process\.)"
    r"|at (?:java\.|jdk\.|sun\.|org\.junit|junit\.|org\.opentest4j|org\.testng|org\.gradle|org\.apache\.maven)"
    r"|at org\.(?:hamcrest|assertj)"
)
_STATE_OF_GO: Final = re.compile(r" *(?:=== (?:RUN|PAUSE|CONT|NAME) |--- FAIL: )")
# Written by runners if there is no message.
_NOTHING: Final = frozenset({"", "Failed", "failed", "failure", "collection failure", "null"})


def message(said: str | None, text: str = "") -> str:
    """Return the assertion's message and where it failed: at most 12 lines and 600 characters, "" for none.

    `said` is the report's short message, `text` the longer one: of that, only lines that add something are used,
    without the source code that pytest shows, and of stack frames only the project's first.
    """
    said, text = _COLOUR.sub("", plain(said or "")).strip("\r\n"), plain(text).strip("\r\n")
    telling = _telling([line for line in text.splitlines() if not _STATE_OF_GO.match(line)])
    if said.strip() not in _NOTHING and "".join(said.split()) not in "".join(text.split()):
        telling = [*said.splitlines(), *(line for line in telling if line.strip() and line.strip() not in said)]
    return _cut(_one_frame([line.rstrip() for line in telling]))


def _telling(lines: list[str]) -> list[str]:
    """Return the lines about the failure: pytest's `E` lines and place, a traceback from its last frame on."""
    marked = [line[4:].rstrip() for line in lines if _PYTEST.match(line)]
    if marked:
        return dedent("\n".join(marked)).splitlines() + [line for line in lines if _PYTEST_PLACE.match(line)][-1:]
    if _TRACEBACK in lines:
        frames = [index for index, line in enumerate(lines) if line.startswith('  File "')]
        return lines[frames[-1] if frames else 0 :]
    return lines


def _one_frame(lines: list[str]) -> list[str]:
    """Return the lines with only the first stack frame that is the project's."""
    found, seen = [], False
    for line in lines:
        if _FRAME.match(line):
            if seen or _LIBRARY.search(line):
                continue
            seen = True
        found.append(line)
    return found


def _cut(lines: list[str]) -> str:
    """Shorten to the limits, but keep pytest's place in the last line."""
    place = lines[-1] if lines and _PYTEST_PLACE.match(lines[-1]) else ""
    body = dedent("\n".join(lines[:-1] if place else lines)).strip("\n")
    room = CHARACTERS - len(place) - bool(place)
    kept = body.splitlines()[: LINES - bool(place)]
    short = "\n".join(kept)
    if len(short) > room or short != body:
        short = f"{short[: room - 1].rstrip()}…"
    return f"{short}\n{place}".strip("\n") if place else short
