"""Projects that are not ours: fetched from the package index, built as their own developers would, then measured.

Not part of `make test`, because it needs the index and minutes: `make suite NAME=projects` runs it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_LIMIT_S = 600
_ROW = "row"
TOTAL = "with branches"
_COLUMNS = ("project", "what it shows", "tests", "passed", "failed", "skipped", "coverage", "lint", "types", "equal")
_JUDGED = "judged"
# The last one: CPU seconds of init and pre-loop beyond those of the suite.
_VERDICTS = ("project", "tests", "coverage", "equal", "break", "fix and add", "break the build", "delete", "more CPU")
# The tools that a project's developer has today; a row may ask for others.
_TOOLS = ("pytest==9.2.0", "coverage==7.17.3", "ruff==0.17.6", "mypy==2.4.1")
_SUMMARY = re.compile(r"(\d+) (passed|failed|skipped|errors?|xfailed|xpassed)\b")
_FOUND = re.compile(r"Found (\d+) errors?")
_CLEAN = re.compile(r"All checks passed!|Success: no issues found")
_TOTAL = re.compile(r"^TOTAL +(\d+) +(\d+) .*?(\d+(?:\.\d+)?)%", re.MULTILINE)
_FOREIGN = re.compile(r"COV(ERAGE)?_.*|PYTEST_.*|PYTHON.*|RALPH_TRACKER_.*|UV_PROJECT_ENVIRONMENT")

Numbers = dict[str, float | None]


@dataclass(frozen=True)
class Project:
    """A project as its developer has it on disk, with an environment of its own."""

    root: Path
    python: tuple[str, ...]
    addopts: str

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a developer does who works from an environment that is not the project's: ours."""
        ours = Path(sys.executable).parent
        kept = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}
        path = f"{ours}{os.pathsep}{kept['PATH']}"
        own = {"VIRTUAL_ENV": str(ours.parent), "PYTEST_ADDOPTS": self.addopts}
        whole = {**kept, "PATH": path, **own, **environment}
        return subprocess.run(
            command, cwd=self.root, env=whole, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )

    def ours(self, *words: str) -> str:
        """Run ralph-tracker as a user does, and return what it printed."""
        done = self.run(str(Path(sys.executable).with_name("ralph-tracker")), *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def tool(self, name: str, *words: str, **environment: str) -> str:
        """Run a tool of the project by hand, and return what it printed."""
        done = self.run(*self.python, "-m", name, *words, **environment)
        return done.stdout + done.stderr

    def measured_by_hand(self, scratch: Path, *, plugin: bool, types: Sequence[str] | None) -> Numbers:
        """Return what the tools print of themselves; `plugin` where pytest measures the coverage itself."""
        data = {"COVERAGE_FILE": str(scratch / ".coverage")}
        tests = self.tool("pytest", **data) if plugin else self.tool("coverage", "run", "-m", "pytest", **data)
        self.tool("coverage", "combine", **data)
        return {
            **_tests_in(tests),
            **_coverage_in(self.tool("coverage", "report", "--precision=2", **data)),
            "lint": _findings_in(self.tool("ruff", "check", "--no-fix", "--extend-exclude=.aiwg")),
            "types": None if types is None else _findings_in(self.tool("mypy", "--no-pretty", *types)),
        }


def _tests_in(printed: str) -> Numbers:
    """Read pytest's last line; expected failures count as skipped and those that passed as passed, as in JUnit."""
    last = re.sub(r"\x1b\[[0-9;]*m", "", printed.strip().rsplit("\n=", 1)[-1])
    count = dict.fromkeys(("passed", "failed", "skipped", "error", "xfailed", "xpassed"), 0)
    count |= {word.replace("errors", "error"): int(number) for number, word in _SUMMARY.findall(last)}
    values = {
        "passed": count["passed"] + count["xpassed"],
        "failed": count["failed"] + count["error"],
        "skipped": count["skipped"] + count["xfailed"],
    }
    return {"tests": sum(values.values()), **values}


def _coverage_in(printed: str) -> Numbers:
    """Read the share of statements from their printed counts, and the tool's total, which mixes branches in."""
    found = _TOTAL.search(printed)
    if found is None:
        return {"coverage": None, TOTAL: None}
    statements, missed = int(found[1]), int(found[2])
    return {"coverage": 100 * (statements - missed) / statements if statements else None, TOTAL: float(found[3])}


def _findings_in(printed: str) -> float | None:
    """Read the tool's last word; one that stopped before it had looked at everything counted nothing."""
    if "errors prevented further checking" in printed:
        return None
    found = _FOUND.search(printed)
    return int(found[1]) if found else 0 if _CLEAN.search(printed) else None


@pytest.fixture(scope="session")
def recorded() -> Callable[[Mapping[str, Any]], Numbers]:
    """Read the same numbers from the record of an iteration."""
    return _recorded


def _recorded(record: Mapping[str, Any]) -> Numbers:
    metrics = record["iteration_metrics"]
    testing, quality = metrics["testing"], metrics["quality"]
    lint = quality.get("lint_errors")
    return {
        "tests": testing.get("test_count"),
        "passed": testing.get("tests_passed"),
        "failed": testing.get("tests_failed"),
        "skipped": testing.get("tests_skipped"),
        "coverage": testing.get("coverage_percentage"),
        "lint": None if lint is None else lint + quality["lint_warnings"],
        "types": quality.get("type_errors"),
    }


def _ran(*command: str, cwd: Path, **environment: str) -> None:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _download(release: str, to: Path) -> subprocess.CompletedProcess[str]:
    words = ["pip", "download", "--quiet", "--no-deps", f"--no-binary={release.partition('==')[0]}", "-d", str(to)]
    return subprocess.run(
        [sys.executable, "-m", *words, release], capture_output=True, text=True, timeout=_LIMIT_S, check=False
    )


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], Path]:
    """Unpack a release's source distribution into a folder; skip where the package index cannot be reached."""
    folder = tmp_path_factory.mktemp("index")
    if _download("iniconfig==2.1.0", folder).returncode:
        pytest.skip("the package index cannot be reached; projects that are not ours are measured where it can be")

    def unpacked(release: str, to: Path) -> Path:
        done = _download(release, folder / release)
        assert done.returncode == 0, done.stderr
        with tarfile.open(next((folder / release).iterdir())) as archive:
            archive.extractall(to, filter="data")
        return next(to.iterdir())

    return unpacked


