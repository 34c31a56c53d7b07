"""Measure a step of a loop beside what others do for the same: MLflow's log of the numbers, git's commit of the files.

Both sides run by turns in one process, and the medians of wall clock are compared: a step waits for the disk. MLflow is
found in `.venv/fleet`, where `make suite NAME=fleet` installs it; without it that row is left out.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from table import Table

from ralph_tracker import post_iteration, pre_loop

STEPS = 40
FILES = 20
OF_MLFLOW, OF_GIT = 1.2, 1.6
FLEET = Path(__file__).parents[1] / ".venv" / "fleet" / "bin" / "python"
GIT = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "init.defaultBranch=main"]
METRICS = {
    "testing": {"test_count": 80, "tests_passed": 80, "tests_failed": 0, "coverage_percentage": 81.5},
    "quality": {"lint_errors": 2, "lint_warnings": 3, "type_errors": 0, "build_status": "success"},
    "codebase": {"file_count": 31, "loc_total": 4500, "complexity_score": 3.2},
}


def metrics(number: int) -> dict[str, dict[str, float | str]]:
    """Return the metrics of a step; the coverage moves."""
    return {**METRICS, "testing": {**METRICS["testing"], "coverage_percentage": 60 + number * 7 % 30}}


def ratio(ours: Callable[[int], object], theirs: Callable[[int], object]) -> tuple[float, float, float]:
    """Return the median milliseconds of both, by turns, and the ratio of the medians."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(1, STEPS + 1):
        for place, step in enumerate((ours, theirs)):
            began = time.perf_counter()
            step(number)
            taken[place].append((time.perf_counter() - began) * 1000)
    mine, other = (statistics.median(each) for each in taken)
    return mine, other, mine / other


def beside_mlflow(root: Path) -> tuple[float, float, float]:
    """Compare a step with metrics handed in with MLflow's log of the same numbers into SQLite."""
    import mlflow  # noqa: PLC0415  # of another environment

    (root / "ralph-tracker.yaml").write_text(
        "loop: {max_iterations: null}\ncodebase: {keep: never}\n", encoding="utf-8"
    )
    pre_loop(root=root, metrics=METRICS)
    mlflow.set_tracking_uri(f"sqlite:///{root}/mlflow.db")
    mlflow.set_experiment("bench")

    def log(number: int) -> None:
        numbers = {
            f"{section}.{name}": value
            for section, values in metrics(number).items()
            for name, value in values.items()
            if not isinstance(value, str)
        }
        mlflow.log_metrics(numbers, step=number)

    with mlflow.start_run():
        log(0)
        return ratio(lambda number: post_iteration(root=root, metrics=metrics(number)), log)


def beside_git(root: Path, other: Path) -> tuple[float, float, float]:
    """Compare a step that keeps 20 changed files with git's commit of the same files in a repository of its own."""
    for folder in (root, other):
        subprocess.run([*GIT, "init", "-q"], cwd=folder, check=True)
        for number in range(1000):
            (folder / f"file-{number}.txt").write_text(f"{number}\n", encoding="utf-8")
        (folder / ".gitignore").write_text(".aiwg/\n", encoding="utf-8")
        subprocess.run([*GIT, "add", "-A"], cwd=folder, check=True)
        subprocess.run([*GIT, "commit", "-qm", "baseline"], cwd=folder, check=True)
    (root / "ralph-tracker.yaml").write_text(
        "loop: {max_iterations: null}\ncodebase: {keep: always}\n", encoding="utf-8"
    )
    pre_loop(root=root, metrics=METRICS)

    def change(folder: Path, number: int) -> None:
        for file in range(FILES):
            (folder / f"file-{file}.txt").write_text(f"{number} {file}\n" * 20, encoding="utf-8")

    def ours(number: int) -> None:
        change(root, number)
        post_iteration(root=root, metrics=metrics(number))

    def theirs(number: int) -> None:
        change(other, number)
        subprocess.run([*GIT, "add", "-A"], cwd=other, check=True)
        subprocess.run([*GIT, "commit", "-qm", str(number)], cwd=other, check=True)

    return ratio(ours, theirs)


def main() -> int:
    """Print the table."""
    table = Table()
    with tempfile.TemporaryDirectory() as scratch:
        root, other = Path(scratch, "project").resolve(), Path(scratch, "other")
        root.mkdir()
        other.mkdir()
        if sys.argv[1:] == ["--mlflow"]:
            found, name, limit = beside_mlflow(root), "MLflow's log into SQLite", OF_MLFLOW
        else:
            found, name, limit = beside_git(root, other), f"git add -A && git commit, {FILES} files", OF_GIT
        mine, theirs, times = found
        what = f"a step {mine:.1f} ms, {name} {theirs:.1f} ms"
        table.row(what, f"{times:.2f} times", f"{limit} times", held=times <= limit)
    if sys.argv[1:]:
        return int(not table.held)
    code = 0
    if FLEET.exists() and not subprocess.run([FLEET, "-c", "import mlflow.store.db.utils"], check=False).returncode:
        code = subprocess.run([FLEET, __file__, "--mlflow"], check=False).returncode
    else:
        print("     a step beside MLflow's log is left out: MLflow is not installed; `make .venv/.fleet` installs it")
    return max(code, int(not table.held))


if __name__ == "__main__":
    sys.exit(main())
