"""The result for bytes that are not a report, the error that readers raise for them, and the readers' limits."""

from typing import Final, NamedTuple

EMPTY: Final = "empty"
_MIB: Final = 1024 * 1024


class Unreadable(NamedTuple):
    """Why bytes are not a report, and where: lines and columns count from 1, None is unknown.

    It means "not measured", never zero.
    """

    why: str
    line: int | None = None
    column: int | None = None

    @property
    def empty(self) -> bool:
        """Whether there was no content, which some tools write when they find nothing (see registry.py)."""
        return self.why == EMPTY

    def __str__(self) -> str:
        if self.line is None:
            return self.why
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.why} (line {self.line}{column})"


class ReadLimits(NamedTuple):
    """Limits of a reader: bytes of a report, depth of its elements, bytes of one tag or comment."""

    max_bytes: int = 128 * _MIB
    max_depth: int = 256
    max_tag: int = 4 * _MIB


DEFAULT_LIMITS: Final = ReadLimits()


# More tests, lines or findings than any project has: a count beyond it is an invention or an overflow.
_MOST: Final = 100_000_000


class DamageError(Exception):
    """Raised by readers for damaged content; registry.read turns it into an Unreadable, nothing else sees it."""

    def __init__(self, why: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(why)
        self.unreadable = Unreadable(why, line, column)


def plausible(number: int, what: str) -> int:
    """Return a number that only the report's own total supports. Raises DamageError if no project has so many."""
    if not 0 <= number <= _MOST:
        raise DamageError(f"{number} {what}, it says, which cannot be")
    return number
