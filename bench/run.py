"""Run every measurement, one table: a figure a line, beside the limit that it has to hold.

    python bench/run.py [--large] [NAME …]      # formats, hooks, integrity, measuring, snapshot, steering

With --large the figures of trees of 50,000 files are of 50 rounds in the place of 5: some minutes more. The exit
status is 1 where a limit was not held. Figures are of this machine, now: compare the ratios.
"""

import subprocess
import sys
from pathlib import Path

SHARED = {"run", "table", "reports"}
SNAPSHOT, LARGE = "snapshot", "--large"


def main() -> int:
    scripts = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.py")) if path.stem not in SHARED}
    names = [argument for argument in sys.argv[1:] if argument != LARGE]
    unknown = [name for name in names if name not in scripts]
    if unknown:
        print(f"no measurement is called {', '.join(unknown)}; there are {', '.join(scripts)}", file=sys.stderr)
        return 2
    codes = []
    for name in names or scripts:
        options = [LARGE] if name == SNAPSHOT and LARGE in sys.argv else []
        codes.append(subprocess.run([sys.executable, scripts[name], *options], check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
