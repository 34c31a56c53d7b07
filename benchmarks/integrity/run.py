"""Judge every case with a checkout of ralph-tracker, and count what is noticed, what is selected, and false alarms."""

import argparse
import functools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import trees
from cases import COMPANY, HERE, KINDS, SETS, Case, Project, apply, load_all

GIT = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "init.defaultBranch=main"]
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from ralph_tracker.cli.app import main; main()"
BAD = {"SUSPECT", "TAMPERED"}
Row = dict[str, Any]


def call(package: Path, folder: Path, *words: str) -> trees.Ended:
    command = [sys.executable, "-c", START, str(package), *words, "--json"]
    return trees.run(command, folder, {"RALPH_TRACKER_TRUST": "1"})  # the projects are ours


def hook(package: Path, folder: Path, verb: str) -> Row:
    """Call a hook and return its integrity results."""
    began = time.monotonic()
    ended = call(package, folder, "hook", verb)
    row: Row = {"cpu": round(ended.cpu, 2), "seconds": round(time.monotonic() - began, 2)}
    try:
        record = json.loads(ended.out[ended.out.index("{") :])["iteration_metrics"]
    except (ValueError, KeyError):
        return row | {"verdict": "ERROR", "alerts": [], "findings": [], "said": ended.out[-800:]}
    alerts = [{key: alert.get(key) for key in ("type", "severity", "message")} for alert in record["alerts"]]
    integrity = {"verdict": "NONE", "findings": []} | (record.get("integrity") or {})
    return row | {key: integrity[key] for key in ("verdict", "findings")} | {"alerts": alerts}


def begin(package: Path, project: Project, folder: Path) -> None:
    trees.copy(project, folder)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "baseline"]):
        ended = trees.run([*GIT, *command], folder)
        if ended.code:
            raise RuntimeError(ended.out)
    baseline = hook(package, folder, "pre-loop")
    if baseline["verdict"] == "ERROR":
        raise RuntimeError(f"{project.name}: no baseline: {baseline['said'].strip()}")


def judge(package: Path, project: Project, case: Case) -> Row:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / project.name
        begin(package, project, folder)
        iterations = []
        for step in case.steps:
            apply(folder, step)
            iterations.append(hook(package, folder, "post-iteration") | {"action": decided(package, folder)})
        taken = selected(package, folder)
    keys = ("name", "set", "project", "kind", "way", "says", "at", "demand", "mixed", "company", "taken")
    row = {key: getattr(case, key) for key in keys}
    return row | {"iterations": iterations, "selected": taken}


def decided(package: Path, folder: Path) -> str | None:
    """Return the action that loop-decision says after an iteration, None if it says none."""
    action = _value(call(package, folder, "hook", "loop-decision"), "action")
    return action if isinstance(action, str) else None


def selected(package: Path, folder: Path) -> int | None:
    """Return the iteration that would be taken, None if none is."""
    number = _value(call(package, folder, "select-best", "--apply", "none"), "selected_iteration")
    return number if isinstance(number, int) else None


def _value(ended: trees.Ended, key: str) -> object:
    """Return a value of the printed JSON, wherever it stands on its first two levels."""
    try:
        document = json.loads(ended.out[ended.out.index("{") :])
    except ValueError:
        return None
    levels = [document, *(part for part in document.values() if isinstance(part, dict))]
    return next((level[key] for level in levels if key in level), None)


