"""Measure what a page, a status and a server with 50 viewers cost on a loop of 1,000 iterations with 2,000 tests.

The loop is made by the tracker itself, with metrics handed in: in every iteration some tests break and others come
back. Verbs are measured as whole processes, CPU of user and system together.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from table import Table, children_cpu
from viewers import p99, site_of

from ralph_tracker import post_iteration, pre_loop

TRACKER = str(Path(sys.executable).parent / "ralph-tracker")
ITERATIONS = int(os.environ.get("RALPH_TRACKER_BENCH_PAGE_ITERATIONS", "1000"))
TESTS = 2000
BROKEN = 20
LIMIT_PAGE_S, LIMIT_STATUS_S, LIMIT_PAGE_MB = 2.0, 0.3, 5.0
LIMIT_FIRST_S, LIMIT_P99_S, LIMIT_TIMES, LIMIT_SLOWED = 0.2, 0.3, 10, 1.5
VIEWERS, TIMES, RECORDED = 50, 10, 5
LOOP = "/loops/ralph-001"
RUNS = 3


def metrics_of(number: int) -> dict[str, object]:
    """Return metrics in which other tests fail in each iteration, fewer and fewer."""
    left = max(0, TESTS - 2 * number)
    failing = {(number * 7 + place * 13) % TESTS for place in range(min(left, BROKEN))}
    tests = [
        {
            "id": f"tests.test_area_{place // 50}::test_case_{place}",
            "outcome": "failed" if place in failing else "passed",
        }
        for place in range(TESTS)
    ]
    return {
        "tests": tests,
        "testing": {"coverage_percentage": 60 + number % 30},
        "quality": {"lint_errors": number % 5},
        "codebase": {"file_count": 31, "loc_total": 4500 + number, "complexity_score": 3.2},
    }


def make(root: Path) -> None:
    """Record the loop; the disk is not waited for."""
    (root / "ralph-tracker.yaml").write_text("loop: {max_iterations: null}\n", encoding="utf-8")
    pre_loop(root=root, metrics=metrics_of(0))
    for number in range(1, ITERATIONS + 1):
        post_iteration(root=root, metrics=metrics_of(number))


def recorded(root: Path, first: int) -> float:
    """Return the least time in which an iteration is recorded, as a loop in shell waits for it."""
    taken = []
    for number in range(first, first + RECORDED):
        file = root / "metrics.json"
        file.write_text(json.dumps(metrics_of(number)), encoding="utf-8")
        began = time.perf_counter()
        command = [TRACKER, "hook", "post-iteration", "--metrics", str(file)]
        subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - began)
        time.sleep(1)  # the agent works
    return min(taken)


def serve(table: Table, root: Path, of: str) -> None:
    """Print what the server takes for one viewer and for 50, and what those take of the loop."""
    alone = recorded(root, ITERATIONS + 1)
    with site_of(root) as site:
        first = site.seconds("/")
        table.row(
            f"serve, first page, {of}",
            f"{first * 1000:.0f} ms",
            f"{LIMIT_FIRST_S * 1000:.0f} ms",
            held=first <= LIMIT_FIRST_S,
        )
        table.row(f"serve, loop's page made, {of}", f"{site.seconds(LOOP) * 1000:.0f} ms", "none", held=True)
        one, _ = site.at_once(LOOP, 1, VIEWERS * 2)
        many, errors = site.at_once(LOOP, VIEWERS, TIMES)
        limit = max(LIMIT_P99_S, LIMIT_TIMES * p99(one))
        told = f"p99 {p99(many) * 1000:.0f} ms, {len(errors)} errors"
        held = not errors and p99(many) <= limit
        table.row(f"serve, {VIEWERS} viewers at once", told, f"{limit * 1000:.0f} ms, 0 errors", held=held)
        with site.followed(LOOP, VIEWERS) as errors:
            beside = recorded(root, ITERATIONS + 1 + RECORDED)
        told = f"{beside / alone:.2f} × alone, {len(errors)} errors"
        held = not errors and beside <= LIMIT_SLOWED * alone
        table.row(f"recording beside {VIEWERS} viewers", told, f"{LIMIT_SLOWED:g} ×, 0 errors", held=held)


def main() -> int:
    """Print the table."""
    os.fsync = lambda _: None
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed: with bytecode on disk
    table = Table()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve()
        make(root)
        page = root / "page.html"
        of = f"{ITERATIONS} iterations × {TESTS} tests"
        for verb, limit in ((("report", "--html", str(page)), LIMIT_PAGE_S), (("status",), LIMIT_STATUS_S)):
            command = [TRACKER, *verb]
            subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, check=True)  # it must not fail fast
            taken = children_cpu(command, root, runs=RUNS)
            name = "report --html" if "--html" in verb else verb[0]
            table.row(f"{name}, {of}", f"{taken:.2f} s CPU", f"{limit:g} s", held=taken <= limit)
        size = page.stat().st_size / 1e6
        serve(table, root, of)
        table.row(f"the page, {of}", f"{size:.1f} MB", f"{LIMIT_PAGE_MB:g} MB", held=size <= LIMIT_PAGE_MB)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
