"""ralph-tracker watch: the loop in the terminal, drawn anew when something changes."""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from ralph_tracker.cli.next_step import next_step
from ralph_tracker.cli.options import place_options
from ralph_tracker.cli.status import raised_in
from ralph_tracker.cli.terminal import harmless, screen_width
from ralph_tracker.core.metrics import plain_number
from ralph_tracker.errors import LoopError, RalphTrackerError
from ralph_tracker.iteration.open_problems import wrong_lines
from ralph_tracker.loop.status import scores_of, state_sentence
from ralph_tracker.report.charts import trend
from ralph_tracker.report.escaping import short_names
from ralph_tracker.report.wording import ABSENT, known_money
from ralph_tracker.runner.read_activity import Activity, activity_of
from ralph_tracker.short_text import percent
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.summary import Summary, summary_at, unrecorded_iteration, version_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

# Rows and problems where the height is not known.
_ROWS, _PROBLEMS = 8, 10
_NARROW: Final = 60
_LOUD: Final = {"CRITICAL": "bold red", "HIGH": "yellow"}
_CLASSES: Final = {"forward": "green", "regression": "red", "stalled": "yellow"}


class LoopDisplay(NamedTuple):
    """What is on record of a loop, as it is drawn; read anew only when it changed."""

    summary: Summary
    sentence: str
    scores: Sequence[tuple[int, float | None]]
    rows: Sequence[Mapping[str, Any]]
    wrong: Sequence[str]
    cost: str
    next_step: str


@click.command("watch")
@place_options
@click.option("--once", is_flag=True, help="Draw it once; so it is done where the output is no terminal.")
def command(root: Path, loop_id: str | None, once: bool) -> None:
    """Follow the loop until it ends: scores, last iterations, failing tests, cost, what happens now.

    It waits for a loop that is not there yet. The arrows scroll through alerts and tests, q and Ctrl-C end it.
    """
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else screen_width())
    if once or not console.is_terminal or console.is_dumb_terminal:
        paths: LoopPaths | None = find_loop(root, loop_id, os.environ)
    else:
        with _keys() as wait, suppress(KeyboardInterrupt):
            _follow(root, loop_id, console, wait)
        paths = _loop_there(root, loop_id)
    if paths is not None:
        console.print(_drawn(paths, read(paths), console, height=None))


def _loop_there(root: Path, loop_id: str | None) -> LoopPaths | None:
    try:
        return find_loop(root, loop_id, os.environ)
    except LoopError:
        return None


@contextmanager
def _keys() -> Iterator[Callable[[], bytes]]:
    """Give the function that waits for a key, a new size of the terminal or a second, and returns the keys."""
    import termios
    import tty

    keyboard = sys.stdin.fileno() if sys.stdin.isatty() else None
    with suppress(OSError):  # a terminal of another session stops nobody
        if keyboard is not None and os.tcgetpgrp(keyboard) != os.getpgrp():
            keyboard = None  # in the background, where changing the terminal would stop this process
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    resized = signal.signal(signal.SIGWINCH, lambda *_: None)
    woken = signal.set_wakeup_fd(writer)
    mode = None if keyboard is None else termios.tcgetattr(keyboard)

    def wait() -> bytes:
        ready, _, _ = select.select([reader, *([] if keyboard is None else [keyboard])], [], [], 1.0)
        found = {fd: os.read(fd, 1024) for fd in ready}
        return b"q" if found.get(keyboard) == b"" else found.get(keyboard, b"")  # its terminal is gone

    try:
        if keyboard is not None:
            tty.setcbreak(keyboard)
        yield wait
    finally:
        if keyboard is not None and mode is not None:
            termios.tcsetattr(keyboard, termios.TCSADRAIN, mode)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGWINCH, resized)
        os.close(reader)
        os.close(writer)


