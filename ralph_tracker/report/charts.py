"""Draw the scores of a loop: as inline SVG, as a Mermaid chart for GitHub and GitLab, and as bars in a line of text.

The SVG has no script and no inline style, so that a strict policy allows it. Every text in a chart is a number or one
of our words; names of tests and messages never get here.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from ralph_tracker.core.metrics import half_up, plain_number
from ralph_tracker.report.wording import Point

WIDTH: Final = 880
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 16, 16, 28
_ROUND, _LINES = 5, 6
# In a Mermaid chart the labels of more columns than these run into each other.
MERMAID_COLUMNS: Final = 20
# More links than these are no help to anybody who goes from one to the next.
_LINKS: Final = 60
# Marks that stand above or below the line, also where the score is unknown.
_BESIDE: Final = frozenset({"critical", "high", "question", "blocked"})
_TALL: Final = {"f": 0, "s": 4, "p": 7}


class Mark(NamedTuple):
    """A mark on the trajectory: its kind is a class of the style sheet."""

    iteration: int
    kind: str
    words: str


class _Frame(NamedTuple):
    """Where values lie in a picture."""

    first: int
    last: int
    low: float
    high: float
    width: float = WIDTH
    height: float = 260
    left: float = _LEFT
    right: float = _RIGHT
    top: float = _TOP
    bottom: float = _BOTTOM

    def x(self, iteration: float) -> float:
        span = max(1, self.last - self.first)
        return self.left + (iteration - self.first) / span * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        span = (self.high - self.low) or 1
        return self.height - self.bottom - (value - self.low) / span * (self.height - self.top - self.bottom)


Series = Sequence[tuple[int, float | None]]


def trajectory(
    scores: Series, marks: Sequence[Mark], before: Mapping[int, int | None] = {}, tests: Mapping[int, int] = {}
) -> str:
    """Return the score in percent over the iterations, with marks for peak, rollbacks, alerts and the decision.

    The line leads from each iteration to those that descend from it: `before` names its predecessor where that is not
    the one before it. What the last one does not descend from is a stub. Below it stand the believed passing `tests`.
    """
    known = [(number, value) for number, value in scores if value is not None]
    if not known:
        return ""
    low, high = _ends([value for _, value in known])
    room = 70 if any(tests.values()) else 0
    frame = _Frame(scores[0][0], scores[-1][0], low, high, height=260 + room, bottom=_BOTTOM + room)
    at = dict(known)
    # The line to the last iteration: what is not on it was rolled back, or stands beside it.
    lineage, step = set[int](), frame.last
    while step >= frame.first and step not in lineage:
        lineage.add(step)
        earlier = before.get(step)
        step = step - 1 if earlier is None else earlier
    undone = {mark.iteration for mark in marks if mark.kind == "rollback"} | (at.keys() - lineage)
    shaped = {mark.iteration for mark in marks if mark.kind in {"peak", "rollback", "taken", "point"}}
    points = [Mark(number, "point", "") for number, _ in known if number not in shaped]
    is_long = len(known) > _LINKS
    links = [mark for mark in marks if mark.kind not in {"taken", "point"}] if is_long else [*marks, *points]
    stubs = [
        f"M{frame.x(start):.1f} {frame.y(at[start]):.1f}L{frame.x(end):.1f} {frame.y(at[end]):.1f}"
        for end in sorted(undone & at.keys())
        if (start := end - 1 if before.get(end) is None else before[end] or 0) in at
    ]
    line = [(number, value) for number, value in scores if number not in undone]
    parts = [_axes(frame), _line(frame, line, "score")]
    parts += [f'<path class="line stub" d="{"".join(stubs)}"/>'] if stubs else []
    parts += [_test_bars(frame, tests)] if room else []
    if is_long:
        dots = (f"M{frame.x(m.iteration):.1f} {frame.y(at[m.iteration]):.1f}h0" for m in marks if m.kind == "taken")
        parts.append(f'<path class="dots" d="{"".join(dots)}"/>')
    shown = [mark for mark in links if mark.iteration in at or mark.kind in _BESIDE]
    shown = sorted(shown, key=lambda each: each.iteration)[: _LINKS * 4]
    parts += [_mark(frame, mark, at.get(mark.iteration)) for mark in shown]
    return _svg(frame, "group", "Score in percent over the iterations", parts, frame)


def _test_bars(frame: _Frame, tests: Mapping[int, int]) -> str:
    """Return believed tests as bars from 0 below the score."""
    most = max(tests.values())
    below = frame._replace(low=0, high=most, top=frame.height - frame.bottom + 18, bottom=_BOTTOM)
    foot = below.y(0)
    wide = max(0.5, min(12, (frame.x(1) - frame.x(0)) * 0.7))
    steps = "".join(
        f"M{frame.x(number) - wide / 2:.1f} {foot:.1f}V{below.y(count):.1f}h{wide:.1f}V{foot:.1f}z"
        for number, count in tests.items()
        if count and frame.first <= number <= frame.last
    )
    label = f'<text x="{frame.left - 6}" y="{below.y(most) + 9:.1f}" text-anchor="end">{most}</text>'
    title = f"<title>believed passing tests, at most {most}</title>"
    return f'<path class="tests" d="{steps}">{title}</path>{label}'


def _ends(values: Sequence[float]) -> tuple[int, int]:
    """Return the ends of an axis of percents, on multiples of the distance of its lines."""
    least, most = max(0, min(values) - 1), max(*values, 1)
    every = _every(most - least)
    return math.floor(least / every) * every, math.ceil(most / every) * every


def _mark(frame: _Frame, mark: Mark, value: float | None) -> str:
    x, y = frame.x(mark.iteration), frame.y(value or 0)
    said = "score unknown" if value is None else f"{_number(value)} %"
    words = f"iteration {mark.iteration}, {said}{f': {mark.words}' if mark.words else ''}"
    if mark.kind == "peak":
        shape = f'<path class="peak" d="{_diamond(x, y, 8)}"/>'
    elif mark.kind == "rollback":
        shape = f'<path class="rollback" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>'
    elif mark.kind == "decision":  # around what else is there
        shape = f'<rect class="decision" x="{x - 10:.1f}" y="{y - 10:.1f}" width="20" height="20"/>'
    elif mark.kind in {"point", "taken"}:
        shape = f'<circle class="{mark.kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
    elif mark.kind in {"question", "blocked"}:
        sign = "?" if mark.kind == "question" else "!"
        shape = f'<text class="sign" x="{x:.1f}" y="{frame.top - 3:.1f}" text-anchor="middle">{sign}</text>'
    else:
        foot = frame.height - frame.bottom
        shape = f'<path class="alert {mark.kind}" d="M{x:.1f} {foot - 10:.1f}l5 9h-10z"/>'
    return f'<a href="#i{mark.iteration}" aria-label="{words}"><title>{words}</title>{shape}</a>'


def _diamond(x: float, y: float, half: int) -> str:
    return f"M{x:.1f} {y - half:.1f}l{half} {half}l-{half} {half}l-{half} -{half}z"


def comparison_chart(loops: Mapping[str, Series], best: Mapping[str, int | None] = {}) -> str:
    """Return the scores in percent of several loops over their iterations, each from its baseline at 0.

    A diamond marks the `best` iteration of each; its last value stands at the end of its line.
    """
    known = [(number, value) for series in loops.values() for number, value in series if value is not None]
    if not known:
        return ""
    low, high = _ends([value for _, value in known])
    frame = _Frame(0, max(number for number, _ in known), low, high, right=50 + 7 * max(map(len, loops)))
    lines = [_line(frame, series, f"part{place}") for place, series in enumerate(loops.values())]
    return _svg(
        frame,
        "img",
        "Scores in percent over the iterations of each loop",
        [_axes(frame), *lines, *_line_ends(frame, loops, best)],
        frame,
    )


def _line_ends(frame: _Frame, loops: Mapping[str, Series], best: Mapping[str, int | None]) -> Iterator[str]:
    """Yield the diamond of each loop, and its last value beside its line, below the one above it."""
    ends = []
    for name, series in loops.items():
        known = {number: value for number, value in series if value is not None}
        at = best.get(name)
        if at is not None and at in known:
            yield f'<path class="peak" d="{_diamond(frame.x(at), frame.y(known[at]), 6)}"/>'
        if known:
            last = max(known)
            ends.append((frame.y(known[last]), frame.x(last), f"{name} {_number(known[last])}"))
    above = -math.inf
    for y, x, words in sorted(ends):
        above = max(y, above + 14)
        yield f'<text x="{x + 8:.1f}" y="{above + 4:.1f}">{words}</text>'


def small(
    series: Series,
    label: str,
    taken: int | None = None,
    *,
    spread: Mapping[int, tuple[float, float]] = {},
    cursor: bool = True,
) -> str:
    """Return one metric over the iterations, without axes; "" where fewer than two values are known.

    A diamond marks the iteration `taken`, a bar the least and greatest of its repeats, `spread`; `cursor` lets that of
    the page come over it.
    """
    known = [(number, value) for number, value in series if value is not None]
    if len(known) <= 1:
        return ""
    values = [*(value for _, value in known), *(end for ends in spread.values() for end in ends)]
    width, height = 200, 60
    frame = _Frame(series[0][0], series[-1][0], min(values), max(values), width, height, 4, 4, 6, 6)
    last = known[-1]
    value = dict(known).get(-1 if taken is None else taken)
    mark = (
        ""
        if value is None or taken is None
        else f'<path class="peak" d="{_diamond(frame.x(taken), frame.y(value), 5)}"/>'
    )
    dot = f'<circle class="point" cx="{frame.x(last[0]):.1f}" cy="{frame.y(last[1]):.1f}" r="3"/>'
    bars = "".join(f"M{frame.x(at):.1f} {frame.y(low):.1f}V{frame.y(high):.1f}" for at, (low, high) in spread.items())
    ranges = [f'<path class="spread" d="{bars}"/>'] if bars else []
    return _svg(frame, "img", label, [*ranges, _line(frame, series, "score"), dot, mark], frame if cursor else None)


def stacked_chart(parts: Mapping[str, Series], label: str) -> str:
    """Return series of one length, stacked from the first up; what is not known adds nothing."""
    names = list(parts)
    if not names or not parts[names[0]]:
        return ""
    numbers = [number for number, _ in parts[names[0]]]
    frame = _Frame(numbers[0], numbers[-1] + 1, 0, 100)
    floor = dict.fromkeys(numbers, 0.0)
    shapes = [_axes(frame._replace(last=numbers[-1]), ticks_at=frame)]
    wide = max(0.5, (frame.x(1) - frame.x(0)) * 0.8)
    for place, name in enumerate(names):
        steps = []
        for number, value in parts[name]:
            if value:
                top = floor[number] + value
                x, y, bottom = frame.x(number), frame.y(top), frame.y(floor[number])
                steps.append(f"M{x:.1f} {y:.1f}h{wide:.1f}V{bottom:.1f}h-{wide:.1f}z")
                floor[number] = top
        shapes.append(f'<path class="part part{place}" d="{"".join(steps)}"><title>{name}</title></path>')
    return _svg(frame, "img", label, shapes, frame._replace(last=numbers[-1], right=_RIGHT + frame.x(1) - frame.x(0)))


def outcome_strip(letters: str) -> str:
    """Return the outcomes of one test as a strip: p and f and s are drawn, anything else is empty.

    A failure is tall, a pass low and a skip in between, so that colour is not needed.
    """
    shapes: dict[str, list[str]] = {"f": [], "p": [], "s": []}
    place = 0
    for letter, run in groupby(letters):
        length = len(list(run))
        if letter in shapes:
            shapes[letter].append(f"M{place} {_TALL[letter]}h{length}V10H{place}z")
        place += length
    drawn = "".join(f'<path class="{kind}" d="{"".join(paths)}"/>' for kind, paths in shapes.items() if paths)
    return f'<svg viewBox="0 0 {place} 10" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'


def _line(frame: _Frame, series: Series, kind: str) -> str:
    """Return a line that is broken where values are missing."""
    steps, pen = [], "M"
    for number, value in _thinned(series, every=len(series) / frame.width):
        if value is None:
            pen = "M"
            continue
        steps.append(f"{pen}{frame.x(number):.1f} {frame.y(value):.1f}")
        pen = "L"
    return f'<path class="line {kind}" d="{"".join(steps)}"/>'


def _thinned(series: Series, every: float) -> Iterator[tuple[int, float | None]]:
    """Yield of each column of `every` points its ends and its extremes: what else is there could not be seen."""
    for _, column in groupby(enumerate(series), key=lambda each: int(each[0] / max(1, every))):
        points = [point for _, point in column]
        known = sorted(((value, number) for number, value in points if value is not None))
        kept = {points[0][0], points[-1][0], *(number for _, number in (*known[:1], *known[-1:]))}
        yield from (point for point in points if point[0] in kept or point[1] is None)


def _axes(frame: _Frame, ticks_at: _Frame | None = None) -> str:
    place = ticks_at or frame
    parts = []
    for value in range(int(frame.high), int(frame.low) - 1, -_every(frame.high - frame.low)):
        y = frame.y(value)
        parts.append(f'<path class="grid" d="M{frame.left} {y:.1f}H{frame.width - frame.right}"/>')
        parts.append(f'<text x="{frame.left - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(value)}</text>')
    every = _round_step((frame.last - frame.first + 1) / 20)
    for count, number in enumerate(range(-(-frame.first // every) * every, frame.last + 1, every)):
        x = place.x(number + (0.0 if ticks_at is None else 0.4))
        odd = ' class="odd"' if count % 2 else ""  # hidden where there is little room
        parts.append(f'<text{odd} x="{x:.1f}" y="{frame.height - 8}" text-anchor="middle">{number}</text>')
    return "".join(parts)


def _every(span: float) -> int:
    """Return the distance of the lines of an axis: 5, 10, 20, 50."""
    return max(_ROUND, _round_step(span / _LINES))


def _round_step(least: float) -> int:
    """Return the least of 1, 2, 5, 10, 20, 50 and so on that is not below `least`."""
    power = 1
    while 5 * power < least:
        power *= 10
    return next(step * power for step in (1, 2, 5) if step * power >= least)


def _number(value: float) -> str:
    return plain_number(half_up(value, 1))


def _svg(frame: _Frame, role: str, label: str, parts: Iterable[str], cursor: _Frame | None = None) -> str:
    """Return a picture; `cursor` tells the script of the page where its first and last iteration lie."""
    at = ""
    if cursor is not None:
        first, last = cursor.first, cursor.last
        at = f' data-at="{first} {last} {cursor.x(first):.1f} {cursor.x(last):.1f}"'
    size = f'viewBox="0 0 {frame.width:g} {frame.height:g}"'
    return f'<svg {size}{at} role="{role}" aria-label="{label}">{"".join(parts)}</svg>'


def mermaid_chart(points: Sequence[Point], peak: int) -> str:
    """Return the chart of score and passing tests, as the text of a Mermaid block; "" without two points to draw.

    Tests are shown as a share of the most tests that an iteration had. The axis begins at 0 where there are bars, else
    below the least score; the peak is marked on it. Of a long loop, points at equal distances are drawn, and
    peak, first and last.
    """
    every, last = math.ceil(len(points) / (MERMAID_COLUMNS - 2)), len(points) - 1
    sample = [
        point for place, point in enumerate(points) if place % every == 0 or place == last or point.iteration == peak
    ]
    drawn = [point for point in sample if point.score is not None]
    if len(drawn) <= 1:
        return ""
    scores = [(point.score or 0) * 100 for point in drawn]
    most = max((point.tests or 0 for point in points), default=0)
    named = all(point.passed is not None for point in drawn)
    # A bar per column or none: what is missing cannot be drawn.
    bars = [(point.passed or 0) / most * 100 for point in drawn] if most and named else []
    # The axis ends on multiples of five, with room below the least value.
    low = 0 if bars else max(0, math.floor((min(scores) - 1) / _ROUND) * _ROUND)  # a bar's length is its value
    high = max(low + _ROUND, math.ceil(max(*scores, *bars) / _ROUND) * _ROUND)
    title = "Score (line), passing tests (bars), %" if bars else "Score, %"  # a longer one would be cut off
    labels = (f'"{point.iteration} ▲"' if point.iteration == peak else f'"{point.iteration}"' for point in drawn)
    lines = ["xychart-beta", f'    title "{title}; ▲ best: iteration {peak}"', f"    x-axis [{', '.join(labels)}]"]
    lines.append(f'    y-axis "%" {low} --> {high}')
    lines += [f"    bar [{', '.join(map(_number, bars))}]"] if bars else []
    lines.append(f"    line [{', '.join(map(_number, scores))}]")
    return "\n".join(lines)


_BARS: Final = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None]) -> str:
    """Draw scores from 0 to 1 as one character each, an unknown one as a gap."""
    top = len(_BARS) - 1
    return "".join(" " if value is None else _BARS[min(top, max(0, int(value * (top + 1))))] for value in values)


class Trend(NamedTuple):
    """Scores drawn as bars from the least to the greatest, and the column of the peak (None: it is not among them)."""

    bars: str
    peak: int | None


def trend(scores: Sequence[tuple[int, float | None]], peak: int | None, columns: int) -> Trend:
    """Draw the scores of a loop by iteration in at most so many columns, the highest of each column."""
    every = -(-len(scores) // columns) if scores else 1
    parts = [scores[place : place + every] for place in range(0, len(scores), every)]
    tops = [max((score for _, score in part if score is not None), default=None) for part in parts]
    known = [top for top in tops if top is not None]
    low, span = min(known, default=0.0), max(known, default=0.0) - min(known, default=0.0)
    bars = sparkline([None if top is None else (top - low) / span if span else 0.5 for top in tops])
    return Trend(bars, next((at for at, part in enumerate(parts) if peak in {number for number, _ in part}), None))
