"""Format values for people: numbers, money, scores, trends and a decision.

`loop-decision` has to start fast: of ours this module imports the metrics only.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from ralph_tracker.core.metrics import MetricSpec

ABSENT: Final = "n/a"
_BARS: Final = "▁▂▃▄▅▆▇█"
_HUNDREDTHS: Final = 100
_DIME: Final = 0.1
# Openings of a reason that repeat the action, or that contradict the alert named after them.
_OPENINGS: Final = (
    (re.compile(r"Rollback to iteration \d+ due to regression(?:: )?"), ""),
    (re.compile(r"Continue - regression within limits(?=: |$)"), "worse, but not enough for a rollback"),
    (re.compile(r"Continue - "), ""),
    (re.compile(r"Escalate to human - "), ""),
)


def number(value: float | str | None, spec: MetricSpec) -> str:
    """Format a metric at its recorded decimals, with its unit."""
    if value is None:
        return ABSENT
    return value if isinstance(value, str) else f"{value:.{spec.decimals}f}{spec.unit}"


def signed_text(value: float | None, spec: MetricSpec) -> str:
    """Format a difference with its sign."""
    if value is None:
        return ABSENT
    return f"{value:+.{spec.decimals}f}{spec.unit}" if value else f"{0:.{spec.decimals}f}{spec.unit}"


def score(value: float | None) -> str:
    """Format a score without trailing zeros, but with at least two decimals."""
    if value is None:
        return ABSENT
    text = f"{value:.4f}"
    return text[:-2] if text.endswith("00") else text.removesuffix("0")


def money(value: float | None) -> str:
    """Format an amount in USD, "unknown" for None."""
    return "unknown" if value is None else f"${value:.2f}"


def known_money(value: float | None, *, is_partial: bool) -> str:
    """Format a sum of which parts may be unknown."""
    return f"at least {money(value)}" if is_partial and value is not None else money(value)


def cost_per_point(cost_usd: float | None, gained: float | None) -> str:
    """Format the cost per point, a hundredth of the score; n/a if the cost is unknown or nothing was gained."""
    if cost_usd is None or gained is None or gained <= 0:
        return ABSENT
    price = cost_usd / (gained * _HUNDREDTHS)
    return f"${price:.2f}" if price >= _DIME or not price else f"${price:.2g}"


def rounded_weights(weights: Mapping[str, float]) -> dict[str, str]:
    """Format weights with two decimals that add up to 1.00: the largest remainders are rounded up."""
    floors = {name: int(weight * _HUNDREDTHS + 1e-9) for name, weight in weights.items()}
    short = round(sum(weights.values()) * _HUNDREDTHS) - sum(floors.values())
    by_rest = sorted(weights, key=lambda name: floors[name] - weights[name] * _HUNDREDTHS)
    raised = set(by_rest[:short])
    return {name: f"{(floor + (name in raised)) / _HUNDREDTHS:.2f}" for name, floor in floors.items()}


def sparkline(values: Sequence[float]) -> str:
    """Draw scores from 0 to 1 as one character each."""
    top = len(_BARS) - 1
    return "".join(_BARS[min(top, max(0, int(value * (top + 1))))] for value in values)


def in_ranges(numbers: Iterable[int], to: str = " to ") -> str:
    """Format numbers in short: 1 to 4, 6."""
    runs = groupby(enumerate(sorted(numbers)), key=lambda item: item[1] - item[0])
    spans = ([number for _, number in run] for _, run in runs)
    return ", ".join(str(span[0]) if len(span) == 1 else f"{span[0]}{to}{span[-1]}" for span in spans)


class Trend(NamedTuple):
    """Scores drawn as bars from the least to the greatest, and the column of the peak (None: it is not among them)."""

    bars: str
    peak: int | None


def trend(scores: Sequence[tuple[int, float]], peak: int | None, columns: int) -> Trend:
    """Draw the scores of a loop by iteration in at most so many columns, the highest of each column."""
    every = -(-len(scores) // columns) if scores else 1
    parts = [scores[place : place + every] for place in range(0, len(scores), every)]
    tops = [max(score for _, score in part) for part in parts]
    low, span = min(tops, default=0.0), max(tops, default=0.0) - min(tops, default=0.0)
    bars = sparkline([(top - low) / span if span else 0.5 for top in tops])
    return Trend(bars, next((at for at, part in enumerate(parts) if peak in {number for number, _ in part}), None))


def decision_in_words(decision: Mapping[str, Any]) -> str:
    """Return a decision for people: action, confidence in percent, and the reason without the action's words."""
    action, reason = decision["action"], decision["reason"]
    sure = f"confidence {decision['confidence'] * 100:.0f} %"
    if action == "rollback" and decision.get("target_iteration") is not None:
        action = f"rollback to iteration {decision['target_iteration']}"
    for opening, instead in _OPENINGS:
        found = opening.match(reason)
        if found is not None:
            reason = f"{instead}{reason[found.end() :]}"
            break
    return f"{action} ({sure}){f': {reason}' if reason else ''}"
