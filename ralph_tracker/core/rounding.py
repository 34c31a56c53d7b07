"""Half-up rounding: metrics are rounded once, when recorded, and compared exactly afterwards."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

PERCENT_DECIMALS: Final = 1
SCORE_DECIMALS: Final = 4
COMPLEXITY_DECIMALS: Final = 2
_NOISE_DECIMALS: Final = 10


def half_up(value: float, decimals: int = 0) -> float:
    """Round half away from zero, ignoring the binary noise of sums."""
    exact = Decimal(repr(without_noise(float(value))))
    return float(exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def without_noise(value: float) -> float:
    """Remove the binary noise of a product or a quotient, so that it compares as in decimal arithmetic."""
    return round(value, _NOISE_DECIMALS)


def whole(value: float) -> int:
    """Round half-up to a whole number."""
    return int(half_up(value))


def plain_number(value: float) -> str:
    """Format a number without a trailing .0 and without an exponent."""
    text = f"{value:.10f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def quantity(count: int, noun: str) -> str:
    """Format a count with its noun: 1 test, 2 tests."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
