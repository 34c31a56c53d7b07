"""Numbers of tokens as programs round them for people: 300, 1.2k, 15k, 1.5M."""

from typing import Final

NUMBER: Final = r"\d{1,9}(?:,\d{3}){0,4}(?:\.\d{1,3})?[kKmM]?"
_FACTORS: Final = {"k": 1_000, "m": 1_000_000}


def rounded(number: str) -> int:
    """Return the count that such a number stands for."""
    factor = _FACTORS.get(number[-1].lower(), 1)
    return round(float(number.rstrip("kKmM").replace(",", "")) * factor)
