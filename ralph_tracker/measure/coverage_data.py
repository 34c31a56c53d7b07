"""Convert coverage.py's own data to its JSON report by calling coverage.py, since the totals need the sources."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from ralph_tracker.formats.damage import Unreadable

_MARK: Final = b"SQLite format 3\0"
_TIMEOUT_S: Final = 120
_LONGEST: Final = 300
_OTHERWISE: Final = "write a report with `coverage json` in the check and name that"


def is_data(data: bytes) -> bool:
    """Whether it is a database; of all reports only coverage.py's data is."""
    return data.startswith(_MARK)


def as_json(path: Path, root: Path, python: str = sys.executable, *, settings: bool = True) -> bytes | Unreadable:
    """Return the JSON report for a data file and the sources under `root`.

    The project's coverage.py settings can name plugins, which are its code; without `settings` they are left out.
    coverage.py is the one that `python` can import; it is optional. Unreadable says why there is no report, and what to
    do instead.
    """
    # -P: a `coverage` folder in the project, with JavaScript's reports, must not hide the package.
    command = [python, "-P", "-m", "coverage", "json", "-q", f"--data-file={path}", "-o", "-"]
    command += [] if settings else [f"--rcfile={os.devnull}"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, timeout=_TIMEOUT_S, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return Unreadable(f"coverage.py's data: no report of it in {_TIMEOUT_S} s; {_OTHERWISE}")
    if done.returncode == 0:
        return done.stdout
    said = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines() or ["no report of it"]
    return Unreadable(f"coverage.py's data: {said[-1].removesuffix('.')[:_LONGEST]}; {_OTHERWISE}")
