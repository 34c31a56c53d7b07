"""ralph-tracker history: list iterations, one per line."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.cli.options import IterationNumber, loop_options
from ralph_tracker.cli.terminal import complain, say, say_json, say_table
from ralph_tracker.core.metrics import plain_number, whole
from ralph_tracker.report.iteration_view import commit_of, current_value, further_value, plan_tasks
from ralph_tracker.report.wording import ABSENT, cost_per_point, money
from ralph_tracker.short_text import percent, shorten
from ralph_tracker.store.read import ListedRecord
from ralph_tracker.store.records_to_show import as_of_now, listing

COLUMNS: Final = (
    *("it.", "class", "tests", "coverage", "errors", "score"),
    *("integrity", "plan", "cost", "$/pt", "commit", "decision", ""),
)
# These columns are left out if they are empty.
_OPTIONAL: Final = tuple(map(COLUMNS.index, ("coverage", "errors", "integrity", "plan", "cost", "$/pt", "commit")))
# On a narrow screen decimals are left out first, then these columns.
_YIELDING: Final = tuple(
    map(COLUMNS.index, ("errors", "$/pt", "coverage", "cost", "plan", "integrity", "commit", "decision", "class"))
)
_DECIMALS: Final = re.compile(r"\d+\.\d+(?= ?%)")
_WORD: Final = 12  # the longest word of ours; foreign records may have longer ones
_CLASS_COLOURS: Final = {"regression": "red", "damaged": "red", "stalled": "HIGH"}
CLASSES: Final = ("baseline", "forward", "plateau", "regression", "stalled")


@click.command("history")
@loop_options
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N of those that fit.")
@click.option("--since", type=IterationNumber(min=0), metavar="N", help="Only iteration N and later ones.")
@click.option(
    "--class", "classes", type=click.Choice(CLASSES), multiple=True, help="Only those of this class; may be repeated."
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

    Damaged records are named. Decimals, then columns, that do not fit on the screen are left out, with a note.
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
        scores: dict[int, float | None] = {}
        for record in records:
            score = ((record.document or {}).get("iteration_metrics") or {}).get("adjusted_score")
            scores[record.number] = score if isinstance(score, int | float) else None
        _print_history(((record.number, record.document) for record in shown), scores)
    else:
        say(f"no iteration of loop {found.loop_id} fits; `ralph-tracker history` lists all {len(records)}")


def _fits(record: ListedRecord, since: int | None, classes: tuple[str, ...], *, alerts: bool) -> bool:
    """Return whether a record is selected; a damaged one has no class and no alerts."""
    if since is not None and record.number < since:
        return False
    metrics = (record.document or {}).get("iteration_metrics") or {}
    return (not classes or metrics.get("classification") in classes) and (not alerts or bool(metrics.get("alerts")))


def _print_history(records: Iterable[tuple[int, Any]], scores: Mapping[int, float | None]) -> None:
    records = list(records)
    metrics = [(document or {}).get("iteration_metrics", {}).get("metrics") or {} for _, document in records]
    goals = list(dict.fromkeys(name for each in metrics for name, metric in each.items() if metric.get("samples")))
    numbers = [tuple(further_value(each.get(name) or {}) for name in goals) for each in metrics]
    lines = ((_line(number, document, scores), own) for (number, document), own in zip(records, numbers, strict=True))
    table = [(*COLUMNS[:-1], *goals, ""), *((*line[:-1], *own, line[-1]) for line, own in lines)]
    idle = {place for place in _OPTIONAL if all(row[place] in {"", ABSENT} for row in table[1:])}
    kept = [place for place in range(len(table[0])) if place not in idle]
    yielding = [kept.index(place) for place in _YIELDING if place in kept]
    rows = [tuple(row[place] for place in kept) for row in table]
    colours = ["green" if row[-1] else _CLASS_COLOURS.get(row[1], "") for row in table]
    left_out = say_table(rows, yielding=yielding, shorter=_without_decimals, colours=colours)
    if left_out:
        complain(f"terminal too narrow for {', '.join(left_out)}; `COLUMNS=120 ralph-tracker history` shows all")


def _without_decimals(cell: str) -> str:
    """Return a cell with its percentages as whole numbers; 100 only for a full one."""
    return _DECIMALS.sub(lambda found: str(min(99, whole(float(found[0]))) if found[0] != "100.0" else 100), cell)


def _line(number: int, document: Mapping[str, Any] | None, scores: Mapping[int, float | None]) -> tuple[str, ...]:
    if document is None:
        return (str(number), "damaged", *("" for _ in COLUMNS[2:]))
    record = document["iteration_metrics"]
    testing = record.get("testing") or {}
    counts = [testing.get(name) for name in ("tests_passed", "test_count")]
    cost = (record.get("usage") or {}).get("cost_usd")
    now, before = scores.get(number), scores.get(record.get("previous_iteration"))
    score = record.get("adjusted_score")
    if score is None:  # a record that AIWG wrote has one kind of score only
        score = given if isinstance(given := record.get("quality_score"), int | float) else None
    if not score and record.get("evidence") == 0:
        score = None  # nothing was measured
    return (
        str(record["iteration"]),
        shorten(record.get("classification") or ABSENT, _WORD),
        ABSENT if None in counts else "/".join(plain_number(count or 0) for count in counts),
        current_value(record, "coverage_percentage"),
        current_value(record, "error_count"),
        ABSENT if score is None else percent(score),
        (record.get("integrity") or {}).get("verdict", ABSENT),
        plan_tasks(record),
        ABSENT if cost is None else money(cost),
        cost_per_point(cost, None if now is None or before is None else now - before),
        shorten(commit_of(record), 30),
        shorten((document.get("recommendation") or {}).get("action") or ABSENT, _WORD),
        "← best" if record.get("is_best_iteration") else "",
    )
