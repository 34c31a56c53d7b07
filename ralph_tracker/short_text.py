"""A score in percent, and a text that fits its place, as every view shows them; it imports nothing."""


def percent(score: float | None) -> str:
    """Format a score from 0 to 1 for people: in percent with one decimal, 100 only for a full score."""
    if score is None:
        return "unknown"
    tenths = (round(score * 10_000) + 5) // 10
    return f"{(min(tenths, 999) if score < 1 else tenths) / 10:g} %"


def shorten(text: str, room: int) -> str:
    """Return a text of at most `room` characters, an ellipsis in place of what does not fit."""
    return text if len(text) <= room else f"{text[: room - 1]}…"