def _follow(root: Path, loop_id: str | None, console: "Console", wait: Callable[[], bytes]) -> None:
    """Draw the loop on a screen of its own until it ends or q."""
    from rich.live import Live
    from rich.text import Text

    shown: LoopDisplay | str = ""
    version, skip = "", 0
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            paths = _loop_there(root, loop_id)
            if paths is None:
                live.update(Text(harmless(f"waiting for a loop in {root.resolve()}; q ends it")), refresh=True)
            else:
                now = version_of([paths])
                if now != version or isinstance(shown, str):
                    version, shown = now, read(paths)
                if not isinstance(shown, str):
                    if shown.summary.status != "running":
                        return
                    skip = min(skip, max(0, len(_problems(shown)) - 1))
                live.update(_drawn(paths, shown, console, console.height, skip), refresh=True)
            keys = wait()
            if b"q" in keys:
                return
            skip = max(0, skip + keys.count(b"\x1b[B") - keys.count(b"\x1b[A"))


def read(paths: LoopPaths) -> LoopDisplay | str:
    """Return what is on record now, or why it cannot be read."""
    try:
        summary, records = summary_at(paths), SealedRecords(paths)
        cost = known_money(summary.cost_usd, is_partial=records.has_unknown_costs())
        return LoopDisplay(
            summary,
            state_sentence(summary, paths),
            scores_of(records, summary.best_iteration),
            records.rows()[0][-200:],
            wrong_lines(records, summary.head),
            "" if summary.cost_usd is None else cost,
            next_step(summary, unrecorded_iteration(paths, summary), paths),
        )
    except RalphTrackerError as error:
        return str(error)


def _drawn(
    paths: LoopPaths, shown: LoopDisplay | str, console: "Console", height: int | None, skip: int = 0
) -> "RenderableType":
    if isinstance(shown, str):
        from rich.text import Text

        return Text(harmless(f"{paths.loop_id} cannot be read: {shown}"), style="red")
    activity = activity_of(paths, shown.summary, os.environ)
    return drawn(shown, activity, console.width, height, time.time(), skip)


