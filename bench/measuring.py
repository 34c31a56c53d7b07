"""Measure the cost of post_iteration beyond the checks: in process, as a command, and for reading code alone.

The project has 1,000 Python files, of which 20 change in each round; its only check copies an existing report of 1,000
tests, so that nearly all the rest is ours: snapshot, reading the report and the changed files, judging, writing. In
process, imports are left out, and git's own processes are listed separately.

    python bench/measuring.py [--files N] [--changed N] [--rounds N]
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from snapshot import edit, make_project
from table import Table, children_cpu, floor_cpu

from ralph_tracker import post_iteration, pre_loop
from ralph_tracker.measure.tree_metrics import count_code

CASES = 1000
SETTLED_S = 3  # until unchanged files are recognized by their times
CONFIG = """\
loop: {max_iterations: null}
checks:
  tests: {run: [cp, junit.xml, "{reports}/junit.xml"], reports: ["{reports}/junit.xml"], format: junit}
"""
BODY = """
def check_{n}(value, other):
    if value > {n} and other:
        return [each for each in value if each]
    while other:
        other -= 1
    return value or other
"""


def write_project(root: Path, count: int) -> list[Path]:
    """Write functions into the files of the project, a report, and the configuration."""
    files = make_project(root, count)
    for number, file in enumerate(files):  # all different, so that no result can be reused
        file.write_text("".join(BODY.format(n=number * 10 + n) for n in range(10)))
    cases = "".join(f'<testcase classname="tests.test_{n // 50}" name="test_{n}" time="0.01"/>' for n in range(CASES))
    (root / "junit.xml").write_text(f'<testsuite name="all" tests="{CASES}">{cases}</testsuite>')
    (root / "ralph-tracker.yaml").write_text(CONFIG)
    return files


def children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def in_process(table: Table, root: Path, files: list[Path], changed: int, rounds: int) -> None:
    """Measure post_iteration here, with everything imported."""
    own, others = [], []
    for number in range(rounds + 1):
        edit(files, changed, number)
        before, around = time.process_time(), children()
        record = post_iteration(root=root)
        own.append(time.process_time() - before)
        others.append(children() - around)
        assert record.metrics.test_count == CASES, record
    seconds = statistics.median(own[1:])  # the first run imports the rest
    rest = f"git and the check {statistics.median(others[1:]) * 1000:.0f} ms"
    table.row(
        f"post_iteration beyond its checks, {len(files)} files, {changed} changed ({rest})",
        f"{seconds * 1000:.0f} ms CPU",
        "150 ms",
        held=seconds <= 0.150,
    )


def as_command(table: Table, root: Path, files: list[Path], changed: int, rounds: int) -> None:
    """Measure the whole `ralph-tracker hook post-iteration`, including git's processes."""
    command = [str(Path(sys.executable).parent / "ralph-tracker"), "hook", "post-iteration"]
    children_cpu(command, root, runs=1)  # compiles what was edited since the last call
    floors, ratios = [], []
    for number in range(rounds):  # alternating, as the machine's speed changes from second to second
        edit(files, changed, number)
        floors.append(floor_cpu(root))
        ratios.append(children_cpu(command, root, runs=1) / floors[-1])
    floor, ratio = statistics.median(floors), statistics.median(ratios)
    table.row(
        f"hook post-iteration against python -c pass ({floor * 1000:.0f} ms)",
        f"{ratio:.1f} x",
        "25 x",
        held=ratio <= 25,
    )


def second_pass(table: Table, root: Path, files: list[Path], changed: int, rounds: int) -> None:
    """Count the code again after edits, compared with a first count of as many files as were edited and of none."""
    names, cache = [file.relative_to(root).as_posix() for file in files], root.parent / "code.json"
    first = spent(lambda: count_code(root, names, cache=cache))
    time.sleep(SETTLED_S)
    count_code(root, names, cache=cache)
    nothing, few, many = [], [], []
    for number in range(rounds):
        nothing.append(spent(lambda: count_code(root, names, cache=cache)))
        for share, taken in ((changed, few), (changed * 5, many)):
            edit(files, share, number)
            taken.append(spent(lambda: count_code(root, names, cache=cache)))
            time.sleep(SETTLED_S)
            count_code(root, names, cache=cache)
    idle = min(nothing)  # some milliseconds: use the least disturbed round
    each = (first - idle) / len(files)
    one, five = (min(taken) - idle for taken in (few, many))
    what = f"second count of code, {changed} of {len(files)} files changed, against their share of the first"
    table.row(what, f"{one / (each * changed):.2f} x", "2 x", held=one <= 2 * each * changed)
    what = f"the same, {changed * 5} files changed against {changed}"
    table.row(what, f"{five / one:.1f} x", "7.5 x", held=five <= 7.5 * one)
    table.row(
        "the same, no file changed, against the first count",
        f"{idle / first:.3f} x",
        "0.05 x",
        held=idle <= 0.05 * first,
    )


def spent(act: Callable[[], object]) -> float:
    """Return the CPU seconds of a call in this process."""
    before = time.process_time()
    act()
    return time.process_time() - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--changed", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    # As in a plain shell, and as installed: with bytecode on disk.
    for name in [name for name in os.environ if name.startswith("GIT_") or name == "PYTHONDONTWRITEBYTECODE"]:
        del os.environ[name]
    table, rounds = Table(), options.rounds
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        root.mkdir()
        files = write_project(root, options.files)
        second_pass(table, root, files, options.changed, rounds)
        pre_loop(root=root)
        in_process(table, root, files, options.changed, rounds)
        as_command(table, root, files, options.changed, rounds)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
