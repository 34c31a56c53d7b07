"""Judge a labelled set of changes: honest ones, honest refactors, and tamperings that hide in honest releases.

    python benchmarks/integrity/run.py [--quick] [--seed N] [--rounds N] [--small N] [--peers N] [--json FILE]
                                       [--misses FILE]

Releases are fetched by name and version into $RALPH_TRACKER_BENCH_CACHE (else below the user's cache folder) and are
read, never run. `--peers N` asks checkwash, tampercheck and testseal about N tamperings of each package, the releases
that carry them, and half as many controls and small changes: the same for all three.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from random import Random
from typing import Final

import peers
from cases import Case, Half, cases_of, changes_of
from fetch import APART, PACKAGES, cache_folder, fetch, listed
from figures import HALVES, OURS, Result, as_json, result_of, tables
from judge import Judged, judged
from misses import described
from trees import belongs_to_tests

QUICK: Final = 4
SMALL: Final = 24


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its tables."""
    asked = _parser().parse_args(words)
    packages, halves = _asked_for(asked)
    if asked.quick:
        kept = Random(asked.seed).sample(sorted(packages), min(QUICK, len(packages)))
        packages = {name: packages[name][-QUICK:] for name in kept}
    folder = asked.cache / "sdists"
    fetch(packages, folder)
    if asked.misses:
        asked.misses.unlink(missing_ok=True)
    commands = peers.installed(asked.cache / "peers") if asked.peers else None
    jobs = [(name, halves[name], versions, folder, asked, commands) for name, versions in packages.items()]
    results: list[Result] = []
    with ProcessPoolExecutor(max_workers=asked.jobs) as pool:
        waiting = [pool.submit(_project, job) for job in jobs]
        for done in as_completed(waiting):
            found, notes = done.result()
            results += found
            if asked.json:  # a run of an hour that is ended keeps what it has
                asked.json.write_text(json.dumps(as_json(results), indent=1), encoding="utf-8")
            if asked.misses and notes:
                with asked.misses.open("a", encoding="utf-8") as out:
                    out.write("\n".join([*notes, ""]))
    results.sort(key=lambda each: (each.tool != OURS, each.tool, each.project))
    print(_summary(results))
    print(tables(results) if results else "no change could be made")
    return 0 if results else 1


def _asked_for(asked: argparse.Namespace) -> tuple[dict[str, list[str]], dict[str, Half]]:
    """Return the releases of the packages that are asked for, and the half of each."""
    tuned = listed(asked.packages or PACKAGES)
    apart = listed(asked.apart or APART) if asked.apart or not asked.packages else {}
    halves: dict[str, Half] = {**dict.fromkeys(tuned, "tuning"), **dict.fromkeys(apart, "held-out")}
    only = set(asked.only.split(",")) if asked.only else set(halves)
    packages = {
        name: versions
        for name, versions in {**tuned, **apart}.items()
        if name in only and asked.half in {None, halves[name]}
    }
    return packages, halves


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Judge a labelled set of changes.")
    parser.add_argument("--packages", type=Path, help="which releases to tune on, as packages.toml")
    parser.add_argument("--apart", type=Path, help="which to keep apart, as apart.toml; none where --packages is given")
    parser.add_argument("--only", help="these packages, by commas")
    parser.add_argument("--half", choices=HALVES, help="this half only; rules are tuned on the first")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="where fetched releases are kept")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=1, help="tamperings of each variant in each project")
    parser.add_argument(
        "--small", type=int, default=SMALL, help="honest changes of the size of an iteration, a package"
    )
    parser.add_argument("--peers", type=int, default=0, help="ask the other checkers too: tamperings a package")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--honest", action="store_true", help="honest changes and releases only: no edits of ours")
    parser.add_argument("--quick", action="store_true", help="a few releases of a few packages")
    parser.add_argument("--json", type=Path, help="write each result there")
    parser.add_argument("--misses", type=Path, help="write the false alarms and misses of the tuning half there")
    return parser


Job = tuple[str, Half, list[str], Path, argparse.Namespace, Path | None]


def _project(job: Job) -> tuple[list[Result], list[str]]:
    name, half, versions, folder, asked, commands = job
    changes = changes_of(name, versions, folder)
    known: dict[int, Judged] = {}
    results: list[Result] = []
    notes: list[str] = []
    cases = list(cases_of(changes, half, asked.seed, 0 if asked.honest else asked.rounds, asked.small))
    for case in cases:
        carrier = None if case.carrier is None else known.get(id(case.carrier)) or judged(case.carrier)
        said = judged(case)
        if case.kind == "release":
            known[id(case)] = said
        result = result_of(OURS, case, said, carrier, tests_changed=_touches_tests(case))
        results.append(result)
        notes += described(case, said, result)
    if commands is not None:
        results += _peers(_sample(cases, asked), commands)
    print(f"{name}: {len(changes)} changes, {len(cases)} cases", file=sys.stderr)
    return results, notes


def _touches_tests(case: Case) -> bool:
    return any(belongs_to_tests(path) for path in case.paths)


def _sample(cases: Sequence[Case], asked: argparse.Namespace) -> list[Case]:
    """Return the package's part of the sample that every peer is asked about."""
    rng = Random(f"{asked.seed} {cases[0].project}") if cases else Random(asked.seed)
    tampered = [case for case in cases if case.kind == "tampered"]
    controls = [case for case in cases if case.kind == "control"]
    small = [case for case in cases if case.kind == "honest"]
    half = (asked.peers + 1) // 2
    return [
        *rng.sample(tampered, min(len(tampered), asked.peers)),
        *rng.sample(controls, min(len(controls), half)),
        *rng.sample(small, min(len(small), half)),
    ]


def _peers(sample: Sequence[Case], commands: Path) -> Iterator[Result]:
    """Ask every peer; the releases that carry the tamperings are judged as such too."""
    holder, repository = peers.repository()
    known: dict[tuple[str, int], Judged] = {}
    with holder:
        for case in sample:
            carrier = case.carrier
            if carrier is not None and (peers.PEERS[0].name, id(carrier)) not in known:
                repository.lay(carrier.old, carrier.new)
                for peer in peers.PEERS:
                    known[peer.name, id(carrier)] = said = peers.asked(peer, commands, repository)
                    yield result_of(peer.name, carrier, said, None, tests_changed=_touches_tests(carrier))
            repository.lay(case.old, case.new)
            for peer in peers.PEERS:
                said = peers.asked(peer, commands, repository)
                before = None if carrier is None else known[peer.name, id(carrier)]
                yield result_of(peer.name, case, said, before, tests_changed=_touches_tests(case))


def _summary(results: Sequence[Result]) -> str:
    ours = [each for each in results if each.tool == OURS]
    lines = ["| changes | tuning | held out |", "|---|---|---|"]
    for title, kind, touching in (
        ("small, a test changed", "honest", True),
        ("small, settings only", "honest", False),
        ("releases, a test changed", "release", True),
        ("releases, settings only", "release", False),
        ("honest refactors", "control", None),
        ("tamperings", "tampered", None),
        ("tamperings of green tests", "green", None),
    ):
        counts = [
            sum(each.kind == kind and each.half == half and touching in {None, each.tests_changed} for each in ours)
            for half in HALVES
        ]
        lines.append(f"| {title} | {counts[0]} | {counts[1]} |")
    projects = [len({each.project for each in ours if each.half == half}) for half in HALVES]
    return "\n".join([*lines, f"| packages | {projects[0]} | {projects[1]} |", ""])


if __name__ == "__main__":
    sys.exit(main())
