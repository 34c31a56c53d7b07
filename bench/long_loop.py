"""Measure what a loop of 5,000 iterations takes on disk, and what verbs cost there.

The loop is made by the tracker itself, with metrics handed in. Verbs are measured as whole processes, CPU of user and
system together. Files and the room on disk have limits from 1,000 iterations on, most of which are packed then.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from table import Table, children_cpu

from ralph_tracker import post_iteration, pre_loop

TRACKER = str(Path(sys.executable).parent / "ralph-tracker")
ITERATIONS = int(os.environ.get("RALPH_TRACKER_BENCH_ITERATIONS", "5000"))
LIMIT_S = 2.0
FILES_EACH = 3
DISK_EACH_KB = 8
PACKED_FROM = 1000
BLOCK = 512  # bytes; the unit of st_blocks
RUNS = 3
VERBS = (
    ("select-best", "--apply", "none"),
    ("history",),
    ("verify",),
    ("status",),
    ("show", "3"),
    ("report", "3"),
    ("hook", "loop-decision"),
)
METRICS = {
    "testing": {"test_count": 80, "tests_passed": 80, "tests_failed": 0, "coverage_percentage": 81.5},
    "quality": {"lint_errors": 2, "lint_warnings": 3, "type_errors": 0, "build_status": "success"},
    "codebase": {"file_count": 31, "loc_total": 4500, "complexity_score": 3.2},
}


def make(root: Path) -> None:
    """Record the loop; the disk is not waited for."""
    (root / "ralph-tracker.yaml").write_text("loop: {max_iterations: null}\n", encoding="utf-8")
    pre_loop(root=root, metrics=METRICS)
    for number in range(1, ITERATIONS + 1):
        testing = {**METRICS["testing"], "coverage_percentage": 60 + number * 7 % 30}
        post_iteration(root=root, metrics={**METRICS, "testing": testing})


def weigh(table: Table, root: Path) -> None:
    """Print files and bytes of each iteration, and of the loop in whole blocks."""
    files = [path.lstat() for path in (root / ".aiwg").rglob("*") if path.is_file()]
    whole = sum(path.lstat().st_blocks for path in (root / ".aiwg").rglob("*")) * BLOCK
    small = ITERATIONS < PACKED_FROM
    each = len(files) / ITERATIONS
    limit = "none" if small else f"{FILES_EACH} each"
    table.row(f"files, {ITERATIONS} iterations", f"{each:.1f} each", limit, held=small or each <= FILES_EACH)
    apparent = sum(status.st_size for status in files) / ITERATIONS / 1000
    table.row(f"bytes, {ITERATIONS} iterations", f"{apparent:.1f} KB each", "none", held=True)
    most = ITERATIONS * DISK_EACH_KB / 1000
    limit = "none" if small else f"{most:.0f} MB"
    table.row(f"on disk, {ITERATIONS} iterations", f"{whole / 1e6:.0f} MB", limit, held=small or whole / 1e6 <= most)


def main() -> int:
    """Print the table."""
    os.fsync = lambda _: None
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed: with bytecode on disk
    table = Table()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve()
        began = time.process_time()
        make(root)
        each = (time.process_time() - began) / ITERATIONS * 1000
        table.row(f"recording, {ITERATIONS} iterations", f"{each:.1f} ms CPU each", "none", held=True)
        weigh(table, root)
        for verb in VERBS:
            command = [TRACKER, *verb]
            subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, check=True)  # it must not fail fast
            taken = children_cpu(command, root, runs=RUNS)
            what = f"{' '.join(verb)}, {ITERATIONS} iterations"
            table.row(what, f"{taken:.2f} s CPU", f"{LIMIT_S:.0f} s", held=taken <= LIMIT_S)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
