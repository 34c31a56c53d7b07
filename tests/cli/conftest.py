"""The command line as a caller meets it: in this process for wide tables, in one of its own where that matters."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.cli.app import run

PROGRAM = Path(sys.executable).with_name("ralph-tracker")
SHARED = os.environ.get("RALPH_TRACKER_SHARED")


@dataclass(frozen=True)
class Answer:
    """What a command gave back."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the document that was printed."""
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """Return the one line of an error, without the program's name; nothing else was printed but its document."""
        assert self.out == "" or self.json["error"]["exit_code"] == self.code
        assert self.err.startswith("ralph-tracker: ")
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1
        return self.err.removeprefix("ralph-tracker: ").removesuffix("\n")


class Project:
    """Drive the command line on one project, as the loop of that project does."""

    def __init__(self, root: Path) -> None:
        self.root, self._files = root, root.parent / f"{root.name}-handed-in"
        self._files.mkdir()
        self.root.mkdir()

    def file(self, name: str, content: Any) -> Path:
        """Write a file beside the project: bytes and text as they are, anything else as JSON."""
        path = self._files / name
        data = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def ralph(self, *arguments: object) -> Answer:
        """Run a command on this project in this process."""
        return self.plainly(*arguments, "--root", self.root)

    def plainly(self, *arguments: object) -> Answer:
        """Run a command with these words alone."""
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = run([str(argument) for argument in arguments])
        return Answer(code, out.getvalue(), err.getvalue())

    def hook(self, phase: str, metrics: Any = None, *arguments: object) -> Answer:
        """Run a hook; metrics are written to a file and handed in."""
        given = () if metrics is None else ("--metrics", self.file("metrics.json", metrics))
        return self.ralph("hook", phase, *given, *arguments)

    def must(self, phase: str, metrics: Any = None, *arguments: object) -> Any:
        """Run a hook that has to work, and return the document that it prints."""
        answer = self.hook(phase, metrics, "--json", *arguments)
        assert answer.code in {0, 10, 11, 12}, answer.err
        return answer.json

    def started(self, **changes: Any) -> "Project":
        """Capture a baseline."""
        self.must("pre-loop", measured(**changes))
        return self

    def content(self) -> Mapping[str, bytes]:
        """Return every file of the project but the locks, which say who was the last to write."""
        files = (path for path in sorted(self.root.rglob("*")) if path.is_file() and path.name != "lock")
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}


def measured(**changes: Any) -> dict[str, Any]:
    """Return metrics of decent work, below the target, with changes; None takes a value out."""
    sections: dict[str, dict[str, Any]] = {
        "testing": {"test_count": 10, "tests_passed": 10, "tests_failed": 0, "coverage_percentage": 50.0},
        "quality": {"lint_errors": 10, "lint_warnings": 10, "type_errors": 0, "build_status": "success"},
        "codebase": {"file_count": 5, "loc_total": 100, "complexity_score": 2.0},
    }
    rest = {}
    for name, value in changes.items():
        home = next((section for section in sections.values() if name in section), rest)
        home[name] = value
    whole = {key: {k: v for k, v in section.items() if v is not None} for key, section in sections.items()}
    return whole | {name: value for name, value in rest.items() if value is not None}


@pytest.fixture(autouse=True)
def _no_loop_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where nobody named a loop or a screen: the caller's environment is not the test's."""
    for name in ("RALPH_LOOP_ID", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project."""
    return Project(tmp_path / "project")


@pytest.fixture(scope="session")
def project_at() -> type[Project]:
    """Return the maker of projects, for loops that several tests look at."""
    return Project


@pytest.fixture(scope="session")
def _one_iteration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project whose loop has a baseline and an iteration; tests get copies of it."""
    project = Project(tmp_path_factory.mktemp("prepared") / "project").started(test_count=9, tests_passed=9)
    project.must("post-iteration", measured())
    return project.root


@pytest.fixture
def running(project: Project, _one_iteration: Path) -> Project:
    """Return a project whose loop has a baseline and an iteration."""
    shutil.copytree(_one_iteration, project.root, dirs_exist_ok=True)
    return project


@pytest.fixture
def dropped(running: Project) -> Project:
    """Return a loop whose second iteration deleted a test."""
    usage = running.file("usage.json", {"cost_usd": 1.5})
    running.must("post-iteration", measured(test_count=9, tests_passed=9), "--usage", usage)
    return running


@pytest.fixture(scope="session")
def metrics_of() -> Any:
    """Return the builder of metrics."""
    return measured


@pytest.fixture(scope="session")
def program() -> Path:
    """Return the installed program."""
    return PROGRAM


@pytest.fixture
def own_process(tmp_path: Path) -> Any:
    """Return a function that runs the program in a process of its own, in a folder."""

    def start(*arguments: str, cwd: Path = tmp_path, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "TMPDIR": str(tmp_path), **options.pop("env", {})}
        command = [str(PROGRAM), *arguments]
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60, check=False, **options
        )

    return start


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared golden data."""
    if SHARED is None:
        pytest.skip("RALPH_TRACKER_SHARED names no folder of shared golden data")
    return Path(SHARED)
