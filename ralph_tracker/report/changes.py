"""Changes by name: the tests that an iteration broke or fixed, its files, and the matrix of outcomes over a loop."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.report.charts import outcome_strip

# The letters under which outcomes are kept.
PASSED, FAILED, SKIPPED = "p", "f", "s"
_WORDS: Final = ("broke", "fixed", "skipped", "new", "gone")
_EVENTS_SHOWN: Final = 12
# What the matrix of a page may take, in bytes.
ROOM: Final = 2_000_000
Column = tuple[tuple[str, ...], str] | None


class Change(NamedTuple):
    """What an iteration changed since `before`, the one that it descends from.

    `broke`, `fixed` and `skipped` are tests that fail, pass or are skipped now and did not before; `new` and `gone` are
    tests that one of the two reports lacks. `files` are paths.
    """

    iteration: int
    before: int
    broke: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Return whether the outcome of any test changed."""
        return any(getattr(self, word) for word in _WORDS)

    @property
    def text(self) -> str:
        """Return it in words."""
        told = [f"{word}: {names_in_short(getattr(self, word))}" for word in _WORDS if getattr(self, word)]
        told += [f"files: {names_in_short(self.files)}"] if self.files else []
        return "; ".join(told)


def change_of(
    iteration: int, before: int, old: Mapping[str, str], new: Mapping[str, str], files: Sequence[str] = ()
) -> Change:
    """Compare the letters of two iterations by name."""
    found: dict[str, list[str]] = {word: [] for word in _WORDS}
    for name in sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)):
        was, now = old.get(name), new.get(name)
        if was is None:
            found["new"].append(name)
        elif now is None:
            found["gone"].append(name)
        else:
            found[{FAILED: "broke", PASSED: "fixed"}.get(now, "skipped")].append(name)
    return Change(iteration, before, **{word: tuple(names) for word, names in found.items()}, files=tuple(files))


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
        shown = ", ".join(f"{word} at {iteration}" for word, iteration in moved[name][-_EVENTS_SHOWN:])
        rest = len(moved[name]) - _EVENTS_SHOWN
        told = f"{rest} changes, then {shown}" if rest > 0 else shown
        row = OutcomeRow(name, told, outcome_strip(letters[name]), not _passes(letters[name]))
        used += len(row.name) + len(row.events) + len(row.picture)
        if used > room and rows:
            break
        rows.append(row)
    return OutcomeMatrix(tuple(rows), len(ordered) - len(rows))


def _passes(letters: str) -> bool:
    """Return whether a test passes where it was last known."""
    return letters.rstrip("?").endswith("p")


def _letters(columns: Sequence[Column], wanted: Iterable[str]) -> dict[str, str]:
    """Return the letters of each wanted test over all iterations: ? where nothing is known, - where it was absent.

    Iterations with the same names are turned at once.
    """
    pieces: dict[str, list[str]] = {name: [] for name in wanted}
    for names, group in groupby(columns, key=lambda column: None if column is None else column[0]):
        block = list(group)
        missing = ("?" if names is None else "-") * len(block)
        found = {}
        if names is not None:
            turned = zip(*(column[1] for column in block if column is not None), strict=True)
            found = {name: "".join(row) for name, row in zip(names, turned, strict=True) if name in pieces}
        for name, parts in pieces.items():
            parts.append(found.get(name, missing))
    return {name: "".join(parts) for name, parts in pieces.items()}
