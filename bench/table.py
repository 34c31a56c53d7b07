"""Print the table of measurements, and measure the CPU of commands."""

import resource
import statistics
import subprocess
import sys
from pathlib import Path

RUNS = 15


class Table:
    """The table of figures, and whether all met their limits."""

    def __init__(self) -> None:
        self.held = True

    def row(self, what: str, figure: str, limit: str, *, held: bool) -> None:
        """Print a figure with its limit."""
        self.held = self.held and held
        print(f"{'ok  ' if held else 'OVER'} {what:<70} {figure:>16}   limit {limit}", flush=True)


def children_cpu(command: list[str], cwd: Path, *, runs: int = RUNS, stdin: bytes = b"") -> float:
    """Return the median CPU seconds of a command, as a whole process."""
    taken = []
    for _ in range(runs):
        before = _spent()
        subprocess.run(command, cwd=cwd, input=stdin, stdout=subprocess.DEVNULL, check=False)
        taken.append(_spent() - before)
    return statistics.median(taken)


def against_floor(command: list[str], cwd: Path, *, stdin: bytes = b"") -> float:
    """Return the CPU of a command as a multiple of `python -c pass`, run by turns: the machine changes its pace."""
    floor, taken = [], []
    for _ in range(RUNS):
        floor.append(floor_cpu(cwd, runs=1))
        taken.append(children_cpu(command, cwd, runs=1, stdin=stdin))
    return statistics.median(taken) / statistics.median(floor)


def floor_cpu(cwd: Path, *, runs: int = RUNS) -> float:
    """Return the median CPU seconds of `python -c pass` in this environment."""
    return children_cpu([sys.executable, "-c", "pass"], cwd, runs=runs)


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
