"""ralph-tracker stats: what loops took and gained, by agent, model, prompt file and host, from their records alone."""

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from statistics import median
from typing import Any, Final, Literal, NamedTuple, TypedDict

import click

from ralph_tracker.agents.hosts.stop_hook import TURNS
from ralph_tracker.cli.next_step import say_next
from ralph_tracker.cli.terminal import complain, say, say_json, say_table
from ralph_tracker.core.metrics import half_up, quantity
from ralph_tracker.errors import LoopError, RalphTrackerError, RecordError
from ralph_tracker.records.iteration_record import SCHEMA_VERSION, SchemaVersion
from ralph_tracker.report.wording import ABSENT
from ralph_tracker.runner.model_prices import model_in
from ralph_tracker.store.find import checked_root, loops_of
from ralph_tracker.store.json_documents import read_json
from ralph_tracker.store.layout import REPLAYED, RUN, LoopPaths, ProjectPaths
from ralph_tracker.store.read import SealedRecords

Key = Literal["agent", "model", "prompt", "host"]
KEYS: Final[tuple[Key, ...]] = ("agent", "model", "prompt", "host")


class StatsRow(TypedDict):
    """Loops that have the same agent, model, prompt file and host, of those that are asked for; null is unknown.

    `host` is `run`, the agent in which our hooks are installed, `replay`, or `own loop`. `began_red` counts the loops
    whose baseline was not green, `became_green` those of them that were at some iteration; `iterations_to_green` is the
    median of theirs. `cost_usd`, and the cost per test that the kept iterations gained, are of the `priced_loops`,
    whose costs are known for each iteration. `rollbacks` were carried out. `questions` are escalations, and what is
    open in the iterations to take. `after_peak` is the share of iterations after the one to take.
    """

    agent: str | None
    model: str | None
    prompt: str | None
    host: str | None
    loops: int
    iterations: int
    began_red: int
    became_green: int
    iterations_to_green: float | None
    priced_loops: int
    cost_usd: float | None
    gained_tests: int
    cost_per_gained_test: float | None
    rollbacks: int
    questions: int
    after_peak: float | None


class StatsDocument(TypedDict):
    schema_version: SchemaVersion
    rows: list[StatsRow]
    unreadable: list[str]


class LoopFigures(NamedTuple):
    """What one loop took and gained, as in `StatsRow`; `green_at` is the first green iteration, if there is one."""

    origin: dict[Key, str | None]
    iterations: int
    green_at: int | None
    cost_usd: float | None
    gained: int
    rollbacks: int
    questions: int
    after_peak: int


@click.command("stats")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDERS]")
@click.option("--root", type=click.Path(path_type=Path), default=Path(), help="The project, if no folder is named.")
@click.option("--by", multiple=True, type=click.Choice(KEYS), help="Group by that alone; else by all four. Repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as `ralph-tracker schema` describes it.")
def command(folders: tuple[Path, ...], root: Path, by: tuple[Key, ...], as_json: bool) -> None:
    """Compare agents, models, prompt files and hosts over all loops of projects (FOLDERS, else this one)."""
    figures, unreadable = [], []
    for folder in folders or (root,):
        for paths in loops_of(ProjectPaths(checked_root(folder))):
            try:
                figures.append(figures_of(paths))
            except RalphTrackerError as error:
                unreadable.append(f"{paths.folder}: left out: {error}")
    if not figures and not unreadable:
        raise LoopError("no loop in these folders; name projects that have one: `ralph-tracker stats FOLDER…`")
    keys = tuple(key for key in KEYS if key in by) or KEYS
    rows = rows_of(figures, keys)
    if as_json:
        document: StatsDocument = {"schema_version": SCHEMA_VERSION, "rows": rows, "unreadable": unreadable}
        say_json(document)
        return
    for problem in unreadable:
        complain(problem)
    heads = (*keys, "loops", "green", "its to green", "$/test", "rollbacks", "questions", "after peak")
    cells = [(*(row[key] or ABSENT for key in keys), *_numbers(row)) for row in rows]
    say(f"{quantity(len(figures), 'loop')}, {quantity(sum(each.iterations for each in figures), 'iteration')}")
    say_table([heads, *cells], right=range(len(keys), len(heads)), yielding=[heads.index("questions")])
    say_next("`ralph-tracker stats --by model` groups by that alone; --json has further numbers")


