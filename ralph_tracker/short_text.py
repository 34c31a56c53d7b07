"""A score in percent, and texts and lists that fit their place, as every view shows them."""

from collections.abc import Sequence


def percent(score: float | None) -> str:
    """Format a score from 0 to 1 for people: in percent with one decimal, 100 only for a full score."""
    if score is None:
        return "unknown"
    tenths = (round(score * 10_000) + 5) // 10
    return f"{(min(tenths, 999) if score < 1 else tenths) / 10:g} %"


def shorten(text: str, room: int) -> str:
    """Return a text of at most `room` characters, an ellipsis in place of what does not fit."""
    return text if len(text) <= room else f"{text[: room - 1]}…"


def first_few(items: Sequence[str], most: int, separator: str = ", ") -> str:
    """Return the first items of a list, and how many more there are: "a, b and 3 more"."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return separator.join(items[:most]) + more
