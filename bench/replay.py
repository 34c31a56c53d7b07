"""Measure what `replay` costs beside the checks: 200 commits of 1,000 files, whose check copies one file.

CPU of user and system, of the command and of all that it starts, a commit.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from table import Table, children_cpu

TRACKER = str(Path(sys.executable).parent / "ralph-tracker")
COMMITS = int(os.environ.get("RALPH_TRACKER_BENCH_COMMITS", "200"))
FILES, FOLDERS, LIMIT_S = 1000, 20, 0.3
REPORT = '<testsuite tests="2"><testcase classname="t" name="a"/><testcase classname="t" name="b"/></testsuite>'
SETTINGS = "checks: {tests: {run: 'cp results.xml {reports}', reports: ['{reports}/results.xml']}}\n"
BODY = "".join(f"def f{n}(a, b):\n    if a:\n        return b\n    return a + {n}\n\n\n" for n in range(20))


def path(number: int) -> str:
    return f"src/p{number % FOLDERS}/m{number}.py"


def commit(number: int, files: dict[str, str]) -> str:
    """Return a commit as git's fast-import reads it."""
    head = f"commit refs/heads/main\ncommitter A <a@b> {1_700_000_000 + number * 60} +0000\ndata 4\nc{number:03d}\n"
    return head + "".join(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n" for name, text in files.items())


def make(root: Path) -> None:
    """Make the repository, with a file changed in each commit."""
    first = {"results.xml": REPORT, "ralph-tracker.yaml": SETTINGS}
    stream = commit(0, first | {path(number): BODY for number in range(FILES)})
    stream += "".join(commit(n, {path(n * 7 % FILES): f"# {n}\n{BODY}"}) for n in range(1, COMMITS + 1))
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=stream.encode(), check=True)
    subprocess.run(["git", "reset", "-q", "--hard", "main"], cwd=root, check=True)


def main() -> int:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as folder:
        root, table = Path(folder) / "project", Table()
        os.environ |= {"XDG_CACHE_HOME": f"{folder}/cache", "RALPH_TRACKER_TRUST": "1"}
        make(root)
        check = children_cpu(["/bin/sh", "-c", "cp results.xml ../copied.xml"], root)
        taken = children_cpu([TRACKER, "replay", f"HEAD~{COMMITS - 1}..HEAD"], root, runs=1)
        each = taken / COMMITS - check
        row = f"replay, {COMMITS} commits of {FILES} files, CPU a commit beside the checks"
        table.row(row, f"{each:.3f} s", f"{LIMIT_S} s", held=each <= LIMIT_S)
        return 0 if table.held else 1


if __name__ == "__main__":
    sys.exit(main())
