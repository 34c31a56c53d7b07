"""Judge labelled loops of real agents: is an acceptable iteration selected, and are the verdicts on the others right?

    python benchmarks/judgement/run.py [FOLDER] [--loop NAME] [--labels] [--iterations] [--clone DIR] [--json FILE]

FOLDER contains one folder per loop, or is one: iterations.jsonl (or .jsonl.gz) and labels.yaml; the default is the
fixtures. The hooks get the recorded metrics, each loop in a new folder. docs/judgement.md explains the columns.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from figures import SIMPLE_RULES, Figures, figures_of
from labelled import Loop, loops_in
from replay import DEFAULT_MODE, Played, play, repository_of
from stopping import RULES, Stop, stops_of

from ralph_tracker.core.thresholds import SELECTION_MODES

FIXTURES: Final = Path(__file__).resolve().parents[2] / "fixtures" / "judgement"
WAYS: Final = (*SELECTION_MODES, *SIMPLE_RULES)


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its tables."""
    asked = _parser().parse_args(words)
    loops = loops_in(asked.folder, asked.loop)
    if asked.labels:
        print("\n\n".join(_labels(loop) for loop in loops))
        return 0
    clones = _clones(loops, asked.clone)
    played = [play(loop, clone) for loop, clone in zip(loops, clones, strict=True)]
    if asked.iterations:
        print("\n\n".join(_iterations(loop, each) for loop, each in zip(loops, played, strict=True)))
        print()
    found = [figures_of(loop, each) for loop, each in zip(loops, played, strict=True)]
    stops = [stops_of(loop, each) for loop, each in zip(loops, played, strict=True)]
    print(tables(found, stops))
    if asked.json:
        asked.json.write_text(json.dumps(_as_json(found, stops, played), indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Judge labelled loops of real agents.")
    parser.add_argument("folder", type=Path, nargs="?", default=FIXTURES, help="labelled loops, or one")
    parser.add_argument("--loop", action="append", default=[], metavar="NAME", help="this one only; may be repeated")
    parser.add_argument("--labels", action="store_true", help="print the labels as they are understood, run nothing")
    parser.add_argument("--iterations", action="store_true", help="print a line an iteration, before the tables")
    parser.add_argument("--clone", type=Path, metavar="DIR", help="a clone, or a folder of clones by the loops' names")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure and iteration there")
    return parser


def _clones(loops: Sequence[Loop], folder: Path | None) -> list[Path | None]:
    """Return the repository of each loop, None if files are not asked for or the repository is missing."""
    if folder is None:
        return [None] * len(loops)
    found = [repository_of(folder.resolve(), loop.name) for loop in loops]
    if len(loops) > 1 and len(set(found)) == 1:
        sys.exit(f"{folder}: is a clone of one loop, or of none; name that loop with --loop")
    if found == [None]:
        sys.exit(f"{folder}: no git repository")
    return found


def tables(found: Sequence[Figures], stops: Sequence[dict[str, Stop]]) -> str:
    """Return the tables, with one row per loop and a total."""
    parts = [
        ("Selected iteration, of those that a reader would accept", _selection(found)),
        ("Class regression, against the labels", _classes(found)),
        ("Decisions, against the labels", _decisions(found)),
        (
            "Stop / tests lost / iterations spent after the last gain; < is before the labelled stop",
            _stops(found, stops),
        ),
    ]
    return "\n\n".join(f"{title}:\n\n{table}" for title, table in parts)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [list(head), ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _selection(found: Sequence[Figures]) -> str:
    head = ["loop", "acceptable", *(f"{way} (default)" if way == DEFAULT_MODE else way for way in WAYS)]
    rows: list[list[object]] = []
    for each in found:
        chosen = (each.selected[way] for way in WAYS)
        cells = (str(number) if number in each.acceptable else f"{number} no" for number in chosen)
        rows.append([each.loop, _listed(each.acceptable), *cells])
    right = (sum(each.selected[way] in each.acceptable for each in found) for way in WAYS)
    rows.append([f"{len(found)} loops", "", *right])
    return _table(head, rows)


def _classes(found: Sequence[Figures]) -> str:
    head = ["loop", "iterations", "labelled", "false", "missed"]
    rows = [
        [each.loop, each.iterations, *map(_believed_now, (each.regressions, each.false_regressions, each.missed))]
        for each in found
    ]
    total = [sum(len(kind) for kind in kinds) for kinds in zip(*map(_class_lists, found), strict=True)]
    return _table(head, [*rows, [f"{len(found)} loops", sum(each.iterations for each in found), *total]])


def _class_lists(each: Figures) -> tuple[list[int], ...]:
    return each.regressions, each.false_regressions, each.missed


def _decisions(found: Sequence[Figures]) -> str:
    head = [
        "loop",
        "labelled stop",
        "first stop",
        "false stops",
        "rollbacks",
        "false",
        "wrong target",
        "escalations",
        "false",
        "open at the end",
    ]
    rows: list[list[object]] = []
    for each in found:
        cells = map(_believed_now, _decision_lists(each))
        first = each.stops[0] if each.stops else "none"
        rows.append([each.loop, each.labelled_stop, first, *cells, len(each.open_alerts)])
    total = [sum(len(kind) for kind in kinds) for kinds in zip(*map(_decision_lists, found), strict=True)]
    rows.append([f"{len(found)} loops", "", "", *total, sum(len(each.open_alerts) for each in found)])
    return _table(head, rows)


def _decision_lists(each: Figures) -> tuple[list[int], ...]:
    false, wrong = each.false_rollbacks, each.wrong_targets
    return each.false_stops, each.rollbacks, false, wrong, each.escalations, each.false_escalations


def _stops(found: Sequence[Figures], stops: Sequence[dict[str, Stop]]) -> str:
    rows: list[list[object]] = []
    for each, by_rule in zip(found, stops, strict=True):
        cells = (_stop_cell(by_rule[rule]) for rule in RULES)
        rows.append([each.loop, each.labelled_stop, *cells])
    totals = []
    for rule in RULES:
        all_of = [by_rule[rule] for by_rule in stops]
        early, lost, spent = (sum(getattr(stop, name) for stop in all_of) for name in ("early", "lost", "spent"))
        totals.append(f"{early} early / {lost} / {spent}")
    return _table(["loop", "labelled stop", *RULES], [*rows, [f"{len(found)} loops", "", *totals]])


def _stop_cell(stop: Stop) -> str:
    at = "none" if stop.at is None else f"{'< ' if stop.early else ''}{stop.at}"
    return f"{at} / {stop.lost} / {stop.spent}"


def _believed_now(numbers: Sequence[int]) -> str:
    return f"{len(numbers)}: {_listed(numbers)}" if numbers else "0"


def _listed(numbers: Sequence[int]) -> str:
    """Return numbers in short: 1 2 3 7 is 1-3 7."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(str(a) if a == b else f"{a} {b}" if b == a + 1 else f"{a}-{b}" for a, b in spans)


def _labels(loop: Loop) -> str:
    labels = loop.labels
    acceptable, regressions = _listed(sorted(labels.acceptable)), _listed(sorted(labels.regressions)) or "none"
    head = f"{loop.name}: iterations 0 to {len(loop.facts) - 1}, acceptable {acceptable}, peak {labels.peak}"
    lines = [f"{head}, stop {labels.stop}, regressions {regressions}"]
    for event in labels.events:
        mark = "R" if event.is_regression else " "
        lines.append(f"  {mark} {_listed(event.iterations):10} {event.kind}")
    return "\n".join(lines)


def _iterations(loop: Loop, played: Played) -> str:
    lines = [loop.name]
    for fact, turn in zip(loop.facts, played.turns, strict=True):
        labelled = "R" if turn.iteration in loop.labels.regressions else " "
        good = "*" if turn.iteration in loop.labels.acceptable else " "
        target = "" if turn.target is None else f" to {turn.target}"
        alerts = " ".join(kind for kind, _ in turn.alerts) + (
            f" (+{len(turn.open_alerts)})" if turn.open_alerts else ""
        )
        lines.append(
            f"{turn.iteration:4}{good}{labelled} {fact.passed:4}/{fact.reported:<4} {turn.classification:10} "
            f"{turn.verdict:9} {turn.quality:.4f} {turn.adjusted:.4f} {turn.action + target:14} ({turn.rule}) {alerts}"
        )
    return "\n".join(line.rstrip() for line in lines)


def _as_json(found: Sequence[Figures], stops: Sequence[dict[str, Stop]], played: Sequence[Played]) -> list[Any]:
    return [
        {
            **asdict(figures),
            "stop_rules": {name: asdict(stop) for name, stop in by_rule.items()},
            "turns": [turn._asdict() for turn in each.turns],
        }
        for figures, by_rule, each in zip(found, stops, played, strict=True)
    ]


if __name__ == "__main__":
    sys.exit(main())