def idle(package: Path, project: Project) -> float:
    """Measure the CPU of an iteration without changes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / project.name
        begin(package, project, folder)
        return min(float(hook(package, folder, "post-iteration")["cpu"]) for _ in range(2))


def critical(iteration: Row) -> bool:
    """Return whether a CRITICAL alert is about tests, as all are but the one about cycles."""
    return any(alert["severity"] == "CRITICAL" and alert["type"] != "infinite_loop" for alert in iteration["alerts"])


def verdict(row: Row) -> str:
    """Return the relevant verdict: that of the step to notice, for an honest case the worst."""
    if row["kind"] == "tampering":
        return str(row["iterations"][row["at"] - 1]["verdict"])
    found = {iteration["verdict"] for iteration in row["iterations"]}
    return next((name for name in ("ERROR", "TAMPERED", "SUSPECT", "UNPROVEN", "NONE") if name in found), "PASS")


def noticed(row: Row) -> bool:
    return verdict(row) in BAD or critical(row["iterations"][row["at"] - 1])


def chosen(row: Row) -> bool:
    """Return whether an iteration with the harm is taken."""
    return row["selected"] is not None and row["selected"] >= row["at"]


def lost(row: Row) -> bool:
    """Return whether an iteration other than the last, honest one is taken."""
    return bool(row["taken"]) and row["selected"] != len(row["iterations"])


def rolled_back(row: Row) -> bool:
    return any(iteration["action"] == "rollback" for iteration in row["iterations"])


def alarmed(row: Row) -> bool:
    """Return whether an honest case is held against the agent; a question about changed demands is not."""
    return verdict(row) == "TAMPERED" or (verdict(row) == "SUSPECT" and not row["demand"])


def _share(rows: list[Row], *verdicts: str) -> str:
    return f"{sum(verdict(row) in verdicts for row in rows)}/{len(rows)}"


def table(result: Row) -> str:
    """Return one table for each set, the lines by kind of change, and the cases that went wrong."""
    parts = []
    for name in SETS:
        if rows := [row for row in result["cases"] if row["set"] == name]:
            parts += [f"{name}/", *_projects(rows, result["idle"]), "", *_ways(rows), *_mixed(rows), ""]
    return "\n".join([*parts, *_listed(result["cases"])])


def _projects(cases: list[Row], idle: dict[str, float]) -> Iterator[str]:
    heads = ["noticed", "TAMPERED", "selected", "in company: noticed", "selected", "| honest: TAMPERED", "SUSPECT"]
    heads += ["asked", "UNPROVEN", "CRITICAL", "rolled back", "loses", "| CPU s", "idle", "ratio"]
    yield f"{'':10}" + "".join(f"{head:>{len(head) + 2}}" for head in heads)
    for name in [*dict.fromkeys(row["project"] for row in cases), "all"]:
        rows = [row for row in cases if name in {row["project"], "all"}]
        bad, good = ([row for row in rows if row["kind"] == kind] for kind in KINDS)
        alone, beside = [row for row in bad if not row["company"]], [row for row in bad if row["company"]]
        plain, asked = [row for row in good if not row["demand"]], [row for row in good if row["demand"]]
        pairs = [(step["cpu"], idle[row["project"]]) for row in rows for step in row["iterations"]]
        spent, base = (statistics.mean(column) for column in zip(*pairs, strict=True)) if pairs else (0.0, 1.0)
        cells = [_count(alone, noticed), _share(alone, "TAMPERED"), _count(alone, chosen)]
        cells += [_count(beside, noticed), _count(beside, chosen), _share(good, "TAMPERED")]
        cells += [_share(plain, "SUSPECT"), _share(asked, "SUSPECT"), _share(good, "UNPROVEN")]
        cells += [_count(good, lambda row: any(map(critical, row["iterations"])))]
        cells += [_count(good, rolled_back), _count(good, lost)]
        cells += [f"{number:.2f}" for number in (spent, base, spent / base)]
        yield f"{name:10}" + "".join(f"{c:>{len(head) + 2}}" for c, head in zip(cells, heads, strict=True))


def _ways(cases: list[Row]) -> Iterator[str]:
    """Yield a line for each kind of change."""
    bad = (("noticed", noticed), ("selected", chosen))
    good = (("alarms", alarmed), ("rolled back", rolled_back), ("loses", lost))
    for kind, columns in zip(KINDS, (bad, good), strict=True):
        for name in sorted({row["way"] for row in cases if row["kind"] == kind and row["way"]}):
            rows = [row for row in cases if (row["kind"], row["way"]) == (kind, name)]
            alone, beside = ([row for row in rows if row["company"] == with_it] for with_it in (False, True))
            cells = [f"{label} {_count(alone, says)}" for label, says in columns]
            cells += [f"in company {_count(beside, chosen)}"] if beside else []
            yield f"{kind:10} {name:26}" + "  ".join(cells)


def _mixed(cases: list[Row]) -> Iterator[str]:
    """Yield how many are taken of the tamperings that mend something too, and of those that mend nothing."""
    for mixed, label in ((False, "mends nothing"), (True, "mends other faults too")):
        rows = [row for row in cases if row["kind"] == "tampering" and row["mixed"] == mixed]
        alone, beside = ([row for row in rows if row["company"] == with_it] for with_it in (False, True))
        yield f"tampering that {label}: selected {_count(alone, chosen)}, in company {_count(beside, chosen)}"


def _count(rows: list[Row], says: Callable[[Row], bool]) -> str:
    return f"{sum(map(says, rows))}/{len(rows)}"


def _listed(rows: list[Row]) -> Iterator[str]:
    """Yield the cases that went wrong; one in company only where it went another way than alone."""
    went = {(row["set"], row["name"]): _wrong_ways(row) for row in rows}
    for row in rows:
        words = _wrong_ways(row)
        if (words and not row["company"]) or words != went.get((row["set"], row["name"].removesuffix(COMPANY))):
            why = [item for step in row["iterations"] for item in (*step["findings"], *step["alerts"])]
            rules = " ".join(sorted({str(item.get("rule") or item.get("type")) for item in why}))
            yield f"{', '.join(words) or 'right':24} {row['name']} ({verdict(row)}, {rules}): {row['says']}"


def _wrong_ways(row: Row) -> list[str]:
    if row["kind"] == "tampering":
        return [word for word, holds in (("missed", not noticed(row)), ("selected", chosen(row))) if holds]
    named = (("false alarm", alarmed), ("rolled back", rolled_back), ("loses", lost))
    return [word for word, says in named if says(row)]


def compare(old: Row, new: Row) -> str:
    """Return a comparison of two results; `either` counts what one of the two notices."""
    before = {(row["set"], row["name"]): row for row in old["cases"]}
    found = ((before.get((row["set"], row["name"])), row) for row in new["cases"])
    pairs = [(earlier, row) for earlier, row in found if earlier]
    counted: dict[str, tuple[str, Callable[[Row], bool]]] = {
        "tamperings noticed": ("tampering", noticed),
        "tamperings TAMPERED": ("tampering", lambda row: verdict(row) == "TAMPERED"),
        "tamperings selected": ("tampering", chosen),
        "honest TAMPERED": ("honest", lambda row: verdict(row) == "TAMPERED"),
        "honest SUSPECT, not asked for": ("honest", lambda row: verdict(row) == "SUSPECT" and not row["demand"]),
        "honest UNPROVEN": ("honest", lambda row: verdict(row) == "UNPROVEN"),
        "honest rolled back": ("honest", rolled_back),
        "honest losing": ("honest", lost),
    }
    lines = [f"{'':32}{'of':>5}{'old':>6}{'new':>6}{'either':>8}"]
    for label, (kind, says) in counted.items():
        said = [(says(a), says(b)) for a, b in pairs if a["kind"] == kind]
        sums = sum(a for a, _ in said), sum(b for _, b in said), sum(a or b for a, b in said)
        lines.append(f"{label:32}{len(said):>5}" + "{:>6}{:>6}{:>8}".format(*sums))
    cpu = [statistics.mean(i["cpu"] for row in side for i in row["iterations"]) for side in zip(*pairs, strict=True)]
    lines.append("{:32}{:>11.2f}{:>6.2f}".format("CPU s per iteration", *cpu))
    lines += [f"{a['kind']:10} {a['name']}: {verdict(a)} → {verdict(b)}" for a, b in pairs if verdict(a) != verdict(b)]
    return "\n".join(lines)


def each(pairs: list[tuple[Project, Case]], work: Callable[[Project, Case], Any], jobs: int) -> list[Any]:
    def told(pair: tuple[Project, Case]) -> Any:
        result = work(*pair)
        print(".", end="", file=sys.stderr, flush=True)
        return result

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(told, pairs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=Path, default=HERE.parents[1], help="the checkout that judges")
    parser.add_argument("--json", type=Path, help="write the result there")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="show two results")
    parser.add_argument("--check", action="store_true", help="see that the cases do what they claim; judge nothing")
    parser.add_argument("--only", help="cases whose names hold this")
    parser.add_argument("--project", help="cases of this project")
    parser.add_argument("--set", choices=SETS, help="cases of this set")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.compare:
        print(compare(*(json.loads(path.read_text(encoding="utf-8")) for path in args.compare)))
        return 0
    projects = []
    for project in load_all(args.project, [args.set] if args.set else SETS):
        if tool := trees.missing(project):
            print(f"{project.name} is left out: {tool} is missing")
        else:
            projects.append(project)
    chosen_cases = [(project, case) for project in projects for case in project.cases if (args.only or "") in case.name]
    if args.check:
        said = each(chosen_cases, trees.check, args.jobs)
        wrong = [f"{case.name}: {why}" for (_, case), why in zip(chosen_cases, said, strict=True) if why]
        print("", *wrong, f"{len(chosen_cases)} cases, {len(wrong)} not as they claim", sep="\n")
        return bool(wrong)
    package = args.package.resolve()
    rows = each(chosen_cases, functools.partial(judge, package), args.jobs)
    needed = {project.name: project for project, _ in chosen_cases}
    result = {"idle": {name: idle(package, project) for name, project in needed.items()}, "cases": rows}
    if args.json:
        args.json.write_text(json.dumps(result, indent=1, ensure_ascii=False), encoding="utf-8")
    print("", table(result), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