@pytest.fixture
def developed(index: Callable[[str, Path], Path], tmp_path: Path) -> Callable[..., Project]:
    """Make a project ready to be worked on: its sources, its environment, its tools."""

    def make(release: str, *needs: str, addopts: str) -> Project:
        root = index(release, tmp_path / "unpacked").rename(tmp_path / "project")
        named = {need.partition("==")[0] for need in needs}
        tools = [tool for tool in _TOOLS if tool.partition("==")[0] not in named]
        if (root / "uv.lock").is_file() and (uv := shutil.which("uv", path=str(Path(sys.executable).parent))):
            # The lock holds for all Pythons that the project knows: it is uv that picks the versions.
            names = [tool.partition("==")[0] for tool in (*tools, *needs)]
            _ran(uv, "add", "--quiet", "--dev", *names, cwd=root, VIRTUAL_ENV="")
            return Project(root, (uv, "run", "python"), addopts)
        _ran(sys.executable, "-m", "venv", ".venv", cwd=root)
        _ran(".venv/bin/python", "-m", "pip", "install", "--quiet", "--editable", ".", *tools, *needs, cwd=root)
        return Project(root, (".venv/bin/python",), addopts)

    return make


@pytest.fixture
def told(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Put a project's row into the table at the end of the run."""

    def tell(release: str, shows: str, numbers: Numbers, verdict: str) -> None:
        record_property(_ROW, json.dumps([release, shows, *numbers.values(), verdict]))

    return tell


@pytest.fixture
def judged(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Put a project's verdicts into the second table at the end of the run."""

    def tell(source: str, numbers: Numbers, unequal: object, verdicts: Mapping[str, str], more: float) -> None:
        equal = "yes" if not unequal else f"no: {unequal}"
        row = [source, numbers["tests"], numbers["coverage"], equal, *verdicts.values(), f"{more:+.1f} s"]
        record_property(_JUDGED, json.dumps(row))

    return tell


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table that a maintainer puts into a note."""
    reports = [report for key in ("passed", "failed") for report in terminalreporter.stats.get(key, ())]
    for what, columns in ((_ROW, _COLUMNS), (_JUDGED, _VERDICTS)):
        rows = {
            str(value): [*json.loads(str(value)), f"{report.duration:.0f} s"]
            for report in reports
            for name, value in report.user_properties
            if name == what
        }
        if rows:
            terminalreporter.section("projects that are not ours")
            terminalreporter.write_line(_line([*columns, "call"]))
            terminalreporter.write_line(_line(["---"] * (len(columns) + 1)))
            for _, row in sorted(rows.items()):
                terminalreporter.write_line(_line(row))


def _line(cells: Sequence[object]) -> str:
    words = ("–" if cell is None else f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells)
    return f"| {' | '.join(words)} |"
