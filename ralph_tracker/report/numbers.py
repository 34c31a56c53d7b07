"""Numbers as people read them; absent is n/a, never 0."""

from collections.abc import Mapping, Sequence
from typing import Final

from ralph_tracker.core.metrics import MetricSpec

ABSENT: Final = "n/a"
_BARS: Final = "▁▂▃▄▅▆▇█"
_HUNDREDTHS: Final = 100
_DIME: Final = 0.1


def number(value: float | str | None, spec: MetricSpec) -> str:
    """Write a metric at its recorded decimals, with its unit."""
    if value is None:
        return ABSENT
    return value if isinstance(value, str) else f"{value:.{spec.decimals}f}{spec.unit}"


def signed(value: float | None, spec: MetricSpec) -> str:
    """Write a difference with its sign."""
    if value is None:
        return ABSENT
    return f"{value:+.{spec.decimals}f}{spec.unit}" if value else f"{0:.{spec.decimals}f}{spec.unit}"


def score(value: float | None) -> str:
    """Write a score without trailing zeros, two decimals at least."""
    if value is None:
        return ABSENT
    text = f"{value:.4f}"
    return text[:-2] if text.endswith("00") else text.removesuffix("0")


def money(value: float | None) -> str:
    """Write an amount in USD; unknown is said to be unknown."""
    return "unknown" if value is None else f"${value:.2f}"


def money_a_point(cost_usd: float | None, gained: float | None) -> str:
    """Write what a point cost, a hundredth of the score; n/a where the cost is unknown or nothing was gained."""
    if cost_usd is None or gained is None or gained <= 0:
        return ABSENT
    price = cost_usd / (gained * _HUNDREDTHS)
    return f"${price:.2f}" if price >= _DIME or not price else f"${price:.2g}"


def weights_that_sum(weights: Mapping[str, float]) -> dict[str, str]:
    """Write weights with two decimals that add up to 1.00: the largest remainders are rounded up."""
    floors = {name: int(weight * _HUNDREDTHS + 1e-9) for name, weight in weights.items()}
    short = round(sum(weights.values()) * _HUNDREDTHS) - sum(floors.values())
    by_rest = sorted(weights, key=lambda name: floors[name] - weights[name] * _HUNDREDTHS)
    raised = set(by_rest[:short])
    return {name: f"{(floor + (name in raised)) / _HUNDREDTHS:.2f}" for name, floor in floors.items()}


def sparkline(values: Sequence[float]) -> str:
    """Draw scores from 0 to 1 as one character each."""
    top = len(_BARS) - 1
    return "".join(_BARS[min(top, max(0, int(value * (top + 1))))] for value in values)
