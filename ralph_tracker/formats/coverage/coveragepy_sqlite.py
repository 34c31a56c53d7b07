"""coverage.py's own data (`.coverage`): which lines ran, but not which could have run."""

from typing import Final, NoReturn

from ralph_tracker.formats.report_bytes import Content
from ralph_tracker.formats.unreadable import DamageError

_SQLITE: Final = b"SQLite format 3\0"
_BEFORE_5: Final = b"!coverage.py: This is a private format"


def sniff(content: Content) -> bool:
    """Whether it is a database or data of coverage.py before version 5; no other report is either."""
    return content.data.startswith((_SQLITE, _BEFORE_5))


def read(content: Content) -> NoReturn:
    """Refuse it, saying what to do. Raises DamageError.

    The total needs the sources, which a reader does not have: measure/results.py asks coverage.py.
    """
    if content.data.startswith(_BEFORE_5):
        raise DamageError("coverage.py's data of before its version 5; write a report with `coverage json`", 1, 1)
    raise DamageError("coverage.py's data says which lines ran, not of how many; write a report with `coverage json`")
