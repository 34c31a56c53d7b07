"""The picture of a loop in Markdown: a Mermaid chart, which GitHub and GitLab draw without a file."""

import math
from collections.abc import Sequence
from typing import Final

from ralph_tracker.core.metrics import half_up, plain_number
from ralph_tracker.report.sentences import Point

# Labels of more columns than these run into each other.
COLUMNS: Final = 20
_HUNDRED: Final = 100
_STEP: Final = 5


def mermaid_chart(points: Sequence[Point], peak: int) -> str:
    """Return the chart of score and passing tests, as the text of a Mermaid block; "" without two points to draw.

    Tests are shown as a share of the most tests that an iteration had. The axis goes from the least value to the
    greatest; the peak is marked on it.
    """
    drawn = [point for point in _sample(points, peak) if point.score is not None]
    if len(drawn) <= 1:
        return ""
    scores = [(point.score or 0) * _HUNDRED for point in drawn]
    most = max((point.tests or 0 for point in points), default=0)
    named = all(point.passed is not None for point in drawn)
    # A bar per column or none: what is missing cannot be drawn.
    bars = [(point.passed or 0) / most * _HUNDRED for point in drawn] if most and named else []
    low, high = _range([*scores, *bars])
    lines = ["xychart-beta", f'    title "{_title(peak, counted=bool(bars))}"']
    lines.append(f"    x-axis [{', '.join(_label(point, peak) for point in drawn)}]")
    lines.append(f'    y-axis "%" {low} --> {high}')
    lines += [f"    bar [{_values(bars)}]"] if bars else []
    lines.append(f"    line [{_values(scores)}]")
    return "\n".join(lines)


def _sample(points: Sequence[Point], peak: int) -> list[Point]:
    """Return at most COLUMNS points at equal distances, with the peak, the first and the last."""
    every = math.ceil(len(points) / (COLUMNS - 2))
    last = len(points) - 1
    return [
        point for place, point in enumerate(points) if place % every == 0 or place == last or point.iteration == peak
    ]


def _title(peak: int, *, counted: bool) -> str:
    """Return the title, which is cut off where it is wider than the chart."""
    drawn = "Score (line), passing tests (bars), %" if counted else "Score, %"
    return f"{drawn}; ▲ best: iteration {peak}"


def _label(point: Point, peak: int) -> str:
    return f'"{point.iteration} ▲"' if point.iteration == peak else f'"{point.iteration}"'


def _range(values: Sequence[float]) -> tuple[int, int]:
    """Return the ends of the axis, on multiples of five, with room below the least value."""
    low = max(0, math.floor((min(values) - 1) / _STEP) * _STEP)
    return low, max(low + _STEP, math.ceil(max(values) / _STEP) * _STEP)


def _values(values: Sequence[float]) -> str:
    return ", ".join(plain_number(half_up(value, 1)) for value in values)
