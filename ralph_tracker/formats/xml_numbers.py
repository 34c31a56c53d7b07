"""Numbers out of the attributes of foreign XML: what they say, or None."""

import math
from collections.abc import Mapping
from typing import Final

_MAX_DIGITS: Final = 18
_WHOLE: Final = 100


def count(attributes: Mapping[str, str], key: str) -> int | None:
    """Return a whole number of 0 or more, None where the attribute is missing or holds something else."""
    text = attributes.get(key, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else None


def percent(attributes: Mapping[str, str], key: str, *, whole: int = _WHOLE) -> float | None:
    """Return a share as a number from 0 to 100, where `whole` is how all is written; None for anything else."""
    try:
        number = float(attributes.get(key, "")) * _WHOLE / whole
    except ValueError:
        number = math.nan
    return round(number, 6) if 0 <= number <= _WHOLE else None


def last_digit(text: str) -> float:
    """Return what the last digit of a decimal number is worth: 0.01 for 87.35, 1 for 87."""
    return float(10 ** -len(text.partition(".")[2]))
