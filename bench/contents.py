"""Measure keeping a tree without git against `git status` in it, as `snapshot.py` does with git.

    python bench/contents.py [--files N] [--changed N] [--rounds N]

There is no budget: it is for machines where git is missing. The first snapshot is told by the clock too, as it waits
for the disk, and so is what each snapshot adds to the store.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from snapshot import GIT, SETTLE_S, edit, make_project, measured
from table import Table

from ralph_tracker.store.collector import occupied
from ralph_tracker.store.contents.store import ContentStore


def run(root: Path, count: int, changed: int, rounds: int) -> dict[str, list[float]]:
    files = make_project(root, count)
    time.sleep(SETTLE_S)
    folder = root / ".aiwg/ralph/bench/store"
    store = ContentStore(folder, root)
    store.create()
    kept = []
    began = time.monotonic()
    first = measured(lambda: kept.append(store.snapshot(number=0)))
    taken: dict[str, list[float]] = {"first": [first], "waited": [(time.monotonic() - began) * 1000]}
    taken |= {"status": [], "snapshot": [], "restore": [], "bytes": []}
    status = [*GIT, "status", "--porcelain"]
    for number in range(1, rounds + 1):
        edit(files, changed, number)
        taken["status"].append(measured(lambda: subprocess.run(status, cwd=root, check=True, capture_output=True)))
        before = occupied(folder)
        fresh = ContentStore(folder, root)  # as a new call finds it
        taken["snapshot"].append(
            measured(lambda: kept.append(fresh.snapshot(previous=kept[-1].tree, number=number)))  # noqa: B023
        )
        taken["bytes"].append(occupied(folder) - before)
        assert len(kept[-1].changed) == changed
        time.sleep(SETTLE_S)
        taken["restore"].append(measured(lambda: store.restore(kept[-2].commit)))
        store.restore(kept[-1].commit)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--changed", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        root.mkdir()
        taken = run(root, options.files, options.changed, options.rounds)
    status = min(taken["status"])
    table = Table()
    tree = f"{options.files} files, {options.changed} changed, without git, against git status ({status:.0f} ms)"
    waited = f"{taken['first'][0]:.0f} ms CPU, {taken['waited'][0]:.0f} ms waited"
    table.row(f"first snapshot, {options.files} files, without git", waited, "none", held=True)
    for what in ("snapshot", "restore"):
        cost = min(taken[what])
        table.row(f"{what}, {tree}", f"{cost:.0f} ms CPU: {cost / status:.1f} x", "none", held=True)
    table.row(f"growth by one snapshot, {tree}", f"{min(taken['bytes']) / 1000:.0f} KB", "none", held=True)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