def figures_of(paths: LoopPaths) -> LoopFigures:
    """Return what one loop took and gained. Raises RecordError if its records are damaged."""
    records = SealedRecords(paths)
    summary, (rows, lost) = records.summary(), records.rows()
    if lost:
        raise RecordError(f"iteration {lost[0]} is damaged; `ralph-tracker verify` says what")
    later = rows[1:]
    costs: list[float | None] = [(row.get("usage") or {}).get("cost_usd") for row in later]
    kept = records.after(summary.iteration).get("kept") or {}
    return LoopFigures(
        origin=_origin(paths),
        iterations=len(later),
        green_at=next((row["iteration"] for row in rows if _is_green(row["metrics"])), None),
        cost_usd=None if None in costs else sum(filter(None, costs)),
        gained=sum(row["walked"]["gained"] for row in later if row["walked"]["refusal"] is None),
        rollbacks=sum(event["event"] == "rollback" and event["to"] < event["after"] for event in records.events()),
        questions=sum(row["decision"] == "escalate" for row in later) + len(kept.get("questions", ())),
        after_peak=summary.iteration - (summary.best_iteration or 0),
    )


def _is_green(metrics: dict[str, Any]) -> bool:
    builds = metrics.get("build_status") in {None, "success"}
    return builds and metrics.get("tests_failed") == 0 and (metrics.get("tests_passed") or 0) > 0


def _origin(paths: LoopPaths) -> dict[Key, str | None]:
    """Return what drove a loop, as far as it is on record."""
    run, turns = (read_json(paths.folder / name) for name in (RUN, TURNS))
    try:
        words = [str(word) for word in run["settings"]["command"]]
        agent, prompt = PurePath(words[0]).name, run["settings"]["prompt_file"]
        models = run.get("models") or [model_in(words)]
        return {
            "agent": agent,
            "model": " ".join(map(str, filter(None, models))) or None,
            "prompt": None if prompt is None else str(prompt),
            "host": "run",
        }
    except (TypeError, KeyError, IndexError, AttributeError):
        pass  # no run, or one that is damaged: the loop is counted all the same
    host = turns.get("host") if isinstance(turns, dict) else None
    if isinstance(host, str) and host:
        model = turns.get("model")
        return {"agent": host, "model": model if isinstance(model, str) else None, "prompt": None, "host": host}
    host = "replay" if (paths.folder / REPLAYED).is_file() else "own loop"
    return {"agent": None, "model": None, "prompt": None, "host": host}


def rows_of(figures: Iterable[LoopFigures], keys: Sequence[Key] = KEYS) -> list[StatsRow]:
    """Return a row for each agent, model, prompt file and host, or for those of them that are asked for."""
    groups: dict[tuple[str | None, ...], list[LoopFigures]] = {}
    for each in figures:
        groups.setdefault(tuple(each.origin[key] for key in keys), []).append(each)
    named = sorted(groups.items(), key=lambda group: [name or "" for name in group[0]])
    return [_row(dict(zip(keys, names, strict=True)), loops) for names, loops in named]


def _row(names: dict[Key, str | None], loops: Sequence[LoopFigures]) -> StatsRow:
    red = [each for each in loops if each.green_at != 0]
    greens = [each.green_at for each in red if each.green_at is not None]
    priced = [each for each in loops if each.cost_usd is not None and each.iterations]
    cost, gained = sum(each.cost_usd or 0 for each in priced), sum(each.gained for each in priced)
    iterations = sum(each.iterations for each in loops)
    return {
        "agent": names.get("agent"),
        "model": names.get("model"),
        "prompt": names.get("prompt"),
        "host": names.get("host"),
        "loops": len(loops),
        "iterations": iterations,
        "began_red": len(red),
        "became_green": len(greens),
        "iterations_to_green": median(greens) if greens else None,
        "priced_loops": len(priced),
        "cost_usd": half_up(cost, 4) if priced else None,
        "gained_tests": sum(each.gained for each in loops),
        "cost_per_gained_test": half_up(cost / gained, 4) if gained else None,
        "rollbacks": sum(each.rollbacks for each in loops),
        "questions": sum(each.questions for each in loops),
        "after_peak": half_up(sum(each.after_peak for each in loops) / iterations, 4) if iterations else None,
    }


def _numbers(row: StatsRow) -> tuple[str, ...]:
    green, price, share = row["iterations_to_green"], row["cost_per_gained_test"], row["after_peak"]
    return (
        str(row["loops"]),
        f"{row['became_green']}/{row['began_red']}",
        ABSENT if green is None else f"{green:g}",
        ABSENT if price is None else f"${price:.2g}" if price < 1 else f"${price:.2f}",
        str(row["rollbacks"]),
        str(row["questions"]),
        ABSENT if share is None else f"{share:.0%}",
    )
