"""Build wheel and sdist twice, check them, install the wheel outside the checkout and use it there."""

import sys
import tempfile
import venv
import zipfile
from pathlib import Path

from building import CHECKOUT, built, run, unpacked

REQUIRED = {
    "ralph_tracker/py.typed",
    *(f"ralph_tracker/templates/{path.name}" for path in (CHECKOUT / "templates").iterdir()),
    *(path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "ralph_tracker").rglob("*.py")),
    *(f"ralph_tracker/demo/{name}" for name in ("ralph-tracker.yaml", "script.yaml", "project/pyproject.toml")),
}
METRICS = "testing: {test_count: 2, tests_passed: 2, tests_failed: 0}\n"


def refuse_other_bytes(one: tuple[Path, Path], other: tuple[Path, Path]) -> None:
    """Exit with a message if a second build, at another time, gives different bytes."""
    for first, second in zip(one, other, strict=True):
        if first.read_bytes() != second.read_bytes():
            sys.exit(f"{first.name}: two builds of the same files differ")


def try_sdist(sdist: Path, folder: Path) -> None:
    """Exit with a message if the tests of an sdist cannot be collected, or those of the core fail, its laws apart."""
    top = unpacked(sdist, folder)
    absent = {path.relative_to(CHECKOUT) for path in (CHECKOUT / "tests").rglob("*.py")}
    absent = {path for path in absent if not (top / path).is_file()}
    if absent:
        sys.exit(f"the sdist lacks {', '.join(sorted(map(str, absent)))}")
    for words in (("--collect-only", "tests"), ("-m", "not hypothesis", "tests/core", "tests/docs/test_tables.py")):
        run(sys.executable, "-m", "pytest", "-q", *words, cwd=top, PYTHONPATH=str(top))


def main() -> None:
    """Exit with a message if the wheel is incomplete or does not work on its own."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        wheel, sdist = built(folder / "one")
        refuse_other_bytes((wheel, sdist), built(folder / "two"))
        try_sdist(sdist, folder)
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
        if "## Iteration 1 Progress Report\n" not in report:
            sys.exit(f"the installed wheel printed another report:\n{report}")
        run(tracker, "hook", "post-loop", cwd=folder)
        print(f"{wheel.name}, {sdist.name}: whole, the same bytes twice, and work on their own")


if __name__ == "__main__":
    main()
