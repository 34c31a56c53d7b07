"""Measure what a page and a status cost on a loop of 1,000 iterations with 2,000 tests.

The loop is made by the tracker itself, with metrics handed in: in every iteration some tests break and others come
back. Verbs are measured as whole processes, CPU of user and system together.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from table import Table, children_cpu

from ralph_tracker import post_iteration, pre_loop

TRACKER = str(Path(sys.executable).parent / "ralph-tracker")
ITERATIONS = int(os.environ.get("RALPH_TRACKER_BENCH_PAGE_ITERATIONS", "1000"))
TESTS = 2000
BROKEN = 20
LIMIT_PAGE_S, LIMIT_STATUS_S, LIMIT_PAGE_MB = 2.0, 0.3, 5.0
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
        table.row(f"the page, {of}", f"{size:.1f} MB", f"{LIMIT_PAGE_MB:g} MB", held=size <= LIMIT_PAGE_MB)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