def drawn(
    shown: LoopDisplay, activity: Activity, width: int, height: int | None, now: float, skip: int = 0
) -> "RenderableType":
    """Return the loop as it is drawn on a screen of that size (height None: all of it); `now` is epoch seconds.

    Head and foot are always there, the foot at the bottom. Iterations and what is wrong, without the first `skip`,
    share the rest.
    """
    from rich.console import Console, Group
    from rich.text import Text

    console = Console(width=width)
    summary = shown.summary
    foot = [Text(harmless(f"cost: {shown.cost}"))] if shown.cost else []
    foot += [Text(harmless(line), style="cyan") for line in _now(activity, now)]
    foot.append(Text(harmless(f"next: {shown.next_step}")))
    title = Text(f"{summary.loop_id}: {summary.status}, iteration {summary.iteration}", style="bold")
    head, bars = [title, Text(harmless(shown.sentence))], _trend(shown, width)
    problems = _problems(shown)[skip:]
    if height is None:
        rest = len(problems) - _PROBLEMS
        problems = [*problems[: _PROBLEMS - (rest > 0)], *([Text(f"and {rest + 1} more")] if rest > 0 else [])]
        table = _table(shown.rows[-_ROWS:], summary.best_iteration, dict(shown.scores), width)
        return Group(*head, *bars, table, *problems, *foot)
    last = [line for text in foot for line in _cut(text, console, max(1, height // 5))][-(height - 2) :]
    first = [line for text in head for line in _cut(text, console, max(1, (height - len(last)) // 4))]
    if (room := height - len(first) - len(last)) >= len(bars) + 3:
        first, room = [*first, *bars], room - len(bars)
    most = min(len(problems), max(0, room - 1 - max(1, min(len(shown.rows), room // 2))))
    rest = len(problems) - most
    if rest > 0 and most > 1:
        problems = [*problems[: most - 1], Text(f"and {rest + 1} more; the arrows scroll")]
    problems = problems[:most]
    for text in problems:
        text.no_wrap, text.overflow = True, "ellipsis"
    body: list[RenderableType] = []
    if room > 1:
        rows = shown.rows[-max(1, room - 1 - most) :]
        body = [_table(rows, summary.best_iteration, dict(shown.scores), width), *problems]
        room -= 1 + len(rows) + most
    return Group(*first, *body, *[Text()] * max(0, room), *last)


def _cut(text: "Text", console: "Console", most: int) -> "list[Text]":
    """Return the lines of a text; the last of more than `most` ends with an ellipsis."""
    lines = list(text.wrap(console, console.width))
    if len(lines) > most:
        lines[most - 1].truncate(console.width - 1)
        lines[most - 1].append("…")
    return lines[:most]


def _problems(shown: LoopDisplay) -> "list[Text]":
    """Return open alerts, the worst and newest first, then failing and lost tests, in a line each.

    What an iteration did that was rolled back is no longer in the files.
    """
    from rich.text import Text

    is_current = shown.summary.head == shown.summary.iteration
    alerts = [
        Text(
            harmless(f"{alert['severity']} {alert['type']}: {short_names(alert['message'])}"),
            style=_LOUD.get(alert["severity"], ""),
        )
        for alert in sorted(
            shown.summary.alerts if is_current else (), key=lambda each: (each["severity"], -raised_in(each))
        )
    ]
    return [*alerts, *(Text(harmless(short_names(line)), style="red") for line in shown.wrong)]


def _trend(shown: LoopDisplay, width: int) -> "list[Any]":
    """Return the scores as bars, with the peak marked below them; nothing for a baseline alone."""
    from rich.text import Text

    if len(shown.scores) <= 1:
        return []
    best = shown.summary.best_iteration
    bars = trend(shown.scores, best, max(10, width - 28 if width >= _NARROW else width))
    line = Text(bars.bars)
    values = [score for _, score in shown.scores if score is not None]
    ends = f"  score {percent(min(values, default=None))} to {percent(max(values, default=None))}"
    if bars.peak is None:
        return [line.append(ends if width >= _NARROW else "")]
    line.stylize("bold green", bars.peak, bars.peak + 1)
    mark = f"▲ best: iteration {best}, {percent(shown.summary.best_adjusted_score)}"
    before = bars.peak if bars.peak + len(mark) <= width else max(0, bars.peak + 1 - len(mark))
    if before != bars.peak:
        mark = f"{mark[2:]} ▲"
        before = max(0, bars.peak + 1 - len(mark))
    return [line.append(ends if width >= _NARROW else ""), Text(" " * before + mark, style="green")]


def _table(rows: Sequence[Mapping[str, Any]], best: int | None, scores: Mapping[int, float | None], width: int) -> Any:  # noqa: ANN401  # rich's
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    columns = ("it.", "score", "tests", "coverage", "result") if width >= _NARROW else ("it.", "score", "tests")
    for name in columns:
        table.add_column(name, justify="left" if name == "result" else "right", no_wrap=True, overflow="ellipsis")
    for row in rows:
        number, values = row["iteration"], row.get("metrics") or {}
        counts = [values.get(name) for name in ("tests_passed", "test_count")]
        tests = ABSENT if None in counts else "/".join(plain_number(count or 0) for count in counts)
        covered = values.get("coverage_percentage")
        result, decision = str(row.get("classification")), str(row.get("decision"))
        told = result if decision == "continue" else f"{result}: {decision}"
        cells = (
            f"▲ {number}" if number == best else str(number),
            percent(scores.get(number, row.get("adjusted_score"))),
            tests,
            ABSENT if covered is None else f"{plain_number(covered)} %",
            told,
        )
        styles = ("green" if number == best else "", "", "", "", _CLASSES.get(result, ""))
        shown = [Text(harmless(cell), style=style) for cell, style in zip(cells, styles, strict=True)]
        table.add_row(*shown[: len(columns)])
    return table


def _now(activity: Activity, now: float) -> list[str]:
    since = ""
    if activity.since is not None:
        at = time.strftime("%H:%M:%S", time.localtime(activity.since))
        minutes, seconds = divmod(max(0, int(now - activity.since)), 60)
        since = f" since {at} ({f'{minutes} min ' if minutes else ''}{seconds} s)"
    said = [f"it says: {activity.said}"] if activity.said else []
    return [f"now: {activity.what}{since}", *said]
