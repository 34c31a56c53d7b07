"""ralph-tracker history: list iterations, one per line."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import complain, cut, say, say_json, say_table
from ralph_tracker.core.metrics import plain_number
from ralph_tracker.loop.listing import as_of_now, listing
from ralph_tracker.report.text import ABSENT, cost_per_point, money
from ralph_tracker.report.view import iteration_view

COLUMNS: Final = (
    *("it.", "class", "tests", "coverage", "errors", "quality", "adjusted"),
    *("integrity", "plan", "cost", "$/pt", "decision", ""),
)
# These columns are left out if they are empty.
_OPTIONAL: Final = tuple(map(COLUMNS.index, ("integrity", "plan", "cost", "$/pt")))
# On a narrow screen these are left out first.
_YIELDING: Final = tuple(map(COLUMNS.index, ("errors", "coverage", "quality", "$/pt", "cost", "plan")))
_WORD: Final = 12  # the longest word of ours; foreign records may have longer ones
CLASSES: Final = ("baseline", "forward", "plateau", "regression", "stalled")


@click.command("history")
@loop_options
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N of those that fit.")
@click.option("--since", type=click.IntRange(min=0), metavar="N", help="Only iteration N and later ones.")
@click.option(
    "--class", "classes", type=click.Choice(CLASSES), multiple=True, help="Only those of this class; say it again."
)
@click.option("--alerts", is_flag=True, help="Only those that raised an alert.")
def command(
    root: Path,
    loop_id: str | None,
    as_json: bool,
    last: int | None,
    since: int | None,
    classes: tuple[str, ...],
    alerts: bool,
) -> None:
    """List the iterations with current scores; the best is marked.

    Damaged records are named. Columns that do not fit on the screen are left out, with a note.
    """
    found = listing(root, loop_id)
    records = as_of_now(found, found.all())
    for problem in (record.problem for record in records if record.problem is not None):
        complain(problem)
    fitting = [record for record in records if _fits(record, since, classes, alerts=alerts)]
    shown = fitting[-last:] if last is not None else fitting
    if as_json:
        say_json([record.document for record in shown if record.document is not None])
    elif shown:
        scores = {record.number: _adjusted(record.document) for record in records}
        _say(((record.number, record.document) for record in shown), scores)
    else:
        say(f"no iteration of loop {found.loop_id} fits; `ralph-tracker history` lists all {len(records)}")


def _fits(record: Any, since: int | None, classes: tuple[str, ...], *, alerts: bool) -> bool:  # noqa: ANN401  # a Listed
    """Return whether a record is selected; a damaged one has no class and no alerts."""
    if since is not None and record.number < since:
        return False
    metrics = (record.document or {}).get("iteration_metrics") or {}
    return (not classes or metrics.get("classification") in classes) and (not alerts or bool(metrics.get("alerts")))


def _adjusted(document: Any) -> float | None:  # noqa: ANN401  # a record's document or None
    score = ((document or {}).get("iteration_metrics") or {}).get("adjusted_score")
    return score if isinstance(score, int | float) else None


def _say(records: Iterable[tuple[int, Any]], scores: Mapping[int, float | None]) -> None:

    table = [COLUMNS, *(_line(number, document, scores) for number, document in records)]
    idle = {place for place in _OPTIONAL if all(row[place] in {"", ABSENT} for row in table[1:])}
    kept = [place for place in range(len(COLUMNS)) if place not in idle]
    yielding = [kept.index(place) for place in _YIELDING if place not in idle]
    left_out = say_table([tuple(row[place] for place in kept) for row in table], yielding=yielding)
    if left_out:
        names = ", ".join(left_out)
        complain(f"columns left out, terminal too narrow: {names}; `COLUMNS=120 ralph-tracker history` shows them")


def _line(number: int, document: Any, scores: Mapping[int, float | None]) -> tuple[str, ...]:  # noqa: ANN401  # as above

    if document is None:
        return (str(number), "damaged", *("" for _ in COLUMNS[2:]))
    view, record = iteration_view(document), document["iteration_metrics"]
    testing = record.get("testing") or {}
    counts = [testing.get(name) for name in ("tests_passed", "test_count")]
    rows = {row.label: row.current for row in view.rows}
    cost = (record.get("usage") or {}).get("cost_usd")
    now, before = scores.get(number), scores.get(record.get("previous_iteration"))
    return (
        str(view.iteration),
        cut(view.classification, _WORD),
        ABSENT if None in counts else "/".join(plain_number(count or 0) for count in counts),
        rows["Coverage"],
        rows["Errors"],
        view.quality_score,
        view.adjusted_score,
        (record.get("integrity") or {}).get("verdict", ABSENT),
        view.plan,
        ABSENT if cost is None else money(cost),
        cost_per_point(cost, None if now is None or before is None else now - before),
        cut(view.action, _WORD),
        "← best" if record.get("is_best_iteration") else "",
    )
