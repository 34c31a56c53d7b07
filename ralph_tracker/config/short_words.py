"""How a line calls what it is about: values cut to a length, and the name that was probably meant."""

from typing import Final

_SHOWN: Final = 60


def nearest(word: str, known: list[str]) -> str:
    """Return `; did you mean X?`, or the list of what is known where nothing is near."""
    from difflib import get_close_matches  # noqa: PLC0415  # nobody but a typing error needs it

    matches = get_close_matches(word, known, n=1, cutoff=0.6)
    if matches:
        return f"; did you mean {matches[0]}?"
    return f"; known: {', '.join(sorted(known))}" if known else ""


def shortened(value: object) -> str:
    """Write a value as it was given, cut where it is long; None is nothing."""
    if value is None:
        return "nothing"
    try:
        return cut(repr(value))
    except ValueError:  # Python writes no number of more than some thousand digits
        return "a number of thousands of digits"


def cut(text: str) -> str:
    """Cut a text that is too long for a line."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
