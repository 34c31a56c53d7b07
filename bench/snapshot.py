"""Measure keeping and restoring a tree against `git status` in it: CPU, our own and that of every git we run.

Each round edits some files, waits until git can tell them from the index by their time, and then runs `git status`, a
snapshot and, back to the snapshot before, a restore. The least of several rounds counts, since whatever else the
machine does only adds to it. Importing is left out, as a hook pays for it once. Files are spread over packages and
modules, ten to a folder.

    python bench/snapshot.py [--files N] [--changed N] [--rounds N]

The exit status is 1 where a snapshot takes more than 2.5 × `git status` + 40 ms, or a restore more than
4 × + 100 ms.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import git  # noqa: F401  imported before anything is measured
from table import Table

from ralph_tracker.store.git.store import GitStore

PER_FOLDER = 10
SETTLE_S = 1.1
SPREAD = 7
GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost")


def cpu_ms() -> float:
    """Return the CPU time of this process and of its children, in milliseconds."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) * 1000


def measured(call: Callable[[], object]) -> float:
    before = cpu_ms()
    call()
    return cpu_ms() - before


def make_project(root: Path, count: int) -> list[Path]:
    """Write a project and commit it."""
    files = [root / f"package{n // PER_FOLDER**2}/module{n // PER_FOLDER}/file{n}.py" for n in range(count)]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"value = {number}\n" * (5 + number * 37 % 195))
    (root / ".gitignore").write_text("__pycache__/\n*.log\n.aiwg/\n")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "bench")):
        subprocess.run([*GIT, *arguments], cwd=root, check=True)
    return files


def edit(files: list[Path], count: int, turn: int) -> None:
    """Change files here and there, others in each turn."""
    for file in files[turn % SPREAD :: len(files) // count][:count]:
        file.write_text(file.read_text() + "changed = True\n")
    time.sleep(SETTLE_S)


def run(root: Path, count: int, changed: int, rounds: int) -> dict[str, list[float]]:
    files = make_project(root, count)
    time.sleep(SETTLE_S)
    store = GitStore(root / ".aiwg/ralph/bench/store.git", root)
    taken: dict[str, list[float]] = {"create": [measured(store.create)], "status": [], "snapshot": [], "restore": []}
    kept = [store.snapshot(number=0)]
    status = [*GIT, "status", "--porcelain"]
    for number in range(1, rounds + 1):
        edit(files, changed, number)
        taken["status"].append(measured(lambda: subprocess.run(status, cwd=root, check=True, capture_output=True)))
        taken["snapshot"].append(
            measured(lambda: kept.append(store.snapshot(previous=kept[-1].tree, number=number)))  # noqa: B023
        )
        assert len(kept[-1].changed) == changed
        time.sleep(SETTLE_S)
        taken["restore"].append(measured(lambda: store.restore(kept[-2].commit)))
        store.restore(kept[-1].commit)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--changed", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]  # as in a plain shell; with them each git costs one more small process
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        root.mkdir()
        taken = run(root, options.files, options.changed, options.rounds)
    status = min(taken["status"])
    table = Table()
    tree = f"{options.files} files, {options.changed} changed, against git status ({status:.0f} ms)"
    for what, factor, more in (("snapshot", 2.5, 40), ("restore", 4, 100)):
        cost, budget = min(taken[what]), factor * status + more
        limit = f"{budget:.0f} ms: {factor} x + {more} ms"
        table.row(f"{what}, {tree}", f"{cost:.0f} ms CPU", limit, held=cost <= budget)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
