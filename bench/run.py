"""Run every measurement, one table: a figure a line, beside the limit that it has to hold.

    python bench/run.py [NAME …]      # formats, hooks, integrity, measuring, snapshot

The exit status is 1 where a limit was not held. Figures are of this machine, now: compare the ratios.
"""

import subprocess
import sys
from pathlib import Path

SHARED = {"run", "table", "reports"}


def main() -> int:
    scripts = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.py")) if path.stem not in SHARED}
    unknown = [name for name in sys.argv[1:] if name not in scripts]
    if unknown:
        print(f"no measurement is called {', '.join(unknown)}; there are {', '.join(scripts)}", file=sys.stderr)
        return 2
    codes = [
        subprocess.run([sys.executable, scripts[name]], check=False).returncode for name in sys.argv[1:] or scripts
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
