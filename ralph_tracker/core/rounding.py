"""Half-up rounding: metrics are rounded once, when recorded, and compared exactly from then on."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

PERCENT_DECIMALS: Final = 1
SCORE_DECIMALS: Final = 4
COMPLEXITY_DECIMALS: Final = 2
_NOISE_DECIMALS: Final = 10


def half_up(value: float, decimals: int = 0) -> float:
    """Round as people do: an exact half goes away from zero, whatever binary noise a sum has gathered."""
    exact = Decimal(repr(without_noise(float(value))))
    return float(exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def without_noise(value: float) -> float:
    """Take the binary noise out of a product or a quotient, so that it compares as people reckon."""
    return round(value, _NOISE_DECIMALS)


def whole(value: float) -> int:
    """Round half-up to a whole number."""
    return int(half_up(value))


def plain_number(value: float) -> str:
    """Write a number as people do: no trailing .0, no exponent."""
    text = f"{value:.10f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def quantity(count: int, noun: str) -> str:
    """Write a number of things: 1 test, 2 tests."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
