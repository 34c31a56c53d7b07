"""What bytes that are no report come to, what a reader raises for them, and the bounds within which it goes on."""

from typing import Final, NamedTuple

EMPTY: Final = "empty"
_MIB: Final = 1024 * 1024


class Unreadable(NamedTuple):
    """Say why bytes are no report, and where: lines and columns count from 1, None is unknown.

    It stands for "not measured", never for zero.
    """

    why: str
    line: int | None = None
    column: int | None = None

    @property
    def empty(self) -> bool:
        """Whether there was nothing at all, which some tools write when they find nothing (see registry.py)."""
        return self.why == EMPTY

    def __str__(self) -> str:
        if self.line is None:
            return self.why
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.why} (line {self.line}{column})"


class Limits(NamedTuple):
    """Bound what a reader takes on: bytes of a report, depth of its elements, bytes of one tag."""

    max_bytes: int = 128 * _MIB
    max_depth: int = 256
    max_tag: int = 10 * _MIB


DEFAULT_LIMITS: Final = Limits()


class DamageError(Exception):
    """What a reader raises where it cannot go on; registry.read makes it a value, nothing else sees it."""

    def __init__(self, why: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(why)
        self.unreadable = Unreadable(why, line, column)
