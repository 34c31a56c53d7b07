"""Build the wheel, look into it, install it outside the checkout and use it there."""

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
REQUIRED = {
    "ralph_tracker/py.typed",
    *(f"ralph_tracker/templates/{path.name}" for path in (CHECKOUT / "templates").iterdir()),
    *(path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "ralph_tracker").rglob("*.py")),
    *(f"ralph_tracker/demo/{name}" for name in ("ralph-tracker.yaml", "script.yaml", "project/pyproject.toml")),
}
METRICS = "testing: {test_count: 2, tests_passed: 2, tests_failed: 0}\n"


def run(*command: str, cwd: Path) -> str:
    """Run a command, show what it printed where it fails, and return its output."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "RALPH_"))}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Leave with a message where the wheel lacks something or does not work on its own."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run(sys.executable, "-m", "build", "--sdist", "--wheel", "--no-isolation", "--outdir", scratch, cwd=CHECKOUT)
        wheel = next(folder.glob("*.whl"))
        missing = REQUIRED - set(zipfile.ZipFile(wheel).namelist())
        if missing:
            sys.exit(f"the wheel lacks {', '.join(sorted(missing))}")
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / "bin" / "python")
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel), cwd=folder)
        (folder / "metrics.yaml").write_text(METRICS, encoding="utf-8")
        tracker = str(folder / "venv" / "bin" / "ralph-tracker")
        for phase in ("pre-loop", "post-iteration"):
            run(tracker, "hook", phase, "--metrics", "metrics.yaml", cwd=folder)
        run(tracker, "status", cwd=folder)
        report = run(tracker, "report", "1", cwd=folder)
        if not report.startswith("## Iteration 1 Progress Report"):
            sys.exit(f"the installed wheel printed another report:\n{report}")
        run(tracker, "hook", "post-loop", cwd=folder)
        print(f"{wheel.name}: whole, and works on its own")


if __name__ == "__main__":
    main()
