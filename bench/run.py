"""Run all measurements and print one table, with the limit beside each figure.

    python bench/run.py [--large] [NAME …]

A NAME is that of a file beside this one: formats, hooks, integrity, long_loop, measuring, pages,
replay, snapshot, steering. With --large, trees of 50,000 files have 50 rounds instead of 5, which takes some minutes
more. The exit code is 1 if a limit was exceeded. Figures depend on the machine: compare the ratios.
"""

import os
import subprocess
import sys
from pathlib import Path

SHARED = {"run", "table", "reports", "viewers"}
SNAPSHOT, LARGE = "snapshot", "--large"


def main() -> int:
    scripts = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.py")) if path.stem not in SHARED}
    names = [argument for argument in sys.argv[1:] if argument != LARGE]
    unknown = [name for name in names if name not in scripts]
    if unknown:
        print(f"no measurement is called {', '.join(unknown)}; there are {', '.join(scripts)}", file=sys.stderr)
        return 2
    # The projects that are measured are made here, and so are their commands.
    environment = {**os.environ, "RALPH_TRACKER_TRUST": "1"}
    codes = []
    for name in names or scripts:
        options = [LARGE] if name == SNAPSHOT and LARGE in sys.argv else []
        codes.append(subprocess.run([sys.executable, scripts[name], *options], env=environment, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
