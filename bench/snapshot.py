"""Measure keeping, comparing and restoring a tree, compared with `git status` and `git stash create` in it.

CPU counts, ours and that of every git we run, without imports. In each round 20 files change, git is given the time to
recognize them, and then status, stash, a snapshot and a comparison with the previous one are measured; after every 25
rounds the store is packed. Restores between the last two snapshots follow. The store is opened anew for each call.
Limits apply to medians. Disk usage of snapshots is counted in whole blocks.

    python bench/snapshot.py [--large] [--files N …] [--changed N] [--rounds N]

Trees of 1,000 and 10,000 files have 50 rounds and one of 50,000 has 5, with --large 50 too. The exit code is 1 if a
limit is exceeded: snapshot 2.5 × `git status` + 40 ms, restore 4 × + 100 ms, comparison 50 ms, first snapshot 1 s per
10,000 files, growth 10 KB per changed file.
"""

import argparse
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import git  # noqa: F401  imported before anything is measured
from table import Table

from ralph_tracker.store.snapshots.file_changes import file_changes
from ralph_tracker.store.snapshots.snapshot_types import Snapshot
from ralph_tracker.store.snapshots.store import SnapshotStore

PER_FOLDER = 10
SETTLE_S = 1.1
SPREAD = 7
PACKED_EVERY = 25
ROUNDS = {1_000: 50, 10_000: 50, 50_000: 5}
MANY_ROUNDS = 50
GIT = ("git", "-c", "gc.auto=0", "-c", "user.name=bench", "-c", "user.email=bench@localhost")
STATUS = (*GIT, "status", "--porcelain")
STASH = (*GIT, "stash", "create")
NAMES = {
    "status": "git status",
    "stash": "git stash create",
    "snapshot": "snapshot",
    "restore": "restore",
    "diff": "diff of two iterations",
    "first": "first snapshot",
    "pack": f"packing {PACKED_EVERY} iterations",
}
BLOCK = 512  # bytes; the unit of st_blocks


def cpu_ms() -> float:
    """Return the CPU time of this process and of its children, in milliseconds."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) * 1000


def measured(call: Callable[[], object]) -> float:
    before = cpu_ms()
    call()
    return cpu_ms() - before


def write_files(root: Path, count: int) -> list[Path]:
    """Write a project: files spread over packages and modules, ten to a folder."""
    files = [root / f"package{n // PER_FOLDER**2}/module{n // PER_FOLDER}/file{n}.py" for n in range(count)]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"value = {number}\n" * (5 + number * 37 % 195))
    (root / ".gitignore").write_text("__pycache__/\n*.log\n.aiwg/\n")
    return files


def commit(root: Path) -> None:
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "bench")):
        subprocess.run([*GIT, *arguments], cwd=root, check=True)


def make_project(root: Path, count: int) -> list[Path]:
    """Write a project and commit it."""
    files = write_files(root, count)
    commit(root)
    return files


def change(files: list[Path], count: int, turn: int) -> None:
    """Change a number of files, different ones in each turn."""
    for file in files[turn % SPREAD :: len(files) // count][:count]:
        file.write_text(file.read_text() + "changed = True\n")


def edit(files: list[Path], count: int, turn: int) -> None:
    """Change files, and wait until git can recognize them by their time."""
    change(files, count, turn)
    time.sleep(SETTLE_S)


def disk(folder: Path) -> int:
    """Return the bytes of the blocks used by a folder's files."""
    places = (os.lstat(Path(place) / name) for place, _, names in os.walk(folder) for name in names)
    return sum(status.st_blocks * BLOCK for status in places)


