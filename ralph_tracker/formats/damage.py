"""What a reader raises where it cannot go on, and the bounds within which it goes on."""

from typing import Final, NamedTuple

from ralph_tracker.formats.report import Unreadable

_MIB: Final = 1024 * 1024


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
