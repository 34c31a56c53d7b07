"""Measure the CPU that integrity adds to an iteration: with no change, with one changed test file, and for its re-run.

The project has 40 modules with 10 tests each, run by pytest. The CPU of the check is measured inside of each iteration,
including its processes, and compared with the rest of the same iteration.

    python bench/integrity.py [--rounds N]
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from table import Table

from ralph_tracker import post_iteration, pre_loop
from ralph_tracker.core.integrity_result import Integrity
from ralph_tracker.iteration.tamper_check import TamperCheck

MODULES, TESTS = 40, 10
RATIO, MORE_S = 1.05, 0.3
CHECK = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
CONFIG = """\
loop: {{max_iterations: null}}
checks:
  tests: {{run: [{run}, "--junitxml={{reports}}/junit.xml"], reports: ["{{reports}}/junit.xml"], format: junit}}
"""


def write_project(root: Path) -> None:
    """Write modules and their tests, a configuration, and commit them."""
    (root / "tests").mkdir()
    for number in range(MODULES):
        functions = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(TESTS))
        (root / f"m{number}.py").write_text(functions)
        tests = "".join(f"\n\ndef test_f{n}():\n    assert m{number}.f{n}(1) == {n + 1}\n" for n in range(TESTS))
        (root / "tests" / f"test_m{number}.py").write_text(f"import m{number}\n{tests}")
    (root / "conftest.py").write_text("")
    (root / ".gitignore").write_text(".aiwg/\n__pycache__/\n")
    (root / "ralph-tracker.yaml").write_text(CONFIG.format(run=", ".join(f'"{word}"' for word in CHECK)))
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "base"],
    ):
        subprocess.run(["git", *words], cwd=root, check=True)


def spent() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


class Spent:
    """The CPU of the check, added up while iterations run; it is steadier than a difference of two figures."""

    def __init__(self) -> None:
        self.cpu = 0.0
        check = TamperCheck.integrity

        def measured(one: TamperCheck) -> Integrity:
            before = spent()
            try:
                return check(one)
            finally:
                self.cpu += spent() - before

        TamperCheck.integrity = measured  # type: ignore[method-assign]


def turn(root: Path, check: Spent) -> tuple[float, float]:
    """Return the CPU seconds of an iteration and of the check in it."""
    before, check.cpu = spent(), 0.0
    post_iteration(root=root)
    return spent() - before, check.cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    table = Table()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "project"
        root.mkdir()
        write_project(root)
        pre_loop(root=root)
        check = Spent()
        turn(root, check)
        source, test = root / "m0.py", root / "tests" / "test_m0.py"
        ratios = []
        for number in range(rounds):
            source.write_text(source.read_text() + f"# {number}\n")
            whole, check_cpu = turn(root, check)
            ratios.append(whole / (whole - check_cpu))
        ratio = statistics.median(ratios)
        what = "an iteration that changes source, with integrity over without"
        table.row(what, f"{ratio:.3f}", f"{RATIO}", held=ratio <= RATIO)
        test.write_text(test.read_text().replace("m0.f0(1) == 1", "m0.f0(1) + 0 == 1"))
        more = []
        for _ in range(rounds):
            _, check_cpu = turn(root, check)
            before = spent()
            subprocess.run([*CHECK, test, f"--junitxml={root}/.aiwg/j.xml"], cwd=root, capture_output=True, check=True)
            more.append(check_cpu - (spent() - before))
        over = statistics.median(more)
        what = "earlier tests of one file run again, beyond pytest on that file"
        table.row(what, f"{over * 1000:.0f} ms", f"{MORE_S * 1000:.0f} ms", held=over <= MORE_S)
    return 0 if table.held else 1


if __name__ == "__main__":
    sys.exit(main())
