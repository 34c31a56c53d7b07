"""Judge labelled loops of real agents: is an acceptable iteration selected, and are the verdicts on the others right?

    python benchmarks/judgement/run.py [FOLDER] [--loop NAME] [--labels] [--iterations] [--json FILE]
    python benchmarks/judgement/run.py [FOLDER] --clone NAME=PATH

FOLDER contains one folder per loop, or is one: iterations.jsonl (or .jsonl.gz) and labels.yaml; the default is the
fixtures. The hooks get the recorded metrics, each loop in a new folder; with --clone, the commits are replayed in a
clone. docs/judgement.md explains the columns.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from adversaries import ADVERSARIES, ending_of
from clones import Replayed, replay_in
from figures import SIMPLE_RULES, Figures, figures_of
from labelled import Loop, loops_in
from outcomes import walked
from replay import DEFAULT_MODE, WITH_EVIDENCE, Played, play, play_with_evidence
from stopping import RULES, Stop, stops_of

from ralph_tracker.core.thresholds import SELECTION_MODES
from ralph_tracker.core.walk import RULES as WALK_RULES

FIXTURES: Final = Path(__file__).resolve().parents[2] / "fixtures" / "judgement"
WAYS: Final = (DEFAULT_MODE, WITH_EVIDENCE, *SIMPLE_RULES)
OTHER_MODES: Final = tuple(mode for mode in SELECTION_MODES if mode != DEFAULT_MODE)


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its tables."""
    asked = _parser().parse_args(words)
    clones = dict(asked.clone)
    loops = loops_in(asked.folder, [*asked.loop, *clones])
    if asked.labels:
        print("\n\n".join(_labels(loop) for loop in loops))
        return 0
    if clones:
        print(_replays([replay_in(clones[loop.name], loop) for loop in loops if loop.name in clones]))
        return 0
    played = [play(loop) for loop in loops]
    if asked.iterations:
        print("\n\n".join(_iterations(loop, each) for loop, each in zip(loops, played, strict=True)))
        print()
    known = [play_with_evidence(loop) for loop in loops]
    found = [
        figures_of(loop, each._replace(selected=each.selected | with_evidence.selected))
        for loop, each, with_evidence in zip(loops, played, known, strict=True)
    ]
    explained = [figures_of(loop, each) for loop, each in zip(loops, known, strict=True)]
    stops = [stops_of(loop, each) for loop, each in zip(loops, played, strict=True)]
    print(tables(loops, found, explained, stops))
    if asked.json:
        asked.json.write_text(json.dumps(_as_json(found, stops, played), indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Judge labelled loops of real agents.")
    parser.add_argument("folder", type=Path, nargs="?", default=FIXTURES, help="labelled loops, or one")
    parser.add_argument("--loop", action="append", default=[], metavar="NAME", help="this one only; may be repeated")
    parser.add_argument("--labels", action="store_true", help="print the labels as they are understood, run nothing")
    parser.add_argument("--iterations", action="store_true", help="print a line an iteration, before the tables")
    parser.add_argument("--clone", action="append", default=[], type=_clone, metavar="NAME=PATH",
                        help="replay the loop's commits in a clone of its repository; may be repeated")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure and iteration there")
    return parser


def _clone(word: str) -> tuple[str, Path]:
    name, _, path = word.partition("=")
    if not Path(path).is_dir() or not path:
        raise argparse.ArgumentTypeError(f"{word}: is no NAME=PATH of a folder")
    return name, Path(path)


def tables(
    loops: Sequence[Loop], found: Sequence[Figures], explained: Sequence[Figures], stops: Sequence[dict[str, Stop]]
) -> str:
    """Return the tables, with one row per loop and a total; `explained` are the figures where removals are known."""
    parts = [
        ("Selected iteration, of those that a reader would accept", _selection(found, WAYS)),
        ("Selected in the other modes", _selection(found, OTHER_MODES)),
        ("The walk without one of its rules: loops with an acceptable iteration", _without_rules(loops)),
        ("What an agent may do next: loops in which the right iteration is taken then", _adversaries(loops)),
        ("Class regression, against the labels", _classes(found, explained)),
        ("Decisions, against the labels", _decisions(found, explained)),
        (
            "Stop / tests lost / iterations spent after the last gain; < is before the labelled stop",
            _stops(found, stops),
        ),
    ]
    return "\n\n".join(f"{title}:\n\n{table}" for title, table in parts)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [list(head), ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _selection(found: Sequence[Figures], ways: Sequence[str]) -> str:
    head = ["loop", "acceptable", *(f"{way} (default)" if way == DEFAULT_MODE else way for way in ways)]
    rows: list[list[object]] = []
    for each in found:
        chosen = (each.selected[way] for way in ways)
        cells = (str(number) if number in each.acceptable else f"{number} no" for number in chosen)
        rows.append([each.loop, _listed(each.acceptable), *cells])
    right = (sum(each.selected[way] in each.acceptable for each in found) for way in ways)
    rows.append([f"{len(found)} loops", "", *right])
    return _table(head, rows)


def _without_rules(loops: Sequence[Loop]) -> str:
    rows: list[list[object]] = []
    for left_out in (None, *WALK_RULES):
        rules = [rule for rule in WALK_RULES if rule is not left_out]
        cells = (
            _right_and_wrong(
                {loop.name: walked(loop, rules, with_evidence=known) in loop.labels.acceptable for loop in loops}
            )
            for known in (False, True)
        )
        rows.append(["none" if left_out is None else WALK_RULES.index(left_out) + 1, *cells])
    return _table(["rule left out", "by names alone", "removals known"], rows)


def _right_and_wrong(right: Mapping[str, bool]) -> str:
    wrong = ", ".join(name for name, good in right.items() if not good)
    return f"{sum(right.values())}, not {wrong}" if wrong else str(len(right))


def _adversaries(loops: Sequence[Loop]) -> str:
    endings = [ending_of(loop) for loop in loops]
    rows: list[list[object]] = []
    for name, made_of in ADVERSARIES.items():
        cases = [made_of(ending) for ending in endings]
        idle = [case.with_nothing_done() for case in cases]
        rows.append([name, *(sum(case.is_right() for case in each) for each in (cases, idle))])
    return _table(["what is done", "right", "and then nothing"], rows)


def _replays(replayed: Sequence[Replayed]) -> str:
    rows = []
    for each in replayed:
        right = "" if each.iteration in each.acceptable else " no"
        rows.append(
            [each.loop, _listed(sorted(each.acceptable)), f"{each.iteration}{right}", each.commit, each.subject]
        )
    return _table(["loop", "acceptable", "replay takes", "commit", "subject"], rows)


def _classes(found: Sequence[Figures], explained: Sequence[Figures]) -> str:
    head = ["loop", "iterations", "labelled", "false", "missed"]
    rows = [
        [each.loop, each.iterations, *map(_number_and_list, (each.regressions, each.false_regressions, each.missed))]
        for each in found
    ]
    return _table(head, [*rows, *(_total_of_classes(*each) for each in _totals(found, explained))])


def _total_of_classes(name: str, figures: Sequence[Figures]) -> list[object]:
    iterations = sum(each.iterations for each in figures)
    return [name, iterations, *(sum(map(len, lists)) for lists in zip(*map(_class_lists, figures), strict=True))]


def _totals(found: Sequence[Figures], explained: Sequence[Figures]) -> list[tuple[str, Sequence[Figures]]]:
    return [(f"{len(found)} loops", found), ("the same, removals known", explained)]


def _class_lists(each: Figures) -> tuple[list[int], ...]:
    return each.regressions, each.false_regressions, each.missed


def _decisions(found: Sequence[Figures], explained: Sequence[Figures]) -> str:
    head = [
        "loop",
        "labelled stop",
        "first stop",
        "false stops",
        "rollbacks",
        "false",
        "missed",
        "wrong target",
        "escalations",
        "false",
        "open at the end",
    ]
    rows: list[list[object]] = []
    for each in found:
        cells = map(_number_and_list, _decision_lists(each))
        first = each.stops[0] if each.stops else "none"
        rows.append([each.loop, each.labelled_stop, first, *cells, len(each.open_alerts)])
    return _table(head, [*rows, *(_total_of_decisions(*each) for each in _totals(found, explained))])


def _total_of_decisions(name: str, figures: Sequence[Figures]) -> list[object]:
    lists = zip(*map(_decision_lists, figures), strict=True)
    return [name, "", "", *(sum(map(len, each)) for each in lists), sum(len(each.open_alerts) for each in figures)]


def _decision_lists(each: Figures) -> tuple[list[int], ...]:
    rollbacks = each.rollbacks, each.false_rollbacks, each.missed_rollbacks, each.wrong_targets
    return each.false_stops, *rollbacks, each.escalations, each.false_escalations


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


def _number_and_list(numbers: Sequence[int]) -> str:
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
    others = (
        ("removals", labels.removals),
        ("red on arrival", labels.red_on_arrival),
        ("right rollbacks", labels.right_rollbacks),
    )
    told = [f"{labels.repository} {labels.range}"] if labels.repository else []
    told += [f"{name} {_listed(sorted(numbers))}" for name, numbers in others if numbers]
    lines += [f"  {', '.join(told)}"] if told else []
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
            f"{turn.quality:.4f} {turn.adjusted:.4f} {turn.action + target:14} ({turn.rule}) {alerts}"
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