class Subject:
    """A tree with its store and its measurements."""

    def __init__(self, root: Path, count: int, changed: int) -> None:
        self.root, self.changed = root, changed
        self.folder = root / ".aiwg/ralph/bench/store"
        root.mkdir()
        self.files = write_files(root, count)
        self.taken: dict[str, list[float]] = defaultdict(list)
        commit(root)
        time.sleep(SETTLE_S)
        self.kept: list[Snapshot] = []
        began = time.monotonic()
        self.take("first", self._begin)
        self.waited = (time.monotonic() - began) * 1000
        self.base = self.after = disk(self.folder)
        self.loose = 0

    def store(self) -> SnapshotStore:
        """Return the store as a new process opens it."""
        return SnapshotStore(self.folder, self.root)

    def _begin(self) -> None:
        store = self.store()
        store.create()
        self.kept.append(store.snapshot(number=0))

    def take(self, what: str, call: Callable[[], object]) -> None:
        self.taken[what].append(measured(call))

    def round(self, number: int) -> None:
        """Keep what has changed, and run git's commands."""
        for what, command in (("status", STATUS), ("stash", STASH)):
            self.take(what, lambda: subprocess.run(command, cwd=self.root, check=True, capture_output=True))  # noqa: B023
        previous = self.kept[-1]
        self.take("snapshot", lambda: self.kept.append(self.store().snapshot(number=number)))
        assert len(self.store().changes(previous.commit, self.kept[-1].commit)) == self.changed
        self.take("diff", lambda: file_changes(self.store(), previous.commit, self.kept[-1].commit))

    def weigh(self, *, pack: bool) -> None:
        """Measure the disk usage since the last packing, and after another one."""
        self.loose += disk(self.folder) - self.after
        if pack:
            self.take("pack", self.store().pack)
        self.after = disk(self.folder)

    def restore(self, number: int) -> None:
        """Restore the snapshot before the last, or the last one in the next round."""
        goal = self.kept[-2 + number % 2]
        self.take("restore", lambda: self.store().restore(goal.commit))

    def judge(self, table: Table, rounds: int) -> None:
        """Print the measurements with their limits."""
        middle = {what: statistics.median(figures) for what, figures in self.taken.items()}
        count, status, stash = len(self.files), middle["status"], middle["stash"]
        limits: dict[str, tuple[float, str]] = {"diff": (50, "")}
        for what, factor, more in (("snapshot", 2.5, 40), ("restore", 4, 100)):
            ratios = f"{middle[what] / status:.1f} x status, {middle[what] / stash:.1f} x stash create"
            limits[what] = factor * status + more, f": {factor} x status + {more} ms; it is {ratios}"
        limits["first"] = math.ceil(count / 10_000) * 1000, f"; waited {self.waited:.0f} ms"
        for what, name in NAMES.items():
            if what in middle:
                limit, why = limits.get(what, (math.inf, ""))
                told = "none" if limit == math.inf else f"{limit:.0f} ms{why}"
                table.row(f"{name}, {self.where}", f"{middle[what]:.0f} ms CPU", told, held=middle[what] <= limit)
        self._judge_disk(table, "until packed", self.loose, math.inf, rounds)
        if "pack" in middle:
            self._judge_disk(table, f"packed every {PACKED_EVERY}", self.after - self.base, 10, rounds)

    def _judge_disk(self, table: Table, what: str, size: int, limit: float, rounds: int) -> None:
        each = size / rounds / self.changed / 1000
        told = "none" if limit == math.inf else f"{limit:.0f} KB"
        told += f"; {size / rounds / 10:.0f} KB for 100 iterations"
        table.row(f"growth, {what}, {self.where}", f"{each:.1f} KB a changed file", told, held=each <= limit)

    @property
    def where(self) -> str:
        return f"{len(self.files)} files"


def run(subjects: Iterable[tuple[Subject, int]], changed: int) -> None:
    """Measure several trees in turns, so that they share one wait."""
    waiting = list(subjects)
    for number in range(1, max(rounds for _, rounds in waiting) + 1):
        now = [(subject, rounds) for subject, rounds in waiting if number <= rounds]
        for subject, _ in now:
            change(subject.files, changed, number)
        time.sleep(SETTLE_S)
        for subject, rounds in now:
            subject.round(number)
            if number % PACKED_EVERY == 0 or number == rounds:
                subject.weigh(pack=number % PACKED_EVERY == 0)
    for subject, rounds in waiting:
        for number in range(rounds):
            subject.restore(number)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--files", type=int, nargs="+", default=list(ROUNDS))
    parser.add_argument("--changed", type=int, default=20)
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]  # as in a plain shell; with them each git starts another process
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        run([(Subject(place / "warm", 20, 1), 1)], 1)
        subjects = []
        for count in options.files:
            rounds = options.rounds or (MANY_ROUNDS if options.large else ROUNDS.get(count, MANY_ROUNDS))
            subjects.append((Subject(place / str(count), count, options.changed), rounds))
        run(subjects, options.changed)
        for subject, rounds in subjects:
            subject.judge(table, rounds)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
