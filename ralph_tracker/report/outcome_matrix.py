"""The tests whose outcome changed in a loop: who broke, went or came back, and when."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ralph_tracker.report.iteration_changes import Change
from ralph_tracker.report.svg import outcome_strip

ROOM: Final = 2_000_000
_EVENTS_SHOWN: Final = 12
_WORDS: Final = ("broke", "fixed", "skipped", "gone", "new")
Column = tuple[tuple[str, ...], str] | None


class OutcomeRow(NamedTuple):
    """One test: its events in words, and its outcomes drawn. `troubled` says that it does not pass in the end."""

    name: str
    events: str
    picture: str
    troubled: bool


class OutcomeMatrix(NamedTuple):
    """The rows that there is room for, and how many tests more changed."""

    rows: tuple[OutcomeRow, ...]
    more: int


def matrix_of(changes: Sequence[Change], columns: Sequence[Column], room: int = ROOM) -> OutcomeMatrix:
    """Return the tests whose outcome ever changed, those that do not pass in the end first.

    `columns` are names and letters of each iteration from 0 on, None where they are unknown. `room` is in bytes.
    """
    events: dict[str, list[tuple[str, int]]] = {}
    for change in changes:
        for word in _WORDS:
            for name in getattr(change, word):
                events.setdefault(name, []).append((word, change.iteration))
    moved = {name: told for name, told in events.items() if any(word != "new" for word, _ in told)}
    letters = _letters(columns, moved)
    ordered = sorted(moved, key=lambda name: (_passes(letters[name]), -len(moved[name]), name))
    rows: list[OutcomeRow] = []
    used = 0
    for name in ordered:
        row = OutcomeRow(name, _events_in_words(moved[name]), outcome_strip(letters[name]), not _passes(letters[name]))
        used += len(row.name) + len(row.events) + len(row.picture)
        if used > room and rows:
            break
        rows.append(row)
    return OutcomeMatrix(tuple(rows), len(ordered) - len(rows))


def _passes(letters: str) -> bool:
    """Return whether a test passes where it was last known."""
    return letters.rstrip("?").endswith("p")


def _events_in_words(events: Sequence[tuple[str, int]]) -> str:
    shown = ", ".join(f"{word} at {iteration}" for word, iteration in events[-_EVENTS_SHOWN:])
    rest = len(events) - _EVENTS_SHOWN
    return f"{rest} changes, then {shown}" if rest > 0 else shown


def _letters(columns: Sequence[Column], wanted: Iterable[str]) -> dict[str, str]:
    """Return the letters of each wanted test over all iterations: ? where nothing is known, - where it was absent.

    Iterations with the same names are turned at once.
    """
    pieces: dict[str, list[str]] = {name: [] for name in wanted}
    place = 0
    while place < len(columns):
        column = columns[place]
        end = place + 1
        while column is not None and end < len(columns):
            following = columns[end]
            if following is None or following[0] is not column[0]:
                break
            end += 1
        _add(pieces, columns[place:end])
        place = end
    return {name: "".join(parts) for name, parts in pieces.items()}


def _add(pieces: dict[str, list[str]], block: Sequence[Column]) -> None:
    first = block[0]
    missing = ("?" if first is None else "-") * len(block)
    found = {}
    if first is not None:
        turned = zip(*(column[1] for column in block if column is not None), strict=True)
        found = {name: "".join(row) for name, row in zip(first[0], turned, strict=True) if name in pieces}
    for name, parts in pieces.items():
        parts.append(found.get(name, missing))
